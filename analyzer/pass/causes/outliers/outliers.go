package outliers

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/trace"
)

// The test (docs/verdict.md has a summary). A set of g of n ranks stands out if each of them
// computes longer than
//
//	mean + t(1 − α/n^g, n−g−1) · s · √(1 + 1/(n−g))
//
// where mean and s are those of the n−g ranks outside the set. So it is beyond the value that one
// more rank like the others would exceed once in 1/α runs. s is taken as at least MinSpread of the
// mean. In addition each of them must compute MinRatio times as long, and its excess must be more
// than minSigma standard errors of its own varying iterations. α is divided by the number of
// compared regions. A set has at most a quarter of the ranks, or is all ranks of one pod or node
// (then n^g is replaced by 3n). Of several such sets, the one with the largest distance to the next
// rank is chosen.
//
// The test is applied to several measures. If the tracer's threads measured their waits for a CPU,
// these are subtracted first.
//
//   - Undisturbed time counts the lower fifth (quantile 0.2) of each repeated computation:
//     preemption and neighbors on a core change sums and even medians, but hardly this quantile. So
//     it detects more work and slower cores under heavy noise.
//   - Typical time counts medians.
//   - Spent time is the sum. It includes the pauses of a throttled rank and work that is done once.
//     With it a repeated computation must be long in most parts of the run. A computation that does
//     not repeat must be longer than three times the longest disturbance of any repeated one;
//     otherwise a preemption would be blamed on its victim.
const (
	Significance = 0.05 // α for Undisturbed time, which hardly anything but work changes
	Doubtful     = 0.01 // α for the other measures
	MinSpread    = 0.02
	MinRatio     = 1.1  // for Undisturbed time
	minRatioElse = 1.15 // for the other measures
	minRatioPair = 1.5  // for two ranks: the other one alone has no spread
	minRatioFew  = 1.25 // for three ranks: the others are two
	fewSpreads   = 8.0  // for three ranks: minimum excess in spreads of the two others
	minSigma     = 3.0
	sustained    = 0.9 // of the parts of the run in which the rank must be longer
	parts        = 20
)

// A Measure is a definition of a rank's computation time.
type Measure struct {
	of      func(a *accounts.Account, what accounts.Activity) (seconds, variance float64)
	Alpha   float64 // level of significance of a test of it
	Ratio   float64 // to the mean of the others, at least
	Doubted bool    // disturbances change it
}

// The measures that the comment above describes.
var (
	ByEvidence  = Measure{onCPU, Significance, MinRatio, false}
	Undisturbed = Measure{ofTally((*accounts.Tally).Undisturbed), Significance, MinRatio, false}
	Typical     = Measure{ofTally((*accounts.Tally).Typical), Doubtful, minRatioElse, false}
	Spent       = Measure{ofTally((*accounts.Tally).Spent), Doubtful, minRatioElse, true}
)

func ofTally(of func(*accounts.Tally) (seconds, variance float64)) func(*accounts.Account, accounts.Activity) (seconds, variance float64) {
	return func(a *accounts.Account, what accounts.Activity) (seconds, variance float64) {
		return of(a.Tallies[what])
	}
}

// onCPU returns the time spent without the waits for a CPU, with the variance of typical time.
// Computations that are too short to be measured count with their undisturbed time, if they repeat.
func onCPU(a *accounts.Account, what accounts.Activity) (seconds, variance float64) {
	t := a.Tallies[what]
	ns, known := a.Undelayed(what)
	if seconds, variance := t.Undisturbed(); !known && t.Count >= accounts.Repeated {
		return seconds, variance
	}
	_, variance = t.Typical()
	return float64(ns) / 1e9, variance
}

// Measures returns the reliable measures, in the order in which they are applied.
func (a *Comparison) Measures() []Measure {
	switch {
	case a.Sums:
		return []Measure{Spent}
	case a.HasEvidence():
		return []Measure{ByEvidence}
	}
	return []Measure{Undisturbed, Typical, Spent}
}

// A Scope selects computations; nil: all.
type Scope func(what accounts.Activity) bool

// Has reports whether a scope has a computation.
func (s Scope) Has(what accounts.Activity) bool { return what.Computes() && (s == nil || s(what)) }

// Only returns the scope of one region.
func Only(region accounts.Activity) Scope {
	return func(what accounts.Activity) bool { return what == region }
}

// A Worker is a rank with the computation of its main thread.
type Worker struct {
	Row      int // of Trace.Ranks
	Useful   float64
	Variance float64 // of Useful
}

// Outliers returns the set of ranks that stands out, slowest first, nil if there is none, and the
// mean of the others. Of several sets it returns the one with the largest gap to the next rank, so
// that it includes all ranks that are about as slow.
func (a *Comparison) Outliers(workers []Worker, alpha, ratio float64) (set []Worker, mean float64) {
	sorted := slices.Clone(workers)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Useful > sorted[j].Useful })
	n := len(sorted)
	rest := restOf(sorted)
	gap := 0.0
	for g := 1; g <= n/2; g++ {
		if next := sorted[g-1].Useful - sorted[g].Useful; next > gap && rest[g].mean > 0 && sorted[g-1].Useful >= 0.99*ratio*rest[g].mean &&
			rest[g].exceededBy(sorted[g-1], a.candidates(sorted[:g], n), alpha, ratio) {
			set, mean, gap = sorted[:g], rest[g].mean, next
		}
	}
	return set, mean
}

// others are statistics of the ranks outside a set.
type others struct {
	n        float64
	mean     float64
	squares  float64 // of deviations from the mean
	variance float64 // sum of their own variances
}

// restOf returns for each index the statistics of the sorted workers from there on (Welford's
// method from the end).
func restOf(sorted []Worker) []others {
	rest := make([]others, len(sorted)+1)
	for i := len(sorted) - 1; i >= 0; i-- {
		o, w := rest[i+1], sorted[i]
		o.n++
		deviation := w.Useful - o.mean
		o.mean += deviation / o.n
		o.squares += deviation * (w.Useful - o.mean)
		o.variance += w.Variance
		rest[i] = o
	}
	return rest
}

// candidates is the number of sets that were compared, for the Bonferroni correction: n^g, or 3n if
// the set is exactly one pod or node.
func (a *Comparison) candidates(set []Worker, n int) float64 {
	compared := math.Pow(float64(n), float64(len(set)))
	if a.whole(set, func(r *trace.Rank) string { return r.Pod }) || a.whole(set, accounts.NodeOf) {
		compared = min(compared, 3*float64(n))
	}
	return compared
}

// whole reports whether a set is all ranks of one node or pod, and there are others.
func (a *Comparison) whole(set []Worker, place func(*trace.Rank) string) bool {
	name := place(&a.Ranks[set[0].Row])
	n, elsewhere := 0, false
	for row := range a.Ranks {
		if place(&a.Ranks[row]) == name {
			n++
		} else {
			elsewhere = true
		}
	}
	for _, w := range set {
		if place(&a.Ranks[w.Row]) != name {
			return false
		}
	}
	return name != "" && elsewhere && n == len(set)
}

// exceededBy reports whether w, the fastest rank of the set, is beyond what the others explain.
func (o *others) exceededBy(w Worker, candidates, alpha, ratio float64) bool {
	excess := w.Useful - o.mean
	if o.n == 2 { // the spread of two is known too badly for Student's distribution
		if s := math.Sqrt(o.squares); excess < fewSpreads*max(s, MinSpread*o.mean) {
			return false
		}
		ratio = max(ratio, minRatioFew)
	} else if o.n > 2 {
		s := math.Sqrt(o.squares / (o.n - 1))
		// by symmetry: 1 − α/n^g is 1 where there are many ranks
		t := -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: o.n - 1}.Quantile(alpha / candidates)
		if excess < t*max(s, MinSpread*o.mean)*math.Sqrt(1+1/o.n) {
			return false
		}
	} else {
		ratio = minRatioPair
	}
	return w.Useful >= ratio*o.mean && excess > minSigma*math.Sqrt(w.Variance+o.variance/(o.n*o.n))
}

// MeanUseful returns the mean of useful time, 0 if there are no workers.
func MeanUseful(workers []Worker) float64 {
	sum := 0.0
	for _, w := range workers {
		sum += w.Useful
	}
	return sum / float64(max(1, len(workers)))
}

// A Suspicion is a set of ranks that computes longer than the others do.
type Suspicion struct {
	Workers []Worker // all ranks that were compared
	Set     []Worker // the ranks that stand out, slowest first
	Mean    float64  // mean of the others
}

// Suspect applies the measures in order and returns the sets that stand out in a scope, among all
// ranks and within each role, without duplicates. questions is the number of such tests, for the
// Bonferroni correction.
func (a *Comparison) Suspect(in Scope, questions int) []*Suspicion {
	var list []*Suspicion
	for _, m := range a.Measures() {
		groups := a.Roles(a.Workers(m, in))
		for i, all := range groups {
			alpha := m.Alpha / float64(questions)
			if i > 0 {
				alpha /= float64(len(groups) - 1)
			}
			set, mean := a.Outliers(all, alpha, m.Ratio)
			if set == nil || m.Doubted && !a.Sums && !a.Lasting(set, all, in) || a.Sums && !a.BeyondDisturbance(set, mean) {
				continue
			}
			s := &Suspicion{all, set, mean}
			if a.AreFew(s) && !slices.ContainsFunc(list, func(o *Suspicion) bool { return a.Listed(o.Set) == a.Listed(set) }) {
				list = append(list, s)
			}
		}
	}
	return list
}

// Workers returns the ranks to compare: without those that ended early, which would only shift the
// mean, and those that never execute a computation of the scope.
func (a *Comparison) Workers(m Measure, in Scope) []Worker {
	var workers []Worker
	for row := range a.Ranks {
		i := a.MainOf[row]
		if i < 0 || a.Extents[i].Empty || a.Ranks[row].EndedEarly != "" {
			continue
		}
		account, w, takesPart := &a.Each[i], Worker{Row: row}, in == nil
		for _, what := range account.Activities() {
			if in.Has(what) {
				seconds, variance := m.of(account, what)
				w.Useful += seconds
				w.Variance += variance
				takesPart = true
			}
		}
		if takesPart {
			workers = append(workers, w)
		}
	}
	return workers
}

// Lasting reports whether each rank of the set computes longer than the others in most parts of the
// run. For a computation that does not repeat, its excess must be longer than any disturbance
// instead.
func (a *Comparison) Lasting(set, workers []Worker, in Scope) bool {
	others := Except(workers, set)
	if len(others) == 0 {
		return true
	}
	disturbance, usual, n := a.disturbance(), a.UsualOf(others, in), int64(len(others))
	var theirs [parts]int64
	for part := range parts {
		for _, o := range others {
			theirs[part] += a.computing(o.Row, part)
		}
	}
	for _, w := range set {
		region, excess := a.Where(w, usual, in)
		if t := a.Each[a.MainOf[w.Row]].Tallies[region]; t == nil || t.Count < accounts.Repeated {
			if excess <= 3*disturbance {
				return false
			}
			continue
		}
		longer, all := 0, 0
		for part := range parts {
			own := a.computing(w.Row, part)
			if own+theirs[part] == 0 {
				continue
			}
			all++
			if own*n > theirs[part] {
				longer++
			}
		}
		if float64(longer) < sustained*float64(all) {
			return false
		}
	}
	return true
}

// disturbance returns the longest disturbance, in nanoseconds, of any repeated computation.
func (a *Comparison) disturbance() int64 {
	longest := int64(0)
	for _, i := range a.MainOf {
		if i >= 0 {
			for what, t := range a.Each[i].Tallies {
				if what.Computes() {
					longest = max(longest, t.Longest())
				}
			}
		}
	}
	return longest
}

// computing returns how long a rank computed in one of the equal parts of the run, in nanoseconds.
func (a *Comparison) computing(row, part int) int64 {
	i := a.MainOf[row]
	b, x := &a.Each[i].Strip.MPI, a.Extents[i]
	from, to := part*len(b.Ns)/parts, (part+1)*len(b.Ns)/parts
	ns := int64(0)
	for k := from; k < to; k++ {
		start := max(x.Start, b.Start+int64(k)*b.Width)
		end := min(x.End, b.Start+int64(k+1)*b.Width)
		ns += max(0, end-start-b.Ns[k])
	}
	return ns
}

// UsualOf returns the mean time of ranks in each computation, in ns.
func (a *Comparison) UsualOf(others []Worker, in Scope) map[accounts.Activity]int64 {
	usual := map[accounts.Activity]int64{}
	for _, o := range others {
		for what, t := range a.Each[a.MainOf[o.Row]].Tallies {
			if in.Has(what) {
				usual[what] += t.Ns
			}
		}
	}
	for what := range usual {
		usual[what] /= int64(len(others))
	}
	return usual
}

// Where returns the computation in which a rank loses most compared with usual: by its excess on
// the path, if any, otherwise by all of its excess. excess is in nanoseconds.
func (a *Comparison) Where(w Worker, usual map[accounts.Activity]int64, in Scope) (region accounts.Activity, excess int64) {
	most := int64(-1)
	for what, t := range a.Each[a.MainOf[w.Row]].Tallies {
		if !in.Has(what) || t.Ns == 0 {
			continue
		}
		more := max(0, t.Ns-usual[what])
		lost := int64(float64(t.Path) * float64(more) / float64(t.Ns))
		if lost > most || lost == most && (more > excess || more == excess && what.Less(region)) {
			most, region, excess = lost, what, more
		}
	}
	return region, excess
}

// Except returns the workers that are not in a set.
func Except(workers, set []Worker) []Worker {
	rows := RowsOf(set)
	return slices.DeleteFunc(slices.Clone(workers), func(w Worker) bool { return rows[w.Row] })
}

// RowsOf returns the rows of workers.
func RowsOf(set []Worker) map[int]bool {
	rows := make(map[int]bool, len(set))
	for _, w := range set {
		rows[w.Row] = true
	}
	return rows
}

// BeyondDisturbance reports whether each rank of a set exceeds the mean of the others by more than
// three times the longest disturbance of a repeated computation.
func (a *Comparison) BeyondDisturbance(set []Worker, mean float64) bool {
	longest := int64(0)
	for i := range a.Each {
		longest = max(longest, a.Each[i].Disturbance)
	}
	for _, w := range set {
		if w.Useful-mean <= 3*accounts.Seconds(longest) {
			return false
		}
	}
	return true
}
