package main

import (
	"context"
	"slices"
)

// lanes is how many stages run side by side: most stages wait at times, for a cluster or the last
// of their tests, and more than two would only share the machine's cores.
const lanes = 2

// A schedule is which stages wait, run and are done.
type schedule struct {
	waiting []stage
	running []stage
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
	ended := make(chan result)
	for {
		for ctx.Err() == nil {
			next := s.next()
			if next < 0 {
				break
			}
			st := s.waiting[next]
			s.waiting = slices.Delete(s.waiting, next, next+1)
			s.running = append(s.running, st)
			go func() { ended <- s.execute(ctx, st) }()
		}
		if len(s.running) == 0 {
			break
		}
		r := <-ended
		s.running = slices.DeleteFunc(s.running, func(st stage) bool { return st.name == r.stage.name })
		s.done = append(s.done, r)
	}
	for _, st := range s.waiting {
		s.done = append(s.done, result{stage: st, state: notRun})
	}
	return s.done
}

// next returns the index of the waiting stage to start now, or -1.
func (s *schedule) next() int {
	if len(s.running) == lanes || slices.ContainsFunc(s.running, func(r stage) bool { return r.alone }) || !s.all && s.failed() {
		return -1
	}
	return slices.IndexFunc(s.waiting, func(st stage) bool {
		return s.ready(st) && (!st.alone || len(s.running) == 0)
	})
}

// ready reports whether all selected stages that st needs have passed.
func (s *schedule) ready(st stage) bool {
	needed := func(o stage) bool { return needs(st, o.name) }
	return !slices.ContainsFunc(s.waiting, needed) && !slices.ContainsFunc(s.running, needed) &&
		!slices.ContainsFunc(s.done, func(r result) bool { return needed(r.stage) && r.state == failed })
}

func (s *schedule) failed() bool {
	return slices.ContainsFunc(s.done, func(r result) bool { return r.state == failed })
}
