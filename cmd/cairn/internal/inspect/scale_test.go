package inspect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

func TestScaleUsage(t *testing.T) {
	const see = " (see 'cairn scale --help')"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "traces of at least two sizes are needed, of five or more for models of times"},
		{[]string{"a"}, "traces of at least two sizes are needed, of five or more for models of times"},
		{[]string{"a", "b", "a"}, "a is given twice: each run counts once"},
		{[]string{"a", "b", "--ranks", "8,0"}, "--ranks 0: at least one rank is needed"},
	} {
		_, err := cairntest.Run(t, append([]string{"scale"}, c.args...)...)
		assert.EqualError(t, err, c.want+see, "%q", c.args)
		code, _ := cli.ExitCode(err)
		assert.Equal(t, cli.ExitUsage, code)
	}
}

// Five sizes of a program whose messages grow with the number of ranks, by their files and
// by their folders.
func TestScale(t *testing.T) {
	dir := t.TempDir()
	var runs []string
	for _, ranks := range []int{2, 4, 8, 16, 32} {
		folder := filepath.Join(dir, strconv.Itoa(ranks))
		require.NoError(t, os.Mkdir(folder, 0o755))
		_, err := cairntest.Run(t, "simulate", "--pattern", "pairwise", "--ranks", strconv.Itoa(ranks), "-o", filepath.Join(folder, "trace.cairn"))
		require.NoError(t, err)
		runs = append(runs, folder)
	}
	runs[0] = filepath.Join(runs[0], "trace.cairn")
	out, err := cairntest.Run(t, append([]string{"scale", "--ranks", "1024"}, runs...)...)
	require.NoError(t, err)
	assert.Regexp(t, `^MPI_Sendrecv at pairwise\.c:20 will hurt first: \d+% of the time at 32 ranks, \d+% at 1024 \(`, out)
	assert.Contains(t, out, "-10240 + 10240·p")
	out, err = cairntest.Run(t, append([]string{"scale", "--ranks", "1024", "--json"}, runs...)...)
	require.NoError(t, err)
	var found struct {
		Schema  int  `json:"schema_version"`
		First   *int `json:"hurts_first"`
		Regions []struct {
			Name  string `json:"name"`
			Calls struct {
				Model *struct {
					Constant float64 `json:"constant"`
					Exact    bool    `json:"exact"`
					Terms    []struct {
						Value float64 `json:"coefficient"`
						Power int     `json:"exponent_numerator"`
					} `json:"terms"`
				} `json:"model"`
			} `json:"calls"`
		} `json:"regions"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	assert.Equal(t, 2, found.Schema)
	require.NotNil(t, found.First)
	r := found.Regions[*found.First]
	assert.Equal(t, "MPI_Sendrecv at pairwise.c:20", r.Name)
	require.NotNil(t, r.Calls.Model)
	assert.True(t, r.Calls.Model.Exact)
	assert.InDelta(t, -10, r.Calls.Model.Constant, 1e-6)
	require.Len(t, r.Calls.Model.Terms, 1)
	assert.InDelta(t, 10, r.Calls.Model.Terms[0].Value, 1e-6)
	assert.Equal(t, 1, r.Calls.Model.Terms[0].Power)
	// runs of one size are not enough
	_, err = cairntest.Run(t, "scale", runs[0], filepath.Join(dir, "2"))
	code, _ := cli.ExitCode(err)
	assert.Equal(t, cli.ExitUsage, code)
	assert.ErrorContains(t, err, "all runs have 2 ranks")
}
