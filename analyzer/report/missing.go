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
	"github.com/cairn-mpi/cairn/trace/codec"
)

// A MissingAnalysis is an analysis without findings in the report.
type MissingAnalysis struct {
	Name  string `json:"name"`
	Asked bool   `json:"asked"` // false: the job did not request it
	Why   string `json:"why"`   // it failed; "" if the reason is unknown
}

// missing returns why there are no findings of an analysis.
func (j *Job) missing(name string) MissingAnalysis {
	return MissingAnalysis{Name: name, Asked: j.Asked == nil || slices.Contains(j.Asked, name), Why: firstLine(j.Failed[name])}
}

// firstLine removes the stack of an internal error.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, ".")
}

// words returns the reason for a requested analysis, as a clause.
func (m *MissingAnalysis) words() string {
	if m.Why != "" {
		return "it failed: " + m.Why
	}
	return "it left no findings"
}

// lacks returns the analysis with a name if its findings are missing, else nil.
func (r *Report) lacks(name string) *MissingAnalysis {
	for i := range r.Missing {
		if r.Missing[i].Name == name {
			return &r.Missing[i]
		}
	}
	return nil
}

// lacksVerdict returns the analysis of the verdict if it is missing, else nil.
func (r *Report) lacksVerdict() *MissingAnalysis { return r.lacks("verdict") }

// fillGaps replaces missing findings by data of the trace and the merge, and notes what is missing.
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

// noteMissing lists the requested analyses without findings, those with the same reason together. A
// missing verdict is reported in its place.
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

// withoutVerdict fills the place of the verdict with the reason why there is none.
func (r *Report) withoutVerdict(t timeline.Trace, m *MissingAnalysis) {
	text := fmt.Sprintf("There is no verdict on this run: its critical path was not analyzed, because %s.", m.words())
	if !m.Asked {
		text = fmt.Sprintf("There is no verdict on this run: no analysis of its critical path was requested (%s).", r.whereAsked())
	}
	meta := t.Meta()
	if lacks := verdict.Recorded(meta.WorldSize, meta.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); lacks != "" {
		text = lacks + " " + text
	}
	r.Put(&found.Findings{Verdict: verdict.Verdict{Text: text, Blames: verdict.Unknown, Causes: []verdict.Cause{}}})
	if r.lacks("run") == nil {
		return // it has these notes
	}
	r.Notes = append(append([]string{}, meta.Notes...), r.Notes...)
	for _, rank := range t.Ranks().All() {
		if rank.EndedEarly != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("Rank %d: %s.", rank.Rank, rank.EndedEarly))
		}
	}
}

// whereAsked returns where analyses are requested.
func (r *Report) whereAsked() string {
	if r.Provenance.Job != "" {
		return "spec.analyses"
	}
	return "--only"
}

// rankSums returns how long ranks computed and were in MPI, from the trace's sums.
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

// nextWithoutVerdict returns how to get a verdict.
func (r *Report) nextWithoutVerdict() []string {
	where := cmp.Or(r.Provenance.TraceURI, "trace.cairn")
	repeat := fmt.Sprintf("cairn analyze %s -o report", where)
	switch m := r.lacksVerdict(); {
	case !m.Asked && r.Provenance.Job != "":
		return []string{"Add critical-path to spec.analyses of the next run. For this one: " + repeat + "."}
	case !m.Asked:
		return []string{"For a verdict: " + repeat + "."}
	case strings.Contains(m.Why, codec.ErrMemory.Error()):
		return []string{"Analyze this run once more, with more memory: " + repeat + ". The trace is kept."}
	case m.Why != "":
		return []string{"Remove the cause of this error, then analyze this run once more: " + repeat + ". The trace is kept; please report the error with it if it is Cairn's own."}
	case r.Provenance.Job != "":
		return []string{"See the job's conditions and the pods of its analyses for how these ended (kubectl describe), then analyze this run once more: " + repeat + ". The trace is kept."}
	}
	return []string{"Analyze this run once more: " + repeat + ". The trace is kept."}
}
