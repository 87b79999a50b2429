package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestRecorded(t *testing.T) {
	ranks := func(list ...int) trace.RankList { return trace.NewRankList(list) }
	limit := trace.Loss{Calls: 11_214_754, Ranks: ranks(0, 1), Why: "the spool limit of 16777216 bytes was reached"}
	for want, c := range map[string]struct {
		world   int
		missing trace.RankList
		calls   uint64
		losses  []trace.Loss
	}{
		"": {16, nil, 100, nil},
		"Ranks 2-3 of 4 left no trace; what follows is about the rest.": {4, ranks(2, 3), 100, nil},
		"Rank 3 of 16 left no trace; what follows is about the rest.":   {16, ranks(3), 100, nil},
		"93% of the calls (11,214,754 of 12,024,008) were not recorded, because the spool limit of 16777216 bytes was reached (ranks 0-1); what follows is about the rest.": {
			4, nil, 809_254, []trace.Loss{limit}},
		"Rank 3 of 4 left no trace, and 93% of the calls of the other ranks (11,214,754 of 12,024,008) were not recorded, because the spool limit of 16777216 bytes was reached (ranks 0-1); what follows is about the rest.": {
			4, ranks(3), 809_254, []trace.Loss{limit}},
		"1 of the 12,024 calls was not recorded, because a (rank 7); what follows is about the rest.": {8, nil, 12_023, []trace.Loss{{Calls: 1, Ranks: ranks(7), Why: "a"}}},
		"More than 99% of the calls (999 of 1,000) were not recorded, because a (rank 7), and b (rank 1), and for other reasons; what follows is about the rest.": {
			8, nil, 1, []trace.Loss{{Calls: 900, Ranks: ranks(7), Why: "a"}, {Calls: 90, Ranks: ranks(1), Why: "b"}, {Calls: 5, Ranks: ranks(2), Why: "c"}, {Calls: 4, Ranks: ranks(3), Why: "d"}}},
	} {
		got := Recorded(c.world, c.missing, c.calls, c.losses, nil)
		require.Equal(t, want, got)
	}
	coarse := []trace.Coarse{{Rank: 0, From: 0, To: 131_072, Per: 1024}, {Rank: 1, From: 65_536, To: 131_072, Per: 65_536}}
	sums := "20% of the calls (196,608 of 1,000,000) were reduced to sums of times, because the spool was close to its limit or the compressor could not follow (ranks 0-1); who waited for whom is not known there."
	require.Equal(t, sums, Recorded(2, nil, 1_000_000, nil, coarse))
	require.Equal(t, "Rank 1 of 3 left no trace; what follows is about the rest. "+sums, Recorded(3, ranks(1), 1_000_000, nil, coarse))
}
