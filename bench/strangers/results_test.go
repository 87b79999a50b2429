package strangers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// TestAnInterruptedExaminationGoesOn: what is in the file is known again, and a line that was not
// written to its end is as if the run had not been made.
func TestAnInterruptedExaminationGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	results, err := OpenResults(path)
	require.NoError(t, err)
	r := says(verdict.Excess, verdict.Blocked, "1")
	r.Seed, r.Index, r.Delayed, r.Text = 3, 5, []float64{0.01, 0.5}, "Rank 1 …\nParallel efficiency"
	require.NoError(t, results.Add(&r))
	require.NoError(t, results.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, append(append([]byte{}, whole...), whole[:cut]...), 0o600))
		again, err := OpenResults(path)
		require.NoError(t, err)
		require.Equal(t, &r, again.Records[0])
		assert.Len(t, again.Records, 1+cut/len(whole))
		assert.Equal(t, &r, again.Of(3, 5, 1))
		for _, other := range []*Record{again.Of(3, 5, 2), again.Of(3, 6, 1), again.Of(4, 5, 1)} {
			assert.Nil(t, other)
		}
		require.NoError(t, again.Add(&r))
		require.NoError(t, again.Close())
		third, err := OpenResults(path)
		require.NoError(t, err, "the new line does not follow the rest of another one")
		assert.Len(t, third.Records, 2+cut/len(whole))
		require.NoError(t, third.Close())
	}
	require.NoError(t, os.WriteFile(path, []byte("{\"index\": 1\n"), 0o600))
	_, err = OpenResults(path)
	assert.ErrorContains(t, err, "runs.jsonl:1: ")
}

// TestShortProgramsAreNotTriedAgain: in the class in which they are too short.
func TestShortProgramsAreNotTriedAgain(t *testing.T) {
	results, err := OpenResults(filepath.Join(t.TempDir(), "runs"))
	require.NoError(t, err)
	r := says(verdict.Nobody, "", "")
	r.Turn, r.Discarded = 0, tooShort(r.Program)
	require.NoError(t, results.Add(&r))
	other := r.Case
	assert.True(t, results.TooShort(&other))
	other.Class = Place
	assert.False(t, results.TooShort(&other))
}
