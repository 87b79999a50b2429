package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// priming.bin says what priming.txt does.
func TestPriming(t *testing.T) {
	text, err := os.ReadFile("../priming.txt")
	require.NoError(t, err)
	got, err := parse(string(text))
	require.NoError(t, err)
	want, err := os.ReadFile("../priming.bin")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestParse(t *testing.T) {
	got, err := parse("# \"no\"\n\"MPI_SUM\" 0 255\n\n1")
	require.NoError(t, err)
	require.Equal(t, "MPI_SUM\x00\xff\x01", string(got))
	_, err = parse("\n256")
	require.ErrorContains(t, err, "line 2: 256 is no byte")
	_, err = parse("\"a")
	require.ErrorContains(t, err, "line 1")
}
