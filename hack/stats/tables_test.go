package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tables of testdata were made from the same measurements by the awk programs that
// hack/bench-tracer.sh used before: an independent implementation.
func TestTablesAreThoseOfAwk(t *testing.T) {
	mpis := []string{"openmpi", "mpich"}
	for name, table := range map[string]func(*strings.Builder) error{
		"tracer": func(b *strings.Builder) error {
			all, err := readFile("testdata/tracer.txt", 5, 1, tracerNumbers)
			require.NoError(t, err)
			tracer := tracerTable{mpis, []string{"1", "4"}, []string{"Comm_rank", "Iprobe", "Waitany(16)"}, []string{"lossy", "caller", "pointers"}}
			return tracer.print(b, byRound(all, 2))
		},
		"start": func(b *strings.Builder) error {
			all, err := readFile("testdata/start.txt", 4, 2, 2)
			require.NoError(t, err)
			return printStart(b, byRound(all, 1), mpis)
		},
		"gaps": func(b *strings.Builder) error {
			all, err := readFile("testdata/gaps.txt", 3, 2, 2)
			require.NoError(t, err)
			return printGaps(b, byRound(all, 1), mpis)
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".golden")
			require.NoError(t, err)
			var got strings.Builder
			require.NoError(t, table(&got))
			assert.Equal(t, string(want), got.String())
		})
	}
}

// awk drew other samples: its upper bound was 1.0063, in steps of 0.0001.
func TestPairs(t *testing.T) {
	all, err := readFile("testdata/pairs.txt", 0, 2, 2)
	require.NoError(t, err)
	for _, c := range []struct {
		target float64
		least  int
		says   string
	}{{1.02, 15, "pass"}, {1.001, 15, "miss"}, {1.02, 17, "no verdict below 17 pairs"}} {
		var row strings.Builder
		printPairs(&row, all, "openmpi", "lu", c.target, c.least)
		fields := strings.Fields(row.String())
		assert.Equal(t, []string{"openmpi", "lu", "16", "2.22", "2.22", "0.9997"}, fields[:6])
		upper, err := strconv.ParseFloat(fields[6], 64)
		require.NoError(t, err)
		assert.InDelta(t, 1.0063, upper, 0.0005)
		assert.Equal(t, c.says, strings.Join(fields[7:], " "))
	}
}

func TestMedianIsAMeasuredValue(t *testing.T) {
	assert.Equal(t, 3.0, median([]float64{9, 1, 3}))
	assert.Equal(t, 2.0, median([]float64{9, 1, 2, 3}))
	assert.Equal(t, 5.0, median([]float64{5}))
}

func TestWhatWasNotMeasuredIsAnError(t *testing.T) {
	all, err := readMeasurements(strings.NewReader("openmpi 1 without 1 2\nopenmpi 1 with 1 2\nopenmpi 2 with 1 2\n"), 3, 2, 2)
	require.NoError(t, err)
	var b strings.Builder
	assert.ErrorContains(t, printGaps(&b, byRound(all, 1), []string{"openmpi"}), `"openmpi with" was measured 2 times, and "openmpi without" 1 times`)
	assert.ErrorContains(t, printGaps(&b, byRound(all, 1), []string{"mpich"}), `"mpich without" was measured 0 times`)
	for _, line := range []string{"openmpi 1 without 1", "openmpi 1 without 1 2 3"} {
		_, err = readMeasurements(strings.NewReader(line+"\n"), 3, 2, 2)
		assert.ErrorContains(t, err, "not 3 words and 2 to 2 numbers")
	}
	_, err = readMeasurements(strings.NewReader("openmpi 1 without 1 x\n"), 3, 2, 2)
	assert.ErrorContains(t, err, "line 1")
}

func TestClusters(t *testing.T) {
	benchmark := "goos: linux\nBenchmarkClusters/groups-2 3 500000000 ns/op 90 MiB\n" +
		"BenchmarkClusters/program-2 3 6000000000 ns/op 120 MiB\nBenchmarkClusters/topology-2 3 1500000000 ns/op 300 MiB\nPASS\n"
	var table strings.Builder
	assert.ErrorContains(t, printClusters(&table, strings.NewReader(benchmark)), "a target was missed")
	assert.Equal(t, "what          seconds     target      MiB  \n"+
		"groups          0.500        < 1       90  pass\n"+
		"program         6.000        < 5      120  MISS\n"+
		"topology        1.500       < 60      300  pass\n", table.String())
	assert.ErrorContains(t, printClusters(&table, strings.NewReader("PASS\n")), "no result for groups")
}
