package match

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// InSections is All for a handler to which the order of time between locations does not matter. The calls are taken section by
// section (section.go): those of a section with a known shape location by location, those of another in the order of time.
// Where no sections are found, because there are calls of kinds that are not followed (closure.take), or something is always
// under way, or where they do not pay (gainsNothing), all calls are taken in the order of time, up to a moment at which nothing is
// under way.
//
// k notes cuts (nil: nobody does); see is told of each call before it is matched, and decoded with all its values where it is
// decoded, the calls of a location in order, those of different ones at the same time. Both may be nil.
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
	s := &sections{ahead: ahead, matcher: New(t, handler), terminals: r.terminals, pause: leastPause, unasked: askAfter}
	s.handler, _ = handler.(Sectioner)
	if clocks == nil || clocks.Window == nil { // whose times are cut
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
		if s.unasked >= askAfter {
			if s.unasked = 0; ctx.Err() != nil {
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

// sections are matched one after the other.
type sections struct {
	ahead     *timeline.Ahead[packed, *reader]
	matcher   *Matcher
	handler   Sectioner // nil: it does not ask
	terminals []terminalPlan
	cuts      *Cuts
	see       func(*Call)
	closure   *closure // nil: there are no sections
	turns     *timeline.Queue
	awaited   []int // by location: calls to be matched in turn
	present   Call
	unasked   int // calls since it was asked whether somebody still wants to know

	shapes     *shapes
	callByCall bool // also sections whose shape is known: tests compare the two

	inOrder       int // calls to be taken in the order of time, before a moment is looked for at which nothing is under way
	pause         int // how many it will be the next time
	fresh, shaped int // calls in sections without and with a shape, of late
	calls, count  int // and in how many of the latter, how many calls, of late
}

const (
	askAfter   = 1 << 14
	leastPause = 1 << 10
	maxPause   = 1 << 24
	// After so many calls in sections without a shape, or of which one was made (fresh), it is looked how many calls there were in
	// sections with one. To find a section, and to make its shape, takes longer than a shape saves: if there were not leastShaped
	// times as many, the next calls are taken in the order of time.
	maxFresh            = 1 << 15
	maxFreshPerLocation = 64
	leastShaped         = 8
	// The same goes after lookAfter sections with a shape if they had less than leastCalls calls each: to go from one to the next
	// takes as long as the Matcher takes for some calls.
	lookAfter       = 1 << 13
	leastCalls      = 8
	restWithoutGain = 1 << 20
)

// section matches the section that begins with the next call of a location; false: there is none.
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

// gainsNothing takes the next calls in the order of time if sections have cost more of late than they have saved.
func (s *sections) gainsNothing() bool {
	useful := true
	if s.fresh > maxFresh+maxFreshPerLocation*len(s.matcher.threads) {
		useful = s.shaped >= leastShaped*s.fresh
		s.fresh, s.shaped = 0, 0
	}
	if s.count >= lookAfter {
		useful = useful && s.calls >= leastCalls*s.count
		s.calls, s.count = 0, 0
	}
	if !useful {
		s.pause = max(s.pause, restWithoutGain)
		s.rest()
	}
	return !useful
}

// rest takes calls in the order of time for a while, each time longer.
func (s *sections) rest() {
	s.inOrder = s.pause
	s.pause = min(2*s.pause, maxPause)
}

// call matches the call whose turn it is.
func (s *sections) call(location int) {
	s.unasked++
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
			s.inOrder = s.matcher.lookCost()
		}
	}
}

// match matches the section that the closure has found, in the order of time.
func (s *sections) match() {
	for _, m := range s.closure.members {
		s.await(m.location, m.calls)
	}
	s.inTurn(s.closure.synchronizes())
}

// await has so many calls of a location matched in the order of time.
func (s *sections) await(location int32, calls int) {
	s.awaited[location] = calls
	s.turns.Add(int(location), s.ahead.From(int(location), 0).Enter)
}

// inTurn matches the awaited calls, a section that is synchronous or not.
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
		s.unasked++
		s.ahead.Pass(location, 1)
		if s.awaited[location]--; s.awaited[location] == 0 {
			s.turns.Remove(location)
		} else {
			s.turns.Next(location, s.ahead.From(location, 0).Enter)
		}
	}
	s.end(synchronous)
}

// evaluate tells the handler of a section whose shape is known.
func (s *sections) evaluate(one *shape) {
	s.shaped += len(one.slots)
	s.calls += len(one.slots)
	s.count++
	s.pause = leastPause
	s.shapes.came(one)
	if s.callByCall {
		for i := range one.members {
			m := &one.members[i]
			s.await(m.location, int(m.end-m.first))
		}
		s.inTurn(one.synchronous)
		return
	}
	s.unasked += len(one.slots)
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
