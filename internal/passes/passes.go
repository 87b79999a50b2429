// Package passes reports the progress of long work.
//
// Work that takes time announces passes (Begin) and counts what it has done, a chunk at a time. If
// the context has a Watcher, it receives the passes with their names, totals and counts. Without
// one nothing is counted, and every call returns immediately.
package passes

import (
	"context"
	"sync/atomic"
)

// A Pass is one iteration over a number of things.
type Pass struct {
	Name  string // such as "matching calls"
	Unit  string // such as "calls"
	Total uint64 // 0: not known
	done  atomic.Uint64
}

// Add counts n more things. A nil pass counts nothing.
func (p *Pass) Add(n int) {
	if p != nil {
		p.done.Add(uint64(n))
	}
}

// At sets the progress to step of steps of equal size.
func (p *Pass) At(step, steps int) {
	if p != nil && steps > 0 {
		p.done.Store(uint64(float64(p.Total) * float64(step) / float64(steps)))
	}
}

// Done returns how many things have been counted, at most Total if that is known.
func (p *Pass) Done() uint64 {
	done := p.done.Load()
	if p.Total > 0 {
		done = min(done, p.Total)
	}
	return done
}

// A Watcher receives the passes. Several may run at the same time.
type Watcher interface {
	Begin(p *Pass)
	End(p *Pass)
}

type (
	watcherKey struct{}
	passKey    struct{}
	nameKey    struct{}
)

// Watch returns a context with w as the watcher of all passes that begin under it.
func Watch(ctx context.Context, w Watcher) context.Context {
	return context.WithValue(ctx, watcherKey{}, w)
}

// Named sets the name, which is their purpose, of the passes over calls that begin under the
// returned context.
func Named(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// Calls begins a pass over calls, with the name that Named set. total may be 0, for not known. The
// pass is nil if nobody watches.
func Calls(ctx context.Context, total uint64) (inner context.Context, p *Pass, end func()) {
	name, ok := ctx.Value(nameKey{}).(string)
	if !ok {
		name = "reading calls"
	}
	return Begin(ctx, name, "calls", total)
}

// Begin begins a pass, which Of finds in the returned context. The pass is nil if nobody watches.
// The caller must call end when the pass is over.
func Begin(ctx context.Context, name, unit string, total uint64) (inner context.Context, p *Pass, end func()) {
	w, ok := ctx.Value(watcherKey{}).(Watcher)
	if !ok {
		return ctx, nil, func() {}
	}
	p = &Pass{Name: name, Unit: unit, Total: total}
	w.Begin(p)
	return context.WithValue(ctx, passKey{}, p), p, func() { w.End(p) }
}

// Of returns the pass that a context belongs to, or nil.
func Of(ctx context.Context) *Pass {
	p, _ := ctx.Value(passKey{}).(*Pass)
	return p
}
