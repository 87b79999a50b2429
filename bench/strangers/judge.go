package strangers

import (
	"slices"

	"gonum.org/v1/gonum/stat"

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
func (r *Record) isControl() bool { return r.Turn.IsControl() }

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

// turns returns the durations of the runs of a case that count, by turn; 0: there is none.
func (r *Results) turns(of *Record) (seconds []float64) {
	for turn := Turn(0); ; turn++ {
		record := r.Of(of.Seed, of.Index, turn)
		switch {
		case record == nil:
			return seconds
		case record.Counts():
			seconds = append(seconds, record.Seconds)
		default:
			seconds = append(seconds, 0)
		}
	}
}

// spreads returns the standard deviation of the controls of a case, by the median of the cases of
// each program.
func (r *Results) spreads() map[subject]float64 {
	all := map[subject][]float64{}
	for _, first := range r.Records {
		if first.Turn == 0 {
			if s, known := spread(r.turns(first)); known {
				all[first.subject()] = append(all[first.subject()], s)
			}
		}
	}
	spreads := map[subject]float64{}
	for at, s := range all {
		spreads[at] = median(s)
	}
	return spreads
}

// spread returns the standard deviation of the controls of one case.
func spread(turns []float64) (seconds float64, known bool) {
	var controls []float64
	for t, s := range turns {
		if Turn(t).IsControl() && s > 0 {
			controls = append(controls, s)
		}
	}
	if len(controls) < 2 {
		return 0, false
	}
	return stat.StdDev(controls, nil), true
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// Judge judges all runs that count. What a fault costs is not known before all turns around it are
// there.
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
		if v.Large = f.Ends; !f.Ends {
			known := false
			if v.Cost, v.Large, known = cost(r.turns(record), spreads[record.subject()]); !known {
				continue
			}
		}
		v.Outcome = judgeFault(record, f, own[record.subject()], v.Cost*record.Seconds)
		all = append(all, v)
	}
	return all, nil
}

// cost returns how much of a run a fault costs, and whether that is much: the median over pairs of
// a run with it and the mean of the controls around that. The spread is that of the program's
// controls; if those of this case differ by more, that counts.
func cost(turns []float64, usual float64) (part float64, much, known bool) {
	var with, lost []float64
	for t := 1; t+1 < len(turns); t += 2 {
		if turns[t-1] > 0 && turns[t] > 0 && turns[t+1] > 0 {
			with, lost = append(with, turns[t]), append(lost, turns[t]-(turns[t-1]+turns[t+1])/2)
		}
	}
	own, _ := spread(turns)
	if len(lost) == 0 {
		return 0, false, false
	}
	part = median(lost) / median(with)
	return part, part >= muchLost && median(lost) >= manySpread*max(own, usual), true
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

// judgeFault compares a report with the answer of a fault that costs some seconds. The program's
// own problem may come before the fault if the fault does not cost much more.
func judgeFault(r *Record, f *Fault, own []int, cost float64) Outcome {
	touched := f.Touched(r.Rank)
	truth := plant.Truth{}
	if accepted := f.Expected(touched); len(accepted) > 0 {
		truth.Planted = []plant.Planted{{Kind: f.Name, Accepted: accepted}}
	} else if r.Exit != 0 { // the program did not get over it: which rank ended first is its own affair
		truth.Planted = []plant.Planted{{Kind: f.Name, Accepted: []plant.Expected{{Kind: verdict.Crash}}}}
	}
	named, causes := blamed(r), r.Causes
	isOwn := len(named) > 0 && own != nil && slices.Equal(named, own)
	if gain := firstGain(r); isOwn && len(causes) > 1 && cost < plant.Larger*gain {
		if cause, who, _ := plant.Judge(causes[1:], truth); cause && who {
			causes = causes[1:]
		}
	}
	cause, who, _ := plant.Judge(causes, truth)
	if r.Region != "" && who {
		who = causes[0].Before.Function == r.Region
	}
	innocent := len(named) > 0 && !slices.ContainsFunc(named, func(rank int) bool { return slices.Contains(touched, rank) })
	switch {
	case cause && who:
		return Right
	case isOwn && !slices.Equal(named, touched):
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

// firstGain returns the gain of the first cause in seconds, 0 if there is none.
func firstGain(r *Record) float64 {
	if len(r.Causes) == 0 || r.Causes[0].GainSeconds == nil {
		return 0
	}
	return *r.Causes[0].GainSeconds
}
