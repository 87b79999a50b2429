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
	// Name is what the step is called in errors.
	Name() string
	// Requires are the steps whose results this one asks for.
	Requires() []Step
	optional() []Step
	early() bool
	self() Step // the pass itself, also of what embeds it
	run(context.Context, *Run) (any, error)
}

type step struct {
	name           string
	requires, uses []Step
	begins         bool
}

// New makes a pass of a function, which takes the results of the required steps (Result): they are computed before, in this
// order, and if one fails the pass fails likewise.
func New[T any](name string, compute func(context.Context, *Run) (T, error), requires ...Step) *Pass[T] {
	return &Pass[T]{step: step{name: name, requires: requires}, compute: compute}
}

// Uses says which results the pass asks for in runs that want them anyway (Run.Wants).
func (p *Pass[T]) Uses(optional ...Step) *Pass[T] {
	p.uses = append(p.uses, optional...)
	return p
}

// Early says that the pass begins as soon as all that it requires is there, beside others: it keeps one core busy for long.
func (p *Pass[T]) Early() *Pass[T] {
	p.begins = true
	return p
}

// Of is the result of the pass, computed if it is not there. The caller is a pass that uses it, or who began the run and wants
// it. The error is that of computing it.
func (p *Pass[T]) Of(ctx context.Context, r *Run) (T, error) {
	found, err := r.result(ctx, p)
	if err != nil {
		var none T
		return none, err
	}
	return found.(T), nil
}

// Result is the result of the pass for one that requires it, which begins only when it is there.
func (p *Pass[T]) Result(r *Run) T {
	if r.of == nil || !requires(r.of, p) {
		panic(fmt.Sprintf("the result of pass %q is taken, which %s does not require", p.name, r.name()))
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

// asks reports whether a step may ask for the result of another.
func asks(by, of Step, wanted map[Step]bool) bool {
	return requires(by, of) || wanted[of] && slices.ContainsFunc(by.optional(), func(s Step) bool { return s.self() == of })
}

func requires(by, of Step) bool {
	return slices.ContainsFunc(by.Requires(), func(s Step) bool { return s.self() == of })
}

// closure adds a step and all that it requires, however indirectly.
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

// A Bug is a mistake of a pass.
type Bug struct {
	What  any // what it panicked with
	Stack []byte
}

func (b *Bug) Error() string {
	return fmt.Sprintf("this is a bug of Cairn's, please report it with the trace: %v\n%s", b.What, b.Stack)
}
