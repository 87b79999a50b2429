package strangers

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/trace"
)

// An Outcome is what a report is worth.
type Outcome string

// The outcomes. In controls there is right, own and false blame.
const (
	Right      Outcome = "right"
	Partly     Outcome = "partly"      // the cause without the ranks, or the ranks with another cause
	Wrong      Outcome = "wrong"       // something else, but no rank that has no fault
	NoCause    Outcome = "no cause"    // nothing is blamed
	FalseBlame Outcome = "false blame" // a rank is blamed that has no fault
	Own        Outcome = "own"         // the ranks that most controls of the program blame
)

// Outcomes are all outcomes, in the order of tables.
var Outcomes = []Outcome{Right, Partly, Wrong, NoCause, Own, FalseBlame}

// Shares of the run, and of what runs without a fault differ by, from which a fault must be named.
const (
	muchLost   = plant.MuchLost
	manySpread = 3
)

// A Verdict is the judgment on one run.
type Verdict struct {
	*Record
	Outcome Outcome
	Cost    float64 // of the fault, as a part of the run
	Large   bool    // the fault costs so much that it must be named, or ends the run
}

// blamed returns the ranks that the first cause of a run names.
func blamed(r *Record) []int {
	if len(r.Causes) == 0 || r.Causes[0].Kind == verdict.Nobody {
		return nil
	}
	return plant.Listed(&r.Causes[0])
}

// subject is what controls have in common.
type subject struct {
	class        Class
	program, mpi string
	ranks        int
}

func (r *Record) subject() subject { return subject{r.Class, r.Program, r.MPI, r.Ranks} }

// isControl reports whether a run has no fault.
func (r *Record) isControl() bool { return r.Turn != During }

// owns returns the ranks that most controls of each program blame. These are the program's own
// problem, which nobody here planted: whether they are true is not known.
func owns(records []*Record) map[subject][]int {
	counts, all := map[subject]map[string]int{}, map[subject]int{}
	own := map[subject][]int{}
	for _, r := range records {
		if !r.isControl() || !r.Counts() {
			continue
		}
		at := r.subject()
		all[at]++
		if counts[at] == nil {
			counts[at] = map[string]int{}
		}
		if ranks := blamed(r); len(ranks) > 0 {
			counts[at][trace.NewRankList(ranks).String()]++
		}
	}
	for _, r := range records {
		at, ranks := r.subject(), blamed(r)
		if r.isControl() && r.Counts() && all[at] > 1 && 2*counts[at][trace.NewRankList(ranks).String()] > all[at] {
			own[at] = ranks
		}
	}
	return own
}

// spreads returns how much the two controls of a case differ, by the median of the cases of each
// program.
func (r *Results) spreads() map[subject]float64 {
	differences := map[subject][]float64{}
	for _, before := range r.Records {
		after := r.Of(before.Seed, before.Index, After)
		if before.Turn == Before && before.Counts() && after != nil && after.Counts() {
			differences[before.subject()] = append(differences[before.subject()], math.Abs(before.Seconds-after.Seconds))
		}
	}
	spreads := map[subject]float64{}
	for at, all := range differences {
		slices.Sort(all)
		spreads[at] = all[len(all)/2]
	}
	return spreads
}

// Judge judges all runs that count.
func (r *Results) Judge() (all []*Verdict, err error) {
	own, spreads := owns(r.Records), r.spreads()
	for _, record := range r.Records {
		if !record.Counts() {
			continue
		}
		v := &Verdict{Record: record}
		if record.isControl() || record.Class == Crowd {
			v.Outcome = judgeControl(record, own[record.subject()])
			all = append(all, v)
			continue
		}
		f, err := FaultOf(record.Class, record.Fault)
		if err != nil {
			return nil, err
		}
		v.Outcome = judgeFault(record, f, own[record.subject()])
		if v.Large = f.Ends; !f.Ends {
			before, after := r.Of(record.Seed, record.Index, Before), r.Of(record.Seed, record.Index, After)
			if before == nil || after == nil || !before.Counts() || !after.Counts() {
				continue // what the fault costs is not known
			}
			v.Cost, v.Large = cost(record.Seconds, before.Seconds, after.Seconds, spreads[record.subject()])
		}
		all = append(all, v)
	}
	return all, nil
}

// cost returns how much of a run its fault costs, and whether that is much. The spread is that of
// the program's controls; if these two differ by more, that counts.
func cost(with, before, after, spread float64) (part float64, much bool) {
	lost := with - (before+after)/2
	spread = max(spread, math.Abs(before-after))
	if with <= 0 {
		return 0, false
	}
	return lost / with, lost >= muchLost*with && lost >= manySpread*spread
}

// judgeControl judges a run in which no rank may be blamed.
func judgeControl(r *Record, own []int) Outcome {
	named := blamed(r)
	switch {
	case len(named) == 0:
		return Right
	case own != nil && slices.Equal(named, own):
		return Own
	}
	return FalseBlame
}

// judgeFault compares a report with the answer of a fault. If any cause is right the program's own
// problem may come before it: it is judged by the first sentence alone whether it is right.
func judgeFault(r *Record, f *Fault, own []int) Outcome {
	touched := f.Touched(r.Rank)
	truth := plant.Truth{}
	if accepted := f.Expected(touched); len(accepted) > 0 {
		truth.Planted = []plant.Planted{{Kind: f.Name, Accepted: accepted}}
	} else if r.Exit != 0 { // the program did not get over it: which rank ended first is its own affair
		truth.Planted = []plant.Planted{{Kind: f.Name, Accepted: []plant.Expected{{Kind: verdict.Crash}}}}
	}
	cause, who, _ := plant.Judge(r.Causes, truth)
	named := blamed(r)
	innocent := len(named) > 0 && !slices.ContainsFunc(named, func(rank int) bool { return slices.Contains(touched, rank) })
	switch {
	case cause && who:
		return Right
	case len(named) > 0 && own != nil && slices.Equal(named, own) && !slices.Equal(named, touched):
		return Own
	case innocent:
		return FalseBlame
	case len(r.Causes) == 0 || r.Causes[0].Kind == verdict.Nobody:
		return NoCause
	case cause || len(named) > 0 && slices.Equal(named, touched):
		return Partly
	}
	return Wrong
}
