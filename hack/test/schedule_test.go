package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Random stages: what has to pass first has passed, and after a failure nothing starts, or with
// -all everything that does not need what failed.
func TestSchedule(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var stages []stage
		fails := map[string]bool{}
		for i := range 1 + random.IntN(8) {
			st := stage{name: fmt.Sprint(i)}
			for before := range i {
				if random.IntN(4) == 0 {
					st.after = append(st.after, fmt.Sprint(before))
				}
			}
			fails[st.name] = random.IntN(6) == 0
			stages = append(stages, st)
		}
		all := random.IntN(2) == 0
		s := newSchedule(stages, all)
		ended, failures := map[string]state{}, 0
		s.execute = func(_ context.Context, st stage) result {
			for _, before := range st.after {
				assert.Equal(t, passed, ended[before], "seed %d: %s before %s", seed, st.name, before)
			}
			ended[st.name] = passed
			if fails[st.name] {
				ended[st.name] = failed
				failures++
			}
			return result{stage: st, state: ended[st.name]}
		}
		results := s.run(t.Context())
		require.Len(t, results, len(stages), "seed %d", seed)
		for _, r := range results {
			if r.state != notRun {
				continue
			}
			needsFailed := slices.ContainsFunc(r.stage.after, func(name string) bool { return ended[name] != passed })
			assert.True(t, needsFailed || !all && failures > 0, "seed %d: %s did not run", seed, r.stage.name)
		}
	}
}

// Every stage's name is known where others name it, and one without -all has a budget, except the
// two that depend on caches.
func TestStages(t *testing.T) {
	seen := map[string]bool{}
	for _, st := range stages {
		for _, name := range st.after {
			assert.True(t, seen[name], "%s is after %s", st.name, name)
		}
		assert.NotEmpty(t, st.steps)
		assert.Equal(t, !st.nightly && st.name != "install" && st.name != "build", st.budget > 0, st.name)
		seen[st.name] = true
	}
	// a test that is left out by a name that it no longer has would run again
	for _, name := range strings.Split(voluminous, "|") {
		found := false
		for _, folder := range strings.Fields(concurrent) {
			files, err := filepath.Glob(filepath.Join("../..", strings.TrimSuffix(folder, "/..."), "*_test.go"))
			require.NoError(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				found = found || strings.Contains(string(text), "func "+name+"(")
			}
		}
		assert.True(t, found, "no test of the packages for the race detector is called %s", name)
	}
	_, err := choose(false, []string{"nit"})
	assert.ErrorContains(t, err, `no stage is called "nit": the stages are install, build`)
}
