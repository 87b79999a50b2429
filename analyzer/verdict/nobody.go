package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

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
	shares := f.shares(parallel)
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
	if f.Chance {
		text += ". One of the two computes longer, by no more than equal CPUs may differ"
	} else if c := f.Harmless; c != nil {
		text += fmt.Sprintf(". %s %s longer than the others, but that costs the run next to nothing", capital(c.Who()), c.pick("computes", "compute"))
	}
	if c := f.Yielding; c != nil {
		text += fmt.Sprintf(". %s %s %s of the %s %s in the kernel, neither blocked nor moving data, as if %s the CPU again and again: %s may wait there for something outside MPI",
			capital(c.Who()), c.pick("spends", "spend"), wording.Duration(c.SystemSeconds), wording.Duration(c.EachSeconds), c.where(), c.pick("it yielded", "they yielded"), c.they())
	}
	return text + "."
}

// muchElse is the fraction of all ranks' time from which on it is said that they do not compute
// between calls.
const muchElse = 0.1

// shares says for how long ranks compute, or what else they do between calls.
func (f Facts) shares(parallel float64) string {
	least, most := wording.Duration(f.Least), wording.Duration(f.Most)
	who, does, from, to := fmt.Sprintf("the %d ranks", f.Ended), "compute", " between "+least, " and "+most+" each"
	if f.Ended == 1 {
		who, does = "the only one", "computes"
	}
	if f.Delayed+f.Blocked+f.OwnThreads >= muchElse {
		if does, from, to = "are outside MPI", " for "+least, " to "+most+" each"; f.Ended == 1 {
			does = "is outside MPI"
		}
	}
	switch {
	case f.Ended == 1:
		from, to = " for "+least, ""
	case least == most:
		from, to = " for "+least, " each"
	}
	text := fmt.Sprintf("%s %s%s%s, %.0f%% of the %s that the run takes", who, does, from, to, 100*parallel, wording.Duration(f.RunSeconds))
	if f.Delayed >= muchElse {
		text += fmt.Sprintf("; waiting for a CPU is %.0f%% of it", 100*f.Delayed)
	}
	if f.Blocked >= muchElse {
		text += fmt.Sprintf("; being blocked in the kernel is %.0f%%", 100*f.Blocked)
	}
	return text
}

// ownThreads says for how long ranks' first threads wait while other threads of their process run.
func (f Facts) ownThreads() string {
	if f.OwnThreads < muchElse {
		return ""
	}
	text := fmt.Sprintf(". For %.0f%% of the time their first threads wait, and other threads of their process run", 100*f.OwnThreads)
	if f.InCalls >= muchElse {
		text += fmt.Sprintf(" or make MPI calls (at least %.0f%%)", 100*f.InCalls)
	}
	return text
}
