package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Neighbors counts the other ranks of the job that run where a cause's rank runs, and how many of
// them compute longer than the average, too.
type Neighbors struct{ All, Slower int }

// Advice returns what to do about a cause.
func (c *Cause) Advice(n Neighbors) []string {
	switch c.Kind {
	case Excess:
		return c.adviseExcess(n)
	case Imbalance:
		return c.adviseImbalance()
	case Variation:
		return c.adviseVariation()
	case Serialization:
		if c.Form == Master {
			return []string{c.look(), "Give parts of that work to the other ranks, let them do something else during that time, or do it less often."}
		}
		return []string{
			fmt.Sprintf("Follow the critical path in the timeline around %s: no faster network and no better balance changes that ranks wait for their turn there.", c.Before.At()),
			"Let ranks start with what they have: send smaller blocks earlier, have several sweeps under way at once, or replace the chain by a collective (a tree of log2 P steps).",
		}
	case LateReceiver:
		if c.Form == Seldom {
			return []string{fmt.Sprintf("Poll more often in %s, or wait in a blocking call where there is nothing else to do: %s idle between two polls, %s on average.", c.Before.At(), c.some("it is", "they are"), wording.Duration(c.EachSeconds))}
		}
		step := "Post receives earlier (MPI_Irecv before the computation), so that messages find them."
		if c.Form == NotInside {
			step = "Let the receiver enter MPI while it computes (MPI_Test now and then), divide the computation, or turn on the library's progress thread: such a message moves only while both sides are inside MPI."
		}
		if c.Completes {
			return []string{step, fmt.Sprintf("Or let the sender go on, and complete later what %s waits for.", c.Before.At())}
		}
		return []string{step, fmt.Sprintf("Or let the sender go on: replace %s by a non-blocking send that is completed later.", c.Before.At())}
	case Messages, Network, Collectives, Local:
		return c.adviseCalls()
	case Kernel:
		return []string{
			c.look(),
			"They wait there for a lock, another process, a device, the network or a sleep, not for a CPU. See what they call (a profiler for off-CPU time, strace -p); if the program wants to wait there, nothing is wrong.",
		}
	case IO:
		if c.Form == Blocked {
			return []string{"Read and write less, less often, or from a thread of its own, and check the file system (a local or parallel one instead of NFS)."}
		}
		return []string{"Write less often or less, use collective file calls with large contiguous pieces, and check the file system (a local or parallel one instead of NFS)."}
	case StartEnd:
		return []string{fmt.Sprintf("Look at what %s does before MPI_Init, and at how its pod starts (image pull, mounts, scheduling).", c.Who())}
	case CPUs:
		return c.adviseCPUs()
	case Tracer:
		return []string{"Trace less: without call paths, in another mode, or without the groups of calls that you do not need (spec.tracer)."}
	case Hang, Crash, Nobody, Unknown:
	}
	return nil
}

// adviseCalls returns what to do about calls that cost much themselves.
func (c *Cause) adviseCalls() []string {
	at := c.Before.At()
	switch {
	case c.Kind == Local && c.Form == Copies:
		return []string{fmt.Sprintf("%s copies data within a rank and sends nothing: send from where the data is (a derived datatype), or copy less of it.", at)}
	case c.Kind == Local:
		return []string{fmt.Sprintf("%s neither sends anything nor waits for others: call it once, before the loop, and keep and reuse what it returns or creates.", at)}
	case c.Kind == Network:
		return c.adviseNetwork()
	case c.Form == NoOverlap:
		return []string{c.progress()}
	case c.Form == TooLarge && c.Kind == Collectives:
		return []string{"Reduce or exchange less data, or on fewer ranks (a communicator per node first). " + c.overlap()}
	case c.Form == TooLarge:
		return []string{"Send less: only what has changed, in a smaller type, or compressed. " + c.overlap()}
	}
	return []string{c.adviseSmall()}
}

// adviseSmall returns what to do about calls that cost much although they move little data, or
// nobody knows how much.
func (c *Cause) adviseSmall() string {
	at := c.Before.At()
	switch {
	case c.Form == TooMany:
		return fmt.Sprintf("Send fewer and larger messages: collect what goes to one rank%s and send it at once (a derived datatype, MPI_Pack, a buffer per neighbor).", c.from())
	case c.Form == TooOften && c.Completes:
		return fmt.Sprintf("Start fewer of the collectives that %s completes: take them out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations.", at)
	case c.Form == TooOften:
		return fmt.Sprintf("Call %s less often: take it out of the inner loop, combine several into one with a longer buffer, or test for convergence only every so many iterations. If the result is needed only later, use the non-blocking form.", at)
	case c.Bytes > 0:
		return fmt.Sprintf("Look at the calls of %s in the timeline: they take %s each without waiting for another rank, which neither their number nor their size explains.", at, wording.Duration(c.EachSeconds))
	}
	step := fmt.Sprintf("Look at the calls of %s in the timeline: they take %s each without waiting for another rank.", at, wording.Duration(c.EachSeconds))
	if c.Kind == Messages {
		step += " How much data they move is not known."
	}
	return step
}

// overlap returns how a transfer can overlap with computation.
func (c *Cause) overlap() string {
	if c.Completes {
		return fmt.Sprintf("Start it earlier (now it is started %s before the wait for it), and compute meanwhile what does not need it.", wording.Duration(c.AheadSeconds))
	}
	return "Overlap the transfer with computation: start it early with a non-blocking call, and complete it late."
}

// progress returns how what was started early proceeds before the wait for it.
func (c *Cause) progress() string {
	return fmt.Sprintf("What %s completes was started %s before, but with most libraries it proceeds only while its ranks are inside MPI: call MPI_Test on it now and then during the computation, or turn on the library's progress thread. Persistent requests save a part of each start.",
		c.Before.At(), wording.Duration(c.AheadSeconds))
}

// from names the call whose messages are too many, if they are its own.
func (c *Cause) from() string {
	if c.Completes {
		return ""
	}
	return " from " + c.Before.At()
}

func (c *Cause) adviseNetwork() []string {
	step := "Put ranks that exchange much data on one node (see Placement), and check that the library uses the fast network (UCX_TLS, btl, fabric)."
	switch c.Form {
	case TooMany:
		step += " Send fewer and larger messages."
	case TooLarge:
		step += " " + c.overlap()
	case NoOverlap:
		step += " " + c.progress()
	}
	return []string{step}
}

// look returns which code to look at.
func (c *Cause) look() string {
	if c.Before == (Call{}) {
		return "See the table of ranks for how long each rank computes."
	}
	return fmt.Sprintf("Look at the code that runs %s.", c.where())
}

// machine returns the name of the node of a cause's ranks, or of the host outside Kubernetes.
func (c *Cause) machine() string {
	switch {
	case c.Node != "":
		return "node " + c.Node
	case c.Host != "":
		return "host " + c.Host
	}
	return c.pick("its node", "their nodes")
}

func (c *Cause) adviseExcess(n Neighbors) []string {
	switch c.Form {
	case Stopped:
		return []string{fmt.Sprintf("Raise the CPU limit of its pod (resources.limits.cpu), or remove it: the limit stopped the container for %s.", wording.Duration(c.StoppedSeconds))}
	case Stolen:
		return []string{
			fmt.Sprintf("The hypervisor took %s away for %s longer than from the others: look at what else runs on the physical machine below %s.",
				c.pick("its CPU", "their CPUs"), wording.Duration(c.StolenSeconds), c.machine()),
			"Move " + c.pick("the pod", "the pods") + " to another node, or use nodes with dedicated CPUs (instances that are not burstable or shared, pinned virtual CPUs).",
		}
	case Preempted:
		return []string{"See what else runs on its CPUs: other pods of the node, more threads than CPUs (OMP_NUM_THREADS), ranks bound to the same core (mpirun --report-bindings)."}
	}
	steps := []string{c.look()}
	it, does, its := c.pick("It", "They"), c.pick("does", "do"), c.pick("its", "their")
	switch {
	case c.BlockedSeconds > 0 && c.Bytes > 0:
		return append(steps, it+c.pick(" waits", " wait")+" for files there: write less often, from a thread of its own, or to a faster or a local file system.")
	case c.BlockedSeconds > 0:
		return append(steps, fmt.Sprintf("%s %s not compute there but %s inside the kernel: for a lock, another process, a device, the network or a sleep. See what %s (a profiler for off-CPU time, strace -p).", it, does, c.pick("waits", "wait"), c.pick("it calls", "they call")))
	case c.Form == InThread:
		return append(steps, fmt.Sprintf("One of %s threads works longer than the others of its team: check how the loop is divided (schedule(dynamic), fewer serial sections), and whether its threads have CPUs of their own.", its))
	case c.Form == InCalls:
		return append(steps, "See in the timeline what its other threads wait for in their calls: fewer and larger messages, receives that are posted earlier, one thread that communicates for all.")
	case c.Form == Sometimes:
		return append(steps, fmt.Sprintf("Find out what %s %s there in %d of %d times only: output, a checkpoint, adaptation, garbage collection, or something outside the program. Have all ranks do it together, do it less often, or beside the computation.", c.they(), does, c.Instances, c.Of))
	case c.OthersSeconds == nil || *c.OthersSeconds < 0.01*c.EachSeconds:
		steps = append(steps, "Hardly any other rank computes there: it is work that the others wait for. Give parts of it to others, or overlap it with their work.")
	case c.OthersOf > 0 && float64(c.Of) > 1.1*c.OthersOf:
		steps = append(steps, fmt.Sprintf("%s there more often than the others: %s given more work. Check how the work is divided among ranks.", c.pick("It computes", "They compute"), c.pick("it was", "they were")))
	case c.OthersOf > 0 && float64(c.Of) < 0.9*c.OthersOf:
		steps = append(steps, fmt.Sprintf("%s longer for each task, and %s given fewer of them already: %s tasks are larger, or %s slower.", c.pick("It takes", "They take"), c.pick("is", "are"), its, c.pick("its CPU is", "their CPUs are")))
	default:
		steps = append(steps, fmt.Sprintf("%s there as often as the others, but longer: either %s larger (check how the domain is divided), or %s slower.", c.pick("It computes", "They compute"), c.pick("its share of the data is", "their shares of the data are"), c.pick("its CPU is", "their CPUs are")))
	}
	place := "host"
	if c.Node != "" {
		place = "node " + c.Node
	}
	switch {
	case c.Scope == "node":
		steps = append(steps, "All ranks of that node are slower, and no others: check the machine first (CPU limits and throttling, other jobs, frequency).")
	case c.isSeveral(): // on nodes that may have nothing to do with each other
	case n.All == 0:
		steps = append(steps, fmt.Sprintf("Nothing else of this job runs on its %s, so compare: move the rank to another one. If the slowness stays behind, it is the machine (CPU limit and throttling, other jobs, frequency); if it goes along, it is the work.", place))
	case 2*n.Slower > n.All:
		steps = append(steps, fmt.Sprintf("Most ranks on its %s are slower than the average too: check the machine first (CPU limits and throttling, other jobs, frequency).", place))
	default:
		steps = append(steps, fmt.Sprintf("The other ranks on its %s are no slower than the average, so the machine as a whole is not the reason: look at the work of this rank first, then at what shares its core.", place))
	}
	return steps
}

// equalTotals is the ratio of the longest to the shortest total up to which ranks have equal work.
const equalTotals = 1.1

func (c *Cause) adviseImbalance() []string {
	if c.Form == Idle {
		return []string{fmt.Sprintf("Find out why %s no work: fewer tasks than ranks, a list of workers that leaves some out, a decomposition for fewer ranks. Divide the work further, or start fewer ranks.", c.pick("it gets", "they get"))}
	}
	if c.BlockedSeconds > 0 {
		return []string{
			c.look(),
			"They do not compute there but wait inside the kernel: for a lock, another process, a device, the network or a sleep. See what they call (a profiler for off-CPU time, strace -p).",
		}
	}
	steps := []string{fmt.Sprintf("Look at how work is divided for the code that runs %s.", c.where())}
	switch c.Spread.Shape {
	case ByRank:
		steps = append(steps, "The work depends on the rank number: check bounds that depend on it, such as those of a triangular loop or of growing blocks, or distribute the parts in turn (cyclic instead of blocks).")
	case ByNode:
		steps = append(steps, "Ranks of one node compute alike: compare the nodes (type and frequency of CPUs, limits, other jobs) before the work, or give slower ones fewer ranks.")
	case ByRow, ByColumn:
		steps = append(steps, "The work depends on the position in the grid of ranks: parts of the domain cost more than others. Weigh them when it is divided, or use a grid of another shape.")
	case ByIteration:
		step := "Divide the work of each iteration, or let ranks go on with the next one instead of waiting for the slowest of this one (fewer collectives, non-blocking ones)."
		if c.Spread.Most <= equalTotals*c.Spread.Least {
			step = "In total the ranks have equal work there, so another division of the whole does not help. " + step
		}
		steps = append(steps, step)
	case Irregular:
		steps = append(steps, "Divide by what parts cost instead of by their number (a partitioner with weights), or hand parts out as ranks become free.")
	}
	return append(steps, "See the table of ranks for how much work each rank has, and the what-ifs for what equal work would gain.")
}

func (c *Cause) adviseCPUs() []string {
	if c.Form == Limits {
		return []string{"Raise the CPU limits of the pods (resources.limits.cpu), or remove them; a rank needs a whole CPU for each of its threads, and MPI polls while it waits."}
	}
	if c.Ranks != "" {
		return []string{"See what else runs on its CPUs: other processes of the node, more threads than CPUs (OMP_NUM_THREADS)."}
	}
	return []string{
		"Give each rank a CPU of its own: fewer ranks on a node (slotsPerWorker, more workers), larger CPU requests, nothing else on these nodes.",
		"Check how many threads a rank starts (OMP_NUM_THREADS), and whether ranks are bound to the same cores (mpirun --report-bindings).",
		"Until then the times of messages and calls say more about whose turn it was than about the network.",
	}
}
