package trace

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A RankTable stores ranks by column, and what ranks have in common once, so that a million ranks
// of a regular job take little memory. Values that are particular to a rank (clock samples, start
// times) take eight bytes each. The zero value is empty. A copy shares memory with the original, so
// only one of them may change.
type RankTable struct {
	number, pid, start, dropped codec.Numbers
	texts                       [rankTexts]codec.Numbers // indices into strings
	strings                     codec.StringDictionary
	own                         codec.Numbers // indices into ownLists
	ownLists                    codec.ListDictionary[uint32]
	samples                     codec.Ragged
	context                     codec.Ragged
	evidence                    evidenceTable
	ends                        codec.Ragged // 0 or 1 row per rank
	deaths                      deathTable
	looks                       lookTable
	tracers                     codec.Ragged // 0 or 1 row per rank
	pressures                   pressureTable
	suspensions                 suspensionTable
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

// NewRankTable returns a table of ranks.
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
	t.deaths.append(r.End)
	t.looks.append(r.End)
	if r.Tracer != nil {
		columns := r.Tracer.columns()
		t.tracers.Add(tracerColumns, columns[:]...)
	}
	t.tracers.End(tracerColumns)
	t.pressures.append(&r)
	t.suspensions.append(r.Suspensions)
}

// addSample adds a clock sample of the last rank. before is the sample before it, or zero.
func (t *RankTable) addSample(before, s timing.ClockSample) {
	t.samples.Add(clockColumns, s.Ticks-before.Ticks, s.MonotonicNS-before.MonotonicNS,
		(s.RealtimeNS-s.MonotonicNS)-(before.RealtimeNS-before.MonotonicNS))
}

// At returns the rank in row i. It panics if i is out of range.
func (t *RankTable) At(i int) Rank { return t.Lookup()(i) }

// Lookup returns a function that does what At does, but faster for rows that are near to each
// other. It is for one goroutine, and valid until the table changes.
func (t *RankTable) Lookup() func(i int) Rank {
	number, pid, start, dropped, own := t.number.Lookup(), t.pid.Lookup(), t.start.Lookup(), t.dropped.Lookup(), t.own.Lookup()
	var texts [rankTexts]codec.NumbersLookup
	for k := range texts {
		texts[k].Of = &t.texts[k]
	}
	samples, context, evidence, ends, tracers := t.samples.Lookup(), t.context.Lookup(), t.evidence.lookup(), t.ends.Lookup(), t.tracers.Lookup()
	death, pressure, look, suspensions := t.deaths.lookup(), t.pressures.lookup(), t.looks.lookup(), t.suspensions.lookup()
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
			death(i, r.End)
			look(i, r.End)
		}
		if from, to := tracers.Rows(i); to > from {
			r.Tracer = tracerUsageOf(func(column int) int64 { return tracers.At(column, from) })
		}
		pressure(i, &r)
		r.Suspensions = suspensions(i)
		return r
	}
}

// All yields the rows and ranks in order.
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

// List returns all ranks as a slice, a few hundred bytes each.
func (t *RankTable) List() []Rank {
	list := make([]Rank, 0, t.Len())
	for _, r := range t.All() {
		list = append(list, r)
	}
	return list
}

// Numbers are the ranks in MPI_COMM_WORLD, by row.
func (t *RankTable) Numbers() *codec.Numbers { return &t.number }

// Starts are the ranks' StartRealtimeNS, by row.
func (t *RankTable) Starts() *codec.Numbers { return &t.start }

// CommunicatorsOwn returns a function that returns the communicators of the rank in a row. Ranks
// with equal ones share the list.
func (t *RankTable) CommunicatorsOwn() func(i int) []uint32 {
	own := t.own.Lookup()
	return func(i int) []uint32 { return t.ownLists.Lists[own(i)] }
}

// Find returns the row of a rank in a sorted table, −1 if it is missing.
func (t *RankTable) Find(number int) int {
	i, ok := t.number.Find(int64(number))
	if !ok {
		return -1
	}
	return i
}

// Change changes the rank in row i. It rebuilds the table, so it is for a few changes to a small
// one.
func (t *RankTable) Change(i int, change func(r *Rank)) {
	list := t.List()
	change(&list[i])
	*t = NewRankTable(list...)
}

const clockColumns = 3

// A Run is the Count ranks Start, Start+Stride, …
type Run struct {
	Start, Count, Stride int
}

// A RankList is a sequence of ranks as runs, in order. NewRankList makes canonical ones.
type RankList []Run

// NewRankList returns the ranks, in the given order, as the fewest runs that a left-to-right scan
// finds.
func NewRankList(ranks []int) RankList {
	var list RankList
	for i := 0; i < len(ranks); {
		run := Run{Start: ranks[i], Count: 1, Stride: 1}
		if i+1 < len(ranks) {
			stride := ranks[i+1] - ranks[i]
			n := 2
			for i+n < len(ranks) && ranks[i+n]-ranks[i+n-1] == stride {
				n++
			}
			// two ranks that are not neighbors may hide a better run that starts at the second one
			if n > 2 || stride == 1 {
				run = Run{ranks[i], n, stride}
			}
		}
		list = append(list, run)
		i += run.Count
	}
	return list
}

// Len is the number of ranks.
func (l RankList) Len() int {
	n := 0
	for _, r := range l {
		n += r.Count
	}
	return n
}

// At returns the i-th rank; it panics when i is out of range.
func (l RankList) At(i int) int {
	for _, r := range l {
		if i < r.Count {
			return r.Start + i*r.Stride
		}
		i -= r.Count
	}
	panic("trace: rank list index out of range")
}

// Index returns the position of rank, −1 if it is not in the list.
func (l RankList) Index(rank int) int {
	base := 0
	for _, r := range l {
		d := rank - r.Start
		if r.Stride == 0 {
			if d == 0 {
				return base
			}
		} else if d%r.Stride == 0 {
			if k := d / r.Stride; k >= 0 && k < r.Count {
				return base + k
			}
		}
		base += r.Count
	}
	return -1
}

// Ranks expands the list.
func (l RankList) Ranks() []int {
	ranks := make([]int, 0, l.Len())
	for _, r := range l {
		for k := range r.Count {
			ranks = append(ranks, r.Start+k*r.Stride)
		}
	}
	return ranks
}

// String returns a text like "0-3,8,10-20:2"; the number after the colon is the stride.
func (l RankList) String() string {
	parts := make([]string, 0, len(l))
	for _, r := range l {
		last := r.Start + (r.Count-1)*r.Stride
		switch {
		case r.Count == 1:
			parts = append(parts, fmt.Sprint(r.Start))
		case r.Stride == 1:
			parts = append(parts, fmt.Sprintf("%d-%d", r.Start, last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d:%d", r.Start, last, r.Stride))
		}
	}
	return strings.Join(parts, ",")
}

// ParseRankList parses the result of String; "" is an empty list.
func ParseRankList(text string) (RankList, error) {
	var list RankList
	if text == "" {
		return list, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		var first, last, stride int
		var err error
		span, step, strided := strings.Cut(part, ":")
		from, to, isRange := strings.Cut(span, "-")
		first, err = strconv.Atoi(from)
		if last = first; err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if stride = 1; err == nil && strided {
			stride, err = strconv.Atoi(step)
		}
		if err != nil || first < 0 || last < first || stride < 1 {
			return nil, fmt.Errorf("ranks %q: %q is none of a rank, a range like 0-7, and one with a stride like 0-14:2", text, part)
		}
		list = append(list, Run{Start: first, Count: (last-first)/stride + 1, Stride: stride})
	}
	return list, nil
}
