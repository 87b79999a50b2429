package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// A MissingAnalysis is one whose findings the report lacks.
type MissingAnalysis struct {
	Name  string `json:"name"`
	Asked bool   `json:"asked"` // else the job did not want it
	Why   string `json:"why"`   // it failed; "" where no reason is known
}

// missing says why there are no findings of an analysis.
func (j *Job) missing(name string) MissingAnalysis {
	return MissingAnalysis{Name: name, Asked: j.Asked == nil || slices.Contains(j.Asked, name), Why: firstLine(j.Failed[name])}
}

// firstLine leaves out the stack of a mistake of ours.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, ".")
}

// words is the reason as a clause.
func (m *MissingAnalysis) words() string {
	switch {
	case !m.Asked:
		return "it was not asked for (spec.analyses)"
	case m.Why != "":
		return "it failed: " + m.Why
	}
	return "it left no findings"
}

// because is the reason as the end of a sentence, "" where none is known.
func (m *MissingAnalysis) because() string {
	if m.Why == "" {
		return ""
	}
	return ", " + m.words()
}

// withoutPath makes a report of what is there when the critical path is not: it has no verdict, and says why.
func (r *Report) withoutPath(t timeline.Trace, m MissingAnalysis, job Job) {
	r.Missing = append(r.Missing, m)
	text := fmt.Sprintf("There is no verdict on this run: its critical path was not analyzed, because %s.", m.words())
	if !m.Asked {
		text = "There is no verdict on this run: no analysis of its critical path was asked for (spec.analyses)."
	}
	meta := t.Meta()
	if lacks := verdict.Recorded(meta.WorldSize, meta.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); lacks != "" {
		text = lacks + " " + text
	}
	r.Verdict = verdict.Verdict{Text: text, Blames: verdict.Unknown, Causes: []verdict.Cause{}}
	r.RunSeconds, r.Efficiency.Parallel = job.RunSeconds, job.Efficiency
	r.Ranks, r.Functions, r.CallSites = rankSums(t), []ranks.FunctionTime{}, []ranks.SiteTime{}
	r.Computation, r.Clock.Domains = []ranks.RegionTime{}, []clock.Domain{}
	r.Notes = slices.Clone(meta.Notes)
	if r.Notes == nil {
		r.Notes = []string{}
	}
	for _, rank := range t.Ranks().All() {
		if rank.EndedEarly != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("Rank %d: %s.", rank.Rank, rank.EndedEarly))
		}
	}
}

// rankSums is how long ranks computed and were in MPI, as the trace has it summed up.
func rankSums(t timeline.Trace) []ranks.RankTime {
	times := make([]ranks.RankTime, 0, t.Ranks().Len())
	for _, r := range t.Ranks().All() {
		times = append(times, ranks.RankTime{Rank: r.Rank, Pod: r.Pod, Node: r.Node, Host: r.Host, EndedEarly: r.EndedEarly})
	}
	locations := timeline.Locations(t)
	for i, thread := range t.Threads().All() {
		l := locations[i]
		times[l.Row].Calls += thread.Calls
		if l.Main != i || thread.EndTick <= thread.FirstTick {
			continue
		}
		first, last := t.Span(i)
		lasted := float64(last-first) / 1e9
		times[l.Row].MPI = lasted * min(1, float64(thread.InsideTicks)/float64(thread.EndTick-thread.FirstTick))
		times[l.Row].Computation = lasted - times[l.Row].MPI
	}
	return times
}

// lacksPath is the critical path if that is missing; nil if it is there.
func (r *Report) lacksPath() *MissingAnalysis {
	for i := range r.Missing {
		if r.Missing[i].Name == CriticalPath {
			return &r.Missing[i]
		}
	}
	return nil
}

// nextWithoutPath says how to get a verdict.
func (r *Report) nextWithoutPath() []string {
	where := cmp.Or(r.Provenance.TraceURI, "trace.cairn")
	repeat := fmt.Sprintf("cairn analyze %s -o report", where)
	m := r.lacksPath()
	if !m.Asked {
		return []string{"Add critical-path to spec.analyses of the next run. For this one: " + repeat + "."}
	}
	return []string{"Analyze this run once more, with more memory if that was the reason: " + repeat + ". The trace is kept."}
}
