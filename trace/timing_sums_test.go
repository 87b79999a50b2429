package trace_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// coarser replaces some blocks of parts by sums; per returns the number of calls per sum, 0:
// unchanged.
func coarser(t testing.TB, c *trace.Content, parts []*trace.Part, per func(number uint64) uint64) []*trace.Part {
	t.Helper()
	th := c.Threads.At(0)
	var now []*trace.Part
	for _, p := range parts {
		var file bytes.Buffer
		w, err := trace.NewPartWriter(&file, c)
		require.NoError(t, err)
		p.Blocks(func(b trace.PartBlock) {
			if n := per(b.Number()); n > b.SumsOf() {
				require.NoError(t, w.Coarsen(&th, b, n))
			} else {
				require.NoError(t, w.Copy(b))
			}
		})
		require.NoError(t, w.Close())
		q, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		now = append(now, q)
	}
	return now
}

// withParts returns the content with other blocks.
func withParts(c *trace.Content, parts []*trace.Part) *trace.Content {
	th := c.Threads.At(0)
	coded := *th.Timing.(*trace.CodedTimes)
	coded.Blocks = trace.OrderBlocks(parts)[0]
	th.Timing = &coded
	in := *c
	in.Threads = trace.NewThreadTable(th)
	return &in
}

// exactTimes are the enters and exits of a thread, in ticks.
func exactTimes(th *trace.Thread) (enters, exits []int64) {
	at := th.FirstTick
	for i := range th.Gaps {
		enters = append(enters, at+th.Gaps[i])
		at += th.Gaps[i] + th.Durations[i]
		exits = append(exits, at)
	}
	return enters, exits
}

// For calls with sums the trace has bounds of the error of their times, which hold; the sums of
// each signature are exact, and so are the moments between stretches. Merges and rewritten files
// keep the sums unchanged.
func TestSumsInPlaceOfTimes(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 6))
		c := longRank(1, seed)
		th := c.Threads.At(0)
		blocks := th.Calls / timing.BlockCalls
		in, parts, _ := inParts(t, c, blocks, random)
		choice := make([]uint64, blocks)
		for i := range choice {
			choice[i] = []uint64{0, timing.ShortSums, timing.LongSums}[random.IntN(3)]
		}
		choice[0] = []uint64{timing.ShortSums, timing.LongSums}[seed%2]
		coarse := withParts(in, coarser(t, c, parts, func(n uint64) uint64 { return choice[n] }))
		b := bytesOf(t, coarse)
		require.Less(t, len(b), len(bytesOf(t, c)))
		r := open(t, b)
		read, err := r.StreamedContent()
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, bytesOf(t, read)), "a merge copies them")
		require.Equal(t, r.Coarse(), read.Coarse())
		require.Equal(t, r.Coarse(), coarse.Coarse())
		at := uint64(0)
		for _, c := range r.Coarse() {
			require.Equal(t, 1, c.Rank)
			for ; at < c.From; at += timing.BlockCalls {
				require.Zero(t, choice[at/timing.BlockCalls])
			}
			for ; at < c.To; at += timing.BlockCalls {
				require.Equal(t, c.Per, choice[at/timing.BlockCalls])
			}
		}

		// signatures that become one are coded anew
		joined := read.Threads.At(0)
		joined.SignaturesJoined = true
		anew := *read
		anew.Threads = trace.NewThreadTable(joined)
		require.True(t, bytes.Equal(b, bytesOf(t, &anew)), "and so does who decodes them")

		enters, exits := exactTimes(&th)
		type sums struct{ gaps, durations [3]int64 }
		want, got := sums{}, sums{}
		cursor, err := r.Cursor(1, 0)
		require.NoError(t, err)
		last := th.FirstTick
		for i := 0; cursor.Next(); i++ {
			e := cursor.Event()
			per := uint64(0)
			if n := uint64(i) / timing.BlockCalls; n < blocks {
				per = choice[n]
			}
			enter, exit := timing.Magnitude(e.EnterTicks-enters[i]), timing.Magnitude(e.ExitTicks-exits[i])
			exact := enter == 0 && exit == 0 && e.EnterError == 0
			bounded := e.EnterError > 0 && enter <= e.EnterError && exit <= e.ExitError
			if per == 0 && !exact || per > 0 && (!bounded || uint64(i+1)%per == 0 && exit != 0) {
				t.Fatalf("call %d, sums of %d calls: entered at %d and left at %d, but has %+v", i, per, enters[i], exits[i], e)
			}
			want.gaps[e.Terminal] += th.Gaps[i]
			want.durations[e.Terminal] += th.Durations[i]
			got.gaps[e.Terminal] += e.EnterTicks - last
			got.durations[e.Terminal] += e.ExitTicks - e.EnterTicks
			last = e.ExitTicks
		}
		require.NoError(t, cursor.Err())
		require.Equal(t, want, got)

		// a cursor that comes from elsewhere says the same
		for range 5 {
			call := random.Uint64N(th.Calls)
			straight, err := r.Cursor(1, 0)
			require.NoError(t, err)
			for straight.Next() && straight.Event().Index < call {
			}
			require.True(t, cursor.Seek(call))
			require.True(t, cursor.Next())
			require.Equal(t, straight.Event().Enter, cursor.Event().Enter)
			require.Equal(t, straight.Event().ExitError, cursor.Event().ExitError)
			require.True(t, cursor.SeekTime(straight.Event().Exit))
		}
	}
}

// Sums that are combined to sums over more calls equal those that were computed at once.
func TestSumsOfSums(t *testing.T) {
	c := longRank(0, 3)
	_, parts, _ := inParts(t, c, 3, rand.New(rand.NewPCG(1, 1)))
	all := func(per uint64) func(uint64) uint64 { return func(uint64) uint64 { return per } }
	short := coarser(t, c, parts, all(timing.ShortSums))
	long, once := coarser(t, c, short, all(timing.LongSums)), coarser(t, c, parts, all(timing.LongSums))
	size := [3]int64{}
	for i := range parts {
		index, err := long[i].Index()
		require.NoError(t, err)
		other, err := once[i].Index()
		require.NoError(t, err)
		require.Equal(t, other, index)
		size[0], size[1], size[2] = size[0]+parts[i].Size(), size[1]+short[i].Size(), size[2]+long[i].Size()
	}
	t.Logf("bytes of three blocks: times %d, sums over %d calls %d, over %d calls %d", size[0], timing.ShortSums, size[1], timing.LongSums, size[2])
	require.Less(t, 20*size[1], size[0])
	require.Less(t, 10*size[2], size[1])
}

// A stretch with more signatures than it has rows for keeps the sums of the rest together.
func TestSumsOfManySignatures(t *testing.T) {
	c := longRank(0, 1)
	for n := range int64(700) {
		c.Signatures = append(c.Signatures, trace.Signature{Function: 2, OwnRank: -1, Site: 0, Return: number(2 + n)})
	}
	th := c.Threads.At(0)
	random := rand.New(rand.NewPCG(3, 3))
	var rule []grammar.Symbol
	for range th.Calls {
		rule = append(rule, grammar.Symbol{Value: int32(random.IntN(len(c.Signatures))), Count: 1})
	}
	c.Grammar.Rules[0] = rule
	c.Grammar.Rules[1] = []grammar.Symbol{{Value: 0, Count: 2}, {Value: 1, Count: 1}}
	in, parts, _ := inParts(t, c, 2, random)
	r := open(t, bytesOf(t, withParts(in, coarser(t, c, parts, func(n uint64) uint64 { return []uint64{timing.ShortSums, timing.LongSums}[n] }))))
	_, exits := exactTimes(&th)
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	for i := 0; cursor.Next(); i++ {
		e := cursor.Event()
		known := i%timing.BlockCalls == timing.BlockCalls-1 || i < timing.BlockCalls && i%timing.ShortSums == timing.ShortSums-1
		if off := timing.Magnitude(e.ExitTicks - exits[i]); off > e.ExitError || known && off > 0 {
			t.Fatalf("call %d: left at %d, but has %+v", i, exits[i], e)
		}
	}
	require.NoError(t, cursor.Err())
}

// Reading arbitrary bytes of a block of sums ends with an error or with times.
func FuzzSums(f *testing.F) {
	c := longRank(0, 1)
	_, parts, _ := inParts(f, c, 1, rand.New(rand.NewPCG(1, 1)))
	for _, per := range []uint64{timing.ShortSums, timing.LongSums} {
		f.Add(trace.SumsContent(coarser(f, c, parts, func(uint64) uint64 { return per })[0]), per == timing.LongSums)
	}
	f.Fuzz(func(t *testing.T, b []byte, long bool) {
		file := trace.PartOfSums(b, long)
		p, err := trace.OpenPart(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		coded := &trace.CodedTimes{Of: c, Blocks: trace.OrderBlocks([]*trace.Part{p})[0]}
		from, err := coded.OpenTiming()
		require.NoError(t, err)
		gaps, durations := make([]int64, 1000), make([]int64, 1000)
		for err == nil {
			var n int
			if n, err = from.ReadTiming(gaps, durations); n < len(gaps) && err == nil {
				err = io.EOF
			}
		}
	})
}
