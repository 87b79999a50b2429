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

// adopt puts the content of c into the pool and returns its processes. It
// checks every index: a reader may have accepted bytes whose parts do not fit
// together.
func (p *pool) adopt(c *trace.Content) ([]process, error) {
	for i := range c.Functions {
		if err := p.addFunction(&c.Functions[i]); err != nil {
			return nil, err
		}
	}
	sites := make([]int32, len(c.Sites))
	for i, s := range c.Sites {
		sites[i] = p.addSite(s)
	}
	communicators := make([]int32, len(c.Communicators))
	for i, comm := range c.Communicators {
		communicators[i] = p.addCommunicator(comm)
	}
	signatures := make([]int32, len(c.Signatures))
	for i, s := range c.Signatures {
		if s.Site > 0 {
			if int(s.Site) > len(sites) {
				return nil, fmt.Errorf("signature %d names call site %d of %d", i, s.Site, len(sites))
			}
			s.Site = uint32(sites[s.Site-1]) + 1
		}
		if p.functions[s.Function] == nil {
			return nil, fmt.Errorf("signature %d names function %d, which is not described", i, s.Function)
		}
		signatures[i] = p.addSignature(s)
	}
	rules, err := p.adoptRules(c, signatures)
	if err != nil {
		return nil, err
	}
	sequences := make([]int32, len(c.Sequences))
	for i, s := range c.Sequences {
		sequences[i] = p.addSequence(s)
	}
	renamed := map[int32]int32{} // sequences of communicators, by the old index
	processOf := map[int]int{}
	processes := make([]process, len(c.Ranks))
	for i, r := range c.Ranks {
		own := make([]uint32, len(r.CommunicatorsOwn))
		for k, id := range r.CommunicatorsOwn {
			if int(id) >= len(communicators) {
				return nil, fmt.Errorf("rank %d names communicator %d of %d", r.Rank, id, len(communicators))
			}
			own[k] = uint32(communicators[id])
		}
		r.CommunicatorsOwn = own
		processes[i].rank = r
		if _, twice := processOf[r.Rank]; twice {
			return nil, fmt.Errorf("rank %d is listed twice", r.Rank)
		}
		processOf[r.Rank] = i
	}
	for i := range c.Threads {
		t := &c.Threads[i]
		at, ok := processOf[t.Rank]
		if !ok {
			return nil, fmt.Errorf("thread %d belongs to rank %d, which is not listed", t.Thread, t.Rank)
		}
		if t.Root < 0 || t.Root >= len(rules) {
			return nil, fmt.Errorf("rank %d has root rule %d of %d", t.Rank, t.Root, len(rules))
		}
		adopted := thread{
			number: t.Thread, root: rules[t.Root], calls: t.Calls,
			firstTick: t.FirstTick, gaps: t.Gaps, durations: t.Durations,
		}
		for _, ref := range t.Streams {
			if ref.Terminal < 0 || int(ref.Terminal) >= len(signatures) || ref.Sequence < 0 || int(ref.Sequence) >= len(sequences) {
				return nil, fmt.Errorf("rank %d has a stream that does not exist", t.Rank)
			}
			sequence := sequences[ref.Sequence]
			if comm := c.Signatures[ref.Terminal].Communicator; comm.Form == trace.Stream && comm.Int == int64(ref.Number) {
				// values of this stream are indices into the table of communicators
				id, done := renamed[ref.Sequence]
				if !done {
					values := slices.Clone(c.Sequences[ref.Sequence])
					for k, v := range values {
						if v >= int64(len(communicators)) {
							return nil, fmt.Errorf("rank %d created communicator %d of %d", t.Rank, v, len(communicators))
						}
						if v >= 0 {
							values[k] = int64(communicators[v])
						}
					}
					id = p.addSequence(values)
					renamed[ref.Sequence] = id
				}
				sequence = id
			}
			adopted.streams = append(adopted.streams, stream{signatures[ref.Terminal], ref.Number, sequence})
		}
		processes[at].threads = append(processes[at].threads, adopted)
	}
	for i := range processes {
		slices.SortFunc(processes[i].threads, func(a, b thread) int { return a.number - b.number })
	}
	return processes, nil
}

// adoptRules pools the rules from the last to the first: rules refer only to later ones.
func (p *pool) adoptRules(c *trace.Content, signatures []int32) ([]int32, error) {
	rules := make([]int32, len(c.Grammar.Rules))
	for i := len(rules) - 1; i >= 0; i-- {
		body := make([]trace.Symbol, len(c.Grammar.Rules[i]))
		for k, s := range c.Grammar.Rules[i] {
			switch {
			case s.IsRule() && (s.Rule() <= i || s.Rule() >= len(rules)):
				return nil, fmt.Errorf("rule %d refers to rule %d", i, s.Rule())
			case s.IsRule():
				body[k] = trace.RuleSymbol(int(rules[s.Rule()]), s.Count)
			case int(s.Value) >= len(signatures):
				return nil, fmt.Errorf("rule %d has terminal %d of %d", i, s.Value, len(signatures))
			default:
				body[k] = trace.Symbol{Value: signatures[s.Value], Count: s.Count}
			}
		}
		rules[i] = p.addRule(body)
	}
	return rules, nil
}
