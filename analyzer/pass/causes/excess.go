package causes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Excess is computation of some ranks beyond that of the others: in one region, always or in some
// instances, or everywhere.
const (
	maxRegions  = 5    // that are tested for ranks that stand out
	fewRanks    = 0.25 // of the ranks at most: more are not an exception, unless they are all of one pod or node
	longer      = 1.5  // times the usual duration: an instance that stands out
	beyond      = 3.0  // interquartile ranges above it: required as well
	minLong     = 3    // instances: fewer are accidental
	maxLong     = 0.6  // of the instances of a rank: more are not an exception
	explains    = 0.5  // of an excess: the minimum for something to be its reason
	minInRegion = 0.01 // of the run: the minimum excess of a rank over the mean
)

// excessHypotheses returns the hypotheses about ranks that compute longer than the others.
func (a *search) excessHypotheses() []Hypothesis {
	regions := a.unevenRegions()
	questions := len(regions) + 1
	var list []Hypothesis
	for _, what := range regions {
		for _, s := range a.suspect(only(what), questions) {
			list = append(list, a.excess(s, &what))
		}
		if h := a.intermittent(what, questions); h != nil {
			list = append(list, *h)
		}
		if h := a.slowWorker(what, questions); h != nil {
			list = append(list, *h)
		}
	}
	for _, s := range a.suspect(nil, questions) {
		list = append(list, a.excess(s, nil))
		if parts := a.byRegion(s); len(parts) > 1 {
			list[len(list)-1].joins = len(list)
			joint := len(list)
			for _, part := range parts {
				h := a.excess(part, nil)
				h.partOf = joint
				list = append(list, h)
			}
		}
	}
	if s := a.throttledRanks(); s != nil {
		list = append(list, a.excess(s, nil))
	}
	slices.SortStableFunc(list, func(x, y Hypothesis) int { return cmp.Compare(y.promise, x.promise) })
	return list
}

// byRegion splits ranks that compute longer than the others by region: different regions have
// different reasons. All ranks of one pod or node stay together.
func (a *search) byRegion(s *suspicion) []*suspicion {
	if a.scopeOf(s.set) != "" {
		return []*suspicion{s}
	}
	var places []accounts.Activity
	byPlace := map[accounts.Activity][]worker{}
	usual := a.usualOf(except(s.workers, s.set), nil)
	for _, w := range s.set {
		where, _ := a.where(w, usual, nil)
		if byPlace[where] == nil {
			places = append(places, where)
		}
		byPlace[where] = append(byPlace[where], w)
	}
	var list []*suspicion
	for _, where := range places {
		one := *s
		one.set, one.workers = byPlace[where], except(s.workers, except(s.set, byPlace[where]))
		list = append(list, &one)
	}
	return list
}

// throttledRanks returns ranks whose containers were throttled much longer by their CPU limits than
// those of the others.
func (a *search) throttledRanks() *suspicion {
	if a.Window != nil {
		return nil
	}
	all := a.workers(spent, nil)
	mean := meanUseful(all)
	byPauses := slices.Clone(all)
	for i, w := range byPauses {
		seconds, known := accounts.Throttling(&a.Ranks[w.row])
		if !known {
			return nil
		}
		byPauses[i] = worker{row: w.row, useful: mean + seconds}
	}
	set, _ := a.outliers(byPauses, doubtful, minRatio)
	if set == nil || !a.areFew(&suspicion{set: set}) {
		return nil
	}
	return &suspicion{workers: all, set: set, mean: mean, by: spent}
}

// areFew reports whether the ranks that stand out are few enough to be an exception.
func (a *search) areFew(s *suspicion) bool {
	return len(s.set) <= max(1, int(fewRanks*float64(len(a.Ranks)))) || a.scopeOf(s.set) != ""
}

// scopeOf returns "node" or "pod" if a set is all ranks of one, otherwise "".
func (a *search) scopeOf(set []worker) string {
	switch {
	case len(set) == 1:
		return ""
	case a.whole(set, accounts.NodeOf):
		return "node"
	case a.whole(set, func(r *trace.Rank) string { return r.Pod }):
		return "pod"
	}
	return ""
}

// unevenRegions returns the computations in which a rank exceeds the mean most.
func (a *search) unevenRegions() []accounts.Activity {
	type region struct {
		what   accounts.Activity
		beyond float64
	}
	var list []region
	for what := range a.Total {
		if !what.Computes() {
			continue
		}
		sum, most := 0.0, 0.0
		for _, i := range a.MainOf {
			if i < 0 {
				continue
			}
			if t := a.Each[i].Tallies[what]; t != nil {
				sum, most = sum+float64(t.Ns), max(most, float64(t.Ns))
			}
		}
		if beyond := most - sum/float64(len(a.Ranks)); beyond >= minInRegion*float64(a.Run()) {
			list = append(list, region{what, beyond})
		}
	}
	slices.SortFunc(list, func(x, y region) int {
		return cmp.Or(cmp.Compare(y.beyond, x.beyond), accounts.CompareActivities(x.what, y.what))
	})
	var regions []accounts.Activity
	for _, r := range list[:min(len(list), maxRegions)] {
		regions = append(regions, r.what)
	}
	return regions
}

// excess returns the hypothesis that a set of ranks computes as long as the others do, in one
// region or, if region is nil, in all.
func (a *search) excess(s *suspicion, region *accounts.Activity) Hypothesis {
	worst := s.set[0]
	var in scope
	if region != nil {
		in = only(*region)
	}
	others := except(s.workers, s.set)
	where, _ := a.where(worst, a.usualOf(others, in), in)
	h := Hypothesis{width: oneRegion, promise: worst.useful - s.mean, Cause: a.causeOf(verdict.Excess, s.set, where)}
	h.Cause.Form = verdict.Always
	a.compareEach(&h.Cause, worst, others, where)
	if region == nil {
		h.width = allRegions
	}
	h.change = a.likeTheOthers(s.set, others, in)
	a.reason(&h.Cause, s.set, others, where, false)
	if h.Cause.Form == verdict.Always && h.Cause.EachSeconds == 0 {
		// all that it was longer is waits for a CPU, of which other causes say what they cost
		h.doubt = func(*Hypothesis, *played) bool { return true }
	}
	if a.OfLeads {
		h.estimated = a.beyondOnPath(s.set, others, in)
	}
	h.What = fmt.Sprintf("%s computed as long as the others", h.Cause.Who())
	if region != nil {
		h.What += " " + verdict.Between(h.Cause.After, h.Cause.Before)
	}
	h.Assumes = "Its computation takes as long as that of the other ranks on average; calls keep their own cost, waiting follows."
	return h
}

// likeTheOthers makes a set compute as long as the others, region by region. In regions where
// hardly any other rank computes, its excess is removed from the total instead.
func (a *search) likeTheOthers(set, others []worker, in scope) change {
	factors, usual := map[int]map[accounts.Activity]float64{}, map[int]float64{}
	all := 0.0 // mean computation of the others
	type usually struct {
		mean float64
		n    int
	}
	usualIn := map[accounts.Activity]usually{}
	for _, what := range a.Sorted(in.has, func(t *accounts.Tally) int64 { return t.Ns }) {
		mean, n := a.meanOf(others, what)
		usualIn[what] = usually{mean, n}
		all += mean
	}
	for _, w := range set {
		i := a.MainOf[w.row]
		factors[i] = map[accounts.Activity]float64{}
		excess, elsewhere := -all, 0.0
		for _, what := range a.Each[i].Activities() {
			t := a.Each[i].Tallies[what]
			if !in.has(what) || t.Ns == 0 {
				continue
			}
			mine, _ := a.Each[i].Undelayed(what)
			excess += float64(mine)
			u := usualIn[what]
			if 2*u.n < len(others) {
				elsewhere += float64(t.Ns)
				continue
			}
			excess -= float64(mine) - u.mean
			factors[i][what] = min(1, 1-(float64(mine)-u.mean)/float64(t.Ns))
		}
		if usual[i] = 1; elsewhere > 0 {
			usual[i] = max(0, min(1, 1-excess/elsewhere))
		}
	}
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		own, is := factors[location]
		what := activityOf(r)
		if !is || !in.has(what) {
			return ns
		}
		if f, known := own[what]; known {
			return int64(f * float64(ns))
		}
		return int64(usual[location] * float64(ns))
	}}
}

// meanOf returns the mean time in ns that ranks compute in a region, without their waits for a CPU,
// and how many of them execute it.
func (a *search) meanOf(workers []worker, what accounts.Activity) (mean float64, n int) {
	for _, w := range workers {
		account := &a.Each[a.MainOf[w.row]]
		if account.Tallies[what] != nil {
			ns, _ := account.Undelayed(what)
			mean += float64(ns)
			n++
		}
	}
	return mean / float64(max(1, len(workers))), n
}

// causeOf returns a cause about ranks, slowest first, in a region.
func (a *search) causeOf(kind verdict.Kind, set []worker, where accounts.Activity) verdict.Cause {
	c := verdict.Cause{Kind: kind}
	if len(set) > 0 {
		first := &a.Ranks[set[0].row]
		c.Ranks, c.Rank, c.Pod, c.Node, c.Host, c.Scope = a.listed(set), &first.Rank, first.Pod, first.Node, first.Host, a.scopeOf(set)
		for _, w := range set {
			r := &a.Ranks[w.row]
			if r.Pod != c.Pod {
				c.Pod = ""
			}
			if r.Node != c.Node {
				c.Node = ""
			}
			if r.Host != c.Host {
				c.Host = ""
			}
		}
	}
	a.locate(&c, where)
	return c
}

// locate sets the source location of a cause.
func (a *search) locate(c *verdict.Cause, where accounts.Activity) {
	switch {
	case where.Computes():
		c.Before = a.Names.Call(where.Next, where.NextSite)
		if !a.Sums {
			c.After = a.Names.Call(where.Function, where.Site)
		}
		c.In = a.Names.Around(where.Site, where.NextSite)
	case where != accounts.Activity{}:
		c.Before, c.In = a.Names.Call(where.Function, where.Site), a.Names.In(where.Site)
	}
}

// compareEach sets the mean duration of a computation's instances on a rank and on the others.
func (a *search) compareEach(c *verdict.Cause, w worker, others []worker, where accounts.Activity) {
	t := a.tallyOf(w, where)
	if t == nil || t.Count == 0 {
		return
	}
	own, _ := a.Each[a.MainOf[w.row]].Undelayed(where)
	c.EachSeconds = accounts.Seconds(own) / float64(t.Count)
	c.Of = int(t.Count)
	sum, count := a.sumOf(others, where)
	if count == 0 {
		if twin, ok := a.twin(w.row, where); ok {
			sum, count = a.sumOf(others, twin)
		}
	}
	if count > 0 {
		c.OthersSeconds, c.OthersOf = new(sum/float64(count)), float64(count)/float64(len(others))
	}
}

// sumOf returns the time that ranks compute in a region, in seconds and without waits for a CPU,
// and the number of its instances.
func (a *search) sumOf(workers []worker, what accounts.Activity) (sum float64, count uint64) {
	for _, w := range workers {
		if t := a.tallyOf(w, what); t != nil {
			ns, _ := a.Each[a.MainOf[w.row]].Undelayed(what)
			sum += accounts.Seconds(ns)
			count += t.Count
		}
	}
	return sum, count
}

// reason sets why a rank computes longer, in total or in each instance, if the operating system's
// counters show it: it was throttled or blocked, or another thread was working.
func (a *search) reason(c *verdict.Cause, set, others []worker, where accounts.Activity, each bool) {
	worst := set[0]
	t := a.tallyOf(worst, where)
	if t == nil {
		return
	}
	usual, blocked, stolen, threads := 0.0, 0.0, 0.0, 0.0
	for _, o := range others {
		u := a.tallyOf(o, where)
		if u == nil {
			continue
		}
		share := 1 / float64(len(others))
		if each { // scale to the same number of instances
			share *= float64(t.Count) / float64(u.Count)
		}
		usual += share * float64(u.Ns)
		if e := a.Each[a.MainOf[o.row]].OffCPU[where]; e != nil {
			blocked, stolen = blocked+share*float64(e.Blocked+e.Stolen), stolen+share*float64(e.Stolen)
			threads += share * float64(max(0, e.Others))
		}
	}
	excess := float64(t.Ns) - usual
	if stopped := a.throttled(set, others); stopped > 0 {
		c.Form, c.StoppedSeconds = verdict.Stopped, stopped
		return
	}
	own := a.Each[a.MainOf[worst.row]].OffCPU[where]
	if own == nil && a.wereDelayed(worst, others) {
		c.Form = verdict.Preempted
	}
	if own == nil || excess <= 0 {
		return
	}
	more := float64(own.Blocked+own.Stolen) - blocked
	stolen = float64(own.Stolen) - stolen
	busy := float64(max(0, own.Others)) - threads
	switch {
	case busy >= explains*excess:
		c.Form = verdict.InThread
	case more >= explains*excess && a.isStolen(set, others, more, stolen):
		c.Form, c.StolenSeconds = verdict.Stolen, stolen/1e9
	case more >= explains*excess && more > stolen:
		c.Form, c.BlockedSeconds = verdict.Blocked, (more-max(0, stolen))/1e9
		if own.MovesData() {
			c.Bytes = float64(own.Bytes)
		}
	}
}

// wereDelayed reports whether waiting for a CPU is most of a rank's excess over the others, by the
// counters of the whole run.
func (a *search) wereDelayed(w worker, others []worker) bool {
	own, known := a.waitedForCPU(w.row)
	usual, excess, n := 0.0, accounts.Seconds(a.Each[a.MainOf[w.row]].Compute), float64(max(1, len(others)))
	for _, o := range others {
		delayed, _ := a.waitedForCPU(o.row)
		usual += delayed / n
		excess -= accounts.Seconds(a.Each[a.MainOf[o.row]].Compute) / n
	}
	return known && excess > 0 && own-usual >= explains*excess
}

// intermittent returns the hypothesis that the instances of a region that take unusually long on a
// few ranks take as long as usual. If ranks share CPUs and single computations were not measured,
// it does not apply, because preempted ranks look the same.
func (a *search) intermittent(what accounts.Activity, questions int) *Hypothesis {
	evident := a.HasEvidence()
	if a.shared && !evident {
		return nil
	}
	all := a.workers(typical, only(what))
	var medians, widths []float64
	for _, w := range all {
		if t := a.tallyOf(w, what); t.Count >= accounts.Repeated {
			medians = append(medians, t.Spread.Quantile(0.5))
			widths = append(widths, t.Spread.Quantile(0.75)-t.Spread.Quantile(0.25))
		}
	}
	if len(medians) < 2 {
		return nil
	}
	slices.Sort(medians)
	slices.Sort(widths)
	usual := medians[(len(medians)-1)/2]
	limit := max(longer*usual, usual+beyond*widths[(len(widths)-1)/2])
	counts := map[int]int{}
	tails := make([]worker, 0, len(all))
	for _, w := range all {
		t := a.tallyOf(w, what)
		n, ns := t.Spread.Above(limit)
		tail := ns - float64(n)*usual
		if o := a.Each[a.MainOf[w.row]].OffCPU[what]; o != nil {
			tail -= float64(o.Delayed)
		}
		counts[w.row] = n
		tails = append(tails, worker{row: w.row, useful: (max(0, tail) + usual*float64(t.Count)) / 1e9})
	}
	set, mean := a.outliers(tails, doubtful/float64(questions), 1+minSpread)
	if set == nil || !a.areFew(&suspicion{set: set}) {
		return nil
	}
	for _, w := range set {
		n, of := counts[w.row], int(a.tallyOf(w, what).Count)
		if n < minLong || float64(n) > maxLong*float64(of) || a.Share(int64((w.useful-mean)*1e9)) < minGain[verdict.Excess] {
			return nil
		}
	}
	locations := map[int]bool{}
	for _, w := range set {
		locations[a.MainOf[w.row]] = true
	}
	region := regionOf(what)
	worst := set[0]
	t := a.tallyOf(worst, what)
	n, ns := t.Spread.Above(limit)
	h := Hypothesis{width: someInstances, promise: worst.useful - mean, Cause: a.causeOf(verdict.Excess, set, what)}
	h.Cause.Form, h.Cause.Instances, h.Cause.Of = verdict.Sometimes, n, int(t.Count)
	h.Cause.EachSeconds, h.Cause.OthersSeconds = ns/float64(n)/1e9, new(usual/1e9)
	o := a.Each[a.MainOf[worst.row]].OffCPU[what]
	switch tail := ns - float64(n)*usual; {
	case o == nil || float64(o.Blocked+o.Stolen) < explains*tail:
	case a.isStolen(set, except(all, set), float64(o.Blocked+o.Stolen), float64(o.Stolen)):
		h.Cause.Form, h.Cause.StolenSeconds = verdict.Stolen, float64(o.Stolen)/1e9
	default:
		if h.Cause.BlockedSeconds = float64(o.Blocked) / 1e9; o.MovesData() {
			h.Cause.Bytes = float64(o.Bytes)
		}
	}
	if stopped := a.throttled(set, except(all, set)); stopped > 0 {
		h.Cause.Form, h.Cause.StoppedSeconds = verdict.Stopped, stopped
	}
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if r == region && locations[location] && float64(ns) > limit {
			return int64(usual)
		}
		return ns
	}}
	h.What = fmt.Sprintf("%s took no longer than usual in %d of %d times %s", h.Cause.Who(), n, t.Count, verdict.Between(h.Cause.After, h.Cause.Before))
	h.Assumes = "Each of these computations takes as long as it usually does; calls keep their own cost, waiting follows."
	return &h
}

// slowWorker returns the hypothesis about a rank that takes longer per task and gets fewer tasks,
// because a master gives tasks to whichever rank is ready. The replay keeps the assignment of
// tasks. A faster rank would mainly get more of them; that gain is estimated from the tasks per
// second of all ranks.
func (a *search) slowWorker(what accounts.Activity, questions int) *Hypothesis {
	all := a.workers(spent, only(what))
	each := make([]worker, 0, len(all))
	counts, totals := map[int]float64{}, map[int]float64{}
	for _, w := range all {
		t := a.tallyOf(w, what)
		ns, _ := a.Each[a.MainOf[w.row]].Undelayed(what)
		n := float64(t.Count)
		counts[w.row], totals[w.row] = n, w.useful
		each = append(each, worker{row: w.row, useful: float64(ns) / n / 1e9, variance: t.Variance() / n})
	}
	set, mean := a.outliers(each, doubtful/float64(questions), longer)
	if len(set) != 1 {
		return nil
	}
	slow := set[0]
	others, tasks, total := 0.0, 0.0, 0.0
	for _, w := range each {
		if w.row != slow.row {
			others++
			tasks += counts[w.row]
			total += totals[w.row]
		}
	}
	if others < 1 || counts[slow.row] > 0.8*tasks/others {
		return nil // it has as many tasks as the others
	}
	h := Hypothesis{width: oneRegion, promise: (slow.useful - mean) * counts[slow.row], Cause: a.causeOf(verdict.Excess, set, what)}
	h.Cause.Form = verdict.Always
	a.compareEach(&h.Cause, slow, except(all, set), what)
	a.reason(&h.Cause, set, except(all, set), what, true)
	h.change = scaled(map[int]float64{a.MainOf[slow.row]: mean / slow.useful}, &what)
	now, then, longest := 0.0, 0.0, 0.0
	for _, w := range each {
		now += 1 / w.useful
		then += 1 / min(w.useful, mean)
		longest = max(longest, totals[w.row])
	}
	workers := others + 1
	busy := (total + totals[slow.row]) / workers
	// computation of each rank if tasks were divided evenly
	equal := (total + counts[slow.row]*mean) / workers
	h.estimated = int64(max(busy*(1-now/then), longest-equal) * 1e9)
	h.What = fmt.Sprintf("%s took as long for a task as the others", h.Cause.Who())
	h.Assumes = "Its tasks take as long as those of the others. Tasks go to whoever is ready, so all together are done faster by what this rank is faster, at least."
	return &h
}
