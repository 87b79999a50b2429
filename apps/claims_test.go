package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const report = `{"run_seconds": 2, "verdict": {"text": "No rank stands out."}, 
	"ranks": [{"computation_seconds": 1, "mpi_seconds": 1, "initialization_seconds": 0.5, "finalization_seconds": 0.1},
		{"computation_seconds": 1.5, "mpi_seconds": 0.5, "initialization_seconds": 0.2, "finalization_seconds": 0.3}],
	"profile": {"functions": [{"name": "MPI_Allreduce", "calls": 40}, {"name": "MPI_Bcast", "calls": 2}]}, "placement": {"messages": 7}}`

func TestQuantities(t *testing.T) {
	f, err := parseFindings([]byte(report))
	require.NoError(t, err)
	for name, expected := range map[string]float64{
		"initialized seconds": 1.2, "MPI percent": 37.5, "messages": 7, "calls MPI_Allreduce": 40, "calls MPI_Allreduce/2": 20,
		"calls MPI_Allreduce+MPI_Bcast/2": 21, "calls MPI_Barrier": 0,
	} {
		n, err := f.quantity(name)
		require.NoError(t, err, name)
		assert.InDelta(t, expected, n, 1e-9, name)
	}
	for _, name := range []string{"weight", "calls MPI_Allreduce/two"} {
		_, err := f.quantity(name)
		assert.Error(t, err, name)
	}
	_, err = (&findings{}).quantity("calls MPI_Allreduce")
	assert.Error(t, err, "a report without a profile")
}

func TestNumbersOfPrograms(t *testing.T) {
	output := "step  time=1.5\nstep  time=2.5\n"
	for text, expected := range map[string]float64{
		`time | time=([0-9.]+) | seconds | equal`:     2.5,
		`time | sum time=([0-9.]+) | seconds | equal`: 4,
	} {
		s, err := parseClaim(text)
		require.NoError(t, err)
		n, err := s.find(output)
		require.NoError(t, err)
		assert.Equal(t, expected, n, text)
		_, err = s.find("nothing")
		assert.Error(t, err)
	}
}

func TestRules(t *testing.T) {
	for _, example := range []struct {
		rule           string
		program, cairn float64
		agree          bool
	}{
		{"equal", 3, 3, true}, {"equal", 3, 4, false},
		{"within 10%", 109, 100, true}, {"within 10%", 111, 100, false}, {"within 10%", 89, 100, false},
		{"within 5", 12, 8, true}, {"within 5", 14, 8, false},
	} {
		agree, err := (&claim{rule: example.rule}).agrees(example.program, example.cairn)
		require.NoError(t, err)
		assert.Equal(t, example.agree, agree, "%+v", example)
	}
}

func TestSentences(t *testing.T) {
	for text, expected := range map[string]bool{"Rank 1": true, "Rank 2": false, "not Rank 2": true, "not slow$": false} {
		s, err := parseSentenceRule(text)
		require.NoError(t, err)
		assert.Equal(t, expected, s.holds("Rank 1 is slow"), text)
		assert.Equal(t, text, s.String())
	}
}
