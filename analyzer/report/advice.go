package report

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// next says what to do next, from the verdict and the numbers.
func (r *Report) next() []string {
	if s := r.Stopped; s != nil {
		if s.Kind != "" {
			return s.Advice
		}
		ended := *r
		ended.Stopped = nil
		return append(slices.Clone(s.Advice), ended.next()...)
	}
	if r.Verdict.Rank == nil {
		return r.nextBalanced()
	}
	v := r.Verdict
	var steps []string
	if v.ThrottledSeconds > 0 {
		return append(steps, fmt.Sprintf("Raise the CPU limit of its pod (resources.limits.cpu), or remove it: the limit stopped the container for %.3g s.", v.ThrottledSeconds))
	}
	if v.Function != "" {
		step := "Look at the code that runs before " + callsite.At(v.Function, v.CallSite)
		if v.After.Function != "" {
			step += " and after " + callsite.At(v.After.Function, v.After.CallSite)
		}
		steps = append(steps, step+".")
	}
	neighbours, slower := r.sharesHost()
	place := "host"
	if v.Node != "" {
		place = "node " + v.Node
	}
	switch {
	case v.CountRatio == 0:
		steps = append(steps, "No other rank computes there: it is serial work that all others wait for. Give parts of it to others, or overlap it with their work.")
	case v.CountRatio > 1.1 && v.CountRatio > v.EachRatio:
		steps = append(steps, fmt.Sprintf("It computes there %.1fx as often as the others: it was given more work. Check how the work is divided among ranks.", v.CountRatio))
	case v.CountRatio > 1.1:
		steps = append(steps, fmt.Sprintf("It computes there %.1fx as often as the others on average, and each time %.1fx as long: either its share of the data is larger (check how the domain is divided), or its CPU is slower.", v.CountRatio, v.EachRatio))
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
	if v.MoreLost != nil {
		steps = append(steps, remedy[v.MoreLost.Factor])
	}
	return steps
}

// remedy is what helps where a factor of the communication efficiency is low.
var remedy = map[string]string{
	"serialization": "Ranks wait for each other in turn, and no network changes that. Follow the critical path in the time line: let ranks start with what they have (smaller blocks, several sweeps under way at once) instead of waiting for all of it.",
	"transfer":      "Time goes to messages and MPI calls themselves. See the what-ifs and the costliest calls: fewer and larger messages, sent earlier and completed later, or ranks that talk much on one node.",
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
	switch r.Verdict.Blames {
	case criticalpath.BlamesLimits:
		return []string{"Raise the CPU limits of the pods (resources.limits.cpu), or remove them; a rank needs a whole CPU for each of its threads, and MPI polls while it waits."}
	case criticalpath.BlamesImbalance:
		return r.nextUnequal()
	case criticalpath.BlamesCPUs:
		return []string{
			"Give each rank a CPU of its own: fewer ranks on a node (slotsPerWorker, more workers), larger CPU requests, nothing else on these nodes.",
			"Check how many threads a rank starts (OMP_NUM_THREADS), and whether ranks are bound to the same cores (mpirun --report-bindings).",
			"Until then the times of messages and calls say more about whose turn it was than about the network.",
		}
	}
	e := r.Efficiency
	if e.Parallel != nil && *e.Parallel >= goodEfficiency {
		return []string{fmt.Sprintf("Nothing, as far as MPI goes: %d%% of the time is computation, evenly spread. To make the job faster, make the computation itself faster, or use more ranks.", whole(*e.Parallel))}
	}
	var steps []string
	if low(e.LoadBalance) {
		steps = append(steps, fmt.Sprintf("The ranks compute unequally long (load balance %d%%), but no single one is to blame: see the table of ranks, and check how the work is divided.", whole(*e.LoadBalance)))
	}
	if low(e.Serialization) && *e.Serialization <= *e.Transfer {
		steps = append(steps, remedy["serialization"])
	} else if low(e.Transfer) {
		steps = append(steps, remedy["transfer"])
	}
	if low(e.Communication) && len(r.CallSites) > 0 {
		c := r.CallSites[0]
		costs := wording.Duration(c.Seconds) + " of all ranks together"
		if c.Waiting != nil {
			costs += fmt.Sprintf(", %s of it waiting", wording.Duration(*c.Waiting))
		}
		steps = append(steps, fmt.Sprintf("Most of the rest is time inside MPI; the costliest call is %s (%s).", callsite.At(c.Function, c.CallSite), costs))
	}
	if r.Path == nil {
		return append(steps, "Trace with timing lossy or lossless: the times of single calls say what the ranks wait for.")
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

// nextUnequal says what to do where work is divided unequally.
func (r *Report) nextUnequal() []string {
	v, i := r.Verdict, r.Verdict.Imbalance
	var steps []string
	if v.Function != "" {
		step := "Look at how work is divided for the code that runs before " + callsite.At(v.Function, v.CallSite)
		if v.After.Function != "" {
			step += " and after " + callsite.At(v.After.Function, v.After.CallSite)
		}
		steps = append(steps, step+".")
	}
	switch i.Shape {
	case criticalpath.ByRank:
		steps = append(steps, "The work goes with the number of the rank: check bounds that depend on it, as of a triangular loop or of blocks that grow, or deal the parts out in turn (cyclic instead of blocks).")
	case criticalpath.ByNode:
		steps = append(steps, "Ranks of one node compute alike: compare the nodes (type and frequency of CPUs, limits, other jobs) before the work, or give slower ones fewer ranks.")
	case criticalpath.ByRow, criticalpath.ByColumn:
		steps = append(steps, "The work goes with the place in the grid of ranks: parts of the domain cost more than others. Weigh them when it is divided, or use a grid of another shape.")
	case criticalpath.ByIteration:
		steps = append(steps, "In total the ranks have equal work, so another division of the whole does not help: divide the work of each iteration, or let ranks go on with the next one instead of waiting for the slowest of this one (fewer collectives, non-blocking ones).")
	case criticalpath.Irregular:
		steps = append(steps, "Divide by what parts cost instead of by their number (a partitioner with weights), or hand parts out as ranks become free.")
	}
	steps = append(steps, "See the table of ranks for who has how much, and the what-ifs for what equal work would give.")
	if v.MoreLost != nil {
		steps = append(steps, remedy[v.MoreLost.Factor])
	}
	return steps
}

// low reports whether an efficiency is known and not good.
func low(efficiency *float64) bool { return efficiency != nil && *efficiency < goodEfficiency }

// warnings are what makes the rest less certain.
func (r *Report) warnings() []string {
	list := append([]string{}, r.Notes...)
	if r.Clock.Violations > 0 {
		why := "clocks disagree"
		if len(r.Clock.Domains) <= 1 {
			why = "the clocks of the node's processors disagree"
		}
		list = append(list, fmt.Sprintf("%d messages seem to arrive before they were sent, by up to %s: %s, and times are no better than that.", r.Clock.Violations, wording.Duration(r.Clock.WorstSeconds), why))
	}
	const most = 8
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more such notes are in report.json.", len(list)-most))
	}
	return list
}
