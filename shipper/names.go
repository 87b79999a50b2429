package shipper

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/cairn-mpi/cairn/tracer/resolver"
)

// names is the listener of a spool, which makes the tables of symbols.
type names struct {
	listener *resolver.Listener // nil: there is none
	failed   bool               // that was logged
}

// listen starts the listener unless it runs. The spool may come later than the sidecar.
func (n *names) listen(o Options) {
	if n.listener != nil || len(o.Resolver) == 0 {
		return
	}
	l, err := resolver.Listen(resolver.Options{Spool: o.Spool, Command: o.Resolver, Memory: memoryForNames(debug.SetMemoryLimit(-1)), Logf: o.Logf})
	if err != nil {
		if !n.failed {
			o.Logf("%v", err)
		}
		n.failed = true
		return
	}
	n.listener = l
}

// memoryForNames is what the container's limit of memory leaves beside the sidecar itself and the
// recorders (controllers/inject: 256 MiB and what those may take).
func memoryForNames(limit int64) int64 {
	const (
		own   = 64 << 20
		least = 48 << 20
		most  = 160 << 20
	)
	return min(max(limit-own, least), most)
}

func (n *names) close() {
	if n.listener != nil {
		n.listener.Close()
	}
}

// pending reports whether there will be more names soon.
func (n *names) pending() bool { return n.listener != nil && n.listener.Pending() }

// wait waits until there are no more names to come.
func (n *names) wait(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	n.listener.Wait(ctx)
}
