package trace

import (
	"cmp"
	"encoding/binary"
	"iter"
	"sort"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A ThreadTable stores threads by column, like a RankTable. Times of calls that are in memory, and
// aggregates, are stored thread by thread. The zero value is empty. A copy shares memory with the
// original, so only one of them may change.
type ThreadTable struct {
	rank, number, root, shape, place, calls codec.Numbers
	first, length, inside, joined           codec.Numbers
	streams                                 codec.Numbers // indices into streamSets
	streamSets                              codec.ListDictionary[StreamRef]
	timing                                  codec.Numbers // 1 + index into sources
	sources                                 []TimingSource
	// the file of each source that has one; Timing is recreated from it
	stored                   []*Reader
	storedThread, storedRoot codec.Numbers
	times                    []memoryTiming       // nil where no thread has any
	aggregates               [][]timing.Aggregate // nil where no thread has any
	marks                    [][]uint64           // nil where no thread has any
	extrapolations           [][]Extrapolation    // nil where no thread has any
	overheads                [][]Overhead         // nil where no thread has any
	chapters                 []*Chapters          // nil where no thread has any
}

// NewThreadTable returns a table of threads.
func NewThreadTable(threads ...Thread) ThreadTable {
	var t ThreadTable
	for i := range threads {
		t.Append(threads[i])
	}
	return t
}

// Len is the number of threads.
func (t *ThreadTable) Len() int { return t.rank.Len() }

// Append adds a thread at the end.
func (t *ThreadTable) Append(th Thread) {
	t.rank.Push(int64(th.Rank))
	t.number.Push(int64(th.Thread))
	t.root.Push(int64(th.Root))
	t.shape.Push(int64(th.Shape))
	t.place.Push(int64(th.InShape))
	t.calls.Push(int64(th.Calls))
	t.first.Push(th.FirstTick)
	t.length.Push(th.EndTick - th.FirstTick)
	t.inside.Push(th.InsideTicks)
	joined := int64(0)
	if th.SignaturesJoined {
		joined = 1
	}
	t.joined.Push(joined)
	t.streams.Push(t.streamSets.Index(th.Streams, appendStreamRef))
	t.appendSource(th.Timing)
	n := t.Len()
	if len(th.Gaps) > 0 || len(th.Durations) > 0 || t.times != nil {
		for len(t.times) < n {
			t.times = append(t.times, memoryTiming{})
		}
		t.times[n-1] = memoryTiming{th.Gaps, th.Durations}
	}
	if len(th.Aggregates) > 0 || t.aggregates != nil {
		for len(t.aggregates) < n {
			t.aggregates = append(t.aggregates, nil)
		}
		t.aggregates[n-1] = th.Aggregates
	}
	if len(th.CallsAtVotes) > 0 || t.marks != nil {
		for len(t.marks) < n {
			t.marks, t.extrapolations = append(t.marks, nil), append(t.extrapolations, nil)
		}
		t.marks[n-1], t.extrapolations[n-1] = th.CallsAtVotes, th.Extrapolations
	}
	if len(th.Overheads) > 0 || t.overheads != nil {
		for len(t.overheads) < n {
			t.overheads = append(t.overheads, nil)
		}
		t.overheads[n-1] = th.Overheads
	}
	if th.Chapters != nil || t.chapters != nil {
		for len(t.chapters) < n {
			t.chapters = append(t.chapters, nil)
		}
		t.chapters[n-1] = th.Chapters
	}
}

func appendStreamRef(b []byte, r *StreamRef) []byte {
	b = binary.AppendVarint(b, int64(r.Terminal))
	b = binary.AppendVarint(b, int64(r.Number))
	return binary.AppendVarint(b, int64(r.Sequence))
}

func (t *ThreadTable) appendSource(from TimingSource) {
	if from == nil {
		t.timing.Push(0)
		t.storedThread.Push(0)
		t.storedRoot.Push(0)
		return
	}
	stored, _ := from.(*storedTiming)
	if stored == nil {
		stored = &storedTiming{}
	}
	// threads of one file are mostly consecutive
	if n := len(t.stored); stored.file == nil || n == 0 || t.stored[n-1] != stored.file {
		t.sources, t.stored = append(t.sources, from), append(t.stored, stored.file)
	}
	t.timing.Push(int64(len(t.sources)))
	t.storedThread.Push(int64(stored.thread))
	t.storedRoot.Push(int64(stored.root))
}

// At returns the thread in row i. It panics if i is out of range.
func (t *ThreadTable) At(i int) Thread {
	l := t.lookup()
	return l.at(i)
}

// Lookup returns a function that does what At does, but faster for rows that are near to each
// other. It is for one goroutine, and valid until the table changes.
func (t *ThreadTable) Lookup() func(i int) Thread {
	l := t.lookup()
	return l.at
}

// A threadLookup is a cursor: it finds rows that are near to the previous one quickly.
type threadLookup struct {
	of                                   *ThreadTable
	rank, number, root, shape, place     codec.NumbersLookup
	calls, first, length, inside, joined codec.NumbersLookup
	streams, timing                      codec.NumbersLookup
	storedThread, storedRoot             codec.NumbersLookup
}

func (t *ThreadTable) lookup() threadLookup {
	in := func(n *codec.Numbers) codec.NumbersLookup { return codec.NumbersLookup{Of: n} }
	return threadLookup{
		of:   t,
		rank: in(&t.rank), number: in(&t.number), root: in(&t.root), shape: in(&t.shape), place: in(&t.place),
		calls: in(&t.calls), first: in(&t.first), length: in(&t.length), inside: in(&t.inside), joined: in(&t.joined),
		streams: in(&t.streams), timing: in(&t.timing), storedThread: in(&t.storedThread), storedRoot: in(&t.storedRoot),
	}
}

func (l *threadLookup) at(i int) Thread {
	t := l.of
	th := Thread{
		Rank: int(l.rank.At(i)), Thread: int(l.number.At(i)), Root: int(l.root.At(i)), Shape: int(l.shape.At(i)), InShape: int(l.place.At(i)),
		Calls: uint64(l.calls.At(i)), FirstTick: l.first.At(i), InsideTicks: l.inside.At(i), SignaturesJoined: l.joined.At(i) == 1,
		Streams: t.streamSets.Lists[l.streams.At(i)],
	}
	th.EndTick = th.FirstTick + l.length.At(i)
	if i < len(t.marks) {
		th.CallsAtVotes, th.Extrapolations = t.marks[i], t.extrapolations[i]
	}
	if i < len(t.overheads) {
		th.Overheads = t.overheads[i]
	}
	if i < len(t.chapters) {
		th.Chapters = t.chapters[i]
	}
	if k := l.timing.At(i) - 1; k >= 0 {
		th.Timing = t.sources[k]
		if file := t.stored[k]; file != nil {
			th.Timing = &storedTiming{file, int(l.storedThread.At(i)), int(l.storedRoot.At(i)), th.Calls, th.extrapolations()}
		}
	}
	if i < len(t.times) {
		th.Gaps, th.Durations = t.times[i].gaps, t.times[i].durations
	}
	if i < len(t.aggregates) {
		th.Aggregates = t.aggregates[i]
	}
	return th
}

// All yields the rows and threads in order.
func (t *ThreadTable) All() iter.Seq2[int, Thread] {
	return func(yield func(int, Thread) bool) {
		if t.Len() == 0 {
			return
		}
		at := t.Lookup()
		for i := range t.Len() {
			if !yield(i, at(i)) {
				return
			}
		}
	}
}

// List returns all threads as a slice, a few hundred bytes each.
func (t *ThreadTable) List() []Thread {
	list := make([]Thread, 0, t.Len())
	for _, th := range t.All() {
		list = append(list, th)
	}
	return list
}

// Roots are the threads' root rules, by row.
func (t *ThreadTable) Roots() *codec.Numbers { return &t.root }

// Ranks are the ranks of the threads, by row.
func (t *ThreadTable) Ranks() *codec.Numbers { return &t.rank }

// InShape has the values of InShape of the threads, by row.
func (t *ThreadTable) InShape() *codec.Numbers { return &t.place }

// Calls adds up the calls of all threads.
func (t *ThreadTable) Calls() uint64 {
	var n uint64
	for run, count := range t.calls.Runs() {
		// first + (first + step) + …
		n += uint64(count)*uint64(run.First) + uint64(run.Step)*(uint64(count)*uint64(count-1)/2)
	}
	return n
}

// Find returns the row of a thread in a sorted table, −1 if it is missing.
func (t *ThreadTable) Find(rank, thread int) int {
	i := t.search(rank, thread)
	if i == t.Len() || t.rank.At(i) != int64(rank) || t.number.At(i) != int64(thread) {
		return -1
	}
	return i
}

// search returns the row of the first thread that is not before the given one.
func (t *ThreadTable) search(rank, thread int) int {
	return sort.Search(t.Len(), func(i int) bool {
		return cmp.Or(cmp.Compare(t.rank.At(i), int64(rank)), cmp.Compare(t.number.At(i), int64(thread))) >= 0
	})
}

// Change changes the thread in row i. It rebuilds the table, so it is for a few changes to a small
// one.
func (t *ThreadTable) Change(i int, change func(th *Thread)) {
	list := t.List()
	change(&list[i])
	*t = NewThreadTable(list...)
}

// timed reports whether the times of the calls of the thread in row i are known.
func (t *ThreadTable) timed(i int) bool {
	return t.timing.At(i) > 0 || i < len(t.times) && len(t.times[i].gaps) > 0
}

// Streams returns a function that returns the streams of the thread in a row. Threads with equal
// ones mostly share the list.
func (t *ThreadTable) Streams() func(i int) []StreamRef {
	streams := t.streams.Lookup()
	return func(i int) []StreamRef { return t.streamSets.Lists[streams(i)] }
}
