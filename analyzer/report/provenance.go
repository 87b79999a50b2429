package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/report/section"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A fact is a line of the provenance.
type fact struct{ Name, Value string }

func viewProvenance(r *section.Run) any {
	return struct {
		Facts  []fact
		Hosts  []section.Host
		InPods bool
	}{origin(r), r.Provenance.Pods, r.InPods()}
}

// origin returns the provenance as lines.
func origin(r *section.Run) []fact {
	p := r.Provenance
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	add("Job", p.Job)
	add("UID", p.UID)
	add("Attempt and run", fmt.Sprintf("attempt %d, run %d", p.Attempt, p.Run))
	add("MPI world", p.World)
	add("Program", p.Executable)
	add("MPI", p.Implementation+" "+p.Version)
	add("Started", p.Start)
	add("Ranks", fmt.Sprint(p.Ranks))
	add("Missing ranks", orNone(p.MissingRanks))
	add("Ranks that ended early", orNone(p.EndedEarly))
	add("Ranks whose tracing stopped", p.TracingStopped)
	add("Calls traced", fmt.Sprint(p.Calls))
	add("Calls not recorded", fmt.Sprint(p.Dropped))
	add("Timing", p.Timing)
	add("Call sites", p.CallSites)
	add("Mode", p.Clustering)
	add("Clocks", clockWords(r))
	add("Traced by", "Cairn "+p.TracedBy)
	add("Analyzed by", "Cairn "+p.AnalyzedBy)
	add("Trace", p.TraceURI)
	return facts
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// clockWords describes how precisely times of different nodes can be compared.
func clockWords(r *section.Run) string {
	clock := section.Of[run.Findings](r).Clock
	if len(clock.Domains) == 0 {
		return "" // they were not compared
	}
	if len(clock.Domains) <= 1 {
		return "one clock for all ranks"
	}
	text := fmt.Sprintf("%d clocks", len(clock.Domains))
	if clock.ErrorSeconds != nil {
		text += ", aligned to within " + wording.Duration(*clock.ErrorSeconds)
	} else {
		text += ", which messages are not sufficient to align: the wall clocks are used"
	}
	return text
}
