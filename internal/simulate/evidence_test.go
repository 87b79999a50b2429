package simulate

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// disturbed is a program of two ranks, the second of which lacks the CPU in four ways, one after
// the other.
func disturbed(t *testing.T, evidence bool) *Simulation {
	s, err := NewOf(Config{Pattern: "disturbed", Ranks: 2, Evidence: evidence}, func(r *Rank) {
		ms := time.Millisecond
		for range 50 {
			r.At(20).Barrier(r.World())
			r.Compute(5 * ms)
			if r.Rank() == 1 {
				r.Preempted(2 * ms)
				r.Blocked(3 * ms)
				r.Stopped(4 * ms)
				r.IO(6*ms, 1000)
			}
		}
	})
	require.NoError(t, err)
	return s
}

func TestEvidence(t *testing.T) {
	contents, err := disturbed(t, true).Contents()
	require.NoError(t, err)
	var m merger.Merger
	for _, c := range contents {
		require.NoError(t, c.Validate())
		require.NoError(t, m.Add(c))
	}
	worlds, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	merged := worlds[0]
	require.NoError(t, merged.Validate())
	ms := time.Millisecond.Nanoseconds()
	gap := func(r *trace.Rank) *trace.EvidenceRow {
		for i := range r.Evidence {
			if row := &r.Evidence[i]; row.After.Function != 0 && row.After == row.Before {
				return row
			}
		}
		require.Fail(t, "no row for the computation")
		return nil
	}
	for i, want := range []trace.EvidenceRow{
		{Count: 49, WallNS: 49 * 5 * ms, CPUNS: 49 * 5 * ms},
		{Count: 49, WallNS: 49 * 20 * ms, CPUNS: 49 * 5 * ms, RunDelayNS: 49 * 6 * ms, IOBytes: 49000, IOCalls: 49},
	} {
		r := merged.Ranks.At(i)
		got := gap(&r)
		require.Equal(t, 20, merged.Sites[got.After.Site-1].Line)
		require.Equal(t, want.Count, got.Count)
		require.InEpsilon(t, want.WallNS, got.WallNS, 0.008)
		require.InEpsilon(t, want.CPUNS, got.CPUNS, 0.04)
		require.Equal(t, codec.RoundedNS(want.RunDelayNS), got.RunDelayNS)
		require.Equal(t, codec.Rounded(want.IOBytes), got.IOBytes)
		require.Equal(t, codec.Rounded(want.IOCalls), got.IOCalls)
		require.Zero(t, got.DataNS, "1,000 bytes are no data")
	}
	r := merged.Ranks.At(1)
	require.Len(t, r.Outliers, 8, "all are the same: the ones by CPU and by length are")
	require.InEpsilon(t, 50*4*ms, r.Context[len(r.Context)-1].ThrottledNS, 1./128)
	require.Len(t, r.Threads, 1)
	waits := merged.Ranks.At(0).Evidence[0]
	require.Zero(t, waits.After, "a long call has no call before it")
	require.Equal(t, waits.WallNS, waits.CPUNS, "who polls has a CPU")
}

func TestNoEvidence(t *testing.T) {
	c, err := disturbed(t, false).Rank(1)
	require.NoError(t, err)
	r := c.Ranks.At(0)
	require.Empty(t, r.Evidence)
	require.Empty(t, r.Outliers)
	require.Empty(t, r.Threads)
	require.Empty(t, r.Context)
}

// The size of a rank's evidence in a trace: almost nothing if all ranks do the same, a few dozen
// bytes if each is disturbed in a different way.
func TestSizeOfEvidence(t *testing.T) {
	const ranks = 1024
	for name, test := range map[string]struct {
		disturbed bool
		most      float64 // bytes a rank
	}{"all alike": {false, 1}, "each its own": {true, 100}} {
		t.Run(name, func(t *testing.T) {
			var sizes [2]int
			for i, evidence := range []bool{false, true} {
				s, err := NewOf(Config{Pattern: "stencil", Ranks: ranks, Evidence: evidence, NoReplay: true}, func(r *Rank) {
					for k := range 20 {
						r.At(30).Barrier(r.World())
						r.Compute(3 * time.Millisecond)
						if test.disturbed {
							r.Preempted(time.Duration(mix(uint64(r.Rank()), uint64(k)) % 1e6))
							r.IO(time.Duration(mix(uint64(r.Rank()), uint64(k), 1)%1e6), int(mix(uint64(r.Rank()), 2)%1e4))
						}
						r.At(40).Barrier(r.World())
					}
				})
				require.NoError(t, err)
				var m merger.Merger
				for k := range ranks {
					c, err := s.Rank(k)
					require.NoError(t, err)
					if evidence { // the samples of the context are another matter
						c.Ranks.Change(0, func(r *trace.Rank) { r.Context = nil })
					}
					require.NoError(t, m.Add(c))
				}
				worlds, err := m.Finish(merger.Options{Final: true})
				require.NoError(t, err)
				var b bytes.Buffer
				require.NoError(t, trace.Write(&b, worlds[0]))
				sizes[i] = b.Len()
			}
			bytes := float64(sizes[1]-sizes[0]) / ranks
			t.Logf("%.2f bytes a rank", bytes)
			require.Less(t, bytes, test.most)
		})
	}
}
