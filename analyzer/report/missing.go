package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	found "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
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

// words is the reason for an analysis that was asked for, as a clause.
func (m *MissingAnalysis) words() string {
	if m.Why != "" {
		return "it failed: " + m.Why
	}
	return "it left no findings"
}

// lacks is the analysis of a name if its findings are missing; nil if they are there.
func (r *Report) lacks(name string) *MissingAnalysis {
	for i := range r.Missing {
		if r.Missing[i].Name == name {
			return &r.Missing[i]
		}
	}
	return nil
}

// lacksVerdict is the analysis of the verdict if it is missing; nil if it is there.
func (r *Report) lacksVerdict() *MissingAnalysis { return r.lacks("verdict") }

// fillGaps puts what the trace and the merge tell in the place of findings that are missing, and notes what is.
func (r *Report) fillGaps(t timeline.Trace, job Job) {
	if m := r.lacksVerdict(); m != nil {
		r.withoutVerdict(t, m)
	}
	if r.lacks("run") != nil {
		r.Put(&run.Findings{RunSeconds: job.RunSeconds})
	}
	if r.lacks("efficiency") != nil && job.Efficiency != nil {
		r.Put(&efficiency.Findings{Efficiency: efficiency.Efficiency{Parallel: job.Efficiency}})
	}
	if r.lacks("ranks") != nil {
		r.Put(&ranks.Findings{Ranks: rankSums(t), Functions: []ranks.FunctionTime{}, CallSites: []ranks.SiteTime{}, Computation: []ranks.RegionTime{}})
	}
	r.Notes = append(r.Notes, r.noteMissing()...)
}

// noteMissing says which analyses that were asked for have no findings: those with the same reason together. That of the
// verdict is said in its place.
func (r *Report) noteMissing() (notes []string) {
	var reasons []string
	names := map[string][]string{}
	for _, m := range r.Missing {
		if !m.Asked || m.Name == "verdict" {
			continue
		}
		if names[m.Why] == nil {
			reasons = append(reasons, m.Why)
		}
		names[m.Why] = append(names[m.Why], m.Name)
	}
	for _, why := range reasons {
		text := fmt.Sprintf("The analysis of %s has no findings", names[why][0])
		if len(names[why]) > 1 {
			text = fmt.Sprintf("The analyses %s have no findings", strings.Join(names[why], ", "))
		}
		if why != "" {
			text += ", it failed: " + why
		}
		notes = append(notes, text+".")
	}
	return notes
}

// withoutVerdict says in the place of the verdict why there is none.
func (r *Report) withoutVerdict(t timeline.Trace, m *MissingAnalysis) {
	text := fmt.Sprintf("There is no verdict on this run: its critical path was not analyzed, because %s.", m.words())
	if !m.Asked {
		text = fmt.Sprintf("There is no verdict on this run: no analysis of its critical path was asked for (%s).", r.whereAsked())
	}
	meta := t.Meta()
	if lacks := verdict.Recorded(meta.WorldSize, meta.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); lacks != "" {
		text = lacks + " " + text
	}
	r.Put(&found.Findings{Verdict: verdict.Verdict{Text: text, Blames: verdict.Unknown, Causes: []verdict.Cause{}}})
	if r.lacks("run") == nil {
		return // which has these notes
	}
	r.Notes = append(append([]string{}, meta.Notes...), r.Notes...)
	for _, rank := range t.Ranks().All() {
		if rank.EndedEarly != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("Rank %d: %s.", rank.Rank, rank.EndedEarly))
		}
	}
}

// whereAsked is where one asks for analyses.
func (r *Report) whereAsked() string {
	if r.Provenance.Job != "" {
		return "spec.analyses"
	}
	return "--only"
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

// nextWithoutVerdict says how to get one.
func (r *Report) nextWithoutVerdict() []string {
	where := cmp.Or(r.Provenance.TraceURI, "trace.cairn")
	repeat := fmt.Sprintf("cairn analyze %s -o report", where)
	switch {
	case r.lacksVerdict().Asked:
	case r.Provenance.Job != "":
		return []string{"Add critical-path to spec.analyses of the next run. For this one: " + repeat + "."}
	default:
		return []string{"For a verdict: " + repeat + "."}
	}
	return []string{"Analyze this run once more, with more memory if that was the reason: " + repeat + ". The trace is kept."}
}
