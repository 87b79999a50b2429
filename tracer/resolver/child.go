package resolver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// Descriptors of a child.
const (
	binaryFile = 3
	debugFile  = 4
)

// Child is the process that makes a table from descriptors, and writes it to out.
func Child(args []string, out io.Writer) error {
	flags := pflag.NewFlagSet("resolve", pflag.ContinueOnError)
	id := flags.String("build-id", "", "build id of the binary")
	path := flags.String("path", "", "path of the binary where it was opened")
	memory := flags.Int64("memory", DefaultMemory, "limit of memory in bytes")
	withDebug := flags.Bool("debug", false, "read the debug information")
	withFile := flags.Bool("debug-file", false, "descriptor 4 is the separate debug file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	limit(*memory)
	b := symbols.Binary{Path: *path, File: os.NewFile(binaryFile, "binary"), MaxDebugBytes: 1}
	if *withDebug {
		b.MaxDebugBytes = uint64(*memory / debugShare)
	}
	if *withFile {
		b.Debug = os.NewFile(debugFile, "debug file")
	}
	table, err := b.Extract()
	if err != nil && !errors.Is(err, symbols.ErrNoSymbols) {
		return err
	}
	if table.BuildID != *id {
		return fmt.Errorf("the build id of %q is %s, not %s", *path, table.BuildID, *id)
	}
	return table.Write(out)
}

// debugShare is the least ratio of a child's memory to the size of the debug information.
const debugShare = 4

// limit limits what this process takes, whatever it reads.
func limit(memory int64) {
	runtime.GOMAXPROCS(1)
	seconds := uint64(maxTime / time.Second)
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds})
	_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: symbols.MaxFileBytes, Max: symbols.MaxFileBytes})
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	debug.SetMemoryLimit(memory / 4 * 3)
	go watch(memory)
}

// watch ends the process when its memory is more than the limit. RLIMIT_DATA would count what the
// Go runtime has reserved, which is several times as much.
func watch(limit int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(2 * time.Millisecond) {
		metrics.Read(sample)
		if used := sample[0].Value.Uint64() - sample[1].Value.Uint64(); used > uint64(limit) {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(1)
		}
	}
}
