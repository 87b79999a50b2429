package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	"github.com/cairn-mpi/cairn/analyzer/pass/delays"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/owntime"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/trace"
)

// Findings are the ledger of lost time.
type Findings struct {
	Ledger *verdict.Ledger `json:"ledger"` // where the time of all ranks went; null if unknown
}

// The ledger of lost time attributes the time of all ranks' first threads to rows, in
// rank-nanoseconds. The rows add up exactly.
//
// Each interval of a rank's time is counted once, in this order (docs/verdict.md):
//
//   1. before and in MPI_Init, in and after MPI_Finalize: start and end;
//   2. time that was not traced, and tracer overhead;
//   3. computation: first the time for which the container was stopped, then the time for which the
//      thread waited for a CPU or the hypervisor took it away, then the time for which it was
//      blocked: the process did nothing, or its other threads ran; the rest is useful;
//   4. calls without waiting for other ranks: first the time for which the rank or a partner waited
//      for a CPU or was stopped (package owntime); the rest is messages, collectives, files, local
//      calls;
//   5. waiting in a call that never returned, or by polling that never succeeded;
//   6. other waiting: for late receivers according to the wait state. The rest is attributed to the
//      delays that caused it (package delays), in the row of the cause that they belong to. Waiting
//      without a cause is unexplained.

// maxLedgerRanks is the maximum number of ranks that are listed one by one.
const maxLedgerRanks = 64

// Rows of the ledger.
const (
	useful = iota
	preempted
	throttled
	blocked
	ownThreads
	excessive
	unequal
	serial
	lateReceivers
	messages
	collectives
	inputOutput
	local
	startEnd
	tracing
	untraced
	waitingRow
	never
	unexplained
	ledgerRows
)

var ledgerLabels = [ledgerRows]verdict.LedgerRow{
	useful:        {What: "useful", Label: "Computation"},
	preempted:     {What: verdict.RowPreempted, Label: "Waiting for a CPU", Kind: verdict.CPUs},
	throttled:     {What: "throttled", Label: "Stopped by CPU limits", Kind: verdict.CPUs},
	blocked:       {What: "blocked", Label: "Blocked in the kernel", Kind: verdict.Excess},
	ownThreads:    {What: "threads", Label: "Waiting while own threads run", Kind: verdict.Excess},
	excessive:     {What: verdict.RowExcess, Label: "Waiting for ranks that compute longer", Kind: verdict.Excess},
	unequal:       {What: "imbalance", Label: "Waiting because work is unequal", Kind: verdict.Imbalance},
	serial:        {What: verdict.RowSerialization, Label: "Waiting for one's turn", Kind: verdict.Serialization},
	lateReceivers: {What: "late-receiver", Label: "Waiting for receivers", Kind: verdict.LateReceiver},
	messages:      {What: verdict.RowMessages, Label: "Messages", Kind: verdict.Messages},
	collectives:   {What: "collectives", Label: "Collectives", Kind: verdict.Collectives},
	inputOutput:   {What: "io", Label: "Files", Kind: verdict.IO},
	local:         {What: "local", Label: "Local MPI calls", Kind: verdict.Local},
	startEnd:      {What: "start-end", Label: "Start and end of MPI", Kind: verdict.StartEnd},
	tracing:       {What: "tracer", Label: "The tracer", Kind: verdict.Tracer},
	untraced:      {What: "untraced", Label: "Not traced"},
	waitingRow:    {What: "waiting", Label: "Waiting for other ranks"},
	never:         {What: "never", Label: "Waiting for what never came"},
	unexplained:   {What: "unexplained", Label: "Waiting that nothing explains"},
}

// Analysis attributes the time of all ranks to the rows of the ledger.
var Analysis = analysis.New("ledger", analysis.About{Title: "where the time of all ranks went", Version: 1, Sections: Sections}, find, Costs)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	return Findings{Ledger: Costs.Result(r).ledger}, nil
}

// Charged has the ledger and the cost of each cause of the verdict, summed over all ranks, in
// seconds. Both are nil if unknown.
type Charged struct {
	ledger *verdict.Ledger
	Lost   []float64
}

// Costs attributes all time to rows of the ledger and to causes.
var Costs = pass.New("ledger and costs of causes", charge, accounts.Pass, matching.Pass, delays.Pass, owntime.Pass, causes.Pass, blame.Pass)

func charge(_ context.Context, r *pass.Run) (Charged, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return Charged{}, nil
	}
	v := blame.Pass.Result(r)
	named, err := trace.ParseRankList(v.Ranks)
	if err != nil {
		return Charged{}, fmt.Errorf("ranks of the verdict: %w", err)
	}
	b := book{a, matching.Pass.Result(r), owntime.Pass.Result(r), causes.Pass.Result(r).Alone()}
	var c Charged
	c.ledger, c.Lost = b.ledger(delays.Pass.Result(r), &v, named.Ranks())
	return c, nil
}

// A book has the inputs of the ledger.
type book struct {
	*accounts.Accounts
	matched *matching.Result
	lacks   *owntime.Lacks
	alone   *causes.Aloneness
}

// ledger returns the ledger of the run and the cost of each cause.
func (a *book) ledger(d *delays.Delays, v *verdict.Verdict, culprits []int) (l *verdict.Ledger, lost []float64) {
	if a.Run() <= 0 {
		return nil, nil
	}
	l = &verdict.Ledger{Rows: slices.Clone(ledgerLabels[:]), ByRank: []verdict.LedgerRank{}}
	var sums [ledgerRows]int64
	byRow := make([][ledgerRows]int64, len(a.Ranks))
	for row := range a.Ranks {
		byRow[row] = a.ledgerOf(row)
		for k, ns := range byRow[row] {
			sums[k] += ns
		}
	}
	l.TotalNS = a.Run() * int64(len(a.Ranks))
	lost = a.charge(d, v, &sums)
	for k := range l.Rows {
		l.Rows[k].NS = sums[k]
	}
	// waiting is attributed to its causes for the whole run only; for a single rank it is one row
	for _, row := range a.ledgerRanks(culprits) {
		l.ByRank = append(l.ByRank, verdict.LedgerRank{Rank: a.Ranks[row].Rank, NS: byRow[row][:]})
	}
	return l, lost
}

// ledgerRanks returns the rows of the ranks that are listed one by one: culprits, then the first
// ranks.
func (a *book) ledgerRanks(culprits []int) []int {
	var rows []int
	for _, first := range []bool{true, false} {
		for row := range a.Ranks {
			if slices.Contains(culprits, a.Ranks[row].Rank) == first && len(rows) < maxLedgerRanks {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// ledgerOf returns the ledger of one rank, with all waiting for other ranks in one row.
func (a *book) ledgerOf(row int) (l [ledgerRows]int64) {
	left := a.Run()
	take := func(what int, ns int64) {
		ns = max(0, min(ns, left))
		l[what] += ns
		left -= ns
	}
	i := a.MainOf[row]
	if i < 0 || a.Extents[i].Empty {
		take(untraced, left)
		return l
	}
	account, x := &a.Each[i], &a.Extents[i]
	take(startEnd, x.Start-a.Start)
	if a.Ranks[row].EndedEarly == "" {
		take(startEnd, a.End-x.End)
	} else {
		take(untraced, a.End-x.End)
	}
	take(untraced, account.Untraced)
	take(tracing, account.Overhead)
	delayed, still, stolen, threads := a.lacks.DelayedComputing(row), int64(0), int64(0), int64(0)
	for _, o := range account.OffCPU {
		still, stolen, threads = still+o.Blocked, stolen+o.Stolen, threads+o.Threads
	}
	limited := int64(0)
	if seconds, known := accounts.Throttling(&a.Ranks[row]); known && a.Window == nil {
		limited = int64(seconds * 1e9)
	}
	stopped := min(limited, account.Compute)
	take(throttled, stopped)
	take(preempted, min(max(0, delayed-stopped)+stolen, account.Compute-stopped))
	take(blocked, min(still, account.Compute-l[throttled]-l[preempted]))
	take(ownThreads, min(threads, account.Compute-l[throttled]-l[preempted]-l[blocked]))
	take(useful, account.Compute-l[throttled]-l[preempted]-l[blocked]-l[ownThreads])
	calls := a.callsOf(row)
	underLimit := min(limited-stopped, calls[preempted])
	calls[throttled], calls[preempted] = underLimit, calls[preempted]-underLimit
	for k, ns := range calls {
		take(k, ns)
	}
	for p, t := range a.matched.Tables[i].Sites {
		switch p.Kind {
		case waitstate.WaitAtInit:
			take(startEnd, t.Ns)
		case waitstate.LateReceiver, waitstate.LateProgress:
			take(lateReceivers, t.Ns)
		}
	}
	take(never, account.Never)
	take(waitingRow, left)
	return l
}

// callsOf divides the time of a rank's calls without waiting for other ranks among rows.
func (a *book) callsOf(row int) (rows [ledgerRows]int64) {
	account := &a.Each[a.MainOf[row]]
	for _, what := range account.Activities() {
		if what.Computes() {
			continue
		}
		rows[lateReceivers] += account.Tallies[what].Late()
		for k, ns := range a.dividedCall(row, what, account.Tallies[what].Own()) {
			rows[k] += ns
		}
	}
	return rows
}

// dividedCall divides the own time of calls of a rank among rows.
func (a *book) dividedCall(row int, call accounts.Activity, ns int64) (rows [ledgerRows]int64) {
	p := a.lacks.Of(row, call)
	rows[preempted], rows[blocked] = int64(p.Delayed()*float64(ns)), int64(p.Stopped()*float64(ns))
	kind := a.KindOfCall(call)
	cost := slices.IndexFunc(ledgerLabels[:], func(l verdict.LedgerRow) bool { return l.Kind == kind })
	rows[cost] = max(0, ns-rows[preempted]-rows[blocked])
	return rows
}

// charge attributes all waiting to its causes. It returns the cost of each cause, summed over all
// ranks, in seconds; nil if nobody waited.
func (a *book) charge(d *delays.Delays, v *verdict.Verdict, sums *[ledgerRows]int64) (lostTo []float64) {
	waited := sums[waitingRow]
	if waited <= 0 || d.All <= 0 {
		return nil
	}
	named, divided := rowOfCauses(v)
	costs := [ledgerRows]float64{}
	lost := map[int]float64{} // by rank
	for _, origin := range d.Origins() {
		l, cost := &a.Locations[origin.Location], d.Costs[origin]
		what, ns := d.Activities[origin.Activity], cost.Short+cost.Long
		if !what.Computes() {
			for k, part := range a.dividedCall(l.Row, what, int64(ns)) {
				costs[k] += float64(part)
			}
			continue
		}
		if a.isBetweenPolls(int(origin.Location), what) {
			costs[lateReceivers] += ns
			continue
		}
		lost[l.Rank] += ns
		if o := a.Each[origin.Location].OffCPU[what]; o != nil && o.Wall > 0 {
			without := ns * min(1, float64(o.Delayed+o.Stolen)/float64(o.Wall))
			costs[preempted] += without
			ns -= without
		}
		switch to, is := named[l.Rank]; {
		case is:
			costs[to] += ns
		case a.alone.IsSerial(l.Row, what), a.alone.IsMaster(l.Row):
			costs[serial] += ns
		default:
			costs[divided] += ns
		}
	}
	scale := float64(waited) / float64(d.All)
	left := waited
	for k, ns := range costs {
		part := min(left, int64(ns*scale))
		sums[k] += part
		left -= part
	}
	sums[unexplained] += left
	sums[waitingRow] = 0
	for i := range v.Causes {
		lostTo = append(lostTo, a.lostTo(&v.Causes[i], lost, scale, sums))
	}
	return lostTo
}

// isBetweenPolls reports whether a location does not compute between two calls, but is idle,
// because they are polls.
func (a *book) isBetweenPolls(location int, between accounts.Activity) bool {
	tallies := a.Each[location].Tallies
	poll := tallies[accounts.Activity{Function: between.Next, Site: between.NextSite}]
	return tallies[between] == nil && poll != nil && poll.Late() > 0
}

// rowOfCauses returns the ledger row for computation that others wait for: by rank for ranks that a
// cause names, and the row for all others.
func rowOfCauses(v *verdict.Verdict) (named map[int]int, divided int) {
	named, divided = map[int]int{}, unequal
	for i := len(v.Causes) - 1; i >= 0; i-- {
		c := &v.Causes[i]
		charge := c.Charge()
		row := slices.IndexFunc(ledgerLabels[:], func(l verdict.LedgerRow) bool { return l.What == charge.Row })
		if charge.OfRanks {
			for _, r := range c.List() {
				named[r] = row
			}
		}
		if charge.OfOthers {
			divided = row
		}
	}
	return named, divided
}

// lostTo returns the cost of a cause, summed over all ranks, in seconds.
func (a *book) lostTo(c *verdict.Cause, lost map[int]float64, scale float64, sums *[ledgerRows]int64) float64 {
	charge := c.Charge()
	if charge.OfRanks {
		ns := 0.0
		for _, r := range c.List() {
			ns += lost[r]
		}
		return ns * scale / 1e9
	}
	if charge.Each > 0 {
		ranks := len(a.MainOf)
		if c.Ranks != "" {
			ranks = len(c.List())
		}
		return charge.Each * float64(ranks)
	}
	ns := int64(0)
	for k := range ledgerLabels {
		if row := &ledgerLabels[k]; row.What == charge.Row || charge.Row == "" && row.Kind == c.Kind {
			ns += sums[k]
		}
	}
	if charge.Most > 0 {
		return min(charge.Most, accounts.Seconds(ns))
	}
	return accounts.Seconds(ns)
}
