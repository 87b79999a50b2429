package trace

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A thread with another lead makes its lead's calls. Peers that the lead has in a column or as a
// number among cases are moved by the distance between the ranks; those that are computed from the
// rank are those of its own rank; all others are the lead's.
func TestPeersOfLeadsAreTransposed(t *testing.T) {
	const ranks = 5
	leads := []int{0, 1, 0, 1, 1}
	recorded := []int64{3, 4} // by lead: rank 0 sends to 3, rank 1 to 4
	c := &Content{
		Meta: Meta{Final: true, WorldSize: ranks}, Functions: testFunctions, Leads: leads,
		Communicators: []Communicator{{GlobalName: "MPI_COMM_WORLD", Members: RankList{{0, ranks, 1}}}},
		Columns:       make([]codec.Numbers, 2),
	}
	offset := Value{Form: RankOffset, Int: 1}
	column := Value{Form: Column, Int: 1}
	cases := func(first, second Value) Value {
		return Value{Form: Elastic, Int: int64(Cases), List: []Value{number(0), first, second}}
	}
	own := func(rank, _ int64) int64 { return rank + 1 }
	moved := func(rank, lead int64) int64 { return (recorded[lead] + rank - lead) % ranks }
	peers := []struct {
		dest Value
		want func(rank, lead int64) int64
	}{
		{number(2), func(int64, int64) int64 { return 2 }},
		{offset, own},
		{column, moved},
		{cases(number(recorded[0]), number(recorded[1])), moved},
		{cases(column, column), moved},
		{cases(offset, column), func(rank, lead int64) int64 {
			if lead == 0 {
				return own(rank, lead)
			}
			return moved(rank, lead)
		}},
		{cases(number(recorded[0]), offset), func(rank, lead int64) int64 {
			if lead == 0 {
				return moved(rank, lead)
			}
			return own(rank, lead)
		}},
		{cases(offset, offset), own},
	}
	var body []grammar.Symbol
	for i, p := range peers {
		c.Signatures = append(c.Signatures, Signature{Function: 3, OwnRank: -1, Return: number(0), In: []Value{
			{Form: Pointer}, number(1), named("MPI_INT"), p.dest, number(7), named("MPI_COMM_WORLD"),
		}})
		body = append(body, grammar.Symbol{Value: int32(i), Count: 1})
	}
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{body}}
	for rank := range ranks {
		c.Ranks.Append(Rank{Rank: rank, Clock: timing.Clock{Kind: "monotonic"}})
		c.Columns[0].Push(int64(leads[rank]))
		c.Columns[1].Push(recorded[leads[rank]])
		th := Thread{Rank: rank, InShape: rank, Calls: uint64(len(body))}
		th.Gaps, th.Durations = make([]int64, len(body)), make([]int64, len(body))
		c.Threads.Append(th)
	}
	r := opened(t, written(t, c))
	require.Equal(t, []int{0, 1}, r.Leads())
	for rank, lead := range leads {
		cursor, err := r.Cursor(rank, 0)
		require.NoError(t, err)
		for i, p := range peers {
			require.True(t, cursor.Next(), "%v", cursor.Err())
			want := p.want(int64(rank), int64(lead))
			require.Contains(t, cursor.Event().Text(), fmt.Sprintf(" dest=%d,", want), "rank %d call %d", rank, i)
		}
		require.False(t, cursor.Next())
	}
}
