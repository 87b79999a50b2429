package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// An efficiency is a node of POP's tree: the product of its parts.
type efficiency struct {
	Name, Means string
	Value       *float64 // nil: not known
	Parts       []efficiency
}

// fair is the efficiency from which on one is no longer bad; verdict.Good ones are good.
const fair = 0.6

// grade is the class of an efficiency: good, fair or bad.
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
func (e efficiency) Known() bool { return e.Value != nil }

// Percent is the node's value, 0 where it is not known.
func (e efficiency) Percent() int {
	if e.Value == nil {
		return 0
	}
	return whole(*e.Value)
}

// Grade is the node's class; an unknown one has none.
func (e efficiency) Grade() string {
	if e.Value == nil {
		return ""
	}
	return grade(float64(e.Percent()) / 100)
}

// tree is POP's efficiencies with what they mean.
func (r *Report) tree() efficiency {
	e := r.Efficiency
	// means has a verb for each of seconds, which are known where the value is
	node := func(name string, value *float64, means string, seconds []*float64, parts ...efficiency) efficiency {
		if value == nil {
			return efficiency{name, r.unknown(), nil, parts}
		}
		words := make([]any, len(seconds))
		for i, s := range seconds {
			words[i] = wording.Duration(*s)
		}
		return efficiency{name, fmt.Sprintf(means, words...), value, parts}
	}
	run := &r.RunSeconds
	return node("Parallel efficiency", e.Parallel, "The share of all ranks' time that is computation, outside MPI.", nil,
		node("Load balance", e.LoadBalance, "Ranks compute %s on average, the busiest %s. Low: work is unequally divided.", []*float64{e.MeanUseful, e.MaxUseful}),
		node("Communication efficiency", e.Communication, "The busiest rank computes %s of the %s. Low: even that one waits, transfers data or starts up.", []*float64{e.MaxUseful, run},
			node("Serialization", e.Serialization, "On an ideal network the run would take %s, of which the busiest rank computes %s. Low: ranks wait for each other in turn, whatever the network.", []*float64{e.IdealSeconds, e.MaxUseful}),
			node("Transfer", e.Transfer, "The share of the %s that an ideal network and a free MPI would leave. Low: the time goes to messages and calls themselves.", []*float64{run})))
}

// unknown says why an efficiency is not known.
func (r *Report) unknown() string {
	if r.lacksPath() != nil {
		return "Not known: the critical path was not analyzed."
	}
	if r.Path == nil {
		return "Not known: it takes the times of single calls, which were not kept."
	}
	return "Not known: no rank computes."
}

// cpus says what ranks had of the CPUs, "" where that is not known.
func (r *Report) cpus() string {
	c := r.CPUs
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("A rank had a CPU for %d%% of its time", whole(c.Share))
	if c.RunDelay != nil {
		text += fmt.Sprintf(", and was ready to run and waited for one in %d%%", whole(*c.RunDelay))
	}
	if c.Stopped > 0 {
		text += fmt.Sprintf(", and its container's CPU limit stopped it for %.2g%%", 100*c.Stopped)
	}
	return text + "."
}

func viewEfficiency(r *Report) any {
	view := struct {
		CPUs    string
		Tree    efficiency
		Windows []phases.Window
		Label   string
	}{CPUs: r.cpus(), Tree: r.tree()}
	if r.Phases != nil && len(r.Phases.Windows) > 0 {
		view.Windows = r.Phases.Windows
		least, most := view.Windows[0], view.Windows[0]
		for _, w := range view.Windows {
			if w.Efficiency.Parallel < least.Efficiency.Parallel {
				least = w
			}
			if w.Efficiency.Parallel > most.Efficiency.Parallel {
				most = w
			}
		}
		view.Label = fmt.Sprintf("Efficiencies over time. Parallel efficiency is lowest, %s, from %s on, and highest, %s, from %s on. The table below has all values.",
			percent(least.Efficiency.Parallel), wording.Duration(least.StartSeconds), percent(most.Efficiency.Parallel), wording.Duration(most.StartSeconds))
	}
	return view
}

// chartEfficiency is the efficiencies of parts of the run, and the phases behind them; times in seconds.
func chartEfficiency(r *Report) any {
	if r.Phases == nil || len(r.Phases.Windows) == 0 {
		return nil
	}
	data := struct {
		Run     float64      `json:"run"`
		Windows [][5]float64 `json:"windows"` // start, end, parallel, load balance, communication
		Phases  [][3]any     `json:"phases"`  // start, end, name
	}{Run: r.RunSeconds, Phases: [][3]any{}}
	for _, w := range r.Phases.Windows {
		data.Windows = append(data.Windows, [5]float64{w.StartSeconds, w.EndSeconds, w.Efficiency.Parallel, w.Efficiency.LoadBalance, w.Efficiency.Communication})
	}
	for _, p := range r.Phases.Phases {
		data.Phases = append(data.Phases, [3]any{p.StartSeconds, p.EndSeconds, p.Name})
	}
	return data
}
