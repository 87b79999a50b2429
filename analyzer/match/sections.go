package match

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// InSections is All for handlers that do not depend on the order of time between locations. It
// processes the calls section by section (section.go): those of a section with a known shape
// location by location, those of other sections in order of time. It processes all calls in order
// of time, up to the next quiescent point, where no section is found (some kinds of calls are not
// supported by closure.take, or something is always pending) or where sections do not pay off
// (gainsNothing).
//
// If k is not nil it collects quiescent points. If see is not nil it is called for every call
// before the call is matched. If decoded is not nil it is called from the decoding goroutines for
// every call with all its values: in program order within a location, concurrently across
// locations.
func InSections(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, handler Handler, k *Cuts, see func(*Call), decoded func(*timeline.Call)) ([]Leftover, error) {
	s, err := newSections(ctx, t, clocks, handler, decoded)
	if err != nil {
		return nil, err
	}
	s.cuts, s.see = k, see
	return s.run(ctx)
}

func newSections(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, handler Handler, decoded func(*timeline.Call)) (*sections, error) {
	r := newReading(t)
	r.decoded = decoded
	ahead, err := timeline.OpenAhead(passes.Named(ctx, "matching calls"), t, clocks, r.reader)
	if err != nil {
		return nil, err
	}
	s := &sections{ahead: ahead, matcher: New(t, handler), terminals: r.terminals, pause: minPause, sinceCheck: checkEvery}
	s.handler, _ = handler.(Sectioner)
	if clocks == nil || clocks.Window == nil { // times at the ends of a window are clipped
		n := len(s.matcher.threads)
		s.closure = newClosure(t, ahead, s.matcher, r.terminals)
		s.shapes, s.awaited, s.turns = newShapes(n), make([]int, n), timeline.NewQueue(n)
	}
	return s, nil
}

// run matches all calls.
func (s *sections) run(ctx context.Context) ([]Leftover, error) {
	defer s.ahead.Close()
	for {
		if s.sinceCheck >= checkEvery {
			if s.sinceCheck = 0; ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		location, _, more := s.ahead.Earliest()
		if !more {
			break
		}
		if s.closure == nil || s.inOrder > 0 || !s.section(location) {
			s.call(location)
		}
	}
	if err := s.ahead.Err(); err != nil {
		return nil, err
	}
	return s.matcher.Finish(), nil
}

// sections matches a run section by section.
type sections struct {
	ahead      *timeline.Ahead[packed, *reader]
	matcher    *Matcher
	handler    Sectioner // nil: the handler is not a Sectioner
	terminals  []terminalPlan
	cuts       *Cuts
	see        func(*Call)
	closure    *closure // nil: there are no sections
	turns      *timeline.Queue
	awaited    []int // by location: number of calls to match in order of time
	present    Call
	sinceCheck int // calls since the context was checked

	shapes     *shapes
	callByCall bool // process sections with a known shape call by call, too: for tests that compare both ways

	inOrder       int // calls to match in order of time before the next search for a quiescent point
	pause         int // value of inOrder the next time
	fresh, shaped int // recent calls in sections without and with a shape
	calls, count  int // recent calls in sections with a shape, and the number of these sections
}

const (
	checkEvery = 1 << 14
	minPause   = 1 << 10
	maxPause   = 1 << 24
	// After maxFresh (plus maxFreshPerLocation per location) calls in sections whose shape was
	// unknown or just made, the number of calls in sections with a known shape is checked. Finding
	// a section and making its shape takes longer than one use of the shape saves. If there were
	// less than minShaped times as many, the next calls are matched in order of time.
	maxFresh            = 1 << 15
	maxFreshPerLocation = 64
	minShaped           = 8
	// The same happens after checkAfter sections with a shape that had less than minCalls calls
	// each: going from one section to the next costs as much as matching some calls.
	checkAfter      = 1 << 13
	minCalls        = 8
	restWithoutGain = 1 << 20
)

// section matches the section that begins with the next call of a location. It reports false if
// there is none.
func (s *sections) section(location int) bool {
	if s.gainsNothing() {
		return false
	}
	if one := s.shapes.next(location, s.ahead, s.matcher); one != nil {
		s.evaluate(one)
		return true
	}
	defer s.closure.release()
	if !s.closure.find(location) {
		s.pause = max(s.pause, 4*s.closure.calls)
		s.rest()
		return false
	}
	if s.closure.plain {
		one, made := s.shapes.of(s.closure)
		if made {
			s.fresh += s.closure.calls
		}
		if one != nil {
			s.evaluate(one)
			return true
		}
	}
	s.fresh += s.closure.calls
	s.match()
	return true
}

// gainsNothing reports whether sections have recently cost more than they saved. Then the next
// calls are matched in order of time.
func (s *sections) gainsNothing() bool {
	useful := true
	if s.fresh > maxFresh+maxFreshPerLocation*len(s.matcher.threads) {
		useful = s.shaped >= minShaped*s.fresh
		s.fresh, s.shaped = 0, 0
	}
	if s.count >= checkAfter {
		useful = useful && s.calls >= minCalls*s.count
		s.calls, s.count = 0, 0
	}
	if !useful {
		s.pause = max(s.pause, restWithoutGain)
		s.rest()
	}
	return !useful
}

// rest switches to the order of time for a while, each time for longer.
func (s *sections) rest() {
	s.inOrder = s.pause
	s.pause = min(2*s.pause, maxPause)
}

// call matches the next call in order of time.
func (s *sections) call(location int) {
	s.sinceCheck++
	by, made := s.ahead.Next(location)
	_, enter, _ := s.ahead.Earliest()
	c := &s.present
	by.unpack(made, s.ahead.Within(enter), c)
	if s.cuts != nil {
		s.cuts.before(c)
	}
	if s.see != nil {
		s.see(c)
	}
	s.matcher.Call(c)
	if s.cuts != nil {
		s.cuts.after(s.matcher, c)
	}
	s.ahead.Pass(location, 1)
	if s.closure == nil {
		return
	}
	if s.inOrder > 1 {
		s.inOrder--
	} else if c.synchronizes() && len(s.matcher.pending) == 0 {
		if s.inOrder = 0; !s.matcher.closed() {
			s.inOrder = s.matcher.checkCost()
		}
	}
}

// match matches the section that the closure has found, in order of time.
func (s *sections) match() {
	for _, m := range s.closure.members {
		s.await(m.location, m.calls)
	}
	s.inTurn(s.closure.synchronizes())
}

// await schedules calls of a location for matching in order of time.
func (s *sections) await(location int32, calls int) {
	s.awaited[location] = calls
	s.turns.Add(int(location), s.ahead.From(int(location), 0).Enter)
}

// inTurn matches the scheduled calls: those of one section. synchronous reports whether all
// locations leave it with a collective.
func (s *sections) inTurn(synchronous bool) {
	s.begin()
	for {
		location, enter, any := s.turns.First()
		if !any {
			break
		}
		by, made := s.ahead.Next(location)
		c := &s.present
		by.unpack(made, enter, c)
		s.cuts.passed(1, c.Enter, c.Exit)
		if s.see != nil {
			s.see(c)
		}
		s.matcher.Call(c)
		s.sinceCheck++
		s.ahead.Pass(location, 1)
		if s.awaited[location]--; s.awaited[location] == 0 {
			s.turns.Remove(location)
		} else {
			s.turns.Next(location, s.ahead.From(location, 0).Enter)
		}
	}
	s.end(synchronous)
}

// evaluate reports a section with a known shape to the handler.
func (s *sections) evaluate(one *shape) {
	s.shaped += len(one.slots)
	s.calls += len(one.slots)
	s.count++
	s.pause = minPause
	s.shapes.occurred(one)
	if s.callByCall {
		for i := range one.members {
			m := &one.members[i]
			s.await(m.location, int(m.end-m.first))
		}
		s.inTurn(one.synchronous)
		return
	}
	s.sinceCheck += len(one.slots)
	s.begin()
	one.evaluate(s.matcher, s.terminals, s.see)
	for i := range one.members {
		m := &one.members[i]
		if s.cuts != nil {
			for k := m.first; k < m.end; k++ {
				s.cuts.passed(1, one.times[k].enter, one.times[k].exit)
			}
		}
		s.ahead.Pass(int(m.location), int(m.end-m.first))
	}
	s.end(one.synchronous)
}

func (s *sections) begin() {
	if s.handler != nil {
		s.handler.Section(true)
	}
}

func (s *sections) end(synchronous bool) {
	if s.handler != nil {
		s.handler.Section(false)
	}
	if _, enter, more := s.ahead.Earliest(); more && synchronous && s.cuts != nil {
		s.cuts.between(s.matcher, enter)
	}
}
