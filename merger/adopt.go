package merger

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A process is one rank with everything in pool numbers.
type process struct {
	rank    trace.Rank // CommunicatorsOwn are pooled communicators
	threads []thread
}

// calls is the number of calls on all threads.
func (p *process) calls() uint64 {
	var n uint64
	for i := range p.threads {
		n += p.threads[i].calls
	}
	return n
}

type thread struct {
	number          int
	root            int32 // pooled rule
	calls           uint64
	streams         []stream
	firstTick       int64
	gaps, durations []int64
}

// A stream is a pooled sequence for one stream of a pooled signature.
type stream struct {
	signature, number, sequence int32
}

// adopt puts the content of c into the pool and returns its processes.
func (p *pool) adopt(c *trace.Content) ([]process, error) {
	// a reader may have accepted bytes whose parts do not fit together
	if err := c.Validate(); err != nil {
		return nil, err
	}
	for i := range c.Functions {
		if err := p.addFunction(&c.Functions[i]); err != nil {
			return nil, err
		}
	}
	a := adoption{pool: p, from: c}
	for _, s := range c.Sites {
		if s.Caller > 0 { // an earlier one
			s.Caller = uint32(a.sites[s.Caller-1]) + 1
		}
		a.sites = append(a.sites, p.addSite(s))
	}
	for _, s := range c.Segments {
		if s.Site > 0 {
			s.Site = uint32(a.sites[s.Site-1]) + 1
		}
		a.segments = append(a.segments, p.addSegment(s))
	}
	for _, comm := range c.Communicators {
		a.communicators = append(a.communicators, p.addCommunicator(comm))
	}
	for _, s := range c.Signatures {
		s = mapSites(s, func(site uint32) uint32 { return uint32(a.sites[site-1]) + 1 })
		a.signatures = append(a.signatures, p.addSignature(withSegments(s, a.segments)))
	}
	for _, s := range c.Sequences {
		a.sequences = append(a.sequences, p.addSequence(s))
	}
	a.addRules()
	return a.processes()
}

// An adoption maps the numbers of one trace to those of the pool.
type adoption struct {
	pool *pool
	from *trace.Content

	sites, segments, communicators, signatures, rules, sequences []int32

	created map[int32]int32 // sequences of new communicators, whose values change
}

// addRules pools the rules from the last to the first: rules refer only to later ones.
func (a *adoption) addRules() {
	rules := a.from.Grammar.Rules
	a.rules = make([]int32, len(rules))
	for i := len(rules) - 1; i >= 0; i-- {
		body := make([]trace.Symbol, len(rules[i]))
		for k, s := range rules[i] {
			if s.IsRule() {
				body[k] = trace.RuleSymbol(int(a.rules[s.Rule()]), s.Count)
			} else {
				body[k] = trace.Symbol{Value: a.signatures[s.Value], Count: s.Count}
			}
		}
		a.rules[i] = a.pool.addRule(body)
	}
}

func (a *adoption) processes() ([]process, error) {
	place := map[int]int{}
	processes := make([]process, len(a.from.Ranks))
	for i, r := range a.from.Ranks {
		own := make([]uint32, len(r.CommunicatorsOwn))
		for k, id := range r.CommunicatorsOwn {
			own[k] = uint32(a.communicators[id])
		}
		r.CommunicatorsOwn = own
		processes[i].rank = r
		place[r.Rank] = i
	}
	for i := range a.from.Threads {
		t := &a.from.Threads[i]
		adopted := thread{
			number: t.Thread, root: a.rules[t.Root], calls: t.Calls,
			firstTick: t.FirstTick, gaps: t.Gaps, durations: t.Durations,
		}
		for _, ref := range t.Streams {
			sequence := a.sequences[ref.Sequence]
			if givesCommunicator(&a.from.Signatures[ref.Terminal], ref.Number) {
				var err error
				if sequence, err = a.communicatorSequence(ref.Sequence); err != nil {
					return nil, fmt.Errorf("rank %d: %w", t.Rank, err)
				}
			}
			adopted.streams = append(adopted.streams, stream{a.signatures[ref.Terminal], ref.Number, sequence})
		}
		at := place[t.Rank]
		processes[at].threads = append(processes[at].threads, adopted)
	}
	return processes, nil
}

// givesCommunicator tells whether a stream of a signature holds indices into
// the table of communicators.
func givesCommunicator(s *trace.Signature, number int32) bool {
	return s.Communicator.Form == trace.Stream && s.Communicator.Int == int64(number)
}

// communicatorSequence pools a sequence of communicators under their pooled numbers.
func (a *adoption) communicatorSequence(sequence int32) (int32, error) {
	if id, done := a.created[sequence]; done {
		return id, nil
	}
	values := slices.Clone(a.from.Sequences[sequence])
	for k, v := range values {
		if v >= int64(len(a.communicators)) {
			return 0, fmt.Errorf("communicator %d is not in the table", v)
		}
		if v >= 0 {
			values[k] = int64(a.communicators[v])
		}
	}
	if a.created == nil {
		a.created = map[int32]int32{}
	}
	id := a.pool.addSequence(values)
	a.created[sequence] = id
	return id, nil
}
