package causes

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// oneAfterTheOther is ranks that compute in turn: in a chain, or in a pipeline that fills slowly.
type oneAfterTheOther struct{}

// suggest assumes that no rank waits for another's message. It counts what remains with
// equal work and an ideal network, because then only the order of the ranks makes them wait.
func (oneAfterTheOther) suggest(e *evidence) []Hypothesis {
	kinds := []waitstate.Kind{waitstate.LateSender, waitstate.WaitAtNxN, waitstate.WaitAtBarrier, waitstate.LateBroadcast, waitstate.EarlyReduce, waitstate.EarlyScan, waitstate.WaitAtNeighbors, waitstate.LatePost, waitstate.EarlyWait, waitstate.LockContention}
	if !e.isWorthIt(e.longestWait(kinds...)) {
		return nil
	}
	_, where := e.waitedFor(kinds...)
	if e.isWorthIt(e.longestWait(waitstate.LateSender)) {
		_, where = e.waitedFor(waitstate.LateSender)
	}
	h := Hypothesis{width: ofAll, Cause: e.causeOf(verdict.Serialization, nil, where)}
	h.change = change{ignores: e.isBetween}
	h.Cause.AtOnce, h.Cause.Form, h.Cause.Estimate = concurrency(e), chainOrPipeline(e, where), true
	countCalls(e, &h.Cause, where)
	part := 1.0
	h.What = "no rank waited for another"
	h.Assumes = "An estimate of what the order costs: each rank goes on with what it has, and all compute at once."
	if h.Cause.Form == verdict.Pipeline {
		part -= 1.0 / finer
		h.What = fmt.Sprintf("the pipeline was filled %d times as fast", finer)
		h.Assumes = fmt.Sprintf("An estimate of what filling it costs: blocks are 1/%d as large, so each rank waits 1/%d as long for its first one.", finer, finer)
	}
	h.doubt = func(h *Hypothesis, p *played) bool {
		inOrder := int64(part * float64(p.even-p.alone))
		h.length = max(h.length, e.Run()-inOrder) // the rest is due to unequal work or messages
		return e.Share(inOrder) < leastGainOf(verdict.Serialization, verdict.NoForm)
	}
	return []Hypothesis{h}
}

// chainOrPipeline returns which of the two a call with waits belongs to: in a chain a rank waits in
// each call, in a pipeline mostly until it is filled.
func chainOrPipeline(e *evidence, where accounts.Activity) verdict.Form {
	var evenness []float64 // by location: mean wait over the longest
	for i := range e.matched.Tables {
		t := e.Each[i].Tallies[where]
		if t == nil || t.Count < minLong {
			continue
		}
		sum, longest := int64(0), int64(0)
		for p, tally := range e.matched.Tables[i].Sites {
			if p.Function == where.Function && p.Site == where.Site {
				sum, longest = sum+tally.Ns, max(longest, tally.Longest)
			}
		}
		if longest > 0 {
			evenness = append(evenness, float64(sum)/float64(t.Count)/float64(longest))
		}
	}
	slices.Sort(evenness)
	if n := len(evenness); n > 0 && evenness[n/2] >= eachTimeAlike {
		return verdict.Chain
	}
	return verdict.Pipeline
}

// concurrency returns the average number of ranks that compute at the same time, without start and
// end of the run.
func concurrency(e *evidence) float64 {
	sum := int64(0)
	for _, i := range e.MainOf {
		if i >= 0 {
			sum += e.Each[i].Compute
		}
	}
	return float64(sum) / float64(max(1, e.Run()-e.startAndEnd()))
}
