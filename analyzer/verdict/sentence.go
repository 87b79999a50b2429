package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// text returns the text of the verdict: parts that were not recorded, the first cause, its gain,
// and the other causes.
func text(causes []Cause, f Facts) string {
	var b strings.Builder
	gap := f.gap()
	b.WriteString(gap)
	begin := capital
	if strings.HasSuffix(gap, ": ") {
		begin = func(sentence string) string { return sentence }
	}
	if len(causes) == 0 {
		b.WriteString(begin(nobody(f)))
		if f.isShort() {
			fmt.Fprintf(&b, " The run is too short to say more: %s.", f.main())
		}
		return b.String()
	}
	b.WriteString(begin(causes[0].said(f.RunSeconds)))
	b.WriteString(causes[0].gain(f.RunSeconds))
	for i, c := range causes[1:] {
		lead := " Next: "
		if i > 0 {
			lead = " Then: "
		}
		b.WriteString(lead + c.Short())
		if c.GainSeconds != nil {
			fmt.Fprintf(&b, " (another %s)", wording.Duration(*c.GainSeconds))
		}
		b.WriteString(".")
	}
	switch {
	case f.isShort():
		fmt.Fprintf(&b, " The run is short, %s: a longer one shows this more surely.", f.main())
	case f.StartEnd >= muchStartEnd*f.RunSeconds && !slices.ContainsFunc(causes, func(c Cause) bool { return c.Kind == StartEnd }):
		fmt.Fprintf(&b, " The start and the end of MPI take %s of the run, which a longer run would hide.", wording.Duration(f.StartEnd))
	}
	return b.String()
}

// muchStartEnd is the fraction of the run in MPI_Init and MPI_Finalize from which on the text
// mentions it beside the causes.
const muchStartEnd = 0.25

// said returns the sentence of a cause. One that costs little does not make a job slow.
func (c *Cause) said(run float64) string {
	if c.GainSeconds == nil || *c.GainSeconds >= little*run {
		return c.sentence()
	}
	return strings.Replace(c.sentence(), "this job slow", "this job a little slower", 1)
}

// little is the fraction of the run up to which a cause costs it little.
const little = 0.05

// shortRun is how long, in seconds, a run has to be between the start and the end of MPI for chance
// to matter little.
const shortRun = 0.3

func (f *Facts) isShort() bool { return f.Ended > 0 && f.RunSeconds-f.StartEnd < shortRun }

// main describes the time of the run between the start and the end of MPI.
func (f *Facts) main() string {
	return wording.Duration(f.RunSeconds-f.StartEnd) + " between the start and the end of MPI"
}

// gap returns a sentence that a part was not traced, if that may change the verdict; otherwise "".
func (f Facts) gap() string {
	all := f.RunSeconds * float64(max(1, f.Ranks))
	if f.UntracedSeconds <= minUntraced*all {
		return ""
	}
	return fmt.Sprintf("Tracing was off for %.0f%% of the ranks' time, of which nothing is known. Of the rest: ", 100*f.UntracedSeconds/all)
}

// minUntraced is the fraction of the ranks' time from which on the verdict begins with the untraced
// part.
const minUntraced = 0.05

// sentence describes a cause, without its gain and the full stop.
func (c *Cause) sentence() string {
	switch c.Kind {
	case Excess:
		return c.excess()
	case Imbalance:
		return c.imbalance()
	case Variation:
		return c.variation()
	case Serialization:
		return c.serialization()
	case LateReceiver:
		return c.lateReceiver()
	case Messages, Network, Collectives, IO, Local:
		if c.Form == Blocked {
			return "files make this job slow: " + c.blockedAlike()
		}
		return c.calls()
	case StartEnd:
		comes, it := "comes", "it"
		if c.isSeveral() {
			comes, it = "come", "them"
		}
		return fmt.Sprintf("%s%s %s this job slow: %s %s to MPI_Init %s after the others, and all of them wait for %s there",
			c.Who(), c.whereabouts(), c.make(), c.they(), comes, wording.Duration(c.EachSeconds), it)
	case Kernel:
		return "waiting in the kernel makes this job slow: " + c.blockedAlike()
	case CPUs:
		return c.cpus()
	case Tracer:
		return "the tracer itself makes this job slow"
	case Hang, Crash, Nobody, Unknown:
	}
	return ""
}

// excess describes which ranks compute longer than the others, where, and when.
func (c *Cause) excess() string {
	var b strings.Builder
	verb, lasts := "compute", "for "
	if c.BlockedSeconds > 0 || c.Form == InCalls {
		verb, lasts = "spend", ""
	}
	compute := c.verb(verb)
	if c.Form == Stopped && c.EachSeconds == 0 { // it is not known where it was stopped
		compute = c.stopped()
	}
	switch c.Scope {
	case "node":
		fmt.Fprintf(&b, "node %s makes this job slow: its ranks, %s, %s", or(c.Node, c.Host), c.Ranks, compute)
	case "pod":
		fmt.Fprintf(&b, "pod %s makes this job slow: its ranks, %s, %s", c.Pod, c.Ranks, compute)
	default:
		if c.Form != Stopped || c.EachSeconds != 0 {
			compute = c.they() + " " + compute
		}
		fmt.Fprintf(&b, "%s%s %s this job slow: %s", c.Who(), c.whereabouts(), c.make(), compute)
	}
	if c.Form == Preempted || c.Form == Stolen || c.Form == Stopped && c.EachSeconds == 0 {
		return b.String()
	}
	each, where, others := lasts+wording.Duration(c.EachSeconds), c.where(), ""
	if c.OthersSeconds != nil {
		others = lasts + wording.Duration(*c.OthersSeconds)
	}
	time := "each time"
	if c.Varies {
		time = "on average"
	}
	switch {
	case c.Form == Sometimes:
		fmt.Fprintf(&b, " %s in %d of %d times %s", each, c.Instances, c.Of, where)
		if others != "" {
			fmt.Fprintf(&b, ", and %s otherwise", others)
		}
	case c.OthersSeconds == nil || *c.OthersSeconds < 0.01*c.EachSeconds:
		if c.Of > 1 {
			each += " " + time
		}
		fmt.Fprintf(&b, " %s %s, where the others have next to nothing to do", each, where)
	case c.OthersOf > 0 && float64(c.Of) > 1.1*c.OthersOf && c.Of > 1:
		fmt.Fprintf(&b, " %d times %s %s, the others %.0f times %s", c.Of, each, where, c.OthersOf, others)
	case c.Of == 1:
		fmt.Fprintf(&b, " %s %s, the others %s", each, where, others)
	default:
		fmt.Fprintf(&b, " %s %s %s, the others %s", each, time, where, others)
	}
	switch {
	case c.StoppedSeconds > 0:
		fmt.Fprintf(&b, "; %s, and that, not more work, is the reason", c.stopped())
	case c.BlockedSeconds > 0 && c.Bytes > 0:
		fmt.Fprintf(&b, "; for %s of that %s blocked in the kernel, with %s read or written meanwhile: %s for files",
			wording.Duration(c.BlockedSeconds), c.pick("it is", "they are"), humanize.IBytes(uint64(c.Bytes)), c.pick("it waits", "they wait"))
	case c.BlockedSeconds > 0:
		fmt.Fprintf(&b, "; for %s of that %s blocked in the kernel: %s not compute",
			wording.Duration(c.BlockedSeconds), c.pick("it is", "they are"), c.pick("it does", "they do"))
	case c.Form == InThread:
		b.WriteString("; meanwhile another of " + c.pick("its", "their") + " threads computes")
	case c.Form == InCalls:
		fmt.Fprintf(&b, "; %s first %s meanwhile, and other threads of %s make MPI calls",
			c.pick("its", "their"), c.pick("thread waits", "threads wait"), c.pick("its process", "their processes"))
	}
	return b.String()
}

// cpus describes that all ranks lack CPUs.
func (c *Cause) cpus() string {
	switch {
	case c.Form == Limits && c.Ranks != "":
		return fmt.Sprintf("the CPU limit of its container makes this job slow: it stops %s", c.Who())
	case c.Form == Limits:
		return "CPU limits make this job slow: they stop the containers of all ranks alike"
	case c.Ranks != "":
		return fmt.Sprintf("too few CPUs make this job slow: %s is ready to compute and waits for a CPU", c.Who())
	}
	return "too few CPUs make this job slow: ranks are ready to compute and wait for a CPU, all alike"
}

// blockedAlike describes that all ranks, or many, are blocked in the kernel.
func (c *Cause) blockedAlike() string {
	who, are, spend, each, run := c.Who(), "are", "they spend", " each, on average", "they neither run nor are ready to run"
	switch {
	case c.Ranks == "":
		who = "all ranks alike"
	case !c.isSeveral():
		are, spend, each, run = "is", "it spends", "", "it neither runs nor is ready to run"
	}
	text := fmt.Sprintf("%s %s blocked for %s of the %s that %s %s%s", who, are, wording.Duration(c.BlockedSeconds), wording.Duration(c.EachSeconds), spend, c.where(), each)
	if c.Form == Blocked {
		return fmt.Sprintf("%s, with %s read or written meanwhile", text, humanize.IBytes(uint64(c.Bytes)))
	}
	return text + ": " + run
}

// stopped reports that the CPU limit stopped a rank's container.
func (c *Cause) stopped() string {
	limit := c.pick("the CPU limit of its container stopped it", "the CPU limits of their containers stopped them")
	return fmt.Sprintf("%s for %s longer than the others", limit, wording.Duration(c.StoppedSeconds))
}

func (c *Cause) make() string { return c.pick("makes", "make") }

// verb returns what ranks do: they compute, or wait for their CPU.
func (c *Cause) verb(compute string) string {
	if c.Form == Preempted {
		return c.pick("waits", "wait") + " for a CPU while the others have one, since something else runs there"
	}
	if c.Form == Stolen {
		return c.pick("waits", "wait") + " for a CPU while the others have one, since the hypervisor runs other machines on it"
	}
	if c.Scope == "" && !c.isSeveral() {
		return compute + "s"
	}
	return compute
}

func (c *Cause) they() string { return c.pick("it", "they") }

// pick returns one for a single rank, several for more.
func (c *Cause) pick(one, several string) string {
	if c.isSeveral() {
		return several
	}
	return one
}

// some returns one for a single rank, several for more and for ranks that are not named.
func (c *Cause) some(one, several string) string {
	if c.Ranks == "" {
		return several
	}
	return c.pick(one, several)
}

func (c *Cause) isSeveral() bool { return strings.ContainsAny(c.Ranks, "-,") }

// where returns the location in the program.
func (c *Cause) where() string {
	text := Between(c.After, c.Before)
	if c.In != "" {
		text = "in " + callsite.Short(c.In) + ", " + text
	}
	if c.Phase != "" {
		text += fmt.Sprintf(" (phase %q)", c.Phase)
	}
	return text
}

// Between describes the computation between two calls. The first is not known if there are sums
// only.
func Between(after, before Call) string {
	switch {
	case before == Call{}:
		return "outside MPI"
	case after == Call{}:
		return "before " + before.At()
	case after == before:
		return "between two calls of " + before.At()
	}
	return fmt.Sprintf("between %s and %s", after.At(), before.At())
}

// At returns a call and its call site in words.
func (p Call) At() string { return callsite.At(p.Function, p.CallSite) }

// whereabouts returns pod and node, or the host outside Kubernetes.
func (c *Cause) whereabouts() string {
	switch {
	case c.Pod != "" && c.Node != "":
		return fmt.Sprintf(" (pod %s, node %s)", c.Pod, c.Node)
	case c.Pod != "":
		return fmt.Sprintf(" (pod %s)", c.Pod)
	case c.Node != "":
		return fmt.Sprintf(" (node %s)", c.Node)
	case c.Host != "" && !c.isSeveral():
		return fmt.Sprintf(" (host %s)", c.Host)
	}
	return ""
}

// imbalance describes how unequally ranks compute.
func (c *Cause) imbalance() string {
	s := c.Spread
	who := "ranks " + s.Ranks
	if c.Form == Idle {
		return fmt.Sprintf("work that only some ranks get makes this job slow: %s%s %s in %s for %s and %s next to nothing to do, while %s compute for up to %s each",
			c.Who(), c.whereabouts(), c.pick("waits", "wait"), c.Before.At(), wording.Duration(c.EachSeconds), c.pick("has", "have"), who, wording.Duration(s.Most))
	}
	what, compute, longest := "unequal work", "compute", "computes longest"
	if c.BlockedSeconds > 0 {
		what, compute, longest = "time in the kernel that ranks spend unequally", "spend", "spends longest"
	}
	if s.Shape == ByIteration {
		if c.Regions > 1 {
			longest += ", most of all"
		}
		return fmt.Sprintf("%s makes this job slow: each time another rank %s %s; in total %s %s there between %s and %s each%s",
			what, longest, c.where(), who, compute, wording.Duration(s.Least), wording.Duration(s.Most), c.blockedMost())
	}
	return fmt.Sprintf("%s makes this job slow: %s %s between %s and %s each, rank %d the longest%s; they differ most %s%s",
		what, who, compute, wording.Duration(s.Least), wording.Duration(s.Most), s.MaxRank, c.shape(), c.where(), c.blockedMost())
}

// blockedMost describes that ranks differ because they are blocked.
func (c *Cause) blockedMost() string {
	if c.BlockedSeconds == 0 {
		return ""
	}
	return fmt.Sprintf("; rank %d is blocked in the kernel for %s: it does not compute then", c.Spread.MaxRank, wording.Duration(c.BlockedSeconds))
}

// shape describes the pattern of the ranks' computation, and which of them compute longer than the
// rest.
func (c *Cause) shape() string {
	text, s, longer := "", c.Spread, "compute longer"
	if c.BlockedSeconds > 0 {
		longer = "spend more"
	}
	if c.Form == Classes && len(c.Ranks) <= maxListed {
		text = fmt.Sprintf("; %s %s than the rest", c.Who(), longer)
	}
	switch s.Shape {
	case ByRank:
		if s.Grows {
			return text + "; it grows with the rank"
		}
		return text + "; it falls with the rank"
	case ByNode:
		return text + "; ranks of one node compute alike"
	case ByRow:
		return text + fmt.Sprintf("; each %d neighbors from rank 0 on compute alike", s.Width)
	case ByColumn:
		return text + fmt.Sprintf("; every %s rank computes alike", ordinal(s.Width))
	case ByIteration, Irregular:
	}
	return text
}

// maxListed is the maximum length of a list of ranks in a sentence that has a pattern, too.
const maxListed = 40

// serialization reports that ranks compute one after the other.
func (c *Cause) serialization() string {
	if c.Form == Master {
		return fmt.Sprintf("%s%s makes this job slow: it alone computes %s, %s, and the others wait for it", c.Who(), c.whereabouts(), c.where(), c.times())
	}
	compute := "compute"
	if c.AtOnce < 1.05 {
		compute = "computes"
	}
	return fmt.Sprintf("ranks compute one after the other, and that makes this job slow: on average %.1f of them %s at once, the others wait for their turn in %s",
		c.AtOnce, compute, c.Before.At())
}

func (c *Cause) times() string {
	if c.Of == 1 {
		return "for " + wording.Duration(c.EachSeconds)
	}
	return fmt.Sprintf("%d times for %s", c.Of, wording.Duration(c.EachSeconds))
}

// lateReceiver describes which ranks wait in a send.
func (c *Cause) lateReceiver() string {
	if c.Form == Seldom {
		return fmt.Sprintf("%s%s %s this job slow: %s %s in %s only every %s, and %s idle in between while others wait for %s",
			c.Who(), c.whereabouts(), c.some("makes", "make"), c.some("it", "they"), c.some("polls", "poll"), c.Before.At(), wording.Duration(c.EachSeconds),
			c.some("is", "are"), c.some("it", "them"))
	}
	until := "the receiver has posted its receive"
	if c.Form == NotInside {
		until = "the receiver, which computes, calls MPI again"
	}
	if c.Ranks != "" {
		until = strings.Replace(until, "the receiver", c.Who(), 1)
		if c.isSeveral() {
			until = strings.NewReplacer("has posted", "have posted", "its receive", "their receives", "which computes, calls", "which compute, call").Replace(until)
		}
	}
	receivers := "late receivers make"
	if c.Ranks != "" && !c.isSeveral() {
		receivers = "a late receiver makes"
	}
	return fmt.Sprintf("%s this job slow: senders wait in %s until %s", receivers, c.Before.At(), until)
}

// calls reports that the calls themselves take the time.
func (c *Cause) calls() string {
	place := fmt.Sprintf("%s (%s, %s", c.Before.At(), count(int(c.Calls), "call"), wording.Duration(c.EachSeconds))
	if c.Calls != 1 {
		place += " each"
	}
	if c.Bytes > 0 {
		place += fmt.Sprintf(", %s%s on average", c.completed(), humanize.IBytes(uint64(c.Bytes)))
	}
	most := "most of their time goes to "
	if c.Form == NoOverlap {
		most = fmt.Sprintf("they are started %s before the wait for them, and yet most of their time goes to ", wording.Duration(c.AheadSeconds))
	}
	return c.expensive() + " make this job slow: " + most + place + ")"
}

// completed names what calls complete that others have started; "" for calls that do not.
func (c *Cause) completed() string {
	switch {
	case !c.Completes:
		return ""
	case c.Kind == Collectives:
		return "collectives of "
	}
	return "messages of "
}

// expensive names the calls that take the time.
func (c *Cause) expensive() string {
	switch {
	case c.Kind == IO:
		return "files"
	case c.Kind == Local && c.Form == Copies:
		return "copies of data within ranks"
	case c.Kind == Local:
		return "local MPI calls"
	case c.Kind == Network:
		return "messages between nodes"
	case c.Form == NoOverlap && c.Kind == Collectives:
		return "non-blocking collectives"
	case c.Form == NoOverlap:
		return "non-blocking messages"
	case c.Form == TooLarge && c.Kind == Collectives:
		return "collectives of much data"
	case c.Form == TooLarge:
		return "large messages"
	case c.Form == TooOften:
		return "many collectives"
	case c.Form == TooMany:
		return "many small messages"
	case c.Kind == Collectives:
		return "collectives"
	}
	return "messages"
}

// gain returns a sentence on how much shorter the run would be.
func (c *Cause) gain(run float64) string {
	if c.GainSeconds == nil {
		return ". How much shorter the run would be without that is not known, since the times of single calls were not kept."
	}
	about := ""
	if c.Estimate {
		about = "about "
	}
	if c.Kind == Imbalance {
		each := ""
		if c.Form == Moving {
			each = " each time"
		}
		work := "work were divided equally"
		if c.BlockedSeconds > 0 {
			work = "they all spent the same time"
		}
		return fmt.Sprintf(". If %s%s, the run would take %s%s instead of %s.", work, each, about, wording.Duration(run-*c.GainSeconds), wording.Duration(run))
	}
	if c.SharedGainSeconds != nil {
		return fmt.Sprintf(". If the rank itself is slow, the run would take %s%s less (of %s) without that; if it has more work, the run would take %s less with equal work.",
			about, wording.Duration(*c.GainSeconds), wording.Duration(run), wording.Duration(*c.SharedGainSeconds))
	}
	return fmt.Sprintf(". Without that, the run would take %s%s less (of %s).", about, wording.Duration(*c.GainSeconds), wording.Duration(run))
}

// Short returns a short name of a cause.
func (c *Cause) Short() string {
	switch c.Kind {
	case Excess:
		if c.Form == Preempted || c.Form == Stolen {
			return c.which("waits", "wait") + " for a CPU"
		}
		if c.Form == InCalls {
			return fmt.Sprintf("%s longer %s", c.which("spends", "spend"), Between(c.After, c.Before))
		}
		if c.Form == Stopped && c.EachSeconds == 0 {
			return c.which("is", "are") + " stopped by a CPU limit"
		}
		return fmt.Sprintf("%s longer %s", c.which("computes", "compute"), Between(c.After, c.Before))
	case Imbalance:
		if c.Form == Idle {
			return c.which("has", "have") + " next to nothing to do"
		}
		if c.BlockedSeconds > 0 {
			return "time in the kernel that ranks spend unequally " + Between(c.After, c.Before)
		}
		return "unequal work " + Between(c.After, c.Before)
	case Variation:
		return c.varies()
	case Serialization:
		if c.Form == Master {
			return fmt.Sprintf("what %s alone computes %s", c.Who(), Between(c.After, c.Before))
		}
		return "ranks that compute one after the other"
	case LateReceiver:
		if c.Form == Seldom {
			return "seldom polls in " + c.Before.At()
		}
		return "late receivers of " + c.Before.At()
	case Network:
		return "messages between nodes, most of all " + c.Before.At()
	case Messages:
		return "messages, most of all " + c.Before.At()
	case Collectives:
		return "collectives, most of all " + c.Before.At()
	case Local:
		return "local MPI calls, most of all " + c.Before.At()
	case IO:
		if c.Form == Blocked {
			return "files " + Between(c.After, c.Before)
		}
		return "files, most of all " + c.Before.At()
	case Kernel:
		return "waiting in the kernel " + Between(c.After, c.Before)
	case StartEnd:
		return c.which("comes", "come") + " late to MPI_Init"
	case CPUs:
		if c.Form == Limits {
			return "CPU limits"
		}
		return "too few CPUs"
	case Tracer:
		return "the tracer"
	case Hang, Crash, Nobody, Unknown:
	}
	return ""
}

// which returns "rank 3, which computes" or "ranks 4-7, which compute".
func (c *Cause) which(one, several string) string {
	if c.isSeveral() {
		return c.Who() + ", which " + several
	}
	return c.Who() + ", which " + one
}

// nobody returns the verdict if there is no cause worth naming: it describes what the time was
// spent on instead.
func nobody(f Facts) string {
	if f.Ended == 0 {
		return "no rank ran to its end, so nothing is said of who is slow."
	}
	parallel := 0.0
	if f.Parallel != nil {
		parallel = *f.Parallel
	}
	run, share := wording.Duration(f.RunSeconds), 100*parallel
	least, most := wording.Duration(f.Least), wording.Duration(f.Most)
	shares := fmt.Sprintf("the %d ranks compute between %s and %s each, %.0f%% of the %s that the run takes", f.Ended, least, most, share, run)
	switch {
	case f.Ended == 1:
		shares = fmt.Sprintf("the only one computes for %s, %.0f%% of the %s that the run takes", least, share, run)
	case least == most:
		shares = fmt.Sprintf("the %d ranks compute for %s each, %.0f%% of the %s that the run takes", f.Ended, least, share, run)
	}
	if f.SumsOnly {
		return "no verdict: by the sums no rank stands out: " + shares + ". The times of single calls were not kept (timing aggregated), so what ranks wait for is not known."
	}
	text := "no rank stands out: " + shares
	if parallel < Good {
		start := f.StartEnd / max(f.RunSeconds, 1e-9)
		switch {
		case start > (1-parallel)/2:
			text += fmt.Sprintf("; most of the rest, %.0f%%, is the start and the end of MPI, which a longer run would hide", 100*start)
		case f.Costliest != nil:
			part := "most"
			if f.CostliestShare < (1-parallel)/2 {
				part = "the largest part"
			}
			text += fmt.Sprintf("; %s of the rest goes to %s (%.0f%% of all ranks' time", part, f.Costliest.At(), 100*f.CostliestShare)
			if f.CostliestWaits != nil && *f.CostliestWaits > 0.5 {
				text += ", most of it waiting for whoever happens to be last"
			}
			text += ")"
		}
	}
	text += f.ownThreads()
	if c := f.Harmless; c != nil {
		compute := "computes"
		if c.isSeveral() {
			compute = "compute"
		}
		text += fmt.Sprintf(". %s %s longer than the others, but that costs the run next to nothing", capital(c.Who()), compute)
	}
	return text + "."
}

// muchOwnThreads is the fraction of all ranks' time from which on waiting for own threads is said.
const muchOwnThreads = 0.1

// ownThreads says for how long ranks' first threads wait while other threads of their process run.
func (f Facts) ownThreads() string {
	if f.OwnThreads < muchOwnThreads {
		return ""
	}
	text := fmt.Sprintf(". For %.0f%% of the time their first threads wait, and other threads of their process run", 100*f.OwnThreads)
	if f.InCalls >= muchOwnThreads {
		text += fmt.Sprintf(" or make MPI calls (at least %.0f%%)", 100*f.InCalls)
	}
	return text
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// count formats a number of things: "1 call", "12,000 calls".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// ordinal returns "2nd", "13th".
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
