package report

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
)

// next says what to do next, from the verdict and the numbers.
func (r *Report) next() []string {
	if r.Verdict.Rank == nil {
		return r.nextBalanced()
	}
	v := r.Verdict
	var steps []string
	if v.ThrottledSeconds > 0 {
		return append(steps, fmt.Sprintf("Raise the CPU limit of its pod (resources.limits.cpu), or remove it: the limit stopped the container for %.3g s.", v.ThrottledSeconds))
	}
	if v.Function != "" {
		steps = append(steps, fmt.Sprintf("Look at the code that runs before %s and after %s.", callsite.At(v.Function, v.CallSite), callsite.At(v.After.Function, v.After.CallSite)))
	}
	neighbours, slower := r.sharesHost()
	place := "host"
	if v.Node != "" {
		place = "node " + v.Node
	}
	switch {
	case v.CountRatio == 0:
		steps = append(steps, "No other rank computes there: it is serial work that all others wait for. Give parts of it to others, or overlap it with their work.")
	case v.CountRatio > 1.1 && v.CountRatio > 0.7*v.Ratio:
		steps = append(steps, fmt.Sprintf("It computes there %.1fx as often as the others: it was given more work. Check how the work is divided among ranks.", v.CountRatio))
	default:
		steps = append(steps, "It computes there as often as the others, but longer each time: either its share of the data is larger (check how the domain is divided), or its CPU is slower.")
	}
	switch {
	case neighbours == 0:
		steps = append(steps, fmt.Sprintf("Nothing else of this job runs on its %s, so compare: move the rank to another one. If the slowness stays behind, it is the machine (CPU limit and throttling, other jobs, frequency); if it goes along, it is the work.", place))
	case 2*slower > neighbours:
		steps = append(steps, fmt.Sprintf("Most ranks on its %s are slower than the average too: check the machine first (CPU limits and throttling, other jobs, frequency).", place))
	default:
		steps = append(steps, fmt.Sprintf("The other ranks on its %s are no slower than the average, so the machine as a whole is not the reason: look at the work of this rank first, then at what shares its core.", place))
	}
	return steps
}

// sharesHost counts the other ranks of the job where the named one runs, and those of them that compute longer than
// the mean over all ranks that are not named.
func (r *Report) sharesHost() (neighbours, slower int) {
	var node, host string
	mean, n := 0.0, 0.0
	for _, t := range r.Ranks {
		if t.Rank == *r.Verdict.Rank {
			node, host = t.Node, t.Host
		} else {
			mean += t.Computation
			n++
		}
	}
	for _, t := range r.Ranks {
		if t.Rank == *r.Verdict.Rank || t.Node != node || node == "" && t.Host != host {
			continue
		}
		neighbours++
		if t.Computation > 1.15*mean/n {
			slower++
		}
	}
	return neighbours, slower
}

func (r *Report) nextBalanced() []string {
	e := r.Efficiency
	if e.Parallel >= 0.8 {
		return []string{fmt.Sprintf("Nothing, as far as MPI goes: %d%% of the time is computation, evenly spread. To make the job faster, make the computation itself faster, or use more ranks.", whole(e.Parallel))}
	}
	var steps []string
	if e.LoadBalance < 0.8 {
		steps = append(steps, fmt.Sprintf("The ranks compute unequally long (load balance %d%%), but no single one is to blame: see the table of ranks, and check how the work is divided.", whole(e.LoadBalance)))
	}
	if e.Communication < 0.8 && len(r.CallSites) > 0 {
		c := r.CallSites[0]
		steps = append(steps, fmt.Sprintf("Most of the rest is time inside MPI; the costliest call is %s (%s of all ranks together, %s of it waiting).", callsite.At(c.Function, c.CallSite), words(c.Seconds), words(c.Waiting)))
	}
	for _, f := range r.Path.ByFunction {
		if (f.Function == "MPI_Init" || f.Function == "MPI_Init_thread" || f.Function == "launch") && f.Share > 0.2 {
			steps = append(steps, fmt.Sprintf("%d%% of the critical path is %s: the run is short, so starting it counts. Look at a longer one.", whole(f.Share), f.Function))
		}
	}
	if len(steps) == 0 {
		steps = append(steps, "See the critical path below for what the time goes to.")
	}
	return steps
}

// warnings are what makes the rest less certain.
func (r *Report) warnings() []string {
	list := append([]string{}, r.Notes...)
	if r.Clock.Violations > 0 {
		list = append(list, fmt.Sprintf("%d messages seem to arrive before they were sent, by up to %s: clocks disagree, and times are no better than that.", r.Clock.Violations, words(r.Clock.WorstSeconds)))
	}
	const most = 8
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more such notes are in report.json.", len(list)-most))
	}
	return list
}

// tiles are POP's efficiencies with what they mean.
func (r *Report) tiles() []tile {
	e := r.Efficiency
	grade := func(x float64) string {
		switch {
		case x >= 0.8:
			return "good"
		case x >= 0.6:
			return "fair"
		}
		return "bad"
	}
	return []tile{
		{"Parallel efficiency", "The share of all ranks' time that is computation, outside MPI. It is the product of the other two; 80% and more is good.", grade(e.Parallel), whole(e.Parallel)},
		{"Load balance", fmt.Sprintf("Mean over longest computation: ranks compute %s on average, the busiest %s. Low: work is unequally divided.", words(e.MeanUseful), words(e.MaxUseful)), grade(e.LoadBalance), whole(e.LoadBalance)},
		{"Communication efficiency", fmt.Sprintf("The busiest rank computes %s of the %s. Low: even that one waits, transfers data, or starts up. It is the product of the next two.", words(e.MaxUseful), words(r.RunSeconds)), grade(e.Communication), whole(e.Communication)},
		{"Serialization", fmt.Sprintf("On an ideal network the run would take %s, of which the busiest rank computes %s. Low: ranks wait for each other in turn, whatever the network.", words(e.IdealSeconds), words(e.MaxUseful)), grade(e.Serialization), whole(e.Serialization)},
		{"Transfer", fmt.Sprintf("The share of the %s that an ideal network and a free MPI would leave. Low: the time goes to messages and calls themselves.", words(r.RunSeconds)), grade(e.Transfer), whole(e.Transfer)},
	}
}
