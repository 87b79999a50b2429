package inspect_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// knights writes a trace of 35 ranks that send to all ranks a knight's move away on a board of 5 x
// 7 without edges.
func knights(t *testing.T) string {
	b := tracetest.New(35)
	for rank := range 35 {
		r := b.Rank(rank).Init(0, 5)
		y, x := rank/7, rank%7
		for i, move := range [][2]int{{1, 2}, {2, 1}} {
			r.Send(float64(10+2*i), float64(11+2*i), (y+move[0])%5*7+(x+move[1])%7)
		}
		r.Finalize(30, 31)
	}
	return cairntest.TraceFile(t, b.Content())
}

// clustersOf is what `cairn clusters --json` says, and its error.
func clustersOf(t *testing.T, arguments ...string) (name string, err error) {
	c := inspect.NewClustersCommand()
	var out bytes.Buffer
	c.SetArgs(append(arguments, "--json"))
	c.SetOut(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(t.Context()); err != nil {
		return "", err
	}
	var found struct {
		Topology struct {
			Run struct {
				Topology string  `json:"topology"`
				Lost     float64 `json:"lost_bytes"`
			} `json:"run"`
		} `json:"topology"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &found))
	return found.Topology.Run.Topology, nil
}

// Patterns in a user's file are recognized. An invalid file causes an error that says what is
// wrong.
func TestUserDefinedPatterns(t *testing.T) {
	path, patterns := knights(t), filepath.Join(t.TempDir(), "patterns.json")
	name, err := clustersOf(t, path)
	require.NoError(t, err)
	assert.NotContains(t, name, "knight")
	require.NoError(t, os.WriteFile(patterns, []byte(`[{"name": "knight", "offsets": [[1, 2], [2, 1]], "periodic": true}]`), 0o644))
	name, err = clustersOf(t, path, "--patterns", patterns)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(name, "5 x 7 knight") || strings.HasPrefix(name, "7 x 5 knight"), name)

	require.NoError(t, os.WriteFile(patterns, []byte(`[{"name": "knight"}]`), 0o644))
	_, err = clustersOf(t, path, "--patterns", patterns)
	require.ErrorContains(t, err, patterns)
	require.ErrorContains(t, err, "either offsets or edges")
}

// Little traffic beside a pattern is left out up to the threshold that is given, and no further.
func TestThresholdOfTopologies(t *testing.T) {
	b := tracetest.New(8)
	for rank := range 8 {
		r := b.Rank(rank).Init(0, 5)
		at := 10.0
		for range 20 {
			r.Send(at, at+0.1, (rank+1)%8)
			at += 0.2
		}
		if rank == 0 {
			r.Send(at, at+0.1, 3) // a message in twenty
		}
		r.Finalize(30, 31)
	}
	path := cairntest.TraceFile(t, b.Content())
	for threshold, want := range map[string]string{"10": "ring of 8", "0": "irregular"} {
		name, err := clustersOf(t, path, "--threshold", threshold)
		require.NoError(t, err)
		assert.Equal(t, want, name, threshold)
	}
	_, err := clustersOf(t, path, "--threshold", "101")
	require.ErrorContains(t, err, "100 or less")
}

// For a trace of leads, commands that cannot use it say what to do instead.
func TestLeadsCannotBeReducedOrMerged(t *testing.T) {
	whole := cairntest.TraceFile(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 5, Iterations: 3}))
	leads := filepath.Join(t.TempDir(), "leads.cairn")
	run := func(arguments ...string) error {
		c := commands.Root()
		c.SetArgs(arguments)
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		c.SilenceErrors, c.SilenceUsage = true, true
		return c.ExecuteContext(t.Context())
	}
	require.NoError(t, run("reduce", whole, "--leads", "-o", leads))
	for _, command := range [][]string{
		{"reduce", leads, "--leads", "-o", filepath.Join(t.TempDir(), "again.cairn")},
		{"merge", leads, "-o", filepath.Join(t.TempDir(), "merged.cairn")},
	} {
		require.ErrorContains(t, run(command...), "use the one that it was made from", command[0])
	}
	for _, command := range []string{"info", "dump", "program", "clusters", "placement"} {
		require.NoError(t, run(command, leads), command)
	}
}
