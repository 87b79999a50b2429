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
	b.WriteString(causes[0].words().gain(f.RunSeconds))
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
	sentence := c.words().sentence()
	if c.GainSeconds == nil || *c.GainSeconds >= little*run {
		return sentence
	}
	return strings.Replace(sentence, "this job slow", "this job a little slower", 1)
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

func (c *Cause) make() string { return c.pick("makes", "make") }

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

// others returns one if the job has a single other rank, and several otherwise.
func (c *Cause) others(one, several string) string {
	if c.Others == 1 {
		return one
	}
	return several
}

func (c *Cause) theOthers() string { return c.others("the other", "the others") }

// moved describes the data that ranks read or wrote.
func (c *Cause) moved() string {
	return "up to " + humanize.IBytes(uint64(c.Bytes)) + " are read or written"
}

// look returns which code to look at.
func (c *Cause) look() string {
	if c.Before == (Call{}) {
		return "See the table of ranks for how long each rank computes."
	}
	return fmt.Sprintf("Look at the code that runs %s.", c.where())
}

// between returns the calls around a computation.
func (c *Cause) between() string { return Between(c.After, c.Before) }

// where returns the location in the program.
func (c *Cause) where() string {
	text := c.between()
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
	case c.Host != "" && !c.isSeveral() && !c.oneHost:
		return fmt.Sprintf(" (host %s)", c.Host)
	}
	return ""
}

// gain returns a sentence on how much shorter the run would be.
func (c *Cause) gain(run float64) string {
	if c.GainSeconds == nil {
		return ". How much shorter the run would be without that is not known, since the times of single calls were not kept."
	}
	less := fmt.Sprintf("the run would take %s%s less (of %s)", c.about(), wording.Duration(*c.GainSeconds), wording.Duration(run))
	if c.SharedGainSeconds != nil {
		return fmt.Sprintf(". If the rank itself is slow, %s without that; if it has more work, the run would take %s less if both ranks shared it.",
			less, wording.Duration(*c.SharedGainSeconds))
	}
	return ". Without that, " + less + "."
}

// about precedes a gain by a rule of thumb.
func (c *Cause) about() string {
	if c.Estimate {
		return "about "
	}
	return ""
}

// which returns "rank 3, which computes" or "ranks 4-7, which compute".
func (c *Cause) which(one, several string) string {
	return c.Who() + ", which " + c.pick(one, several)
}

// count formats a number of things: "1 call", "12,000 calls".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}
