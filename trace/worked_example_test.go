package trace

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

// workedExample is the program that docs/format.md takes apart: one rank that calls MPI_Init,
// MPI_Barrier three times, and MPI_Finalize, without call sites and timing.
func workedExample() *Content {
	none := Value{Form: Absent}
	return &Content{
		Meta: Meta{Final: true, World: "w", WorldSize: 1, Implementation: "Open MPI", Version: "5.0", ABI: "openmpi", CreatedBy: "1", CallSites: "none"},
		Functions: []Function{
			{ID: 1, Name: "MPI_Init", Class: "init", Return: "int"},
			{ID: 2, Name: "MPI_Barrier", Class: "barrier blocking", Return: "int", Parameters: []Parameter{{"comm", "comm", In, false}}},
			{ID: 3, Name: "MPI_Finalize", Class: "finalize", Return: "int"},
		},
		Signatures: []Signature{
			{Function: 1, OwnRank: -1, Return: number(0), Communicator: none},
			{Function: 2, OwnRank: -1, Return: number(0), In: []Value{named("MPI_COMM_WORLD")}, Communicator: none},
			{Function: 3, OwnRank: -1, Return: number(0), Communicator: none},
		},
		Communicators: []Communicator{{GlobalName: "MPI_COMM_WORLD", Members: RankList{{Start: 0, Count: 1, Stride: 1}}}},
		Grammar:       grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: 1}, {Value: 1, Count: 3}, {Value: 2, Count: 1}}}},
		Ranks:         NewRankTable(Rank{Host: "a", PID: 7, Executable: "p", Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0}}),
		Threads:       NewThreadTable(Thread{Calls: 5}),
	}
}

// The bytes in docs/format.md, line by line, are those of the file.
func TestWorkedExample(t *testing.T) {
	c := workedExample()
	file := written(t, c)
	r := opened(t, file)
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	var calls []string
	for cursor.Next() {
		calls = append(calls, cursor.Event().Text())
	}
	const barrier = "MPI_Barrier(comm=MPI_COMM_WORLD) = MPI_SUCCESS"
	require.Equal(t, []string{"MPI_Init() = MPI_SUCCESS", barrier, barrier, barrier, "MPI_Finalize() = MPI_SUCCESS"}, calls)
	doc, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(doc), "```example\n")
	require.True(t, found)
	text, _, found = strings.Cut(text, "```")
	require.True(t, found)
	var bytes []byte
	for line := range strings.Lines(text) {
		b, err := hex.DecodeString(strings.ReplaceAll(regexp.MustCompile(`^( ?[0-9a-f]{2})*`).FindString(line), " ", ""))
		require.NoError(t, err, line)
		bytes = append(bytes, b...)
	}
	entries, contents := wholeBlocksOf(t, file)
	require.Len(t, entries, 1)
	list, _, err := codec.SplitSections(contents[0], codec.NewBudget(math.MaxInt64))
	require.NoError(t, err)
	var want []byte
	for _, s := range list {
		want = append(binary.AppendUvarint(append(want, byte(s.Kind)), uint64(len(s.Content))), s.Content...)
		t.Logf("%d: % x  %q", s.Kind, s.Content, s.Content)
	}
	require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(bytes))
	t.Logf("file: % x", file)
}
