package owntime

import (
	"context"

	ofprofile "github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// A Lack is the fractions of time for which a rank cannot go on.
type Lack struct {
	Delayed float64 // ready to run, without a CPU
	Stopped float64 // neither running nor ready to run, where MPI polls
	Perhaps float64 // ready to run, without a CPU, unless that was when MPI started or ended
}

// sum returns the fraction for which a rank cannot go on, whatever the reason.
func (l Lack) sum() float64 { return l.Delayed + l.Stopped + l.Perhaps }

// within bounds a lack by what is left of a time.
func (l Lack) within(left float64) Lack {
	l.Delayed = min(l.Delayed, left)
	l.Stopped = min(l.Stopped, left-l.Delayed)
	l.Perhaps = min(l.Perhaps, left-l.Delayed-l.Stopped)
	return l
}

// beside returns a lack of a rank while another one lacks a part of the time. On CPUs of their own
// both may do so at the same time; on one CPU they take turns.
func (l Lack) beside(part float64) Lack {
	l.Perhaps += part * (l.Delayed + l.Stopped)
	l.Delayed, l.Stopped = (1-part)*l.Delayed, (1-part)*l.Stopped
	return l
}

// A Part is why calls at a call site of a rank do not proceed, as fractions of their own time.
type Part struct {
	Own     Lack
	Partner Lack // of the rank in row By: while that could not go on
	By      int  // −1: no partner lacks anything
}

// Sum returns the fraction of the own time in which somebody could not go on, at most.
func (p *Part) Sum() float64 { return min(1, p.Own.sum()+p.Partner.sum()) }

// Delayed returns the fraction of the own time in which somebody waited for a CPU.
func (p *Part) Delayed() float64 { return p.Own.Delayed + p.Partner.Delayed }

// Stopped returns the fraction of the own time in which somebody was stopped.
func (p *Part) Stopped() float64 { return p.Own.Stopped + p.Partner.Stopped }

// Lacks is what all ranks lack in calls.
type Lacks struct {
	*accounts.Accounts
	polls bool      // ranks that wait in calls stay on their CPU
	inAll []average // by row: what its calls lack on average
	// by row: of those that it sends to or receives from, and of all others, the one that lacks
	// most; −1: none
	neighbor, other []int
}

// Pass computes what ranks lack in calls; nil if only sums are known.
var Pass = pass.New("own time of calls", func(_ context.Context, r *pass.Run) (*Lacks, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return nil, nil
	}
	return Of(a, &ofprofile.Analysis.Result(r).Profile.Matrix), nil
}, accounts.Pass, ofprofile.Analysis)

// Of returns what the ranks of accounts lack, which exchange the messages of a matrix.
func Of(a *accounts.Accounts, m *profile.Matrix) *Lacks {
	l := &Lacks{Accounts: a, inAll: make([]average, len(a.Ranks))}
	for row := range a.Ranks {
		l.inAll[row] = averageOf(a, row)
	}
	l.polls = areOnCPU(a, l.inAll)
	l.other = l.worstOthers()
	l.neighbor = l.worstNeighbors(m)
	return l
}

// Average returns what a rank lacks on average in its calls, and in computations that are too short
// to be measured.
func (l *Lacks) Average(row int) Lack {
	lack := Lack{Delayed: l.inAll[row].delayed, Perhaps: l.inAll[row].perhaps}
	if l.polls {
		lack.Stopped = l.inAll[row].blocked
	}
	return lack.within(1)
}

// Of returns why the calls at a call site of a rank do not proceed.
func (l *Lacks) Of(row int, call accounts.Activity) Part {
	p := Part{Own: l.measured(row, call).within(1), By: -1}
	switch l.KindOfCall(call) {
	case verdict.StartEnd: // MPI starts and ends once, and has to wait for processes
		return Part{By: -1}
	case verdict.Messages:
		p.By = l.neighbor[row]
	case verdict.Collectives:
		p.By = l.other[row]
	case verdict.IO:
		p.Own.Stopped = 0 // it waits for files
	}
	if p.By >= 0 {
		certain := p.Own.Delayed + p.Own.Stopped
		p.Partner = l.Average(p.By)
		if !l.AreOnOneCPU(row, p.By) {
			p.Partner = p.Partner.beside(certain)
		}
		p.Partner = p.Partner.within(1 - certain)
	}
	return p
}

// OfAll returns the fraction of the own time of all calls at a call site to which of applies, for
// instance (*Part).Sum.
func (l *Lacks) OfAll(call accounts.Activity, of func(row int, p *Part) float64) float64 {
	lost, all := 0.0, 0.0
	for row, i := range l.MainOf {
		if i < 0 {
			continue
		}
		if t := l.Each[i].Tallies[call]; t != nil {
			p := l.Of(row, call)
			lost, all = lost+float64(t.Own())*of(row, &p), all+float64(t.Own())
		}
	}
	return max(0, min(1, lost/max(1, all)))
}

// AreOnOneCPU reports whether two ranks were seen last on the same CPU of a machine.
func (l *Lacks) AreOnOneCPU(x, y int) bool {
	cpu := func(row int) int64 {
		if samples := l.Ranks[row].Context; len(samples) > 0 {
			return samples[len(samples)-1].CPU
		}
		return -1
	}
	return cpu(x) >= 0 && cpu(x) == cpu(y) && accounts.NodeOf(&l.Ranks[x]) == accounts.NodeOf(&l.Ranks[y])
}

// AreCounted reports whether the operating system counted for all ranks how long they waited for a
// CPU in the whole run.
func (l *Lacks) AreCounted() bool {
	if l == nil {
		return false
	}
	for row, i := range l.MainOf {
		if i >= 0 && !l.inAll[row].known {
			return false
		}
	}
	return true
}

// Delayed returns for how long a rank waited for a CPU in the own time of its calls, and that time,
// in ns. The start and the end of MPI do not count.
func (l *Lacks) Delayed(row int) (delayed, own int64) {
	return l.sum(row, func(k Lack) float64 { return k.Delayed })
}

// DelayedComputing returns for how long a rank waited for a CPU in its computations, in ns: as
// measured, and on average where nothing was.
func (l *Lacks) DelayedComputing(row int) (delayed int64) {
	account := &l.Each[l.MainOf[row]]
	unmeasured := account.Compute
	for _, o := range account.OffCPU {
		delayed, unmeasured = delayed+o.Delayed, unmeasured-o.Wall
	}
	return delayed + int64(l.Average(row).Delayed*float64(max(0, unmeasured)))
}

// DelayedIn is DelayedComputing for one region.
func (l *Lacks) DelayedIn(row int, region accounts.Activity) (delayed int64) {
	account := &l.Each[l.MainOf[row]]
	unmeasured := account.Tallies[region].Ns
	if o := account.OffCPU[region]; o != nil {
		delayed, unmeasured = o.Delayed, unmeasured-o.Wall
	}
	return delayed + int64(l.Average(row).Delayed*float64(max(0, unmeasured)))
}

// Stopped is Delayed for being stopped.
func (l *Lacks) Stopped(row int) (stopped, own int64) {
	return l.sum(row, func(k Lack) float64 { return k.Stopped })
}

// Anywhere returns for how long a rank was stopped in calls or in computations by the counters of
// the whole run, beside what Stopped and measurements have, and the time of these that was not
// measured itself, in ns. Both are 0 where ranks that wait in calls are blocked.
func (l *Lacks) Anywhere(row int) (stopped, within int64) {
	if !l.polls {
		return 0, 0
	}
	return int64(l.inAll[row].anywhere), int64(l.inAll[row].within)
}

func (l *Lacks) sum(row int, of func(Lack) float64) (lost, own int64) {
	i := l.MainOf[row]
	if i < 0 {
		return 0, 0
	}
	for call, t := range l.Each[i].Tallies {
		if !call.Computes() && l.KindOfCall(call) != verdict.StartEnd {
			lost, own = lost+int64(of(l.Of(row, call).Own)*float64(t.Own())), own+t.Own()
		}
	}
	return lost, own
}

// worstOthers returns, for each rank, the other one that lacks most.
func (l *Lacks) worstOthers() []int {
	var all worstTwo
	for row := range l.Ranks {
		all.add(l, row)
	}
	list := make([]int, len(l.Ranks))
	for row := range list {
		list[row] = all.except(row)
	}
	return list
}

// worstTwo is the two ranks of several that lack most, as rows from 1; 0: none.
type worstTwo [2]int

func (w *worstTwo) add(l *Lacks, row int) {
	switch {
	case l.isWorse(row, w[0]-1):
		w[0], w[1] = row+1, w[0]
	case l.isWorse(row, w[1]-1):
		w[1] = row + 1
	}
}

// except returns the row of the one that lacks most except one; −1: none.
func (w *worstTwo) except(row int) int {
	if w[0]-1 == row {
		return w[1] - 1
	}
	return w[0] - 1
}

// isWorse reports whether a rank lacks something, and more than the one in row than, −1: none.
func (l *Lacks) isWorse(row, than int) bool {
	least := 0.0
	if than >= 0 {
		least = l.Average(than).sum()
	}
	return l.Average(row).sum() > least
}

// worstNeighbors returns, for each rank, the one that lacks most of those with which it exchanges
// messages.
func (l *Lacks) worstNeighbors(m *profile.Matrix) []int {
	rows, list := map[int]int{}, make([]int, len(l.Ranks))
	for row := range l.Ranks {
		rows[l.Ranks[row].Rank], list[row] = row, -1
	}
	tiles := map[int]*worstTwo{}
	worstIn := func(tile int) *worstTwo {
		if tiles[tile] == nil {
			tiles[tile] = &worstTwo{}
			for rank := tile * m.Tile; rank < (tile+1)*m.Tile; rank++ {
				if row, known := rows[rank]; known {
					tiles[tile].add(l, row)
				}
			}
		}
		return tiles[tile]
	}
	meet := func(tile, other int) {
		worst := worstIn(other)
		for rank := tile * m.Tile; rank < (tile+1)*m.Tile; rank++ {
			if x, known := rows[rank]; known {
				if y := worst.except(x); y >= 0 && l.isWorse(y, list[x]) {
					list[x] = y
				}
			}
		}
	}
	for _, cell := range m.Cells {
		meet(cell.From, cell.To)
		meet(cell.To, cell.From)
	}
	return list
}
