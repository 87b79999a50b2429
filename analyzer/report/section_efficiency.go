package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// An efficiency is a node of POP's tree: the product of its parts.
type efficiency struct {
	Name, Means string
	Percent     int
	Parts       []efficiency
}

// Limits of the grades. POP calls 80 % and more acceptable.
const (
	goodEfficiency = 0.8
	fairEfficiency = 0.6
)

// grade is the class of an efficiency: good, fair or bad.
func grade(x float64) string {
	switch {
	case x >= goodEfficiency:
		return "good"
	case x >= fairEfficiency:
		return "fair"
	}
	return "bad"
}

// Grade is the node's class.
func (e efficiency) Grade() string { return grade(float64(e.Percent) / 100) }

// tree is POP's efficiencies with what they mean.
func (r *Report) tree() efficiency {
	e := r.Efficiency
	return efficiency{"Parallel efficiency", "The share of all ranks' time that is computation, outside MPI.", whole(e.Parallel), []efficiency{
		{"Load balance", fmt.Sprintf("Ranks compute %s on average, the busiest %s. Low: work is unequally divided.", wording.Duration(e.MeanUseful), wording.Duration(e.MaxUseful)), whole(e.LoadBalance), nil},
		{"Communication efficiency", fmt.Sprintf("The busiest rank computes %s of the %s. Low: even that one waits, transfers data or starts up.", wording.Duration(e.MaxUseful), wording.Duration(r.RunSeconds)), whole(e.Communication), []efficiency{
			{"Serialization", fmt.Sprintf("On an ideal network the run would take %s, of which the busiest rank computes %s. Low: ranks wait for each other in turn, whatever the network.", wording.Duration(e.IdealSeconds), wording.Duration(e.MaxUseful)), whole(e.Serialization), nil},
			{"Transfer", fmt.Sprintf("The share of the %s that an ideal network and a free MPI would leave. Low: the time goes to messages and calls themselves.", wording.Duration(r.RunSeconds)), whole(e.Transfer), nil},
		}},
	}}
}

// cpus says what ranks had of the CPUs, "" where that is not known.
func (r *Report) cpus() string {
	c := r.CPUs
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("A rank had a CPU for %d%% of its time", whole(c.Share))
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
