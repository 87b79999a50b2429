package criticalpath

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// A Verdict says who makes the job slow.
type Verdict struct {
	Text string `json:"text"`
	// Blames is what makes the job slow: "rank", "ranks", "pod" or "node" if all ranks that stand out are there and no
	// others. If no rank stands out: "limits" if the CPU limits of all stop them, "cpus" if the ranks lack CPUs, "imbalance"
	// if work is divided unequally, "network" if the run would be much shorter on an ideal one; else "nobody". Of a run that
	// did not come to its end "hang" or "crash", and nothing else of the verdict counts.
	Blames Blame `json:"blames"`
	// Rank is the one to look at, null when none stands out; Ranks are all that do.
	Rank     *int   `json:"rank"`
	Ranks    string `json:"ranks"`
	Pod      string `json:"pod"`
	Node     string `json:"node"`
	Function string `json:"function"`  // the MPI call that the slow computation leads to
	CallSite string `json:"call_site"` // and where it is
	After    Place  `json:"after"`     // the call that the slow computation follows
	// Ratio is the computation time of the rank over the mean of the ranks that do not stand out.
	Ratio float64 `json:"ratio"`
	// CountRatio is the same for how often it computed there, and EachRatio for how long each time took. CountRatio is 0
	// where the others never do; then EachRatio is, too.
	CountRatio float64 `json:"count_ratio"`
	EachRatio  float64 `json:"each_ratio"`
	// GainSeconds is by how much the run could be shorter at most, if the ranks that stand out computed as long as the
	// others do on average; 0 if none does. Null where ranks stand out and the gain is not known, since times of single
	// calls were not kept.
	GainSeconds *float64 `json:"gain_seconds"`
	// ThrottledSeconds is for how long the CPU limit of the rank's container stopped it, beyond the mean of the ranks
	// that do not stand out; 0 unless that is most of what the rank computes more than they do.
	ThrottledSeconds float64 `json:"throttled_seconds"`
	// Imbalance is how unequally the ranks compute; null unless that is to blame. Function, CallSite and After are then of
	// the computation in which they differ most, and GainSeconds is what the replay of a balanced run saves.
	Imbalance *Imbalance `json:"imbalance"`
	// MoreLost is what the run loses more to than to the ranks that stand out; null if there is no such thing.
	MoreLost *Loss `json:"more_lost"`
}

// A Loss is what a factor of the efficiency costs the run.
type Loss struct {
	Factor     string  `json:"factor"` // "serialization" or "transfer"
	Efficiency float64 `json:"efficiency"`
	Seconds    float64 `json:"seconds"` // serialization: T_ideal − max(useful); transfer: T − T_ideal
}

// A Blame is what a verdict blames.
type Blame string

// What can be blamed.
const (
	BlamesRank      Blame = "rank"
	BlamesRanks     Blame = "ranks"
	BlamesPod       Blame = "pod"
	BlamesNode      Blame = "node"
	BlamesLimits    Blame = "limits"
	BlamesCPUs      Blame = "cpus"
	BlamesImbalance Blame = "imbalance"
	BlamesNetwork   Blame = "network"
	BlamesHang      Blame = "hang"  // the run did not come to its end: Findings.Stopped says more
	BlamesCrash     Blame = "crash" // a rank died: likewise
	BlamesNobody    Blame = "nobody"
)

// The rule (docs/verdict.md has it in prose). A set of ranks stands out if every one of them computes longer than
//
//	mean + t(1 − α/n^g, n−g−1) · s · √(1 + 1/(n−g))
//
// mean and s those of the n−g ranks outside the set, that is, beyond where one more rank like the others would be found
// once in 1/α runs; s is taken to be at least minSpread of the mean. Besides, it must compute minRatio times as long,
// by more than minSigma standard errors of its own varying iterations, and the run must gain minGain.
//
// It is asked three times. First of undisturbed time, where each computation that repeats counts with the time that a
// fifth of its instances did not exceed: preemption and neighbours on a core move sums and even medians, but hardly
// that, so it finds more work and slower cores under heavy noise. Then of typical time, by medians, for a rank that is
// slow only in some iterations. Then of the time really spent, which also has the pauses of a throttled rank and work
// that is done once in it; there a computation that repeats must be long in most parts of the run, and one that does not
// must be longer than three times the longest disturbance of any that does, or a preemption would be blamed on its
// victim.
const (
	significance  = 0.05 // α of undisturbed time, which hardly anything but work moves
	doubtful      = 0.01 // of the others
	minSpread     = 0.02
	minRatio      = 1.1  // of undisturbed time
	minRatioElse  = 1.15 // of the others
	minRatioPair  = 1.5  // of two ranks: the other one alone tells nothing of a spread
	minSigma      = 3.0
	minGain       = 0.01 // of the run
	repeated      = 10   // from how many times on a computation repeats
	sustained     = 0.9  // of the parts of the run
	lowEfficiency = 0.8  // of communication, transfer: from where on CPUs, network are blamed
	parts         = 20
	muchLost      = 0.2 // of the run, from where on it is told that more is lost elsewhere
)

// A worker is a rank as the verdict sees it: its main thread's computation.
type worker struct {
	row      int // of Trace.Ranks
	useful   float64
	variance float64 // of useful
	pathWork float64
}

// standing finds the smallest set of ranks that stands out, slowest first; nil if there is none. mean is that of the
// others. A set that costs the run next to nothing is told, but is no verdict (worth is false).
func (a *analysis) standing(workers []worker, run, alpha, ratio float64) (set []worker, mean float64, worth bool) {
	sorted := slices.Clone(workers)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].useful > sorted[j].useful })
	n := len(sorted)
	rest := make([]float64, n+1) // what all from one on compute
	for i := n - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + sorted[i].useful
	}
	for g := 1; g <= n/2; g++ {
		if rest[g] <= 0 || sorted[g-1].useful < 0.99*ratio*rest[g]/float64(n-g) {
			continue // by far not: no need to look at all the others, or it would take the square of the ranks
		}
		mean, s := spread(sorted[g:])
		if mean <= 0 || !exceeds(sorted[g-1], sorted[g:], a.looks(sorted[:g], n), mean, s, alpha, ratio) {
			continue
		}
		// if this set is not worth it, a larger one would blame the innocent
		return sorted[:g], mean, gain(sorted[:g], mean) >= minGain*run
	}
	return nil, 0, false
}

// looks is in how many ways one can look for such a set: n^g, or n and the number of pods and nodes if these are just
// all ranks of one.
func (a *analysis) looks(set []worker, n int) float64 {
	looks := math.Pow(float64(n), float64(len(set)))
	if a.whole(set, func(r *trace.Rank) string { return r.Pod }) || a.whole(set, nodeOf) {
		looks = min(looks, 3*float64(n))
	}
	return looks
}

// nodeOf is where a rank ran.
func nodeOf(r *trace.Rank) string { return cmp.Or(r.Node, r.BootID, r.Host) }

// whole tells whether a set is all ranks of one place, of several.
func (a *analysis) whole(set []worker, place func(*trace.Rank) string) bool {
	name := place(&a.ranks[set[0].row])
	n, elsewhere := 0, false
	for row := range a.ranks {
		if place(&a.ranks[row]) == name {
			n++
		} else {
			elsewhere = true
		}
	}
	for _, w := range set {
		if place(&a.ranks[w.row]) != name {
			return false
		}
	}
	return name != "" && elsewhere && n == len(set)
}

// exceeds tells whether w, the least of the candidates, is beyond what the others explain.
func exceeds(w worker, others []worker, looks, mean, s, alpha, ratio float64) bool {
	excess := w.useful - mean
	if len(others) > 1 {
		k := float64(len(others))
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(1 - alpha/looks)
		if excess < t*max(s, minSpread*mean)*math.Sqrt(1+1/k) {
			return false
		}
	} else {
		ratio = minRatioPair
	}
	variance := w.variance
	for _, o := range others {
		variance += o.variance / float64(len(others)*len(others))
	}
	return w.useful >= ratio*mean && excess > minSigma*math.Sqrt(variance)
}

// spread is the mean and the standard deviation of useful time.
func spread(workers []worker) (mean, s float64) {
	for _, w := range workers {
		mean += w.useful
	}
	mean /= float64(len(workers))
	if len(workers) < 2 {
		return mean, 0
	}
	for _, w := range workers {
		s += (w.useful - mean) * (w.useful - mean)
	}
	return mean, math.Sqrt(s / float64(len(workers)-1))
}

// gain is how much shorter the path would be if the set computed as long as the others do on average. Another path
// may then be the longest: the run gains at most this.
func gain(set []worker, mean float64) float64 {
	most, sum := 0.0, 0.0
	for _, w := range set {
		sum += w.pathWork * (1 - mean/w.useful)
		most = max(most, w.useful-mean)
	}
	if len(set) == 1 {
		return min(sum, most)
	}
	return sum
}

// decide makes the verdict.
func (a *analysis) decide(e Efficiency, c *CPUs) Verdict {
	workers, set, mean, worth := a.suspects()
	if worth && a.isTop(set, workers) && a.savedBy(a.balanced) >= minBalanceGain*a.seconds(a.run()) {
		worth = false
	}
	if !worth {
		lost, slow := a.lostToNetwork(e)
		balance := a.decideBalance(e, c)
		switch saved := a.savedBy(a.balancedEach); {
		case c.areLimited():
			return Verdict{Blames: BlamesLimits, GainSeconds: new(0.0), Text: limitsText(c)}
		case c.areFew() && isLow(e.Communication) && (balance == nil || *balance.GainSeconds <= c.lost(a.seconds(a.run()))):
			return Verdict{Blames: BlamesCPUs, GainSeconds: new(0.0), Text: cpusText(c)}
		case slow && lost >= saved:
			return Verdict{Blames: BlamesNetwork, GainSeconds: new(0.0), Text: a.networkText(e)}
		}
		if balance != nil {
			return *balance
		}
		if slow {
			return Verdict{Blames: BlamesNetwork, GainSeconds: new(0.0), Text: a.networkText(e)}
		}
		return Verdict{Blames: BlamesNobody, GainSeconds: new(0.0), Text: a.nobodyText(set, mean)}
	}
	v := a.accuse(set, workers, mean)
	atMost := gain(set, mean)
	v.GainSeconds, v.MoreLost = &atMost, moreLost(e, atMost, a.seconds(a.run()))
	v.Text = a.blameText(v, set, atMost)
	return v
}

// decideBalance makes the verdict on work that is divided unequally, nil if it is not, or if that costs little.
func (a *analysis) decideBalance(e Efficiency, c *CPUs) *Verdict {
	enough := minBalanceGain * a.seconds(a.run())
	var v Verdict
	moving := false
	if saved := a.savedBy(a.balanced); saved >= enough {
		if workers := a.unequal(nil, c.areShared()); workers != nil {
			v = a.blameImbalance(workers, activity{}, false, &saved)
		}
	}
	if saved := a.savedBy(a.balancedEach); v.Imbalance == nil && saved >= enough {
		if workers, region := a.moving(c.areShared()); workers != nil {
			v, moving = a.blameImbalance(workers, region, true, &saved), true
		}
	}
	if v.Imbalance == nil {
		return nil
	}
	more := moreLost(e, *v.GainSeconds, a.seconds(a.run()))
	if lost, _ := a.lostToNetwork(e); more != nil && more.Factor == "transfer" && lost <= *v.GainSeconds {
		more = nil // what starts and ends MPI
	}
	// waiting for work that moves is what serialization means there
	if more != nil && (more.Factor == "transfer" || !moving) {
		v.MoreLost = more
		v.Text += fmt.Sprintf(" More of the run, %s, is lost to %s.", wording.Duration(more.Seconds), more.words())
	}
	return &v
}

// savedBy is by how much the run would be shorter if it took so long, in seconds; 0 where that is not known.
func (a *analysis) savedBy(length int64) float64 {
	if length <= 0 {
		return 0
	}
	return max(0, a.seconds(a.run()-length))
}

// lostToNetwork is what an ideal network would save between MPI_Init and MPI_Finalize, in seconds, and whether that is so
// much, beside what is lost otherwise, that the network is slow.
func (a *analysis) lostToNetwork(e Efficiency) (seconds float64, slow bool) {
	transfer := a.transferBetween(e)
	if transfer == 0 || e.LoadBalance == nil || e.Serialization == nil {
		return 0, false
	}
	between := a.seconds(a.run() - a.startAndEnd())
	return (1 - transfer) * between, transfer < lowEfficiency && transfer < min(*e.LoadBalance, *e.Serialization)
}

// accuse is the verdict on a set that stands out, without gain and text.
func (a *analysis) accuse(set, workers []worker, mean float64) Verdict {
	worst := set[0]
	rank := a.ranks[worst.row]
	v := Verdict{
		Rank: &a.ranks[worst.row].Rank, Pod: rank.Pod, Node: rank.Node,
		Ratio: worst.useful / mean, ThrottledSeconds: a.throttled(set),
	}
	var listed []int
	for _, w := range set {
		listed = append(listed, a.ranks[w.row].Rank)
	}
	slices.Sort(listed)
	v.Ranks = trace.NewRankList(listed).String()
	region, counts, each, _ := a.where(set, worst, workers)
	v.CountRatio, v.EachRatio = counts, each
	if region.computes() {
		before := a.names.place(region.next, region.nextSite)
		v.Function, v.CallSite = before.Function, before.CallSite
		if !a.sums {
			v.After = a.names.place(region.function, region.site)
		}
	}
	switch {
	case len(set) == 1:
		v.Blames = BlamesRank
	case a.whole(set, nodeOf):
		v.Blames = BlamesNode
	case a.whole(set, func(r *trace.Rank) string { return r.Pod }):
		v.Blames = BlamesPod
	default:
		v.Blames = BlamesRanks
	}
	return v
}

// isLow reports whether an efficiency is known, and less than is acceptable.
func isLow(efficiency *float64) bool { return efficiency != nil && *efficiency < lowEfficiency }

// transferBetween is the transfer efficiency between MPI_Init and MPI_Finalize: no network makes these faster. 0: no replay.
func (a *analysis) transferBetween(e Efficiency) float64 {
	if between := a.seconds(a.run() - a.startAndEnd()); between > 0 && e.IdealSeconds != nil {
		return min(1, *e.IdealSeconds/between)
	}
	return 0
}

// startAndEnd is the path's part in MPI_Init and MPI_Finalize, in nanoseconds.
func (a *analysis) startAndEnd() (ns int64) {
	for what, t := range a.total {
		if a.names.startsOrEnds(what) {
			ns += t.path
		}
	}
	return ns
}

// suspects asks by one measure after the other, and returns the set that stands out and is worth telling. If there is
// none, worth is false, and the set is one that stands out but costs nothing, or nil.
func (a *analysis) suspects() (workers, set []worker, mean float64, worth bool) {
	run := a.seconds(a.run())
	for _, m := range []struct {
		measure func(*tally) (seconds, variance float64)
		alpha   float64
		ratio   float64
		doubted bool
	}{
		{(*tally).undisturbed, significance, minRatio, false},
		{(*tally).typical, doubtful, minRatioElse, false},
		{(*tally).spent, doubtful, minRatioElse, true},
	} {
		groups := a.roles(a.workers(m.measure))
		for i, all := range groups {
			alpha := m.alpha
			if i > 0 {
				alpha /= float64(len(groups) - 1)
			}
			found, usual, good := a.standing(all, run, alpha, m.ratio)
			if found == nil || m.doubted && !a.lasting(found, all) {
				continue
			}
			if good {
				return all, found, usual, true
			}
			if set == nil {
				workers, set, mean = all, found, usual
			}
		}
	}
	return workers, set, mean, false
}

// workers are the ranks that take part in the comparison: those that ended early would only shift the mean.
func (a *analysis) workers(measure func(*tally) (seconds, variance float64)) []worker {
	var workers []worker
	for row := range a.ranks {
		i := a.mainOf[row]
		if i < 0 || a.forward.extents[i].empty || a.ranks[row].EndedEarly != "" {
			continue
		}
		account := &a.accounts[i]
		w := worker{row: row, pathWork: a.seconds(account.pathWork)}
		if a.sums {
			w.pathWork = a.seconds(account.compute) // at most
		}
		for _, what := range account.activities() {
			if what.computes() {
				seconds, variance := measure(account.tallies[what])
				w.useful += seconds
				w.variance += variance
			}
		}
		workers = append(workers, w)
	}
	return workers
}

// lasting tells whether each of the set computes longer than the others in most parts of the run, or does so in a
// computation that comes only now and then, and for longer than any disturbance.
func (a *analysis) lasting(set, workers []worker) bool {
	disturbance := a.disturbance()
	for _, w := range set {
		region, _, _, excess := a.where(set, w, workers)
		if t := a.accounts[a.mainOf[w.row]].tallies[region]; t == nil || t.count < repeated {
			if excess <= 3*disturbance {
				return false
			}
			continue
		}
		longer, all := 0, 0
		for part := range parts {
			own, others, n := a.computing(w.row, part), int64(0), int64(0)
			for _, o := range workers {
				if !slices.ContainsFunc(set, func(s worker) bool { return s.row == o.row }) {
					others += a.computing(o.row, part)
					n++
				}
			}
			if n == 0 || own+others == 0 {
				continue
			}
			all++
			if own*n > others {
				longer++
			}
		}
		if float64(longer) < sustained*float64(all) {
			return false
		}
	}
	return true
}

// disturbance is the longest one, in nanoseconds, of any computation that repeats.
func (a *analysis) disturbance() int64 {
	longest := int64(0)
	for _, i := range a.mainOf {
		if i >= 0 {
			for what, t := range a.accounts[i].tallies {
				if what.computes() {
					longest = max(longest, t.longest())
				}
			}
		}
	}
	return longest
}

// computing is how long a rank computed in one of the equal parts of the run, in nanoseconds.
func (a *analysis) computing(row, part int) int64 {
	i := a.mainOf[row]
	b, x := &a.accounts[i].strip.mpi, a.forward.extents[i]
	from, to := part*len(b.ns)/parts, (part+1)*len(b.ns)/parts
	ns := int64(0)
	for k := from; k < to; k++ {
		start := max(x.start, b.start+int64(k)*b.width)
		end := min(x.end, b.start+int64(k+1)*b.width)
		ns += max(0, end-start-b.ns[k])
	}
	return ns
}

// where finds the computation in which the worst rank loses most against the ranks outside the set: its excess there,
// as far as it is on the path, else all of it. excess is in nanoseconds; counts is how often it computes there over how
// often the others do, each the same for how long it takes there each time; 0 if they never do.
func (a *analysis) where(set []worker, worst worker, workers []worker) (region activity, counts, each float64, excess int64) {
	others := 0.0
	mean := map[activity]*tally{}
	for _, w := range workers {
		if slices.ContainsFunc(set, func(s worker) bool { return s.row == w.row }) {
			continue
		}
		others++
		for what, t := range a.accounts[a.mainOf[w.row]].tallies {
			if what.computes() {
				if mean[what] == nil {
					mean[what] = new(tally)
				}
				mean[what].add(t)
			}
		}
	}
	most := int64(-1)
	for what, t := range a.accounts[a.mainOf[worst.row]].tallies {
		if !what.computes() || t.ns == 0 {
			continue
		}
		usual, often, long := int64(0), 0.0, 0.0
		if m := mean[what]; m != nil {
			usual, often = int64(float64(m.ns)/others), float64(t.count)*others/float64(m.count)
			if m.ns > 0 {
				long = float64(t.ns) / float64(m.ns) * others / often
			}
		}
		more := max(0, t.ns-usual)
		lost := int64(float64(t.path) * float64(more) / float64(t.ns))
		if lost > most || lost == most && (more > excess || more == excess && what.less(region)) {
			most, region, counts, each, excess = lost, what, often, long, more
		}
	}
	return region, counts, each, excess
}

// moreLost is the factor of communication efficiency that costs the run more than the gain, and much.
func moreLost(e Efficiency, gain, run float64) *Loss {
	if e.IdealSeconds == nil {
		return nil // no replay
	}
	loss := Loss{"serialization", *e.Serialization, *e.IdealSeconds - *e.MaxUseful}
	if transfer := run - *e.IdealSeconds; transfer > loss.Seconds {
		loss = Loss{"transfer", *e.Transfer, transfer}
	}
	if loss.Seconds <= max(gain, muchLost*run) {
		return nil
	}
	return &loss
}

func (a activity) less(b activity) bool {
	switch {
	case a.function != b.function:
		return a.function < b.function
	case a.site != b.site:
		return a.site < b.site
	case a.next != b.next:
		return a.next < b.next
	}
	return a.nextSite < b.nextSite
}
