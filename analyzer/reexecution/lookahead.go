package reexecution

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// maxAhead is the maximum number of receives that a lookahead stores before they are asked for. A
// receive that is outstanding for longer is searched for with a separate cursor, which takes time
// but no memory.
const maxAhead = 1 << 14

// A lookahead finds what receives with wildcards will match, in the order in which they begin: a
// second cursor goes through the calls of the thread ahead of the first one, up to the completion
// of the receive in question.
type lookahead struct {
	open    func(index uint64) (cursor, error) // returns a cursor before the call with an index
	ahead   cursor
	began   []*receive // not asked for yet
	active  map[int64]*receive
	pending map[int64]bool // persistent requests with wildcards
	ended   bool
	most    int
}

// A cursor iterates over the calls of a thread.
type cursor interface {
	Next() bool
	Event() *trace.Event
	Err() error
}

// A receive that has begun.
type receive struct {
	matched matched
	ended   bool
}

func newLookahead(open func(uint64) (cursor, error), most int) *lookahead {
	return &lookahead{open: open, active: map[int64]*receive{}, pending: map[int64]bool{}, most: most}
}

// next returns what the receive matches that the call with an index begins. It must be called for
// each of them, in order. persistent are the requests of persistent receives with wildcards that
// exist before that call.
func (l *lookahead) next(index uint64, request int64, persistent map[int64][]trace.Value) (matched, error) {
	if l.ahead == nil {
		c, err := l.open(index)
		if err != nil {
			return matched{}, err
		}
		l.ahead = c
		for r := range persistent {
			l.pending[r] = true
		}
	}
	for len(l.began) == 0 || !l.began[0].ended {
		if l.ended || len(l.began) >= l.most {
			break
		}
		if !l.ahead.Next() {
			l.ended = true
			if err := l.ahead.Err(); err != nil {
				return matched{}, err
			}
			break
		}
		l.see(l.ahead.Event())
	}
	if len(l.began) == 0 {
		return matched{}, nil
	}
	r := l.began[0]
	l.began = l.began[1:]
	if !r.ended && !l.ended {
		return l.search(index, request)
	}
	return r.matched, nil
}

// see processes a call ahead.
func (l *lookahead) see(e *trace.Event) {
	if !executed(e) {
		return
	}
	eachWildStart(e, l.pending, func(request int64) {
		r := new(receive)
		l.began, l.active[request] = append(l.began, r), r
	})
	eachEnd(e, func(request int64, m matched) {
		if r := l.active[request]; r != nil {
			r.matched, r.ended = m, true
			delete(l.active, request)
		}
	})
}

// search searches for the completion of one request, from the call on that began it.
func (l *lookahead) search(index uint64, request int64) (m matched, err error) {
	c, err := l.open(index)
	if err != nil {
		return m, err
	}
	for first, done := true, false; !done && c.Next(); first = false {
		if first || !executed(c.Event()) {
			continue
		}
		eachEnd(c.Event(), func(ended int64, by matched) {
			if ended == request && !done {
				m, done = by, true
			}
		})
	}
	return m, c.Err()
}

// eachWildStart calls do with the requests of receives with wildcards that a call begins, in order.
// pending has the existing persistent ones, and is updated.
func eachWildStart(e *trace.Event, pending map[int64]bool, do func(request int64)) {
	s := e.Semantics
	switch {
	case s.Receives() && s.Completion == semantics.Nonblocking && isWild(s, e.In):
		if r := at(e.Out, s.Out[semantics.Request]); r != nil && r.Form == trace.Handle {
			do(r.Int)
		}
	case s.Receives() && s.Completion == semantics.Persistent && isWild(s, e.In):
		if r := at(e.Out, s.Out[semantics.Request]); r != nil && r.Form == trace.Handle {
			pending[r.Int] = true
		}
	case s.Operation == semantics.Start:
		for _, r := range elements(at(e.In, s.In[semantics.Request])) {
			if r.Form == trace.Handle && pending[r.Int] {
				do(r.Int)
			}
		}
	case s.Operation == semantics.RequestFree:
		if r := at(e.In, s.In[semantics.Request]); r != nil && r.Form == trace.Handle {
			delete(pending, r.Int)
		}
	}
}

// eachEnd calls do with the requests that a call completes, or frees, and what they matched.
func eachEnd(e *trace.Event, do func(request int64, m matched)) {
	s := e.Semantics
	switch {
	case completes(s) && found(e):
		c := completionOf(e)
		for i := range c.requests {
			if c.requests[i].Form == trace.Handle {
				do(c.requests[i].Int, matchedBy(c.status(i)))
			}
		}
	case s.Operation == semantics.RequestFree:
		if r := at(e.In, s.In[semantics.Request]); r != nil && r.Form == trace.Handle {
			do(r.Int, matched{})
		}
	}
}

// executed reports whether a call had an effect: it succeeded, or it received a message that was
// too long.
func executed(e *trace.Event) bool {
	if e.Succeeded() {
		return true
	}
	return isNamed(&e.Return, "MPI_ERR_TRUNCATE") || isNamed(&e.Return, "MPI_ERR_IN_STATUS")
}
