package trace

import (
	"encoding/binary"
	"iter"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A RankTable holds ranks by column: what ranks have in common is there once, so that a million of a regular job take
// little memory. What each has of its own (clock samples, starts) takes eight bytes a number. The zero value is empty; a
// copy shares what it holds with the original, so only one of them may change.
type RankTable struct {
	number, pid, start, dropped codec.Numbers
	texts                       [rankTexts]codec.Numbers // indices into strings
	strings                     codec.StringDictionary
	own                         codec.Numbers // indices into ownLists
	ownLists                    codec.ListDictionary[uint32]
	samples                     codec.Ragged
	context                     codec.Ragged
	evidence                    evidenceTable
	ends                        codec.Ragged // none or one of each
	tracers                     codec.Ragged // the same
}

// The texts of a rank.
const (
	hostText = iota
	podText
	nodeText
	bootText
	executableText
	endText
	clockText
	rankTexts
)

// NewRankTable makes a table.
func NewRankTable(ranks ...Rank) RankTable {
	var t RankTable
	for i := range ranks {
		t.Append(ranks[i])
	}
	return t
}

// Len is the number of ranks.
func (t *RankTable) Len() int { return t.number.Len() }

// Append adds a rank at the end.
func (t *RankTable) Append(r Rank) {
	t.number.Push(int64(r.Rank))
	t.pid.Push(int64(r.PID))
	t.start.Push(r.StartRealtimeNS)
	t.dropped.Push(int64(r.Dropped))
	for i, text := range [rankTexts]string{r.Host, r.Pod, r.Node, r.BootID, r.Executable, r.EndedEarly, r.Clock.Kind} {
		t.texts[i].Push(t.strings.Index(text))
	}
	t.own.Push(t.ownLists.Index(r.CommunicatorsOwn, func(b []byte, x *uint32) []byte { return binary.AppendUvarint(b, uint64(*x)) }))
	var before timing.ClockSample
	for _, s := range r.Clock.Samples {
		t.addSample(before, s)
		before = s
	}
	t.samples.End(clockColumns)
	t.appendContextOf(r.Context)
	t.evidence.append(&r)
	if r.End != nil {
		t.ends.Add(endColumns, r.End.Ticks, int64(r.End.Signal), int64(r.End.ExitCode))
	}
	t.ends.End(endColumns)
	if r.Tracer != nil {
		columns := r.Tracer.columns()
		t.tracers.Add(tracerColumns, columns[:]...)
	}
	t.tracers.End(tracerColumns)
}

// addSample adds a clock sample of the last rank, which comes after another one, or after nothing at all.
func (t *RankTable) addSample(before, s timing.ClockSample) {
	t.samples.Add(clockColumns, s.Ticks-before.Ticks, s.MonotonicNS-before.MonotonicNS,
		(s.RealtimeNS-s.MonotonicNS)-(before.RealtimeNS-before.MonotonicNS))
}

// At is the rank in row i; it panics when there is none.
func (t *RankTable) At(i int) Rank { return t.Lookup()(i) }

// Lookup gives a function that finds rows as At does, faster if they are near to each other. It is for one goroutine, and
// for as long as the table does not change.
func (t *RankTable) Lookup() func(i int) Rank {
	number, pid, start, dropped, own := t.number.Lookup(), t.pid.Lookup(), t.start.Lookup(), t.dropped.Lookup(), t.own.Lookup()
	var texts [rankTexts]codec.NumbersLookup
	for k := range texts {
		texts[k].Of = &t.texts[k]
	}
	samples, context, evidence, ends, tracers := t.samples.Lookup(), t.context.Lookup(), t.evidence.lookup(), t.ends.Lookup(), t.tracers.Lookup()
	return func(i int) Rank {
		text := func(k int) string { return t.strings.List[texts[k].At(i)] }
		r := Rank{
			Rank: int(number(i)), Host: text(hostText), Pod: text(podText), Node: text(nodeText), BootID: text(bootText),
			PID: int(pid(i)), Executable: text(executableText), StartRealtimeNS: start(i),
			Clock: timing.Clock{Kind: text(clockText)}, EndedEarly: text(endText), Dropped: uint64(dropped(i)),
			CommunicatorsOwn: t.ownLists.Lists[own(i)],
		}
		if from, to := samples.Rows(i); to > from {
			r.Clock.Samples = make([]timing.ClockSample, to-from)
			var before timing.ClockSample
			for k := range r.Clock.Samples {
				s := &r.Clock.Samples[k]
				s.Ticks = before.Ticks + samples.At(0, from+k)
				s.MonotonicNS = before.MonotonicNS + samples.At(1, from+k)
				s.RealtimeNS = s.MonotonicNS + before.RealtimeNS - before.MonotonicNS + samples.At(2, from+k)
				before = *s
			}
		}
		from, to := context.Rows(i)
		r.Context = contextOf(context, from, to)
		evidence(i, &r)
		if from, to := ends.Rows(i); to > from {
			r.End = &End{Ticks: ends.At(0, from), Signal: int(ends.At(1, from)), ExitCode: int(ends.At(2, from))}
		}
		if from, to := tracers.Rows(i); to > from {
			r.Tracer = tracerUsageOf(func(column int) int64 { return tracers.At(column, from) })
		}
		return r
	}
}

// All goes through the table: rows and ranks.
func (t *RankTable) All() iter.Seq2[int, Rank] {
	return func(yield func(int, Rank) bool) {
		at := t.Lookup()
		for i := range t.Len() {
			if !yield(i, at(i)) {
				return
			}
		}
	}
}

// List is all ranks as a slice: a few hundred bytes each.
func (t *RankTable) List() []Rank {
	list := make([]Rank, 0, t.Len())
	for _, r := range t.All() {
		list = append(list, r)
	}
	return list
}

// Numbers are the ranks' numbers in MPI_COMM_WORLD, by row.
func (t *RankTable) Numbers() *codec.Numbers { return &t.number }

// Starts are the ranks' StartRealtimeNS, by row.
func (t *RankTable) Starts() *codec.Numbers { return &t.start }

// CommunicatorsOwn gives a function that finds the communicators of the rank in a row. Ranks with the same ones share the
// list.
func (t *RankTable) CommunicatorsOwn() func(i int) []uint32 {
	own := t.own.Lookup()
	return func(i int) []uint32 { return t.ownLists.Lists[own(i)] }
}

// Find is the row of a rank by its number, of a table that is sorted; −1 if it is not there.
func (t *RankTable) Find(number int) int {
	i, ok := t.number.Find(int64(number))
	if !ok {
		return -1
	}
	return i
}

// Change changes the rank in row i. It makes the table anew: for a few changes to a small one.
func (t *RankTable) Change(i int, change func(r *Rank)) {
	list := t.List()
	change(&list[i])
	*t = NewRankTable(list...)
}

const clockColumns = 3
