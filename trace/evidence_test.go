package trace

import (
	"math"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// withEvidence is a trace of two ranks with all that the evidence block holds; its
// numbers are round.
func withEvidence() *Content {
	c := stencil(2, 12, true)
	call := func(k int) CallSite {
		return CallSite{Function: c.Functions[k].ID, Site: uint32(min(k, len(c.Sites)))}
	}
	c.Ranks.Change(0, func(r *Rank) {
		r.Evidence = []EvidenceRow{
			{EvidenceKey: EvidenceKey{After: call(0), Before: call(1)}, Count: 1000, WallNS: 127 << 20, CPUNS: 100 << 20,
				RunDelayNS: 20 << 20, OtherCPUNS: 0, DataNS: 65 << 24},
			{EvidenceKey: EvidenceKey{Thread: 1, Before: call(1)}, Count: 1, WallNS: 100 << 13, CPUNS: 100 << 13, RunDelayNS: Unknown,
				OtherCPUNS: Unknown, IOBytes: Unknown, IOCalls: Unknown, DataNS: Unknown},
		}
		r.Outliers = []EvidenceInstance{
			{Row: 1, BeginNS: 5 << 16, WallNS: 90 << 13, CPUNS: 80 << 13, RunDelayNS: Unknown, IOBytes: Unknown},
			{Row: 0, BeginNS: 1 << 50, WallNS: 90 << 16, CPUNS: 50 << 16, RunDelayNS: 0, IOBytes: 1 << 30},
		}
		r.Threads = []ThreadUsage{
			{TID: r.PID, Name: "app", CPUNS: 100 << 20, RunDelayNS: 64 << 16, CallsMPI: true},
			{TID: r.PID + 3, Name: "cairn", CPUNS: 100 << 13, RunDelayNS: Unknown, Tool: true},
		}
	})
	return c
}

func TestEvidenceIsKept(t *testing.T) {
	c := withEvidence()
	got, err := opened(t, written(t, c)).Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty(), listed))
	again, err := opened(t, written(t, got)).Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(got, again, cmpopts.EquateEmpty(), listed))
	r := got.Ranks.At(0)
	require.Len(t, r.Evidence, 2)
	ns, known := r.Evidence[0].BlockedNS()
	require.True(t, known)
	require.EqualValues(t, 7<<20, ns)
	_, known = r.Evidence[1].BlockedNS()
	require.False(t, known, "without a run delay nobody knows")
	require.Empty(t, got.Ranks.At(1).Evidence)
}

// A trace without evidence has no block for it.
func TestNoEvidenceNoBlock(t *testing.T) {
	entries, _ := blocksOf(t, written(t, withContext()))
	for _, e := range entries {
		require.NotEqual(t, blockEvidence, e.Kind)
	}
}

// Where no usage is known there is no section of it. A file without that section, as of an earlier
// Cairn, has unknown usage, which is not zero.
func TestNoUsageIsUnknown(t *testing.T) {
	c := withEvidence()
	require.True(t, c.Ranks.evidence.hasUsage())
	require.Zero(t, c.Ranks.At(0).Evidence[0].Usage, "known to be zero")
	c.Ranks.Change(0, func(r *Rank) {
		for i := range r.Evidence {
			r.Evidence[i].Usage = UnknownUsage
		}
		for i := range r.Outliers {
			r.Outliers[i].Usage = UnknownUsage
		}
	})
	require.False(t, c.Ranks.evidence.hasUsage())
	got, err := opened(t, written(t, c)).Content()
	require.NoError(t, err)
	require.Equal(t, c.Ranks.At(0).Evidence, got.Ranks.At(0).Evidence)
	require.Equal(t, c.Ranks.At(0).Outliers, got.Ranks.At(0).Outliers)
}

func TestSystemTime(t *testing.T) {
	for name, test := range map[string]struct {
		system, cpu, want int64
		known             bool
	}{
		"known": {3e8, 2e9, 3e8, true}, "short": {3e8, 9e8, 0, false}, "unknown": {Unknown, 2e9, 0, false},
		"ticks of more than the CPU time": {3e9, 2e9, 2e9, true},
	} {
		u := Usage{SystemNS: test.system}
		ns, known := u.SystemTime(test.cpu)
		require.Equal(t, test.known, known, name)
		require.Equal(t, test.want, ns, name)
	}
}

func TestEvidenceReplacesSites(t *testing.T) {
	c := withEvidence()
	before := c.Ranks.At(0)
	c.Ranks.ReplaceSites(func(s uint32) uint32 { return s + 10 })
	after := c.Ranks.At(0)
	require.Equal(t, before.Evidence[0].Before.Site+10, after.Evidence[0].Before.Site)
	require.Zero(t, after.Evidence[1].After, "no call stays none")
	require.ErrorContains(t, c.Validate(), "evidence: no call site")
	before.ReplaceSites(func(s uint32) uint32 { return s + 10 })
	require.Equal(t, after, before)
}

func TestEvidenceRefersToNothing(t *testing.T) {
	for name, change := range map[string]func(r *Rank){
		"function": func(r *Rank) { r.Evidence[0].After.Function = 9999 },
		"site":     func(r *Rank) { r.Evidence[0].Before.Site = 9999 },
		"row":      func(r *Rank) { r.Outliers[0].Row = 2 },
		"count":    func(r *Rank) { r.Evidence[0].Count = 0 },
		"moment":   func(r *Rank) { r.Outliers[1].BeginNS = math.MaxInt64 - instanceUnit },
	} {
		t.Run(name, func(t *testing.T) {
			c := withEvidence()
			c.Ranks.Change(0, change)
			require.ErrorContains(t, c.Validate(), "evidence")
		})
	}
}

func TestRounded(t *testing.T) {
	for _, v := range []int64{-1, 0, 1, 63, 64, 127, 128} {
		require.Equal(t, v, codec.Rounded(v))
	}
	require.EqualValues(t, 130, codec.Rounded(129), "of two that are as near, the greater one")
	for v := int64(129); v < math.MaxInt64/3; v = v*3/2 + 1 {
		got := codec.Rounded(v)
		require.LessOrEqual(t, math.Abs(float64(got-v)), float64(v)/128, v)
		require.Equal(t, got, codec.Rounded(got), v)
	}
	require.Positive(t, codec.Rounded(math.MaxInt64))
}
