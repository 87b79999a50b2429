package causes

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// tracerOverhead is the time that the tracer takes.
type tracerOverhead struct{}

// suggest assumes that the tracer has no overhead.
func (tracerOverhead) suggest(e *evidence) []Hypothesis {
	overhead := int64(0)
	for i := range e.Each {
		overhead += e.Each[i].Overhead
	}
	if !e.isWorthIt(overhead / int64(max(1, len(e.Each)))) {
		return nil
	}
	h := Hypothesis{width: ofAll, Cause: verdict.Cause{Kind: verdict.Tracer}, estimated: overhead / int64(max(1, len(e.Each)))}
	h.What, h.Assumes = "the tracer took no time", "An estimate: what it kept each thread for, on average."
	return []Hypothesis{h}
}

// becomeCompressor makes a hypothesis about waits for a CPU one about the tracer's compressor,
// which took CPU time there. Both are in seconds.
func (h *Hypothesis) becomeCompressor(e *evidence, took, waited float64) {
	h.width, h.ofWaits = ofAll, false
	h.Cause = ofAllRanks(e, verdict.Tracer, verdict.Compressor, accounts.Activity{})
	h.Cause.CompressorSeconds, h.Cause.WaitedSeconds, h.Cause.Estimate = took, waited, true
	h.What = "the tracer's compressor had CPUs of its own"
	h.Assumes = "An estimate: the compressor causes as much of each wait for a CPU as it took of all of them. " + h.Assumes
}

// isOfCompressor reports whether the compressor took CPU time for much of the waits for a CPU on
// the machines of the ranks in some rows (nil: all). It returns both, in seconds.
func isOfCompressor(e *evidence, rows map[int]bool) (took, waited float64, is bool) {
	concerned := map[string]bool{}
	for row := range e.Ranks {
		if rows == nil || rows[row] {
			concerned[accounts.NodeOf(&e.Ranks[row])] = true
		}
	}
	for row, i := range e.MainOf {
		if i < 0 || !concerned[accounts.NodeOf(&e.Ranks[row])] {
			continue
		}
		if u := e.Ranks[row].Tracer; u != nil {
			took += accounts.Seconds(u.CPUNS)
		}
		delayed, _ := delayedIn(e, row)
		waited += accounts.Seconds(delayed)
	}
	return took, waited, took > 0 && took >= explains*waited
}

// exceptCompressor drops the hypotheses that something else runs on the CPUs of ranks, where that
// is the compressor.
func exceptCompressor(e *evidence, list []Hypothesis) []Hypothesis {
	return slices.DeleteFunc(list, func(h Hypothesis) bool {
		if h.Cause.Form != verdict.Preempted {
			return false
		}
		rows, ranks := map[int]bool{}, h.Cause.List()
		for row := range e.Ranks {
			rows[row] = slices.Contains(ranks, e.Ranks[row].Rank)
		}
		_, _, is := isOfCompressor(e, rows)
		return is
	})
}
