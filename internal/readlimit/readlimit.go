// Package readlimit says how much memory a command may spend on a trace that it was given.
//
// The default of package trace is for bytes from anywhere. A command reads its user's own traces, and a merge holds all
// values of its shards at once: it may take what the process has.
package readlimit

import (
	"math"
	"runtime/debug"

	"github.com/cairn-mpi/cairn/trace"
)

const (
	base = 256 << 20
	// An irregular grammar takes about 20 bytes in memory for each in the file, values that a merge holds up to 60.
	factor = 64
)

// Option is the limit for a file of this size: what the process may use at all where that is known (GOMEMLIMIT, which the
// operator sets for its pods), else enough for everything that was written from a run.
func Option(size int64) trace.Option {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = base + factor*min(size, math.MaxInt64/(2*factor))
	}
	return trace.WithMemoryLimit(limit)
}
