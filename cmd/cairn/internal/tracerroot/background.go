package tracerroot

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/tracer/compressor"
	"github.com/cairn-mpi/cairn/tracer/resolver"
)

// Listen makes the names of call sites while the job runs. Without it, names come only from
// binaries that are still there afterwards.
func Listen(spool string, say func(format string, args ...any)) *resolver.Listener {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	names, err := resolver.Listen(resolver.Options{Spool: spool, Command: []string{self, "resolve"}, Logf: say})
	if err != nil {
		say("%v", err)
		return nil
	}
	return names
}

// Compress compresses what the ranks record, and encodes times, while the job runs. The
// returned function stops it.
func Compress(ctx context.Context, spool string, say func(format string, args ...any)) (end func()) {
	// a limit of file sizes is an error like others then
	tooLarge := make(chan os.Signal, 1)
	signal.Notify(tooLarge, unix.SIGXFSZ)
	stop := func() {}
	if c, err := compressor.Start(spool, say); err != nil {
		say("records are not compressed while the command runs: %v", err)
	} else {
		stop = c.Close
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		shipper.Pack(ctx, spool)
	}()
	return func() {
		cancel()
		<-done
		stop()
		signal.Stop(tooLarge)
	}
}
