package program

import (
	"context"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// sequences are kinds of programs of which a search for loops could take more than in proportion to
// their length; kindOf puts three signatures together at one call site.
var sequences = map[string]func(random *rand.Rand, calls int) []int32{
	"by chance": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for range calls {
			s = append(s, random.Int31n(40))
		}
		return s
	},
	"two call sites by chance": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for range calls {
			s = append(s, random.Int31n(6))
		}
		return s
	},
	"one call site, another argument each time": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for range calls {
			s = append(s, random.Int31n(3))
		}
		return s
	},
	"one loop over two call sites, other arguments each time": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for range calls / 2 {
			s = append(s, random.Int31n(3), 3+random.Int31n(3))
		}
		return s
	},
	"heavy-tailed, in phrases": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for len(s) < calls {
			phrase := rand.New(rand.NewSource(int64(math.Pow(1000, random.Float64()))))
			var body []int32
			for range 1 + phrase.Intn(12) {
				body = append(body, int32(math.Pow(600, phrase.Float64())))
			}
			for range int(math.Pow(30, random.Float64())) {
				s = append(s, body...)
			}
		}
		return s[:calls]
	},
	"Fibonacci's word": func(_ *rand.Rand, calls int) []int32 {
		a, b := []int32{0}, []int32{0, 3}
		for len(b) < calls {
			a, b = b, append(append([]int32(nil), b...), a...)
		}
		return b[:calls]
	},
	"Thue's word without cubes": func(_ *rand.Rand, calls int) []int32 {
		s := []int32{0}
		for len(s) < calls {
			n := len(s)
			for _, x := range s[:n] {
				s = append(s, 3-x)
			}
		}
		return s[:calls]
	},
	"every call site twice": func(random *rand.Rand, calls int) []int32 {
		var s []int32
		for k := 0; len(s) < calls; k++ { // levels short enough for loops whose iterations differ
			block := random.Perm(200)
			for range 2 {
				for _, x := range block {
					if random.Intn(3) > 0 {
						s = append(s, int32(3*x))
					}
				}
			}
			for range 3 {
				s = append(s, int32(1000+3*(k%100)))
			}
		}
		return s[:calls]
	},
}

// stepsOf is what it takes to find the program of a sequence.
func stepsOf(t *testing.T, sequence []int32) (steps int, s *search) {
	t.Helper()
	grammar := grammar.NewSequitur()
	for _, terminal := range sequence {
		grammar.Append(terminal)
	}
	s = newSearch(t.Context())
	b := newBuilder(s, grammar.Grammar(), kindOf)
	b.body(0)
	for more := true; more; {
		more = false
		for rule := range b.parts {
			if _, known := b.bodies[rule]; !known {
				b.body(rule)
				more = true
			}
		}
	}
	require.NoError(t, s.err)
	return s.steps, s
}

// TestSearchGrowsInProportion: eight times the calls take at most twelve times the steps, and a
// bounded number of steps per call. (A search that compares each call with each of the next 256, as
// it once did, takes more than 512 per call.)
func TestSearchGrowsInProportion(t *testing.T) {
	const few, stepsPerCall = 20_000, 300
	for name, make := range sequences {
		t.Run(name, func(t *testing.T) {
			sequence := make(rand.New(rand.NewSource(1)), 8*few)
			short, _ := stepsOf(t, sequence[:few])
			long, s := stepsOf(t, sequence)
			t.Logf("%.1f steps for each of %d calls, %.1f for each of %d; %d levels unfinished",
				float64(short)/few, few, float64(long)/(8*few), 8*few, s.unfinished)
			assert.Less(t, float64(long), 12*float64(max(short, few)))
			assert.Less(t, long, stepsPerCall*8*few)
		})
	}
}

// TestOverlayGrowsInProportion: programs of twice as many ranks, none like another, take at most
// about twice as many steps, until they are so many that they are not compared any more.
func TestOverlayGrowsInProportion(t *testing.T) {
	const mayCompare = 1 << 22
	overlay := func(ranks int) (int, *search) {
		random := rand.New(rand.NewSource(2))
		s := newSearch(t.Context())
		s.overlay = mayCompare
		var program []*node
		for rank := range ranks {
			var items []*item
			for range 500 {
				items = append(items, newCall(random.Int31n(3000), uint64(random.Intn(1000)), 1))
			}
			nodes := s.nodesOf(items, rank)
			if rank == 0 {
				program = nodes
			} else {
				program = s.over(program, nodes)
			}
		}
		return s.steps, s
	}
	_, few := overlay(4)
	require.Zero(t, few.apart)
	for _, ranks := range []int{200, 400} {
		steps, s := overlay(ranks)
		require.LessOrEqual(t, steps, mayCompare+1000)
		require.Positive(t, s.apart)
	}
}

// TestSearchEndsWhenCanceled: whenever that is.
func TestSearchEndsWhenCanceled(t *testing.T) {
	sequence := sequences["heavy-tailed, in phrases"](rand.New(rand.NewSource(3)), 100_000)
	grammar := grammar.NewSequitur()
	for _, terminal := range sequence {
		grammar.Append(terminal)
	}
	all, _ := stepsOf(t, sequence)
	for at := 0; at < all; at += all / 7 {
		ctx, cancel := context.WithCancel(context.Background())
		s := newSearch(ctx)
		b := newBuilder(s, grammar.Grammar(), func(terminal int32) uint64 {
			if s.steps >= at {
				cancel()
			}
			return kindOf(terminal)
		})
		b.body(0)
		cancel()
		if s.err != nil {
			require.ErrorIs(t, s.err, context.Canceled)
			require.Less(t, s.steps, at+all/2)
		}
	}
}
