package criticalpath

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/replay"
)

// A WhatIf is how long the run would have taken under another condition: a prediction by replay (package replay has
// the model and what it assumes).
type WhatIf struct {
	What    string  `json:"what"` // in words: "rank 3 computes as fast as the others"
	Kind    Change  `json:"kind"`
	Rank    *int    `json:"rank,omitempty"`
	Site    *Place  `json:"site,omitempty"`
	Seconds float64 `json:"seconds"` // predicted run time
	Gain    float64 `json:"gain"`    // part of the run's length that is saved
	Assumes string  `json:"assumes"`
}

// A Change is the kind of a WhatIf.
type Change string

// What is changed.
const (
	FasterRank   Change = "rank"                   // a rank computes as fast as the mean of the others
	IdealNetwork Change = "network"                // MPI costs nothing but waiting for others
	Balanced     Change = "balance"                // all ranks compute the mean of all in each region, in total
	BalancedEach Change = "balance-each-iteration" // and each time
	FreeCallSite Change = "call-site"
)

// How many of each kind are predicted: those that promise most.
const (
	maxFasterRanks = 3
	maxFreeSites   = 3
	minPromise     = 0.01 // of the run
)

// replayed is what whatIf has played.
type replayed struct {
	ideal int64        // how long the run takes on the ideal network,
	marks replay.Marks // and when the marks are there
	list  []WhatIf
	also  []int64 // how long it takes in the scenarios of others
}

// whatIf plays the run again: on an ideal network, for the efficiencies, with each of the changes that promise most, and
// in the scenarios of others.
func (a *analysis) whatIf(ctx context.Context, marks replay.Marks, also []replay.Scenario) (replayed, error) {
	if a.run() <= 0 {
		return replayed{list: []WhatIf{}}, nil
	}
	list := []WhatIf{{
		What: "the network and MPI cost nothing", Kind: IdealNetwork,
		Assumes: "Messages arrive when they are sent, calls take no time but what they wait for others; file operations keep theirs.",
	}}
	scenarios := []replay.Scenario{{Network: &replay.Network{}}}
	inTotal, eachTime := a.evenly()
	scenarios = append(scenarios, inTotal, eachTime)
	const meaning = "In each computation between two calls every rank that works there spends the mean of these, %s; calls keep their own cost, waiting follows. Serial work and a master's stay where they are."
	list = append(list, WhatIf{What: "all ranks had equal work", Kind: Balanced, Assumes: fmt.Sprintf(meaning, "in total")},
		WhatIf{What: "all ranks had equal work each time", Kind: BalancedEach, Assumes: fmt.Sprintf(meaning, "each time the same")})
	for _, row := range a.slowest() {
		rank := a.ranks[row].Rank
		scenarios = append(scenarios, replay.Scenario{Compute: a.likeTheOthers(row)})
		list = append(list, WhatIf{
			What: fmt.Sprintf("rank %d computes as fast as the others", rank), Kind: FasterRank, Rank: &rank,
			Assumes: "Each computation between two calls that takes longer on this rank takes the mean of the other ranks; calls keep their own cost, waiting follows; along the tree of a rooted collective others wait for it where their times show that they did.",
		})
	}
	for _, what := range a.costliest() {
		place := a.names.place(what.function, what.site)
		scenarios = append(scenarios, replay.Scenario{Free: func(function uint16, site uint32) bool { return function == what.function && site == what.site }})
		list = append(list, WhatIf{
			What: callsite.At(place.Function, place.CallSite) + " costs nothing", Kind: FreeCallSite, Site: &place,
			Assumes: "The call itself takes no time; it still waits for others.",
		})
	}
	lengths, at, err := replay.PlayMarks(ctx, a.forward.journal, append(scenarios, also...), marks)
	if err != nil {
		return replayed{}, err
	}
	a.balanced, a.balancedEach = lengths[1], lengths[2]
	for i := range list {
		list[i].Seconds = a.seconds(lengths[i])
		list[i].Gain = a.share(a.run() - lengths[i])
	}
	scenariosOfOthers := lengths[len(list):]
	inAll := 0.0
	list = slices.DeleteFunc(list, func(w WhatIf) bool {
		switch w.Kind {
		case Balanced:
			inAll = w.Gain
			return math.Abs(w.Gain) < minPromise
		case BalancedEach: // only if that is more than dividing the totals
			return w.Gain-inAll < minPromise
		case FasterRank, IdealNetwork, FreeCallSite:
		}
		return false
	})
	return replayed{lengths[0], at, list, scenariosOfOthers}, nil
}

// slowest are the rows of the ranks that compute most beyond the mean, by more than what is worth a prediction.
func (a *analysis) slowest() []int {
	var rows []int
	sum, n := int64(0), int64(0)
	compute := func(row int) int64 { return a.accounts[a.mainOf[row]].compute }
	for row, i := range a.mainOf {
		if i >= 0 && !a.forward.extents[i].empty {
			rows = append(rows, row)
			sum += compute(row)
			n++
		}
	}
	if n < 2 {
		return nil
	}
	sort.SliceStable(rows, func(i, j int) bool { return compute(rows[i]) > compute(rows[j]) })
	for i, row := range rows {
		if i == maxFasterRanks || a.share(compute(row)-sum/n) < minPromise {
			return rows[:i]
		}
	}
	return rows
}

// likeTheOthers is the factor that makes a rank's computations as fast as the mean of the other ranks.
func (a *analysis) likeTheOthers(row int) func(int, replay.Region) float64 {
	own := a.mainOf[row]
	factors := map[replay.Region]float64{}
	for what, mine := range a.accounts[own].tallies {
		all := a.total[what]
		if !what.computes() || mine.count == 0 || mine.ns == 0 || all.count == mine.count {
			continue // nobody else computes there
		}
		others := float64(all.ns-mine.ns) / float64(all.count-mine.count)
		if factor := others / (float64(mine.ns) / float64(mine.count)); factor < 1 {
			factors[replay.Region{After: what.function, Before: what.next, AfterSite: what.site, BeforeSite: what.nextSite}] = factor
		}
	}
	return func(location int, r replay.Region) float64 {
		if location == own {
			if factor, slower := factors[r]; slower {
				return factor
			}
		}
		return 1
	}
}

// costliest are the call sites whose calls take most of the path themselves.
func (a *analysis) costliest() []activity {
	list := a.sorted(func(w activity) bool { return !w.computes() }, func(t *tally) int64 { return t.path })
	for i, what := range list {
		if i == maxFreeSites || a.share(a.total[what].path) < minPromise {
			return list[:i]
		}
	}
	return list
}
