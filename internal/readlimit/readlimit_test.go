package readlimit_test

import (
	"bytes"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A command opens a trace that needs more memory than is allowed for untrusted bytes, and refuses
// it if the process does not have that much.
func TestOption(t *testing.T) {
	rule := slices.Repeat([]grammar.Symbol{{Value: 0, Count: 1}, {Value: 1, Count: 1}}, 50_000)
	c := trace.Content{
		Functions:  []trace.Function{{ID: 1, Name: "MPI_Barrier", Return: "int"}},
		Signatures: []trace.Signature{{Function: 1, OwnRank: -1}, {Function: 1, OwnRank: -1}},
		Grammar:    grammar.Grammar{Rules: slices.Repeat([][]grammar.Symbol{rule}, 50)}, // one body in the file
	}
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, &c))
	size := int64(b.Len())
	open := func(options ...trace.Option) error {
		_, err := trace.Open(bytes.NewReader(b.Bytes()), size, options...)
		return err
	}
	require.ErrorContains(t, open(), "WithMemoryLimit")
	require.NoError(t, open(readlimit.Option(size)))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	require.ErrorContains(t, open(readlimit.Option(size)), "WithMemoryLimit")
}
