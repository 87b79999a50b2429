package criticalpath

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// blameText is the verdict as a sentence; the run gains at most so many seconds.
func (a *analysis) blameText(v Verdict, set []worker, atMost float64) string {
	var b strings.Builder
	pod, node := v.Pod, v.Node
	for _, w := range set {
		if a.ranks[w.row].Pod != pod {
			pod = ""
		}
		if a.ranks[w.row].Node != node {
			node = ""
		}
	}
	one := len(set) == 1
	if one {
		fmt.Fprintf(&b, "Rank %d%s makes this job slow: it computes", *v.Rank, a.whereabouts(pod, node, a.ranks[set[0].row].Host))
	} else {
		fmt.Fprintf(&b, "Ranks %s%s make this job slow: rank %d, the slowest, computes", v.Ranks, a.whereabouts(pod, node, ""), *v.Rank)
	}
	if v.CountRatio == 0 && v.Function != "" {
		fmt.Fprintf(&b, " %.1fx as long as the mean of the others, most of it where they never do, %s", v.Ratio,
			between(v.After, Place{v.Function, v.CallSite}))
	} else {
		fmt.Fprintf(&b, " %.1fx as long as the mean of the others", v.Ratio)
		if v.Function != "" {
			fmt.Fprintf(&b, " %s", between(v.After, Place{v.Function, v.CallSite}))
		}
	}
	run := wording.Duration(a.seconds(a.run()))
	if v.GainSeconds == nil {
		fmt.Fprintf(&b, ". How much shorter the run would be without that is not known, since the times of single calls were not kept: at most %s (of %s).", wording.Duration(atMost), run)
	} else {
		fmt.Fprintf(&b, "; without that the run would take at most %s less (of %s).", wording.Duration(atMost), run)
	}
	if v.ThrottledSeconds > 0 {
		fmt.Fprintf(&b, " The CPU limit of its container stopped it for %s longer than the others: that, not more work, makes it slow.", wording.Duration(v.ThrottledSeconds))
	}
	if v.MoreLost != nil {
		fmt.Fprintf(&b, " More of the run, %s, is lost to %s.", wording.Duration(v.MoreLost.Seconds), v.MoreLost.words())
	}
	return b.String()
}

// words says what the time goes to.
func (l *Loss) words() string {
	what := "messages and MPI calls themselves"
	if l.Factor == "serialization" {
		what = "ranks that wait for each other in turn"
	}
	return fmt.Sprintf("%s (%s %.0f%%)", what, l.Factor, 100*l.Efficiency)
}

// whereabouts names pod and node, or the host outside Kubernetes.
func (a *analysis) whereabouts(pod, node, host string) string {
	switch {
	case pod != "" && node != "":
		return fmt.Sprintf(" (pod %s, node %s)", pod, node)
	case pod != "":
		return fmt.Sprintf(" (pod %s)", pod)
	case node != "":
		return fmt.Sprintf(" (node %s)", node)
	case host != "":
		return fmt.Sprintf(" (host %s)", host)
	}
	return ""
}

// nobodyText is the verdict on a job in which nobody stands out. It says what the time went to instead.
func (a *analysis) nobodyText(harmless []worker, mean float64) string {
	text := a.sharesText("No rank stands out")
	if where, share := a.costliestCall(func(activity) bool { return true }); a.parallel() < lowEfficiency && where != "" {
		text += fmt.Sprintf("; the most of the rest goes to %s (%.0f%% of all ranks' time)", where, 100*share)
	}
	if len(harmless) > 0 {
		text += fmt.Sprintf(". Rank %d computes %.1fx as long as the others, but that costs the run at most %s",
			a.ranks[harmless[0].row].Rank, harmless[0].useful/mean, wording.Duration(max(0, gain(harmless[:1], mean))))
	}
	return text + "."
}

// parallel is the parallel efficiency, 0 where it is not known.
func (a *analysis) parallel() float64 {
	if p := a.efficiency(a.seconds(a.run())).Parallel; p != nil {
		return *p
	}
	return 0
}

// sharesText says how long ranks compute, after what it begins with.
func (a *analysis) sharesText(begin string) string {
	workers := a.workers((*tally).spent)
	if len(workers) == 0 {
		return begin + ": the trace has no rank that ran to its end"
	}
	least, most := workers[0].useful, workers[0].useful
	for _, w := range workers {
		least, most = min(least, w.useful), max(most, w.useful)
	}
	run, share := wording.Duration(a.seconds(a.run())), 100*a.parallel()
	if len(workers) == 1 {
		return fmt.Sprintf("%s: the only one computes %s, %.0f%% of the %s that the run takes", begin, wording.Duration(least), share, run)
	}
	return fmt.Sprintf("%s: the %d ranks compute between %s and %s each, %.0f%% of the %s that the run takes",
		begin, len(workers), wording.Duration(least), wording.Duration(most), share, run)
}

// imbalanceText is the verdict on a job whose ranks compute unequally; it says whether that grows with the rank.
func (a *analysis) imbalanceText(v Verdict, grows bool) string {
	i := v.Imbalance
	var b strings.Builder
	ranks := fmt.Sprintf("ranks %s", i.Ranks)
	if i.Ranks == a.allRanks() {
		ranks = fmt.Sprintf("the %d ranks", len(a.ranks))
	}
	where := between(v.After, Place{v.Function, v.CallSite})
	if i.Shape == ByIteration {
		fmt.Fprintf(&b, "Unequal work makes this job slow: no rank stands out, and in all %s compute between %s and %s each, but each time another one computes longest, %s",
			ranks, wording.Duration(i.Least), wording.Duration(i.Most), where)
	} else {
		fmt.Fprintf(&b, "Unequal work makes this job slow: %s compute between %s and %s each, rank %d the longest%s; they differ most %s",
			ranks, wording.Duration(i.Least), wording.Duration(i.Most), i.MostRank, i.words(grows), where)
	}
	run := a.seconds(a.run())
	if v.GainSeconds == nil {
		fmt.Fprintf(&b, ". How much shorter the run would be if all computed the mean, %s, is not known, since the times of single calls were not kept.", wording.Duration(i.Mean))
		return b.String()
	}
	fmt.Fprintf(&b, ". If work were divided equally the run would take %s instead of %s.", wording.Duration(run-*v.GainSeconds), wording.Duration(run))
	return b.String()
}

// words says what the computation of ranks goes with.
func (i *Imbalance) words(grows bool) string {
	switch i.Shape {
	case ByRank:
		if grows {
			return "; it grows with the rank"
		}
		return "; it falls with the rank"
	case ByNode:
		return "; ranks of one node compute alike"
	case ByRow:
		return fmt.Sprintf("; each %d neighbors from rank 0 on compute alike", i.Width)
	case ByColumn:
		return fmt.Sprintf("; every %s rank computes alike", ordinal(i.Width))
	case ByIteration, Irregular:
	}
	return ""
}

// ordinal is "2nd", "13th".
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

// allRanks lists those of the trace.
func (a *analysis) allRanks() string {
	list := make([]int, len(a.ranks))
	for row := range a.ranks {
		list[row] = a.ranks[row].Rank
	}
	return trace.NewRankList(list).String()
}

// networkText is the verdict on a job that waits for its messages more than for any rank.
func (a *analysis) networkText(e Efficiency) string {
	ideal := min(*e.IdealSeconds+a.seconds(a.startAndEnd()), a.seconds(a.run()))
	text := fmt.Sprintf("The network makes this job slow: no rank stands out, and with messages and calls that cost nothing the run would take %s instead of %s",
		wording.Duration(ideal), wording.Duration(a.seconds(a.run())))
	if where, share := a.costliestCall(func(what activity) bool { return !a.names.startsOrEnds(what) }); where != "" {
		text += fmt.Sprintf("; most of the difference goes to %s (%.0f%% of all ranks' time)", where, 100*share)
	}
	return text + "."
}

// cpusText is the verdict on a job whose ranks wait for CPUs.
func cpusText(c *CPUs) string {
	if c.Starved != nil {
		return fmt.Sprintf("Too few CPUs make this job slow: no rank stands out, but a rank had a CPU for %.0f%% of its time only, and for %.0f%% it could have gone on and waited for one.", 100*c.Share, 100**c.Starved)
	}
	return fmt.Sprintf("Too few CPUs make this job slow: no rank stands out, but a rank had a CPU for %.0f%% of its time only, and waited for its turn in the rest.", 100*c.Share)
}

// limitsText is the verdict on a job whose ranks are all stopped by their CPU limits.
func limitsText(c *CPUs) string {
	return fmt.Sprintf("CPU limits make this job slow: no rank stands out, but the limits of their containers stopped the ranks for %.0f%% of their time.", 100*c.Stopped)
}

// costliestCall is the call site, of those that count, that costs all ranks together most time.
func (a *analysis) costliestCall(counts func(activity) bool) (where string, share float64) {
	var what activity
	most, all := int64(0), int64(0)
	for k, t := range a.total {
		all += t.ns
		if !k.computes() && counts(k) && (t.ns > most || t.ns == most && k.less(what)) {
			most, what = t.ns, k
		}
	}
	if most == 0 {
		return "", 0
	}
	return a.names.place(what.function, what.site).at(), float64(most) / float64(all)
}
