package trace

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/stretchr/testify/require"
)

// Lists of all kinds are what they were, in a finished trace and in a shard, and the section never
// takes more than without sequences. A file is of ListsVersion only if it has one.
func TestLongLists(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	elements := []func(i int) int64{
		func(int) int64 { return 7 },
		func(i int) int64 { return int64(i) * 48 },
		func(i int) int64 { return int64(i%7)*1e6 + int64(i)*48 },
		// one byte each, as a value or in a sequence
		func(int) int64 { return int64(random.IntN(7)) },
		func(int) int64 { return random.Int64() - random.Int64() },
		func(i int) int64 { return []int64{math.MinInt64, -1, 0, math.MaxInt64}[i%4] },
	}
	others := []Value{{Form: Handle, Int: 3}, named("MPI_INT"), {Form: RankOffset, Int: 1}, {Form: Null}}
	versions := map[byte]int{}
	for range 100 {
		n := []int{0, 1, shortestSequence - 1, shortestSequence, shortestSequence + 1, 1000}[random.IntN(6)]
		element, list := elements[random.IntN(len(elements))], Value{Form: List}
		for i := range n {
			list.List = append(list.List, number(element(i)))
		}
		if n > 0 && random.IntN(4) == 0 {
			list.List[random.IntN(n)] = others[random.IntN(len(others))]
		}
		if random.IntN(4) == 0 {
			list = Value{Form: List, List: []Value{number(1), list, list}}
		}
		signatures := []Signature{{Function: 1, OwnRank: -1, In: []Value{list, named("MPI_INT"), list}, Out: []Value{list}}}
		plain, version := appendSignatures(signatures, nil, false)
		require.Equal(t, byte(FormatVersion), version)
		b, version := appendSignatures(signatures, nil, true)
		require.Equal(t, version == ListsVersion, len(b) < len(plain))
		if version == FormatVersion {
			require.Equal(t, plain, b)
		}
		versions[version]++
		for section, sequences := range map[string]bool{string(plain): false, string(b): version == ListsVersion} {
			d := sectionDecoder([]byte(section), codec.NewBudget(math.MaxInt64))
			got := d.signatures(nil, sequences)
			require.NoError(t, d.Err)
			require.Empty(t, d.Rest)
			require.True(t, reflect.DeepEqual(signatures, got)) // quicker than cmp
		}
	}
	require.Greater(t, versions[FormatVersion], 20)
	require.Greater(t, versions[ListsVersion], 20)
}

// A datatype of many blocks with regular strides at irregular addresses takes what the strides
// take. A shard of it remains in FormatVersion, and so does a trace with a shorter list.
func TestLongListsInFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	displacements := make([]int64, 13058)
	for i := range displacements {
		if i%500 == 0 {
			displacements[i] = random.Int64N(1 << 40)
		} else {
			displacements[i] = displacements[i-1] + 8*int64(1+i/500)
		}
	}
	c := longLists(len(displacements), func(i int) int64 { return displacements[i] })
	packed := func(sequences bool) int {
		section, _ := appendSignatures(c.Signatures, c.Functions, sequences)
		return len(codec.AppendBlock(nil, blockSignatures, section, codec.PackSmallest))
	}
	require.Greater(t, packed(false), 20000)
	require.Less(t, packed(true), 1000)
	for final, version := range map[bool]int{true: ListsVersion, false: FormatVersion} {
		c.Meta.Final = final
		r := opened(t, written(t, c))
		require.Equal(t, version, r.Version())
		last := len(c.Signatures) - 1
		require.True(t, reflect.DeepEqual(c.Signatures[last].In, r.Signatures()[last].In))
	}
	short := longLists(shortestSequence-1, func(i int) int64 { return int64(i) })
	require.Equal(t, FormatVersion, opened(t, written(t, short)).Version())
}
