package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writtenResults is a file with these CPU seconds of commands.
func writtenResults(t *testing.T, bytes float64, seconds map[string][]float64) *results {
	t.Helper()
	var file strings.Builder
	r := report{to: &strings.Builder{}, results: &file}
	require.NoError(t, r.add("sizes", "cairn", "", val("bytes", bytes).exact()))
	for _, command := range []string{"analyze", "merge", "gone", "new"} {
		for _, s := range seconds[command] {
			require.NoError(t, r.add("commands", command, "", val("CPU, s", s),
				val("calls/s", 1/s).atLeast(0), val("off, %", -s).within(5)))
		}
	}
	read, err := readResults(strings.NewReader(file.String()), "test")
	require.NoError(t, err)
	return read
}

func TestCompare(t *testing.T) {
	steady := []float64{1.00, 1.01, 0.99, 1.02, 0.98}
	slower := []float64{1.10, 1.11, 1.09, 1.12, 1.08}
	for _, c := range []struct {
		name           string
		bytes          float64
		before, after  map[string][]float64
		worse          bool
		report, absent []string
	}{
		{
			name: "the same within noise", bytes: 1000,
			before: map[string][]float64{"analyze": steady},
			after:  map[string][]float64{"analyze": {1.03, 0.97, 1, 1.01, 0.99}},
			report: []string{"0 worse, 0 better, 4 the same"}, absent: []string{"analyze", "warning"},
		},
		{
			name: "slower in every round", bytes: 1000,
			before: map[string][]float64{"analyze": steady, "merge": steady},
			after:  map[string][]float64{"analyze": slower, "merge": steady},
			worse:  true, report: []string{"worse", "analyze", "+10.0%", "-9.1%",
				"3 worse, 0 better, 4 the same"}, absent: []string{"merge"},
		},
		{
			name: "faster in every round", bytes: 1000,
			before: map[string][]float64{"analyze": slower}, after: map[string][]float64{"analyze": steady},
			report: []string{"better", "analyze", "-9.1%", "0 worse, 3 better, 1 the same"},
		},
		{
			name: "one byte more of what is exact", bytes: 1001,
			worse: true, report: []string{"worse", "bytes", "1 worse, 0 better, 0 the same"},
		},
		{
			name: "too few rounds", bytes: 1000,
			before: map[string][]float64{"analyze": {1, 1}}, after: map[string][]float64{"analyze": {3, 3}},
			report: []string{"warning: need >= 5 samples", "0 worse, 0 better, 4 the same"},
		},
		{
			name: "other rows", bytes: 1000,
			before: map[string][]float64{"gone": steady}, after: map[string][]float64{"new": steady},
			report: []string{"gone", "new", "0 worse, 0 better, 1 the same within noise (p ≥ 0.01), 3 " +
				"gone, 3 new"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report strings.Builder
			worse := printChanges(&report, compare(writtenResults(t, 1000, c.before),
				writtenResults(t, c.bytes, c.after)))
			assert.Equal(t, c.worse, worse)
			for _, part := range c.report {
				assert.Contains(t, report.String(), part)
			}
			for _, part := range c.absent {
				assert.NotContains(t, report.String(), part)
			}
		})
	}
}

func TestOnlyResultsAreCompared(t *testing.T) {
	_, err := readResults(strings.NewReader(""), "empty.jsonl")
	assert.ErrorContains(t, err, "make bench-NAME")
	_, err = readResults(strings.NewReader("tree: 47aeb4d\n"), "old.txt")
	assert.ErrorContains(t, err, "old.txt, line 1")
}
