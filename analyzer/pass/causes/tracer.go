package causes

import (
	"maps"
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

// A compression is what the tracer's compressor has to do with the waits for a CPU on some
// machines.
type compression struct {
	rows         map[int]bool // ranks that wait there
	took, waited float64      // seconds: CPU time of the compressor, and waits of all ranks there
	explained    float64      // of the waits, in seconds
}

// compressionOf finds the machines of the ranks in some rows (nil: all) on which the compressor
// took CPU time for much of the waits for a CPU. What it takes on one machine explains no waits on
// another.
func compressionOf(e *evidence, rows map[int]bool) compression {
	machines, list := map[string]*compression{}, []*compression(nil)
	for row, i := range e.MainOf {
		if i < 0 {
			continue
		}
		name := accounts.NodeOf(&e.Ranks[row])
		m := machines[name]
		if m == nil {
			m = &compression{rows: map[int]bool{}}
			machines[name], list = m, append(list, m)
		}
		if u := e.Ranks[row].Tracer; u != nil {
			m.took += accounts.Seconds(u.CPUNS)
		}
		m.waited += accounts.Seconds(waiting(e, row))
		if rows == nil || rows[row] {
			m.rows[row] = true
		}
	}
	all := compression{rows: map[int]bool{}}
	for _, m := range list {
		if len(m.rows) > 0 && m.waited > 0 && m.took >= explains*m.waited {
			maps.Copy(all.rows, m.rows)
			all.took, all.waited, all.explained = all.took+m.took, all.waited+m.waited, all.explained+min(m.took, m.waited)
		}
	}
	return all
}

// divideWaits divides what a hypothesis says of the waits for a CPU of the ranks in some rows (nil:
// all): on machines where the compressor takes the CPUs, the tracer is their cause.
func divideWaits(e *evidence, h Hypothesis, rows map[int]bool) []Hypothesis {
	by := compressionOf(e, rows)
	if len(by.rows) == 0 {
		h.change = undelayed(e, rows, 1)
		return []Hypothesis{h}
	}
	others, waited := map[int]bool{}, 0.0
	for row, i := range e.MainOf {
		if i >= 0 && (rows == nil || rows[row]) && !by.rows[row] {
			others[row], waited = true, waited+accounts.Seconds(waiting(e, row))
		}
	}
	if len(others) > 0 {
		rows = by.rows
	}
	tracer := Hypothesis{width: ofAll, Cause: ofAllRanks(e, verdict.Tracer, verdict.Compressor, accounts.Activity{})}
	c := &tracer.Cause
	c.CompressorSeconds, c.WaitedSeconds, c.LostSeconds, c.Estimate = by.took, by.waited, by.explained, true
	tracer.change = undelayed(e, rows, by.explained/by.waited)
	tracer.What = "the tracer's compressor had CPUs of its own"
	tracer.Assumes = "An estimate: the compressor causes as much of each wait for a CPU as it took of all of them. " + h.Assumes
	if len(others) == 0 || waited < muchDelayed*accounts.Seconds(e.Run())*float64(len(others)) {
		return []Hypothesis{tracer}
	}
	h.change, h.Cause.LostSeconds = undelayed(e, others, 1), waited
	return []Hypothesis{tracer, h}
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
			if slices.Contains(ranks, e.Ranks[row].Rank) {
				rows[row] = true
			}
		}
		return len(compressionOf(e, rows).rows) == len(rows)
	})
}
