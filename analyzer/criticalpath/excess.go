package criticalpath

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Excess is what some ranks compute beyond the others: in a region, always or now and then, or everywhere.
const (
	maxRegions  = 5    // of which it is asked who stands out
	fewRanks    = 0.25 // of the ranks at most: more of them are no exception, unless they are all of one pod or node
	longer      = 1.5  // times the usual time: an instance that stands out
	beyond      = 3.0  // interquartile ranges above it, too
	minLong     = 3    // instances: fewer are an accident
	maxLong     = 0.6  // of the instances of a rank: more are no exception
	explains    = 0.5  // of an excess, from where on something is its reason
	minInRegion = 0.01 // of the run that a rank computes longer there than the mean
)

// excessHypotheses are who computes longer than the others, and where.
func (a *search) excessHypotheses() []hypothesis {
	regions := a.unevenRegions()
	questions := len(regions) + 1
	var list []hypothesis
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
	slices.SortStableFunc(list, func(x, y hypothesis) int { return cmp.Compare(y.promise, x.promise) })
	return list
}

// byRegion divides ranks that compute longer than the others by where they do: those that do in different places have
// different reasons. All ranks of one pod or node have one.
func (a *search) byRegion(s *suspicion) []*suspicion {
	if a.scopeOf(s.set) != "" {
		return []*suspicion{s}
	}
	var places []activity
	byPlace := map[activity][]worker{}
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

// throttledRanks are ranks whose containers their CPU limits stopped for much longer than those of the others.
func (a *search) throttledRanks() *suspicion {
	if a.window != nil {
		return nil
	}
	all := a.workers(spent, nil)
	mean := meanUseful(all)
	byPauses := slices.Clone(all)
	for i, w := range byPauses {
		seconds, known := throttling(&a.ranks[w.row])
		if !known {
			return nil
		}
		byPauses[i] = worker{row: w.row, useful: mean + seconds}
	}
	set, _ := a.standing(byPauses, doubtful, minRatio)
	if set == nil || !a.areFew(&suspicion{set: set}) {
		return nil
	}
	return &suspicion{workers: all, set: set, mean: mean, by: spent}
}

// areFew reports whether ranks that stand out are an exception.
func (a *search) areFew(s *suspicion) bool {
	return len(s.set) <= max(1, int(fewRanks*float64(len(a.ranks)))) || a.scopeOf(s.set) != ""
}

// scopeOf is "node" or "pod" if a set is all ranks of one.
func (a *search) scopeOf(set []worker) string {
	switch {
	case len(set) == 1:
		return ""
	case a.whole(set, nodeOf):
		return "node"
	case a.whole(set, func(r *trace.Rank) string { return r.Pod }):
		return "pod"
	}
	return ""
}

// unevenRegions are the computations in which a rank spends most beyond the mean.
func (a *search) unevenRegions() []activity {
	type region struct {
		what   activity
		beyond float64
	}
	var list []region
	for what := range a.total {
		if !what.computes() {
			continue
		}
		sum, most := 0.0, 0.0
		for _, i := range a.mainOf {
			if i < 0 {
				continue
			}
			if t := a.each[i].tallies[what]; t != nil {
				sum, most = sum+float64(t.ns), max(most, float64(t.ns))
			}
		}
		if beyond := most - sum/float64(len(a.ranks)); beyond >= minInRegion*float64(a.run()) {
			list = append(list, region{what, beyond})
		}
	}
	slices.SortFunc(list, func(x, y region) int {
		return cmp.Or(cmp.Compare(y.beyond, x.beyond), compareActivities(x.what, y.what))
	})
	var regions []activity
	for _, r := range list[:min(len(list), maxRegions)] {
		regions = append(regions, r.what)
	}
	return regions
}

// excess is the hypothesis that a set computes as long as the others do, in one region or (nil) in all.
func (a *search) excess(s *suspicion, region *activity) hypothesis {
	worst := s.set[0]
	var in scope
	if region != nil {
		in = only(*region)
	}
	others := except(s.workers, s.set)
	where, _ := a.where(worst, a.usualOf(others, in), in)
	h := hypothesis{width: oneRegion, promise: worst.useful - s.mean, cause: a.causeOf(verdict.Excess, s.set, where)}
	h.cause.Form = verdict.Always
	a.compareEach(&h.cause, worst, others, where)
	if region == nil {
		h.width = allRegions
	}
	h.change = a.likeTheOthers(s.set, others, in)
	a.reason(&h.cause, s.set, others, where, false)
	if a.ofLeads {
		h.estimated = a.beyondOnPath(s.set, others, in)
	}
	h.what = fmt.Sprintf("%s computed as long as the others", h.cause.Who())
	if region != nil {
		h.what += " " + verdict.Between(h.cause.After, h.cause.Before)
	}
	h.assumes = "Its computation takes as long as that of the other ranks on average; calls keep their own cost, waiting follows."
	return h
}

// likeTheOthers is that a set computes as long as the others do, region by region. Where hardly anybody else computes, it does
// so without what it computes longer in all, and not elsewhere.
func (a *search) likeTheOthers(set, others []worker, in scope) change {
	factors, usual := map[int]map[activity]float64{}, map[int]float64{}
	all := 0.0 // what the others compute, on average
	type usually struct {
		mean float64
		n    int
	}
	usualIn := map[activity]usually{}
	for _, what := range a.sorted(in.has, func(t *tally) int64 { return t.ns }) {
		mean, n := a.meanOf(others, what)
		usualIn[what] = usually{mean, n}
		all += mean
	}
	for _, w := range set {
		i := a.mainOf[w.row]
		factors[i] = map[activity]float64{}
		excess, elsewhere := -all, 0.0
		for _, what := range a.each[i].activities() {
			t := a.each[i].tallies[what]
			if !in.has(what) || t.ns == 0 {
				continue
			}
			mine, _ := a.each[i].undelayed(what)
			excess += float64(mine)
			u := usualIn[what]
			if 2*u.n < len(others) {
				elsewhere += float64(t.ns)
				continue
			}
			excess -= float64(mine) - u.mean
			factors[i][what] = min(1, 1-(float64(mine)-u.mean)/float64(t.ns))
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

// meanOf is how long ranks compute in a region on average, without what they waited for a CPU, in ns, and how many come there.
func (a *search) meanOf(workers []worker, what activity) (mean float64, n int) {
	for _, w := range workers {
		account := &a.each[a.mainOf[w.row]]
		if account.tallies[what] != nil {
			ns, _ := account.undelayed(what)
			mean += float64(ns)
			n++
		}
	}
	return mean / float64(max(1, len(workers))), n
}

// causeOf is a cause that is about ranks, slowest first, in a region.
func (a *search) causeOf(kind verdict.Kind, set []worker, where activity) verdict.Cause {
	c := verdict.Cause{Kind: kind}
	if len(set) > 0 {
		first := &a.ranks[set[0].row]
		c.Ranks, c.Rank, c.Pod, c.Node, c.Host, c.Scope = a.listed(set), &first.Rank, first.Pod, first.Node, first.Host, a.scopeOf(set)
		for _, w := range set {
			r := &a.ranks[w.row]
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

// locate says where in the program a cause is.
func (a *search) locate(c *verdict.Cause, where activity) {
	switch {
	case where.computes():
		c.Before = a.names.place(where.next, where.nextSite)
		if !a.sums {
			c.After = a.names.place(where.function, where.site)
		}
		c.In = a.names.around(where.site, where.nextSite)
	case where != activity{}:
		c.Before, c.In = a.names.place(where.function, where.site), a.names.in(where.site)
	}
}

// compareEach says how long a computation takes each time, and the others.
func (a *search) compareEach(c *verdict.Cause, w worker, others []worker, where activity) {
	t := a.tallyOf(w, where)
	if t == nil || t.count == 0 {
		return
	}
	own, _ := a.each[a.mainOf[w.row]].undelayed(where)
	c.EachSeconds = inSeconds(own) / float64(t.count)
	c.Of = int(t.count)
	sum, count := 0.0, uint64(0)
	for _, o := range others {
		if t := a.tallyOf(o, where); t != nil {
			ns, _ := a.each[a.mainOf[o.row]].undelayed(where)
			sum += inSeconds(ns)
			count += t.count
		}
	}
	if count > 0 {
		c.OthersSeconds, c.OthersOf = new(sum/float64(count)), float64(count)/float64(len(others))
	}
}

// reason says why a rank computes longer, in all or each time, where the operating system's counts tell: it was stopped,
// blocked, or another thread worked.
func (a *search) reason(c *verdict.Cause, set, others []worker, where activity, each bool) {
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
		if each { // as if it had been there as often
			share *= float64(t.count) / float64(u.count)
		}
		usual += share * float64(u.ns)
		if e := a.each[a.mainOf[o.row]].offCPU[where]; e != nil {
			blocked, stolen = blocked+share*float64(e.blocked+e.stolen), stolen+share*float64(e.stolen)
			threads += share * float64(max(0, e.others))
		}
	}
	excess := float64(t.ns) - usual
	if stopped := a.throttled(set, others); stopped > 0 {
		c.Form, c.StoppedSeconds = verdict.Stopped, stopped
		return
	}
	own := a.each[a.mainOf[worst.row]].offCPU[where]
	if own == nil && a.wereDelayed(worst, others) {
		c.Form = verdict.Preempted
	}
	if own == nil || excess <= 0 {
		return
	}
	more := float64(own.blocked+own.stolen) - blocked
	stolen = float64(own.stolen) - stolen
	busy := float64(max(0, own.others)) - threads
	switch {
	case busy >= explains*excess:
		c.Form = verdict.InThread
	case more >= explains*excess && a.isStolen(set, others, more, stolen):
		c.Form, c.StolenSeconds = verdict.Stolen, stolen/1e9
	case more >= explains*excess && more > stolen:
		c.Form, c.BlockedSeconds = verdict.Blocked, (more-max(0, stolen))/1e9
		if own.movesData() {
			c.Bytes = float64(own.bytes)
		}
	}
}

// wereDelayed reports whether waiting for a CPU is most of what a rank computes longer than the others, by what was counted over
// the run as a whole.
func (a *search) wereDelayed(w worker, others []worker) bool {
	own, known := a.waitedForCPU(w.row)
	usual, excess, n := 0.0, inSeconds(a.each[a.mainOf[w.row]].compute), float64(max(1, len(others)))
	for _, o := range others {
		delayed, _ := a.waitedForCPU(o.row)
		usual += delayed / n
		excess -= inSeconds(a.each[a.mainOf[o.row]].compute) / n
	}
	return known && excess > 0 && own-usual >= explains*excess
}

// intermittent is that a few ranks take long in a region now and then: in these instances it would take as long as usual.
// Where they share CPUs and nothing is known of single computations, who is preempted looks so.
func (a *search) intermittent(what activity, questions int) *hypothesis {
	evident := a.hasEvidence()
	if a.shared && !evident {
		return nil
	}
	all := a.workers(typical, only(what))
	var medians, widths []float64
	for _, w := range all {
		if t := a.tallyOf(w, what); t.count >= repeated {
			medians = append(medians, t.spread.quantile(0.5))
			widths = append(widths, t.spread.quantile(0.75)-t.spread.quantile(0.25))
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
		n, ns := t.spread.above(limit)
		tail := ns - float64(n)*usual
		if o := a.each[a.mainOf[w.row]].offCPU[what]; o != nil {
			tail -= float64(o.delayed)
		}
		counts[w.row] = n
		tails = append(tails, worker{row: w.row, useful: (max(0, tail) + usual*float64(t.count)) / 1e9})
	}
	set, mean := a.standing(tails, doubtful/float64(questions), 1+minSpread)
	if set == nil || !a.areFew(&suspicion{set: set}) {
		return nil
	}
	for _, w := range set {
		n, of := counts[w.row], int(a.tallyOf(w, what).count)
		if n < minLong || float64(n) > maxLong*float64(of) || a.share(int64((w.useful-mean)*1e9)) < minGain[verdict.Excess] {
			return nil
		}
	}
	locations := map[int]bool{}
	for _, w := range set {
		locations[a.mainOf[w.row]] = true
	}
	region := regionOf(what)
	worst := set[0]
	t := a.tallyOf(worst, what)
	n, ns := t.spread.above(limit)
	h := hypothesis{width: someInstances, promise: worst.useful - mean, cause: a.causeOf(verdict.Excess, set, what)}
	h.cause.Form, h.cause.Instances, h.cause.Of = verdict.Sometimes, n, int(t.count)
	h.cause.EachSeconds, h.cause.OthersSeconds = ns/float64(n)/1e9, new(usual/1e9)
	o := a.each[a.mainOf[worst.row]].offCPU[what]
	switch tail := ns - float64(n)*usual; {
	case o == nil || float64(o.blocked+o.stolen) < explains*tail:
	case a.isStolen(set, except(all, set), float64(o.blocked+o.stolen), float64(o.stolen)):
		h.cause.Form, h.cause.StolenSeconds = verdict.Stolen, float64(o.stolen)/1e9
	default:
		if h.cause.BlockedSeconds = float64(o.blocked) / 1e9; o.movesData() {
			h.cause.Bytes = float64(o.bytes)
		}
	}
	if stopped := a.throttled(set, except(all, set)); stopped > 0 {
		h.cause.Form, h.cause.StoppedSeconds = verdict.Stopped, stopped
	}
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if r == region && locations[location] && float64(ns) > limit {
			return int64(usual)
		}
		return ns
	}}
	h.what = fmt.Sprintf("%s took no longer than usual in %d of %d times %s", h.cause.Who(), n, t.count, verdict.Between(h.cause.After, h.cause.Before))
	h.assumes = "Each of these computations takes as long as it usually does; calls keep their own cost, waiting follows."
	return &h
}

// slowWorker is a rank that takes longer for each task and is given fewer of them, as a master does that hands out tasks to
// whoever is ready. The replay keeps who had which task. Where a faster one would mainly have more of them, what that saves is
// an estimate: the tasks per second of all.
func (a *search) slowWorker(what activity, questions int) *hypothesis {
	all := a.workers(spent, only(what))
	each := make([]worker, 0, len(all))
	counts, totals := map[int]float64{}, map[int]float64{}
	for _, w := range all {
		t := a.tallyOf(w, what)
		ns, _ := a.each[a.mainOf[w.row]].undelayed(what)
		n := float64(t.count)
		counts[w.row], totals[w.row] = n, w.useful
		each = append(each, worker{row: w.row, useful: float64(ns) / n / 1e9, variance: t.variance() / n})
	}
	set, mean := a.standing(each, doubtful/float64(questions), longer)
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
		return nil // it has no fewer of them
	}
	h := hypothesis{width: oneRegion, promise: (slow.useful - mean) * counts[slow.row], cause: a.causeOf(verdict.Excess, set, what)}
	h.cause.Form = verdict.Always
	a.compareEach(&h.cause, slow, except(all, set), what)
	a.reason(&h.cause, set, except(all, set), what, true)
	h.change = scaled(map[int]float64{a.mainOf[slow.row]: mean / slow.useful}, &what)
	now, then, longest := 0.0, 0.0, 0.0
	for _, w := range each {
		now += 1 / w.useful
		then += 1 / min(w.useful, mean)
		longest = max(longest, totals[w.row])
	}
	workers := others + 1
	busy := (total + totals[slow.row]) / workers
	equal := (total + counts[slow.row]*mean) / workers // what each would compute if tasks were divided evenly
	h.estimated = int64(max(busy*(1-now/then), longest-equal) * 1e9)
	h.what = fmt.Sprintf("%s took as long for a task as the others", h.cause.Who())
	h.assumes = "Its tasks take as long as those of the others. Tasks go to whoever is ready, so all together are done faster by what this rank is faster, at least."
	return &h
}
