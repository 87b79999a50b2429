package reexecution

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// completes reports whether calls may complete requests.
func completes(s *semantics.Function) bool {
	switch s.Operation {
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		return true
	}
	return false
}

// found reports whether a call that polls was successful; one that waits always is.
func found(e *trace.Event) bool {
	s := e.Semantics
	if !s.Polls {
		return true
	}
	if s.Out[semantics.Flag] >= 0 {
		return number(at(e.Out, s.Out[semantics.Flag])) > 0
	}
	count := at(e.Out, s.Out[semantics.OutCount])
	return number(count) > 0 || isNamed(count, "MPI_UNDEFINED")
}

// A completion is the requests that a call completed, in its order, and their statuses.
type completion struct {
	requests, statuses []trace.Value
}

// completionOf returns the completion of a call that completed requests.
func completionOf(e *trace.Event) completion {
	s := e.Semantics
	before := elements(at(e.In, s.In[semantics.Request]))
	statuses := elements(at(e.Out, s.Out[semantics.Status]))
	if s.Operation == semantics.Wait || s.Operation == semantics.WaitAll {
		return completion{before, statuses}
	}
	var c completion
	for k, index := range elements(at(e.Out, s.Out[semantics.Index])) {
		i := number(&index) // not a number: MPI_UNDEFINED
		if i < 0 || int(i) >= len(before) || s.Operation == semantics.WaitSome && k >= int(number(at(e.Out, s.Out[semantics.OutCount]))) {
			continue
		}
		c.requests = append(c.requests, before[i])
		if k < len(statuses) {
			c.statuses = append(c.statuses, statuses[k])
		}
	}
	return c
}

// status returns the status of a request by its index.
func (c *completion) status(i int) *trace.Value {
	if i < len(c.statuses) {
		return &c.statuses[i]
	}
	return nil
}
