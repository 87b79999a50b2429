package pass

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A Run is the analysis of one trace, or of a part of its run, with the results so far.
type Run struct {
	*shared
	of Step // the step that asks for results; nil: the owner of the run
}

type shared struct {
	trace  timeline.Trace
	given  map[Step]any // results that were known in advance
	wanted map[Step]bool
	end    context.CancelFunc
	ctx    context.Context // for early passes
	early  sync.WaitGroup

	mu      sync.Mutex
	results map[Step]*result
	closers []closer
}

// A closer releases what the result of a step holds.
type closer struct {
	of Step
	do func() error
}

// A result is available when done is closed.
type result struct {
	done  chan struct{}
	found any
	err   error
}

// Begin starts a run for the given steps. The caller must call Close.
func Begin(ctx context.Context, t timeline.Trace, want ...Step) *Run {
	s := &shared{trace: t, given: map[Step]any{}, wanted: map[Step]bool{}, results: map[Step]*result{}}
	for _, w := range want {
		closure(w, s.wanted)
	}
	s.ctx, s.end = context.WithCancel(ctx)
	return &Run{shared: s}
}

// Find returns the result of a pass in a run of its own. The functions in given may set results of
// other passes. The result must not need what passes release when a run is closed.
func Find[T any](ctx context.Context, t timeline.Trace, p *Pass[T], given ...func(*Run)) (T, error) {
	r := Begin(ctx, t, p)
	for _, give := range given {
		give(r)
	}
	found, err := p.Of(ctx, r)
	return found, errors.Join(err, r.Close())
}

// Give sets the result of a pass, which is then not computed.
func Give[T any](r *Run, p *Pass[T], result T) { r.given[p] = result }

// Given returns the result that was set by Give, and whether there is one.
func Given[T any](r *Run, p *Pass[T]) (result T, given bool) {
	result, given = r.given[p].(T)
	return result, given
}

// Computed returns the result of a pass if it was computed successfully, the zero T otherwise.
func Computed[T any](r *Run, p *Pass[T]) (found T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.results[p]; x != nil && x.err == nil {
		found, _ = x.found.(T)
	}
	return found
}

// Trace returns the analyzed trace.
func (r *Run) Trace() timeline.Trace { return r.trace }

// Wants reports whether any step of this run will ask for the result of s.
func (r *Run) Wants(s Step) bool { return r.wanted[s.self()] }

// OnClose registers a function that releases what the result of the calling pass holds. Done and
// Close call them, the last one first.
func (r *Run) OnClose(do func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closers = append(r.closers, closer{r.of, do})
}

// Done declares that of all steps only those that remain will be asked for. It drops the results
// that none of them can use, and releases what these hold.
func (r *Run) Done(remaining ...Step) error {
	needed := map[Step]bool{}
	for _, s := range remaining {
		closure(s, needed)
	}
	usable := maps.Clone(needed)
	for s := range needed {
		for _, optional := range s.optional() {
			usable[optional.self()] = true
		}
	}
	r.mu.Lock()
	for s := range r.results {
		if !usable[s] {
			r.results[s] = &dropped
		}
	}
	r.mu.Unlock()
	return r.release(func(s Step) bool { return !needed[s] })
}

// dropped replaces results that no step can use.
var dropped = func() result {
	r := result{done: make(chan struct{}), err: errors.New("the result was dropped")}
	close(r.done)
	return r
}()

func (s *shared) release(done func(Step) bool) error {
	s.mu.Lock()
	var released []closer
	s.closers = slices.DeleteFunc(s.closers, func(c closer) bool {
		if done(c.of) {
			released = append(released, c)
		}
		return done(c.of)
	})
	s.mu.Unlock()
	if len(released) > 0 {
		s.early.Wait() // one may run on for a step that has failed
	}
	var failed []error
	for _, c := range slices.Backward(released) {
		failed = append(failed, c.do())
	}
	return errors.Join(failed...)
}

// Close cancels early passes that no step has waited for, and releases the resources of all passes.
// Results must not be used after it.
func (r *Run) Close() error {
	r.end()
	r.early.Wait()
	return r.release(func(Step) bool { return true })
}

// result computes the result of a step, or waits until another goroutine has computed it.
func (r *Run) result(ctx context.Context, s Step) (any, error) {
	if r.of == nil && !r.wanted[s] || r.of != nil && !asks(r.of, s, r.wanted) {
		panic(fmt.Sprintf("pass %q is used by %s, which does not require it", s.Name(), r.name()))
	}
	return r.compute(ctx, s)
}

func (r *Run) name() string {
	if r.of == nil {
		return "the run"
	}
	return fmt.Sprintf("pass %q", r.of.Name())
}

func (s *shared) compute(ctx context.Context, p Step) (any, error) {
	s.mu.Lock()
	if found, given := s.given[p]; given {
		s.mu.Unlock()
		return found, nil
	}
	x := s.results[p]
	if x != nil {
		s.mu.Unlock()
		<-x.done
		return x.found, x.err
	}
	x = &result{done: make(chan struct{})}
	s.results[p] = x
	s.mu.Unlock()
	if x.err = s.require(ctx, p); x.err == nil {
		x.found, x.err = guarded(ctx, p, &Run{shared: s, of: p})
	}
	close(x.done)
	if x.err == nil {
		s.begin()
	}
	return x.found, x.err
}

// require computes what a step requires.
func (s *shared) require(ctx context.Context, p Step) error {
	for _, required := range p.Requires() {
		if _, err := s.compute(ctx, required.self()); err != nil {
			return err
		}
	}
	return nil
}

// guarded computes a step and converts a panic to a Bug.
func guarded(ctx context.Context, p Step, r *Run) (found any, err error) {
	defer func() {
		if what := recover(); what != nil {
			found, err = nil, &Bug{what, debug.Stack()}
		}
	}()
	return p.run(ctx, r)
}

// begin starts the wanted early passes whose requirements are computed.
func (s *shared) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.wanted {
		if p.early() && s.results[p] == nil && s.ready(p) {
			s.early.Go(func() { _, _ = s.compute(s.ctx, p) })
		}
	}
}

// ready reports whether all requirements of a step are computed.
func (s *shared) ready(p Step) bool {
	for _, required := range p.Requires() {
		required = required.self()
		if _, given := s.given[required]; given {
			continue
		}
		x := s.results[required]
		if x == nil {
			return false
		}
		select {
		case <-x.done:
			if x.err != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}
