// Package passes tells whoever waits how far long work has come.
//
// Work that takes time announces passes (Begin) and counts what it has done, a chunk at a time. In goes a context; out
// come, if somebody watches that context, passes with their names, totals and counts. Without a watcher nothing is
// counted, and every call returns at once.
package passes

import (
	"context"
	"sync/atomic"
)

// A Pass is one way through a number of things.
type Pass struct {
	Name  string // "matching calls"
	Unit  string // "calls"
	Total uint64 // 0: not known
	done  atomic.Uint64
}

// Add counts n more things; a nil pass counts nothing.
func (p *Pass) Add(n int) {
	if p != nil {
		p.done.Add(uint64(n))
	}
}

// At says that of equal steps so many are done.
func (p *Pass) At(step, steps int) {
	if p != nil && steps > 0 {
		p.done.Store(uint64(float64(p.Total) * float64(step) / float64(steps)))
	}
}

// Done is how many things have been counted, Total at most where that is known.
func (p *Pass) Done() uint64 {
	done := p.done.Load()
	if p.Total > 0 {
		done = min(done, p.Total)
	}
	return done
}

// A Watcher is told of passes. Several may go on at the same time.
type Watcher interface {
	Begin(p *Pass)
	End(p *Pass)
}

type (
	watcherKey struct{}
	passKey    struct{}
	nameKey    struct{}
)

// Watch has w told of all passes that are begun under the context it returns.
func Watch(ctx context.Context, w Watcher) context.Context {
	return context.WithValue(ctx, watcherKey{}, w)
}

// Named names the passes over calls that are begun below: what they are for.
func Named(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// Calls begins a pass over calls, with the name that Named gave; total may be 0, not known. The pass is nil when nobody
// watches.
func Calls(ctx context.Context, total uint64) (inner context.Context, p *Pass, end func()) {
	name, ok := ctx.Value(nameKey{}).(string)
	if !ok {
		name = "reading calls"
	}
	return Begin(ctx, name, "calls", total)
}

// Begin begins a pass, which Of finds in the context it returns. The pass is nil when nobody watches. end is to be called
// when it is over.
func Begin(ctx context.Context, name, unit string, total uint64) (inner context.Context, p *Pass, end func()) {
	w, ok := ctx.Value(watcherKey{}).(Watcher)
	if !ok {
		return ctx, nil, func() {}
	}
	p = &Pass{Name: name, Unit: unit, Total: total}
	w.Begin(p)
	return context.WithValue(ctx, passKey{}, p), p, func() { w.End(p) }
}

// Of is the pass that a context belongs to, nil if there is none.
func Of(ctx context.Context) *Pass {
	p, _ := ctx.Value(passKey{}).(*Pass)
	return p
}
