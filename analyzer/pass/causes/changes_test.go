package causes

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Given a cause that takes a part of the cost of some calls, the next one takes another part.
// Computations change in order.
func TestChangesTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 50 {
		var changes []change
		var ignored []uint32
		kept := [8]float64{1, 1, 1, 1, 1, 1, 1, 1}
		set := func(list *[]uint32) func(uint16, uint32) bool {
			at := random.Uint32N(8)
			*list = append(*list, at)
			return func(_ uint16, site uint32) bool { return site == at }
		}
		takes := int64(100)
		for range random.IntN(5) {
			switch c, n := (change{}), random.Int64N(9); random.IntN(3) {
			case 0:
				at, part := random.Uint32N(8), 0.25*float64(1+random.IntN(4))
				kept[at] = max(0, kept[at]-part)
				c.keeps = func(_ uint16, site uint32) float64 {
					if site == at {
						return 1 - part
					}
					return 1
				}
				changes = append(changes, c)
			case 1:
				c.ignores = set(&ignored)
				changes = append(changes, c)
			case 2:
				c.takes = func(_ int, _ predict.Region, ns int64) int64 { return 2*ns - n }
				takes = 2*takes - n
				changes = append(changes, c)
			}
		}
		s := together(changes...)
		assert.Equal(t, len(ignored) == 0, s.Ignores == nil)
		for site := range uint32(8) {
			if s.Keeps == nil {
				assert.InDelta(t, 1, kept[site], 0)
			} else {
				assert.InDelta(t, kept[site], s.Keeps(1, site), 0)
			}
			if s.Ignores != nil {
				assert.Equal(t, slices.Contains(ignored, site), s.Ignores(1, site))
			}
		}
		if s.Takes != nil {
			assert.Equal(t, takes, s.Takes(0, predict.Region{}, 100))
		} else {
			assert.EqualValues(t, 100, takes)
		}
	}
	assert.False(t, together(change{}, change{}).Buffered)
	assert.True(t, together(change{buffered: true}, change{}).Buffered)
}

// inSearch calls f with a finished search in a trace, while its event log can still be read.
func inSearch(t *testing.T, b *tracetest.Builder, f func(*Found)) {
	t.Helper()
	_, err := pass.Find(t.Context(), timeline.Of(b.Open(t)), pass.New("test", func(_ context.Context, r *pass.Run) (int, error) {
		f(Pass.Result(r))
		return 0, nil
	}, Pass))
	require.NoError(t, err)
}

// lateReceives returns two ranks: rank 0 sends to rank 1 at w.c:2, w.c:3, and so on, and waits
// there for the receiver for that many units each. The sends start in the order of their sites.
func lateReceives(waits ...float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("w.c:1").Init(0, 1) })
	now := 1.0
	for i, wait := range waits {
		b.Rank(0).At([]string{"w.c:2", "w.c:3", "w.c:4", "w.c:5"}[i]).Send(now+1, now+2+wait, 1)
		b.Rank(1).At("w.c:9").Recv(now+1+wait, now+2+wait, 0, 1<<20)
		now += 2 + wait
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("w.c:10").Finalize(now+1, now+2) })
	return b
}

// The call site is the one with the longest waits, and of several the first, in whatever order the
// table is read.
func TestWhereRanksWait(t *testing.T) {
	for _, c := range []struct {
		waits []float64
		want  string
	}{{[]float64{3, 6}, "w.c:3"}, {[]float64{6, 3}, "w.c:2"}, {[]float64{3, 6, 4, 6}, "w.c:3"}} {
		inSearch(t, lateReceives(c.waits...), func(f *Found) {
			for range 30 {
				set, where := f.evidence.waitedFor(waitstate.LateReceiver)
				require.Equal(t, c.want, f.evidence.Names.Call(where.Function, where.Site).CallSite)
				require.Len(t, set, 1)
				require.Equal(t, 1, set[0].Row)
			}
			_, where := f.evidence.waitedFor(waitstate.LateBroadcast)
			assert.Equal(t, accounts.Activity{}, where)
		})
	}
}

// A replay that is canceled is an error. Otherwise the verdict would be that there is no cause.
func TestReplayFails(t *testing.T) {
	inSearch(t, lateReceives(3, 6), func(f *Found) {
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, causes, all, err := judge(canceled, f.evidence, nil, nil)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, causes)
		assert.Empty(t, all)
		require.NotEmpty(t, f.causes)
		require.ErrorIs(t, playGiven(canceled, f.evidence, f.causes[:1], f.All, scarceCPUs{}), context.Canceled)
	})
}
