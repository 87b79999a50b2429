package report

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// next returns what to do next: about the first cause, and one step about each of the following
// ones.
func (r *Report) next() []string {
	if s := Of[stopped.Findings](r).Stopped; s != nil {
		if s.Explains() {
			return s.Advice
		}
		return append(slices.Clone(s.Advice), r.nextOfVerdict()...)
	}
	return r.nextOfVerdict()
}

func (r *Report) nextOfVerdict() []string {
	if r.lacksVerdict() != nil {
		return r.nextWithoutVerdict()
	}
	causes := r.Verdict().Causes
	if len(causes) == 0 {
		return r.nextBalanced()
	}
	var steps []string
	for i := range causes {
		c := &causes[i]
		advice := c.Advice(r.neighbors(c))
		if i > 0 {
			advice = advice[:min(1, len(advice))]
		}
		steps = append(steps, advice...)
	}
	return steps
}

// remedy is the advice for a low factor of the communication efficiency.
var remedy = map[string]string{
	"serialization": "Ranks wait for each other in turn, and no network changes that. Follow the critical path in the timeline: let ranks start with what they have (smaller blocks, several sweeps under way at once) instead of waiting for all of it.",
	"transfer":      "Time goes to messages and MPI calls themselves. See the what-ifs and the costliest calls: fewer and larger messages, sent earlier and completed later, or ranks that exchange much data on one node.",
}

// neighbors counts the other ranks of the job on the node of a cause's rank, and those of them that
// compute longer than the mean over all ranks that the cause is not about.
func (r *Report) neighbors(c *verdict.Cause) (n verdict.Neighbors) {
	if c.Rank == nil {
		return n
	}
	var node, host string
	mean, others := 0.0, 0.0
	all := Of[ranks.Findings](r).Ranks
	for _, t := range all {
		if t.Rank == *c.Rank {
			node, host = t.Node, t.Host
		} else {
			mean += t.Computation
			others++
		}
	}
	for _, t := range all {
		if t.Rank == *c.Rank || t.Node != node || node == "" && t.Host != host {
			continue
		}
		n.All++
		if t.Computation > 1.15*mean/others {
			n.Slower++
		}
	}
	return n
}

func (r *Report) nextBalanced() []string {
	e := r.Efficiency()
	if e.Parallel != nil && *e.Parallel >= verdict.Good && low(e.Thread) {
		return []string{fmt.Sprintf("Look at the threads of the ranks: outside MPI they have a CPU for %d%% of their time only. Check for serial sections, parts of unequal length (schedule(dynamic)) and locks, and whether each thread has a CPU of its own.", section.Whole(*e.Thread))}
	}
	if e.Parallel != nil && *e.Parallel >= verdict.Good {
		return []string{fmt.Sprintf("Nothing, as far as MPI goes: %d%% of the time is computation, evenly spread. To make the job faster, make the computation itself faster, or use more ranks.", section.Whole(*e.Parallel))}
	}
	var steps []string
	if low(e.LoadBalance) {
		steps = append(steps, fmt.Sprintf("The ranks compute for different times (load balance %d%%), but no single rank is to blame: see the table of ranks, and check how the work is divided.", section.Whole(*e.LoadBalance)))
	}
	if low(e.Serialization) && *e.Serialization <= *e.Transfer {
		steps = append(steps, remedy["serialization"])
	} else if low(e.Transfer) {
		steps = append(steps, remedy["transfer"])
	}
	if sites := Of[ranks.Findings](r).CallSites; low(e.Communication) && len(sites) > 0 {
		c := sites[0]
		costs := wording.Duration(c.Seconds) + " of all ranks together"
		if c.Waiting != nil {
			costs += fmt.Sprintf(", %s of it waiting", wording.Duration(*c.Waiting))
		}
		steps = append(steps, fmt.Sprintf("Most of the rest is time inside MPI; the costliest call is %s (%s).", callsite.At(c.Function, c.CallSite), costs))
	}
	route := Of[path.Findings](r).Path
	if route == nil {
		return append(steps, "Trace with timing lossy or lossless: the times of single calls show what the ranks wait for.")
	}
	for _, f := range route.ByFunction {
		if (f.Function == "MPI_Init" || f.Function == "MPI_Init_thread" || f.Function == "launch") && f.Share > 0.2 {
			steps = append(steps, fmt.Sprintf("%d%% of the critical path is %s: the run is short, so starting it counts. Look at a longer one.", section.Whole(f.Share), f.Function))
		}
	}
	if len(steps) == 0 {
		steps = append(steps, "See the critical path below for where the time goes.")
	}
	return steps
}

// low reports whether an efficiency is known and not good.
func low(efficiency *float64) bool { return efficiency != nil && *efficiency < verdict.Good }

// warnings lists what makes the results less certain.
func (r *Report) warnings() []string {
	list := append([]string{}, r.Notes...)
	if clock := Of[run.Findings](r).Clock; clock.Violations > 0 {
		why := "clocks disagree"
		if len(clock.Domains) <= 1 {
			why = "the clocks of the node's processors disagree"
		}
		list = append(list, fmt.Sprintf("%d messages seem to arrive before they were sent, by up to %s: %s, and times are not more precise than that.", clock.Violations, wording.Duration(clock.WorstSeconds), why))
	}
	if c := Of[cpus.Findings](r).CPUs; c != nil && c.StolenEverywhere {
		list = append(list, fmt.Sprintf("The hypervisor runs other machines on the CPUs of all nodes of this job: it took at least %d%% of the time for which ranks wanted a CPU, and times vary with the load of those machines.", leastStolen(c)))
	}
	const most = 8
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more such notes are in report.json.", len(list)-most))
	}
	return list
}

// leastStolen returns the minimum share of CPU time stolen from a machine, in percent.
func leastStolen(c *cpus.CPUs) int {
	least := 1.0
	for _, m := range c.Machines {
		least = min(least, m.Share)
	}
	return int(100 * least)
}
