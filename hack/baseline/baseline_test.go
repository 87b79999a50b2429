package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measured is what a file of these values reads as: for each benchmark "Command/command=NAME" its CPU seconds.
func measured(t *testing.T, textBytes float64, seconds map[string][]float64) *measurement {
	t.Helper()
	tree := &tree{name: "test"}
	tree.add("Built/file=cairn", value{textBytes, "text-bytes"})
	for _, command := range []string{"analyze", "merge", "gone", "new"} {
		for _, s := range seconds[command] {
			tree.add("Command/command="+command, value{s, "cpu-sec/op"}, value{1 << 20, "peak-bytes"})
		}
	}
	var file bytes.Buffer
	require.NoError(t, tree.write(&file))
	m, err := read(&file, "test")
	require.NoError(t, err)
	return m
}

func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	m := measured(t, 1000, map[string][]float64{"analyze": {1.25, 1.5, 1}})
	assert.Equal(t, []key{
		{"Built/file=cairn", "text-bytes"}, {"Command/command=analyze", "cpu-sec/op"}, {"Command/command=analyze", "peak-bytes"},
	}, m.order)
	assert.Equal(t, []float64{1.25, 1.5, 1}, m.values[m.order[1]])
	assert.Equal(t, []float64{1 << 20, 1 << 20, 1 << 20}, m.values[m.order[2]])
}

func TestCompare(t *testing.T) {
	steady := []float64{1.00, 1.01, 0.99, 1.02, 0.98}
	slower := []float64{1.10, 1.11, 1.09, 1.12, 1.08}
	for _, c := range []struct {
		name           string
		textBytes      float64
		before, after  map[string][]float64
		worse          bool
		report, absent []string
	}{
		{
			name: "the same within noise", textBytes: 1000,
			before: map[string][]float64{"analyze": steady}, after: map[string][]float64{"analyze": {1.03, 0.97, 1, 1.01, 0.99}},
			report: []string{"0 worse, 0 better, 3 the same"}, absent: []string{"analyze", "warning"},
		},
		{
			name: "slower in every round", textBytes: 1000,
			before: map[string][]float64{"analyze": steady, "merge": steady}, after: map[string][]float64{"analyze": slower, "merge": steady},
			worse: true, report: []string{"worse", "command=analyze", "+10.0%", "1 worse, 0 better, 4 the same"}, absent: []string{"command=merge"},
		},
		{
			name: "faster in every round", textBytes: 1000,
			before: map[string][]float64{"analyze": slower}, after: map[string][]float64{"analyze": steady},
			report: []string{"better", "command=analyze", "-9.1%", "0 worse, 1 better, 2 the same"},
		},
		{
			name: "one byte more of what is exact", textBytes: 1001,
			worse: true, report: []string{"worse", "text-bytes", "1 worse, 0 better, 0 the same"},
		},
		{
			name: "too few rounds", textBytes: 1000,
			before: map[string][]float64{"analyze": {1, 1}}, after: map[string][]float64{"analyze": {3, 3}},
			report: []string{"warning: need >= 5 samples", "0 worse, 0 better, 3 the same"},
		},
		{
			name: "other benchmarks", textBytes: 1000,
			before: map[string][]float64{"gone": steady}, after: map[string][]float64{"new": steady},
			report: []string{"gone", "new", "0 worse, 0 better, 1 the same within noise (p ≥ 0.01), 2 gone, 2 new"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report strings.Builder
			worse := printChanges(&report, compare(measured(t, 1000, c.before), measured(t, c.textBytes, c.after)))
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

// The rows of wrappers without a tracer, the title and the head are no measurements.
func TestInstructionsOfTheTracersTable(t *testing.T) {
	table := `
Instructions added per call, in user space (perf): by the thread that calls, and by all threads
MPI      call                 tracing     calling      all
openmpi  Comm_rank            noop              4        4
openmpi  Comm_rank            lossy           150      161
mpich    Isend+Irecv+Waitall  path            912     1003
`
	b := &bench{tree: &tree{}}
	require.NoError(t, b.addInstructions(strings.NewReader(table)))
	assert.Equal(t, []result{
		{"Call/mpi=openmpi/call=Comm_rank/tracing=lossy", []value{{150, "calling-instructions/op"}, {161, "instructions/op"}}},
		{"Call/mpi=mpich/call=Isend+Irecv+Waitall/tracing=path", []value{{912, "calling-instructions/op"}, {1003, "instructions/op"}}},
	}, b.tree.results)
	assert.ErrorContains(t, b.addInstructions(strings.NewReader("not measured\n")), "install perf")
}

func TestTreesMustBeBuilt(t *testing.T) {
	_, err := openTrees([]string{t.TempDir()})
	assert.ErrorContains(t, err, "run make build in it")
}

func TestReadRefusesAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.txt")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err := readFile(path)
	assert.ErrorContains(t, err, "make baseline")
}

// The code of this very test binary is some bytes, and a text file has none.
func TestTextBytes(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	bytes, err := textBytes(self)
	require.NoError(t, err)
	assert.Greater(t, bytes, 100000.0)
	_, err = textBytes("main.go")
	assert.Error(t, err)
}
