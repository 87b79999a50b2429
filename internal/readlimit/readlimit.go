// Package readlimit computes how much memory a command may spend on a trace.
//
// The default of package trace is for untrusted bytes. A command reads its user's own traces, and a
// merge keeps all values of its shards in memory: it may use all memory of the process.
package readlimit

import (
	"math"
	"runtime/debug"

	"github.com/cairn-mpi/cairn/trace"
)

const (
	base = 256 << 20
	// An irregular grammar takes about 20 bytes in memory for each byte in the file, and values
	// during a merge up to 60.
	factor = 64
)

// Option returns the limit for a file of this size: the memory limit of the process if it is known
// (GOMEMLIMIT, which the operator sets for its pods), otherwise enough for every trace that was
// written by a run.
func Option(size int64) trace.Option {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = base + factor*min(size, math.MaxInt64/(2*factor))
	}
	return trace.WithMemoryLimit(limit)
}
