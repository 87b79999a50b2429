package verdict

import (
	"cmp"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// excess is about ranks that compute longer than the others, where, and when.
type excess struct{ *Cause }

func (c excess) isOfComputation() bool { return c.Form != Halted && c.Form != BySignal }

func (excess) charge() Charge { return Charge{Row: RowExcess, OfRanks: true} }

func (c excess) sentence() string {
	if c.isOfWaits() || c.isUnlocated() {
		return c.subject()
	}
	return c.subject() + c.times() + c.reason()
}

// isOfWaits reports whether the ranks just wait for a CPU.
func (c excess) isOfWaits() bool {
	return c.Form == Preempted || c.Form == ByThreads || c.Form == Stolen
}

// isUnlocated reports whether it is not known where something stopped the ranks.
func (c excess) isUnlocated() bool {
	return c.Form == Halted || c.Form == BySignal || c.Form == Stopped && c.EachSeconds == 0
}

func (c excess) isCounted() bool {
	return c.Form == Preempted || c.Form == Stolen || c.Form == Halted || c.Form == BySignal
}

// isSpent reports whether the ranks are there without computing all the time.
func (c excess) isSpent() bool {
	return c.BlockedSeconds > 0 || c.Form == InThread || c.Form == InCalls || c.Form == SysCalls
}

// isAlone reports whether the others have next to nothing to do there.
func (c excess) isAlone() bool {
	return c.OthersSeconds == nil || *c.OthersSeconds < 0.01*c.EachSeconds
}

// isMoreOften reports whether the ranks are there more often than the others.
func (c excess) isMoreOften() bool { return c.OthersOf > 0 && float64(c.Of) > 1.1*c.OthersOf }

// subject names the ranks, and what they do.
func (c excess) subject() string {
	does, ranks := c.does(), fmt.Sprintf("its ranks, %s, ", c.Ranks)
	if c.isUnlocated() { // a sentence of its own
		ranks = fmt.Sprintf("its ranks are %s, and ", c.Ranks)
	}
	switch c.Scope {
	case "node":
		return fmt.Sprintf("node %s makes this job slow: %s%s", cmp.Or(c.Node, c.Host), ranks, does)
	case "pod":
		return fmt.Sprintf("pod %s makes this job slow: %s%s", c.Pod, ranks, does)
	}
	if !c.isUnlocated() {
		does = c.they() + " " + does
	}
	return fmt.Sprintf("%s%s %s this job slow: %s", c.Who(), c.whereabouts(), c.make(), does)
}

// does returns what the ranks do: they compute, spend time, or wait for their CPU.
func (c excess) does() string {
	waits := " for a CPU while " + c.others("the other has", "the others have") + " one"
	verb := "compute"
	switch {
	case c.Form == Halted:
		return c.halted()
	case c.Form == BySignal:
		return fmt.Sprintf("for %s %s; %s seen suspended, by a signal or a debugger, in %d of %d looks",
			wording.Duration(c.BlockedSeconds), c.still(), c.pick("it was", "they were"), c.Suspended, c.Looks)
	case c.isUnlocated():
		return c.stopped()
	case c.Form == Preempted:
		return c.pick("waits", "wait") + waits + ", since something else runs there"
	case c.Form == ByThreads:
		return fmt.Sprintf("%s%s, and meanwhile other threads of %s run", c.pick("waits", "wait"), waits, c.pick("its process", "their processes"))
	case c.Form == Stolen:
		return c.pick("waits", "wait") + waits + ", since the hypervisor runs other machines on it"
	case c.isSpent():
		verb = "spend"
	}
	if c.Scope == "" {
		return c.pick(verb+"s", verb)
	}
	return verb
}

// times compares how long the ranks and the others are there.
func (c excess) times() string {
	lasts, often := "for ", "each time"
	if c.isSpent() {
		lasts = ""
	}
	if c.Varies {
		often = "on average"
	}
	each, where, others := lasts+wording.Duration(c.EachSeconds), c.where(), ""
	if c.OthersSeconds != nil {
		others = lasts + wording.Duration(*c.OthersSeconds)
	}
	if c.Form == Sometimes {
		text := fmt.Sprintf(" %s in %d of %d times %s", each, c.Instances, c.Of, where)
		if others != "" {
			text += fmt.Sprintf(", and %s otherwise", others)
		}
		return text
	}
	once := each
	if c.Of > 1 {
		each += " " + often
	}
	switch {
	case c.isAlone():
		return fmt.Sprintf(" %s %s, where %s next to nothing to do", each, where, c.others("the other has", "the others have"))
	case c.isMoreOften() && c.Of > 1:
		return fmt.Sprintf(" %d times %s %s, %s %.0f times %s", c.Of, once, where, c.theOthers(), c.OthersOf, others)
	}
	return fmt.Sprintf(" %s %s, %s %s", each, where, c.theOthers(), others)
}

// reason returns why the ranks are there for longer, if it is known.
func (c excess) reason() string {
	blocked := fmt.Sprintf("; for %s of that %s blocked in the kernel", wording.Duration(c.BlockedSeconds), c.pick("it is", "they are"))
	switch {
	case c.StoppedSeconds > 0:
		return fmt.Sprintf("; %s, and that, not more work, is the reason", c.stopped())
	case c.BlockedSeconds > 0 && c.whatFor() != "":
		return fmt.Sprintf("%s%s: %s for %s", blocked, c.meanwhile(" longer"), c.pick("it waits", "they wait"), c.whatFor())
	case c.BlockedSeconds > 0:
		return fmt.Sprintf("%s: %s not compute", blocked, c.pick("it does", "they do"))
	case c.SystemSeconds > 0 || c.PageFaults > 0:
		return c.inKernel("; ", "")
	case c.Bytes > 0:
		return "; meanwhile " + c.moved()
	case c.Form == InThread:
		return fmt.Sprintf("; meanwhile another of %s threads computes", c.pick("its", "their"))
	case c.Form == SysCalls:
		return fmt.Sprintf("; there %s at least %s times, and %s CPU about as often",
			c.pick("it reads or writes", "they read or write"), humanize.Comma(int64(c.Calls)), c.pick("loses its", "lose their"))
	case c.Form == InCalls:
		return fmt.Sprintf("; %s meanwhile, and other threads of %s make MPI calls",
			c.pick("its first thread waits", "their first threads wait"), c.pick("its process", "their processes"))
	}
	return ""
}

// stopped reports that the CPU limit stopped a rank's container.
func (c excess) stopped() string {
	limit := c.pick("the CPU limit of its container stopped it", "the CPU limits of their containers stopped them")
	return fmt.Sprintf("%s for %s longer than %s", limit, wording.Duration(c.StoppedSeconds), c.theOthers())
}

// still says that ranks are neither running nor ready to run.
func (c excess) still() string {
	return c.pick("it neither runs nor is ready to run", "they neither run nor are ready to run")
}

// halted reports that something stops ranks inside calls, or nobody knows where.
func (c excess) halted() string {
	if c.Before.Function == "" {
		return fmt.Sprintf("for %s %s, in many short computations or in calls, although these poll while they wait: something stops %s, or %s",
			wording.Duration(c.BlockedSeconds), c.still(), c.pick("it", "them"), c.pick("it sleeps", "they sleep"))
	}
	return fmt.Sprintf("for %s %s, most of all in %s, although calls of this run poll while they wait: something stops %s",
		wording.Duration(c.BlockedSeconds), c.still(), c.Before.At(), c.pick("it", "them"))
}

func (c excess) short() string {
	switch {
	case c.Form == BySignal:
		return c.which("is suspended", "are suspended")
	case c.Form == Halted:
		if c.Before.Function == "" {
			return c.which("is stopped or sleeps", "are stopped or sleep")
		}
		return c.which("is", "are") + " stopped, most of all in " + c.Before.At()
	case c.isOfWaits():
		return c.which("waits", "wait") + " for a CPU"
	case c.isUnlocated():
		return c.which("is", "are") + " stopped by a CPU limit"
	case c.Form == InThread || c.Form == InCalls || c.Form == SysCalls:
		return c.which("spends", "spend") + " longer " + c.between()
	}
	return c.which("computes", "compute") + " longer " + c.between()
}

func (c excess) advice(n Neighbors) []string {
	switch c.Form {
	case Stopped:
		return []string{fmt.Sprintf("Raise %s (resources.limits.cpu), or remove %s: %s for %s.",
			c.pick("the CPU limit of its pod", "the CPU limits of their pods"), c.pick("it", "them"), c.pick("it stopped the container", "they stopped the containers"), wording.Duration(c.StoppedSeconds))}
	case Stolen:
		return []string{
			fmt.Sprintf("The hypervisor took %s away for %s longer than from %s: look at what else runs on the physical machine below %s.",
				c.pick("its CPU", "their CPUs"), wording.Duration(c.StolenSeconds), c.theOthers(), c.machine()),
			"Move " + c.pick("the pod", "the pods") + " to another node, or use nodes with dedicated CPUs (instances that are not burstable or shared, pinned virtual CPUs).",
		}
	case Halted:
		if c.Before.Function == "" {
			return []string{fmt.Sprintf("See what stops %s: a signal (SIGSTOP, a debugger, a checkpoint), a frozen cgroup, memory that is swapped or reclaimed; or where the program sleeps, reads files, or waits for a lock or for its own threads.", c.pick("the process", "the processes"))}
		}
		return []string{fmt.Sprintf("See what stops %s: a signal (SIGSTOP, a debugger, a checkpoint), a frozen cgroup, memory that is swapped or reclaimed. MPI polls here while it waits, so that the program is not blocked by itself.", c.pick("the process", "the processes"))}
	case BySignal:
		return []string{fmt.Sprintf("See who suspends %s: a debugger, a batch system or scheduler that takes turns with other jobs, a checkpoint, SIGSTOP or SIGTSTP.", c.pick("the process", "the processes"))}
	case ByThreads:
		return []string{fmt.Sprintf("Give %s as many CPUs as it has threads that run at once (mpirun --map-by slot:PE=n), or have fewer threads (OMP_NUM_THREADS).", c.pick("the rank", "each rank"))}
	case Preempted:
		return []string{"See what else runs on " + c.pick("its", "their") + " CPUs: other pods of the node, more threads than CPUs (OMP_NUM_THREADS), ranks bound to the same core (mpirun --report-bindings)."}
	}
	if step := c.adviceOnReason(); step != "" {
		return []string{c.look(), step}
	}
	return append([]string{c.look(), c.adviceOnWork()}, c.adviceOnMachine(n)...)
}

// machine returns the name of the node of the ranks, or of the host outside Kubernetes.
func (c excess) machine() string {
	switch {
	case c.Node != "":
		return "node " + c.Node
	case c.Host != "":
		return "host " + c.Host
	}
	return c.pick("its node", "their nodes")
}

// adviceOnReason returns what to do about the reason why the ranks are there for longer; "" if it
// is not known.
func (c excess) adviceOnReason() string {
	switch {
	case c.isForMemory():
		return c.adviseMemory()
	case c.BlockedSeconds > 0 && c.isForFiles():
		step := c.adviseMemory()
		if step != "" {
			step += " "
		}
		return step + c.pick("It waits", "They wait") + " for files there: write less often, from a thread of its own, or to a faster or a local file system."
	case c.BlockedSeconds > 0:
		return fmt.Sprintf("%s inside the kernel: for a lock, another process, a device, the network or a sleep. See what %s (a profiler for off-CPU time, strace -p).",
			c.pick("It does not compute there but waits", "They do not compute there but wait"), c.pick("it calls", "they call"))
	case c.Form == InThread:
		return fmt.Sprintf("One of %s threads works longer than the others of its team: check how the loop is divided (schedule(dynamic), fewer serial sections), and whether its threads have CPUs of their own.", c.pick("its", "their"))
	case c.Form == SysCalls:
		return "Write less, in larger pieces: keep output in a buffer and do not flush it each time. What takes the output (the launcher, for stdout) runs after each write, on the same CPU if there is no other."
	case c.PageFaults > 0, c.SystemSeconds > 0:
		return c.adviseSystemTime()
	case c.Form == InCalls:
		return "See in the timeline what its other threads wait for in their calls: fewer and larger messages, receives that are posted earlier, one thread that communicates for all."
	case c.Bytes > 0:
		return "Data is read or written there: do that less often, from a thread of its own, or to a faster or a local file system, or have all ranks do it together."
	case c.Form == Sometimes:
		return fmt.Sprintf("Find out what %s there in %d of %d times only: output, a checkpoint, adaptation, garbage collection, or something outside the program. Have all ranks do it together, do it less often, or beside the computation.",
			c.pick("it does", "they do"), c.Instances, c.Of)
	}
	return ""
}

// adviseSystemTime returns what to do if the kernel works for ranks.
func (c *Cause) adviseSystemTime() string {
	switch {
	case c.Kind == Kernel && c.Bytes > 0:
		return c.some("It reads or writes", "They read or write") + " files there, by system calls or by page faults of mapped ones: do that less often, in larger pieces and in order, or keep in memory what is needed again. " + c.adviseMemory()
	case c.PageFaults > 0:
		return c.some("It touches", "They touch") + " new memory there: allocate it once and reuse it (malloc gives large blocks back to the kernel when they are freed: MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_), or use huge pages."
	}
	return fmt.Sprintf("Much of that is time in the kernel: see which system calls %s (strace -c -p), and make fewer of them with more data each.", c.some("it makes", "they make"))
}

// adviceOnWork compares the work of the ranks with that of the others.
func (c excess) adviceOnWork() string {
	slower := c.pick("its CPU is", "their CPUs are")
	switch {
	case c.isAlone():
		return "Hardly any other rank computes there: it is work that the others wait for. Give parts of it to others, or overlap it with their work."
	case c.isMoreOften():
		return fmt.Sprintf("%s there more often than %s: %s given more work. Check how the work is divided among ranks.",
			c.pick("It computes", "They compute"), c.theOthers(), c.pick("it was", "they were"))
	case c.OthersOf > 0 && float64(c.Of) < 0.9*c.OthersOf:
		return fmt.Sprintf("%s given fewer of them already: %s tasks are larger, or %s slower.",
			c.pick("It takes longer for each task, and is", "They take longer for each task, and are"), c.pick("its", "their"), slower)
	}
	return fmt.Sprintf("%s there as often as %s, but longer: either %s larger (check how the domain is divided), or %s slower.",
		c.pick("It computes", "They compute"), c.theOthers(), c.pick("its share of the data is", "their shares of the data are"), slower)
}

// adviceOnMachine compares the machine of a rank, or of the ranks of one node, with the others.
func (c excess) adviceOnMachine(n Neighbors) []string {
	where := "host"
	if c.Node != "" {
		where = "node " + c.Node
	}
	switch {
	case c.Scope == "node":
		return []string{"All ranks of that node are slower, and no others: check the machine first (CPU limits and throttling, other jobs, frequency)."}
	case c.isSeveral(): // on nodes that may have nothing to do with each other
		return nil
	case n.All == 0:
		return []string{fmt.Sprintf("Nothing else of this job runs on its %s, so compare: move the rank to another one. If the slowness stays behind, it is the machine (CPU limit and throttling, other jobs, frequency); if it goes along, it is the work.", where)}
	case 2*n.Slower > n.All:
		return []string{fmt.Sprintf("Most ranks on its %s are slower than the average too: check the machine first (CPU limits and throttling, other jobs, frequency).", where)}
	}
	return []string{fmt.Sprintf("The other ranks on its %s are no slower than the average, so the machine as a whole is not the reason: look at the work of this rank first, then at what shares its core.", where)}
}
