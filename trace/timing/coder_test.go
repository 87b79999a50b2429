package timing

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/stretchr/testify/require"
)

// timingPlanOf is for so many signatures of two functions.
func timingPlanOf(t testing.TB, signatures, percent int) *Plan {
	p := &Plan{Functions: make([]int32, signatures), Grids: make([]*Grid, signatures)}
	for i := range p.Functions {
		p.Functions[i] = int32(i % 2)
		if percent > 0 {
			var err error
			p.Grids[i], err = GridOf(percent)
			require.NoError(t, err)
		}
	}
	return p
}

// The decoder returns any input of the encoder: on the grid, off the grid, negative, enormous.
func TestTimingCodec(t *testing.T) {
	for _, percent := range []int{0, 1, 5, 20, 50} {
		plan := timingPlanOf(t, 7, percent)
		for name, stream := range adversaries(rand.New(rand.NewSource(2)), 6000) {
			for _, rounded := range []bool{false, true} {
				intervals := append([]int64{1<<63 - 1, -1 << 63}, stream...)
				var r Rounder
				if rounded && percent > 0 {
					r.Round(plan.Grids[0], intervals)
				}
				e := NewEncoder(plan)
				for i := 0; i+1 < len(intervals); i += 2 {
					terminal := int32(i/2*i/2) % 7
					e.Call(terminal, intervals[i], intervals[i+1])
				}
				d := NewDecoder(plan, e.Finish(nil), uint64(len(intervals)/2), nil)
				for i := 0; i+1 < len(intervals); i += 2 {
					terminal := int32(i/2*i/2) % 7
					gap, duration := d.Call(terminal)
					if gap != intervals[i] || duration != intervals[i+1] || d.Err != nil {
						t.Fatalf("%s at %d%%: call %d is %d, %d, not %d, %d: %v", name, percent, i/2, gap, duration, intervals[i], intervals[i+1], d.Err)
					}
				}
			}
		}
	}
}

// Only the equality of signatures matters, not their numbers: a merge may copy blocks.
func TestTimingBlocksDoNotDependOnNumbersOfSignatures(t *testing.T) {
	code := func(names []int32) []byte {
		plan := timingPlanOf(t, 100, 5)
		e, r := NewEncoder(plan), rand.New(rand.NewSource(4))
		for range 5000 {
			terminal := names[r.Intn(len(names))]
			e.Call(terminal, plan.Grids[0].values[100+r.Intn(30)], plan.Grids[0].values[80+int(terminal)%2])
		}
		return e.Finish(nil)
	}
	names := []int32{0, 2, 4, 1, 3}
	renamed := []int32{66, 4, 98, 51, 7}
	require.Equal(t, code(names), code(renamed))
}

// A block that was cut, or goes on after its last call, is damaged.
func TestTimingBlockEnds(t *testing.T) {
	plan := timingPlanOf(t, 7, 0)
	e := NewEncoder(plan)
	for i := range int32(300) {
		e.Call(i%7, int64(i)*997%5000, 5000)
	}
	whole := e.Finish(nil)
	read := func(block []byte) error {
		d := NewDecoder(plan, block, 300, nil)
		for i := int32(0); i < 300 && d.Err == nil; i++ {
			d.Call(i % 7)
		}
		return d.Err
	}
	require.NoError(t, read(whole))
	require.Error(t, read(whole[:len(whole)-2]))
	require.Error(t, read(append(whole, 0, 0)))
	require.Error(t, read(nil))
}

// decode has the same constants for models that are not young as encoding.
func TestRatesOfGrownModels(t *testing.T) {
	for seen := modelYoung; seen < 256; seen++ {
		require.EqualValues(t, rateLast, modelRate[seen])
		require.EqualValues(t, stageLast, modelStage[seen])
	}
	require.Equal(t, rateMasks[rateLast], uint64(maskLast))
	require.Equal(t, rateHalves[rateLast], uint64(halfLast))
	require.LessOrEqual(t, modelTeach, modelYoung, "a grown model has nothing to teach its parent")
}

// decode does the same as decodeYoung, even for a block of nonsense and beyond its end.
func TestDecodingGrownModels(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	block := make([]byte, 1024)
	random.Read(block)
	var models intervalModels
	fast, slow := models.new(nil, fineMoves), models.new(nil, fineMoves)
	from, reference := newRansDecoder(block), newRansDecoder(block)
	for range 12_000 {
		require.Equal(t, slow.decodeYoung(&reference), fast.decode(&from))
		require.Equal(t, reference, from)
		require.Equal(t, slow.below, fast.below)
	}
	require.True(t, from.over)
}

// Bits of every number come back, between symbols and at the end.
func TestBitsOfAllLengths(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var e ransEncoder
	var bits []uint64
	for i := range 1000 {
		n := i % 65
		x := random.Uint64() >> (64 - n)
		e.bits(x, n)
		e.put(100, 3)
		bits = append(bits, x)
	}
	d := newRansDecoder(e.finish(nil))
	for i, x := range bits {
		require.Equal(t, x, d.bits(i%65))
		require.InDelta(t, 101, d.place(), 1)
		d.take(100, 3)
	}
	require.True(t, d.ended())
}

func FuzzTimingDecoder(f *testing.F) {
	for _, percent := range []int{0, 5} {
		plan := timingPlanOf(f, 7, percent)
		e := NewEncoder(plan)
		for i := range int32(200) {
			e.Call(i%7, int64(i)*997, 5000)
		}
		f.Add(e.Finish(nil), percent)
	}
	f.Fuzz(func(t *testing.T, block []byte, percent int) {
		if percent < 0 || percent > MaxError {
			return
		}
		limits.Within(t, 4<<20, func() {
			d := NewDecoder(timingPlanOf(t, 7, percent), block, 20_000, codec.NewBudget(4<<20))
			for i := int32(0); i < 20_000 && d.Err == nil; i++ {
				d.Call(i * i % 7)
			}
		})
	})
}

func BenchmarkTimingCodec(b *testing.B) {
	for _, percent := range []int{0, 5, 20} {
		plan := timingPlanOf(b, 12, percent)
		random := rand.New(rand.NewSource(1))
		intervals := make([]int64, 2*BlockCalls)
		var r Rounder
		for i := range intervals {
			x := int64(random.ExpFloat64()*500) + 3000*int64(i%24+1)
			if percent > 0 {
				x = r.one(plan.Grids[0], x)
			}
			intervals[i] = x
		}
		encode := func() []byte {
			e := NewEncoder(plan)
			for i := 0; i < len(intervals); i += 2 {
				e.Call(int32(i/2%12), intervals[i], intervals[i+1])
			}
			return e.Finish(nil)
		}
		block := encode()
		b.Run(fmt.Sprintf("encode/%d%%", percent), func(b *testing.B) {
			before := limits.CPUNS()
			for b.Loop() {
				encode()
			}
			b.ReportMetric(float64(limits.CPUNS()-before)/float64(b.N)/BlockCalls, "cpu-ns/call")
			b.ReportMetric(float64(len(block))/BlockCalls, "bytes/call")
		})
		b.Run(fmt.Sprintf("decode/%d%%", percent), func(b *testing.B) {
			before := limits.CPUNS()
			for b.Loop() {
				d := NewDecoder(plan, block, BlockCalls, nil)
				for i := 0; i < len(intervals); i += 2 {
					d.Call(int32(i / 2 % 12))
				}
			}
			b.ReportMetric(float64(limits.CPUNS()-before)/float64(b.N)/BlockCalls, "cpu-ns/call")
		})
	}
}
