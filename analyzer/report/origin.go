package report

import "fmt"

// origin is the provenance as lines.
func (r *Report) origin() []fact {
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
	add("Calls traced", fmt.Sprint(p.Calls))
	add("Records dropped", fmt.Sprint(p.Dropped))
	add("Timing", p.Timing)
	add("Call sites", p.CallSites)
	add("Clocks", r.clockWords())
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

// clockWords says how far times of different nodes can be compared.
func (r *Report) clockWords() string {
	if len(r.Clock.Domains) <= 1 {
		return "one clock for all ranks"
	}
	text := fmt.Sprintf("%d clocks", len(r.Clock.Domains))
	if r.Clock.ErrorSeconds != nil {
		text += ", laid over one another to within " + words(*r.Clock.ErrorSeconds)
	} else {
		text += ", of which messages do not tell enough: the wall clocks are believed"
	}
	return text
}

// explain says what happens in a wait state.
func explain(kind string) string {
	return map[string]string{
		"late sender":      "a receive was there before the message was sent",
		"late receiver":    "a large or synchronous send was there before its receive",
		"late progress":    "a large message was held up until the partner, busy computing, entered MPI again",
		"wait at NxN":      "a collective of all with all waited for the last to enter",
		"wait at barrier":  "a barrier waited for the last to enter",
		"late broadcast":   "a broadcast or scatter waited for its root",
		"early reduce":     "the root of a reduction or gather waited for the last of the others",
		"early scan":       "a prefix reduction waited for a lower rank",
		"wait at init":     "MPI_Init waited for the last rank to be launched",
		"wait at finalize": "MPI_Finalize waited for the last rank to arrive",
	}[kind]
}
