package trace

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

// dense are traces with almost no repetitions, so that the file is as short as possible for the
// memory that a reader needs; with each, the limit per byte of the file.
func dense() map[string]struct {
	content *Content
	most    float64
} {
	type row = struct {
		content *Content
		most    float64
	}
	random := rand.New(rand.NewPCG(1, 7))
	grammar := func(terminals, calls int) *Content {
		c := stencil(1, 1, false)
		first := len(c.Signatures)
		for i := range terminals {
			c.Signatures = append(c.Signatures, Signature{Function: 7, OwnRank: -1, In: []Value{number(int64(i))}})
		}
		s := grammar.NewSequitur()
		for range calls {
			s.Append(int32(first + random.IntN(terminals)))
		}
		c.Grammar = s.Grammar()
		c.Threads.Change(0, func(t *Thread) { t.Root, t.Calls, t.Streams = 0, uint64(calls), nil })
		return c
	}
	values := func(bound int64) *Content {
		c := stencil(1, 1, false)
		list := make([]int64, 100_000)
		for i := range list {
			list[i] = random.Int64N(bound)
		}
		returnsValues(c, list)
		return c
	}
	timed := func(settings timing.Settings) *Content {
		c := stencil(2, 8000, true)
		c.Meta.Timing = settings
		return c
	}
	return map[string]row{
		"grammar of 4 signatures":   {grammar(4, 100_000), 18},
		"grammar of 100 signatures": {grammar(100, 100_000), 18},
		"values below 50":           {values(50), 8},
		"values below 5000":         {values(5000), 8},
		"values of any size":        {values(1 << 60), 8},
		"timing, lossless":          {timed(timing.Settings{Mode: timing.Lossless}), 8},
		"timing, lossy":             {timed(timing.Settings{Mode: timing.Lossy, ErrorPercent: 5}), 8},
	}
}

// The memory that a reader and a cursor need per byte of the file, in addition to constant parts
// (such as the contexts of a block of timing).
func TestMemoryPerByte(t *testing.T) {
	const once = 512 << 10
	for name, row := range dense() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := written(t, row.content)
			limit := once + int64(row.most*float64(len(b)))
			r, err := Open(bytes.NewReader(b), int64(len(b)), WithMemoryLimit(limit))
			require.NoError(t, err)
			c, err := r.Cursor(0, 0)
			require.NoError(t, err)
			for c.Next() {
			}
			require.NoError(t, c.Err())
		})
	}
}

func TestDefaultMemoryLimit(t *testing.T) {
	require.EqualValues(t, 64<<20, defaultMemoryLimit(0))
	require.EqualValues(t, 64<<20, defaultMemoryLimit(-1))
	require.EqualValues(t, 64<<20+8*1000, defaultMemoryLimit(1000))
	require.Greater(t, defaultMemoryLimit(math.MaxInt64), int64(1<<60))
}

// Memory that is not needed any more does not count, however often something is read.
func TestLimitIsForWhatIsInUse(t *testing.T) {
	uses := map[string]func(r *Reader) error{
		"sequences": func(r *Reader) error {
			for i := range r.Sequences() {
				if _, err := r.Sequence(i); err != nil {
					return err
				}
			}
			return nil
		},
		"all calls": func(r *Reader) error {
			c, err := r.Cursor(0, 0)
			for err == nil && c.Next() {
				continue
			}
			if err != nil {
				return err
			}
			return c.Err()
		},
		"distinct calls": func(r *Reader) error {
			return VisitDistinct(r, 0, math.MaxUint64)
		},
		"distinct calls of a part": func(r *Reader) error {
			return VisitDistinct(r, 10, 500)
		},
	}
	for name, one := range dense() {
		var file bytes.Buffer
		require.NoError(t, Write(&file, one.content))
		for what, use := range uses {
			t.Run(name+"/"+what, func(t *testing.T) {
				r, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
				require.NoError(t, err)
				require.NoError(t, use(r)) // what is kept for the next time
				before := r.budget.Left()
				times := 5
				if testing.Short() {
					times = 1
				}
				for range times {
					require.NoError(t, use(r))
				}
				require.Equal(t, before, r.budget.Left())
			})
		}
	}
}
