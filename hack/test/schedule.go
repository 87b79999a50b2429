package main

import (
	"context"
	"slices"
)

// A schedule is which stages wait and which are done. Stages run one after the other: most use all
// cores, and tests that judge times would judge another stage's load.
type schedule struct {
	waiting []stage
	done    []result
	all     bool // a stage that failed does not end the run
	execute func(context.Context, stage) result
}

func newSchedule(stages []stage, all bool) *schedule {
	e := &executor{short: !all, built: slices.ContainsFunc(stages, func(st stage) bool { return st.name == "build" })}
	return &schedule{waiting: slices.Clone(stages), all: all, execute: e.execute}
}

// run runs all stages and returns their results in the order in which they ended. Stages that could
// not start are results, too.
func (s *schedule) run(ctx context.Context) []result {
	for ctx.Err() == nil && (s.all || !s.failed()) {
		next := slices.IndexFunc(s.waiting, s.ready)
		if next < 0 {
			break
		}
		st := s.waiting[next]
		s.waiting = slices.Delete(s.waiting, next, next+1)
		s.done = append(s.done, s.execute(ctx, st))
	}
	for _, st := range s.waiting {
		s.done = append(s.done, result{stage: st, state: notRun})
	}
	return s.done
}

// ready reports whether all selected stages that st needs have passed.
func (s *schedule) ready(st stage) bool {
	needed := func(o stage) bool { return needs(st, o.name) }
	return !slices.ContainsFunc(s.waiting, needed) &&
		!slices.ContainsFunc(s.done, func(r result) bool { return needed(r.stage) && r.state == failed })
}

func (s *schedule) failed() bool {
	return slices.ContainsFunc(s.done, func(r result) bool { return r.state == failed })
}
