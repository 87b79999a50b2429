package efficiency

import (
	"embed"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	method "github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace/timing"
)

//go:embed efficiency.html.tmpl efficiency.js
var files embed.FS

// Sections are POP's tree and the efficiencies of equal intervals of the run.
var Sections = []section.Section{{Name: "efficiency", Title: "Efficiency", Files: files, View: view, Chart: chart}}

// A Node is a node of POP's tree. Its value is the product of those of its parts.
type Node struct {
	Name, Means string
	Value       *float64 // nil: not known
	Parts       []Node
}

// fair is the minimum of an efficiency that is graded fair; verdict.Good is that of good ones.
const fair = 0.6

// grade returns the class of an efficiency: good, fair or bad.
func grade(x float64) string {
	switch {
	case x >= verdict.Good:
		return "good"
	case x >= fair:
		return "fair"
	}
	return "bad"
}

// Known reports whether the node has a value.
func (e Node) Known() bool { return e.Value != nil }

// Percent returns the value of the node, 0 if it is unknown.
func (e Node) Percent() int {
	if e.Value == nil {
		return 0
	}
	return section.Whole(*e.Value)
}

// Grade returns the class of the node, "" if its value is unknown.
func (e Node) Grade() string {
	if e.Value == nil {
		return ""
	}
	return grade(float64(e.Percent()) / 100)
}

// Tree returns POP's efficiencies with explanations.
func Tree(r *section.Run) Node {
	e := section.Of[Findings](r).Efficiency
	// means has a formatting verb for each of seconds, which are known if the value is
	node := func(name string, value *float64, means string, seconds []*float64, parts ...Node) Node {
		if value == nil {
			return Node{name, unknown(r), nil, parts}
		}
		words := make([]any, len(seconds))
		for i, s := range seconds {
			words[i] = wording.Duration(*s)
		}
		return Node{name, fmt.Sprintf(means, words...), value, parts}
	}
	whole := new(section.Of[run.Findings](r).RunSeconds)
	if e.Communication != nil && *e.Communication > 0 { // less if the run hung
		whole = new(*e.MaxUseful / *e.Communication)
	}
	of := "ranks'"
	if e.Hybrid != nil {
		of = "first threads'"
	}
	parallel := node("Parallel efficiency", e.Parallel, "The share of all "+of+" time that is computation, outside MPI.", nil,
		node("Load balance", e.LoadBalance, "Ranks compute %s on average, the busiest %s. Low: work is divided unevenly.", []*float64{e.MeanUseful, e.MaxUseful}),
		node("Communication efficiency", e.Communication, "The busiest rank computes %s of the %s. Low: even that rank waits, transfers data or starts up.", []*float64{e.MaxUseful, whole},
			node("Serialization", e.Serialization, "On an ideal network the run would take %s, of which the busiest rank computes %s. Low: ranks wait for each other in turn, on any network.", []*float64{e.IdealSeconds, e.MaxUseful}),
			node("Transfer", e.Transfer, "The share of the %s that an ideal network and a free MPI would leave. Low: the time goes to messages and calls themselves.", []*float64{whole})))
	if e.Hybrid == nil {
		return parallel
	}
	means := fmt.Sprintf("The share of the time outside MPI for which the %.3g threads of a rank have a CPU, on average. Low: they wait for each other, or for CPUs. Threads that wait by polling count as computing.", *e.Threads)
	return node("Efficiency of processes and threads", e.Hybrid, "The share of all threads' time that is computation.", nil,
		parallel, node("Thread efficiency", e.Thread, means, nil))
}

// LoopSentence returns a sentence on the efficiency of the main loop; "" if there is none.
func LoopSentence(r *section.Run) string {
	l := section.Of[Findings](r).Efficiency.MainLoop
	if l == nil {
		return ""
	}
	return fmt.Sprintf("In the main loop (%s, %s), without start and end, parallel efficiency is %s: load balance %s × communication efficiency %s.",
		l.Phase, wording.Duration(l.Seconds), section.Percent(l.Parallel), section.Percent(l.LoadBalance), section.Percent(l.Communication))
}

// Analyzed reports whether efficiencies were computed, by this analysis or, for the parallel
// efficiency, by the merge.
func Analyzed(r *section.Run) bool { return section.Find[Findings](r) != nil }

// unknown returns the reason why an efficiency is unknown.
func unknown(r *section.Run) string {
	switch section.Of[run.Findings](r).Timing.Mode {
	case "":
		return "Not known: the critical path was not analyzed."
	case string(timing.Aggregated):
		return "Not known: this requires the times of single calls, which were not kept."
	}
	return "Not known: no rank computes."
}

func view(r *section.Run) any {
	v := struct {
		CPUs    string
		Loop    string
		Tree    Node
		Windows []method.Window
		Label   string
	}{CPUs: cpus.Sentence(r), Loop: LoopSentence(r), Tree: Tree(r)}
	if !Analyzed(r) && v.CPUs == "" {
		return nil
	}
	if p := section.Of[phases.Findings](r).Phases; p != nil && len(p.Windows) > 0 {
		v.Windows = p.Windows
		least, most := v.Windows[0], v.Windows[0]
		for _, w := range v.Windows {
			if w.Efficiency.Parallel < least.Efficiency.Parallel {
				least = w
			}
			if w.Efficiency.Parallel > most.Efficiency.Parallel {
				most = w
			}
		}
		v.Label = fmt.Sprintf("Efficiencies over time. Parallel efficiency is lowest, %s, from %s on, and highest, %s, from %s on. The table below has all values.",
			section.Percent(least.Efficiency.Parallel), wording.Duration(least.StartSeconds), section.Percent(most.Efficiency.Parallel), wording.Duration(most.StartSeconds))
	}
	return v
}

// chart returns the efficiencies of intervals of the run, and the phases drawn behind them. Times
// are in seconds.
func chart(r *section.Run) any {
	p := section.Of[phases.Findings](r).Phases
	if p == nil || len(p.Windows) == 0 {
		return nil
	}
	data := struct {
		Run     float64      `json:"run"`
		Windows [][5]float64 `json:"windows"` // start, end, parallel, load balance, communication
		Phases  [][3]any     `json:"phases"`  // start, end, name
	}{Run: section.Of[run.Findings](r).RunSeconds, Phases: [][3]any{}}
	for _, w := range p.Windows {
		data.Windows = append(data.Windows, [5]float64{w.StartSeconds, w.EndSeconds, w.Efficiency.Parallel, w.Efficiency.LoadBalance, w.Efficiency.Communication})
	}
	for _, one := range p.Phases {
		data.Phases = append(data.Phases, [3]any{one.StartSeconds, one.EndSeconds, one.Name})
	}
	return data
}
