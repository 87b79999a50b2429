package merger

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Summary has the numbers of a trace that a job's status shows.
type Summary struct {
	Ranks   int
	Missing trace.RankList
	Calls   uint64
	// CallsLost is the number of calls that were not recorded; LostWhy names the ranks and the
	// reasons.
	CallsLost uint64
	LostWhy   string
	// CallsCoarse is the number of Calls for which only sums of times are known; CoarseRanks are
	// their ranks.
	CallsCoarse uint64
	CoarseRanks trace.RankList
	// RunTime is the time from the first call of a thread that initializes MPI to
	// the end of its MPI_Finalize, in seconds.
	RunTime float64
	// ParallelEfficiency is the mean time that ranks spent outside MPI between their own first call
	// and MPI_Finalize, divided by RunTime; −1 if unknown.
	ParallelEfficiency float64
}

// Summarize computes the summary of a trace.
func Summarize(c *trace.Content) Summary {
	s := Summary{Ranks: c.Ranks.Len(), Missing: c.Meta.MissingRanks, ParallelEfficiency: -1}
	s.CallsLost, s.LostWhy = lostCalls(c)
	s.CallsCoarse, s.CoarseRanks = trace.CoarseCalls(c.Coarse())
	operations := make(map[uint16]semantics.Operation, len(c.Functions))
	for i := range c.Functions {
		operations[c.Functions[i].ID] = c.Functions[i].Semantics().Operation
	}
	ofTerminal := make([]semantics.Operation, len(c.Signatures))
	for i := range c.Signatures {
		ofTerminal[i] = operations[c.Signatures[i].Function]
	}
	initializes := map[int]bool{} // by root
	row, rankAt, number := 0, c.Ranks.Lookup(), c.Ranks.Numbers().Lookup()
	domains := map[string]*interval{} // ranks of one boot id share a clock
	outside, measured := 0.0, 0
	for _, t := range c.Threads.All() { // sorted by rank, as the ranks are
		s.Calls += t.Calls
		if _, known := initializes[t.Root]; !known {
			initializes[t.Root] = calls(c, t.Root, ofTerminal, semantics.Initialize)
		}
		if !initializes[t.Root] || t.EndTick <= t.FirstTick {
			continue
		}
		for row < c.Ranks.Len() && number(row) < int64(t.Rank) {
			row++
		}
		if row == c.Ranks.Len() {
			break
		}
		rank := rankAt(row)
		life := lifeOf(&t)
		line := newTimeLine(rank.Clock)
		from, to := line.seconds(life.enter), line.seconds(life.exit)
		measured++
		outside += (to - from) * (1 - life.inMPI)
		if d := domains[rank.BootID]; d == nil {
			domains[rank.BootID] = &interval{from, to}
		} else {
			d.from, d.to = min(d.from, from), max(d.to, to)
		}
	}
	for _, d := range domains {
		// clocks of different nodes are not compared: MPI_Init begins and
		// MPI_Finalize ends together closely enough on all of them
		s.RunTime = max(s.RunTime, d.to-d.from)
	}
	if measured > 0 && s.RunTime > 0 {
		s.ParallelEfficiency = outside / float64(measured) / s.RunTime
	}
	return s
}

type interval struct{ from, to float64 }

// life is a rank's time in ticks, from its first call to the end of MPI_Finalize.
type life struct {
	enter, exit int64
	inMPI       float64 // share of it spent inside MPI calls
}

// lifeOf measures the thread that called MPI_Init, from its first call to the end of MPI_Finalize.
// Other threads have none.
func lifeOf(t *trace.Thread) life {
	length := t.EndTick - t.FirstTick
	return life{t.FirstTick, t.EndTick, float64(t.InsideTicks) / float64(length)}
}

// calls reports whether an operation occurs below a root; operations are those of the terminals.
func calls(c *trace.Content, root int, operations []semantics.Operation, wanted semantics.Operation) bool {
	seen := map[int]bool{root: true}
	for rules := []int{root}; len(rules) > 0; {
		rule := rules[len(rules)-1]
		rules = rules[:len(rules)-1]
		for _, s := range c.Grammar.Rules[rule] {
			if !s.IsRule() {
				if operations[s.Value] == wanted {
					return true
				}
			} else if next := s.Rule(); !seen[next] {
				seen[next] = true
				rules = append(rules, next)
			}
		}
	}
	return false
}

// A timeLine converts ticks to seconds of the node's monotonic clock.
type timeLine struct {
	ticks, base int64
	perTick     float64
}

func newTimeLine(clock timing.Clock) timeLine {
	line := timeLine{perTick: 1e-9}
	if len(clock.Samples) == 0 {
		return line
	}
	first, last := clock.Samples[0], clock.Samples[len(clock.Samples)-1]
	line.ticks, line.base = first.Ticks, first.MonotonicNS
	if clock.Kind == "tsc" && last.Ticks > first.Ticks {
		line.perTick = float64(last.MonotonicNS-first.MonotonicNS) * 1e-9 / float64(last.Ticks-first.Ticks)
	}
	return line
}

func (l timeLine) seconds(ticks int64) float64 {
	return float64(l.base)*1e-9 + float64(ticks-l.ticks)*l.perTick
}
