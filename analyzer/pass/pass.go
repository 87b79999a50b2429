package pass

import (
	"context"
	"fmt"
	"slices"
)

// A Pass computes a T from a run.
type Pass[T any] struct {
	step
	compute func(context.Context, *Run) (T, error)
}

// A Step is a pass of any type of result.
type Step interface {
	// Name is the name of the step in error messages.
	Name() string
	// Requires returns the steps whose results this one uses.
	Requires() []Step
	optional() []Step
	early() bool
	self() Step // the pass itself, also if it is embedded
	run(context.Context, *Run) (any, error)
}

type step struct {
	name           string
	requires, uses []Step
	begins         bool
}

// New returns a pass that runs compute. The required steps are computed before it, in this order;
// compute gets their results by Result. If one of them fails, the pass fails with its error.
func New[T any](name string, compute func(context.Context, *Run) (T, error), requires ...Step) *Pass[T] {
	return &Pass[T]{step: step{name: name, requires: requires}, compute: compute}
}

// Uses declares results that the pass uses in runs that want them anyway (Run.Wants).
func (p *Pass[T]) Uses(optional ...Step) *Pass[T] {
	p.uses = append(p.uses, optional...)
	return p
}

// Early makes the pass start as soon as all that it requires is computed, concurrently with others.
// It is for passes that keep a core busy for a long time.
func (p *Pass[T]) Early() *Pass[T] {
	p.begins = true
	return p
}

// Of returns the result of the pass and computes it if necessary. The caller is a pass that uses
// it, or the owner of a run that wants it.
func (p *Pass[T]) Of(ctx context.Context, r *Run) (T, error) {
	found, err := r.result(ctx, p)
	if err != nil {
		var none T
		return none, err
	}
	return found.(T), nil
}

// Result returns the result of the pass to a pass that requires it and therefore starts only after
// it.
func (p *Pass[T]) Result(r *Run) T {
	if r.of == nil || !requires(r.of, p) {
		panic(fmt.Sprintf("the result of pass %q is used by %s, which does not require it", p.name, r.name()))
	}
	if given, is := r.given[p]; is {
		return given.(T)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.results[p].found.(T)
}

func (p *Pass[T]) self() Step { return p }

func (p *Pass[T]) run(ctx context.Context, r *Run) (any, error) { return p.compute(ctx, r) }

func (s *step) Name() string     { return s.name }
func (s *step) Requires() []Step { return s.requires }
func (s *step) optional() []Step { return s.uses }
func (s *step) early() bool      { return s.begins }

// asks reports whether a step may use the result of another.
func asks(by, of Step, wanted map[Step]bool) bool {
	return requires(by, of) || wanted[of] && slices.ContainsFunc(by.optional(), func(s Step) bool { return s.self() == of })
}

func requires(by, of Step) bool {
	return slices.ContainsFunc(by.Requires(), func(s Step) bool { return s.self() == of })
}

// closure adds a step and all direct and indirect requirements to into.
func closure(s Step, into map[Step]bool) {
	s = s.self()
	if into[s] {
		return
	}
	into[s] = true
	for _, required := range s.Requires() {
		closure(required, into)
	}
}

// A Bug is a panic of a pass.
type Bug struct {
	What  any // the argument of panic
	Stack []byte
}

func (b *Bug) Error() string {
	return fmt.Sprintf("this is a bug of Cairn's, please report it with the trace: %v\n%s", b.What, b.Stack)
}
