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

func TestCompareUsage(t *testing.T) {
	const see = " (see 'cairn compare --help')"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no traces are given: use A B, or A... -- B... for several runs per side"},
		{[]string{"a"}, "no traces are given: use A B, or A... -- B... for several runs per side"},
		{[]string{"a", "b", "c"}, "3 traces are given without -- between those before and those after: use A... -- B... for several runs per side"},
		{[]string{"a", "b", "--"}, "2 runs of A and 0 of B: there is nothing to compare"},
		{[]string{"--", "a", "b"}, "0 runs of A and 2 of B: there is nothing to compare"},
		{[]string{"a", "--", "b", "c"}, "1 run of A and 2 of B: give one a side, or at least two of each, which show how far apart equal runs are"},
		{[]string{"a", "b", "--", "c", "a"}, "a is given twice: each run counts once"},
	} {
		_, err := cairntest.Run(t, append([]string{"compare"}, c.args...)...)
		assert.EqualError(t, err, c.want+see, "%q", c.args)
		code, _ := cli.ExitCode(err)
		assert.Equal(t, cli.ExitUsage, code)
	}
}

// Three runs a side, by their folders or by their files, with and without a slower rank.
func TestCompareSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	simulated := func(name string, seed, slow int) string {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(folder, 0o755))
		_, err := cairntest.Run(t, "simulate", "--pattern", "stencil2d", "--ranks", "4", "--iterations", "30", "--noise-percent", "3",
			"--seed", strconv.Itoa(seed), "--slow-rank", "2", "--slow-percent", strconv.Itoa(slow), "-o", filepath.Join(folder, "trace.cairn"))
		require.NoError(t, err)
		return folder
	}
	var a, b, c []string
	for i := range 3 {
		a = append(a, simulated("a"+strconv.Itoa(i), i, 0))
		b = append(b, filepath.Join(simulated("b"+strconv.Itoa(i), 10+i, 0), "trace.cairn"))
		c = append(c, simulated("c"+strconv.Itoa(i), 20+i, 20))
	}
	out, err := cairntest.Run(t, append(append(append([]string{"compare"}, a...), "--"), b...)...)
	require.NoError(t, err)
	assert.Contains(t, out, "no more than equal runs differ (p = ")
	out, err = cairntest.Run(t, append(append(append([]string{"compare", "--json"}, a...), "--"), c...)...)
	require.NoError(t, err)
	var found struct {
		Schema int     `json:"schema_version"`
		Text   string  `json:"text"`
		P      float64 `json:"p_value"`
		A      struct {
			Runs      int      `json:"runs"`
			Deviation *float64 `json:"deviation_seconds"`
		} `json:"a"`
		Changes []struct {
			Rank int `json:"rank"`
		} `json:"changes"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	assert.Equal(t, 3, found.Schema)
	assert.Equal(t, 3, found.A.Runs)
	assert.NotNil(t, found.A.Deviation)
	assert.Contains(t, found.Text, "more than equal runs differ")
	assert.Contains(t, found.Text, "Rank 2 computes ")
	assert.Less(t, found.P, 0.025)
	require.NotEmpty(t, found.Changes)
	assert.Equal(t, 2, found.Changes[0].Rank)
	out, err = cairntest.Run(t, "compare", a[0], c[0])
	require.NoError(t, err)
	assert.Contains(t, out, "cannot be known from one run a side")
}
