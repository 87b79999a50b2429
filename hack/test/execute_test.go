package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inModule changes to an empty Go module.
func inModule(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module github.com/cairn-mpi/cairn/some\n\ngo 1.26\n"), 0o644))
}

// A stage of commands and of tests that pass, fail and are skipped: what is counted, measured and
// said of it.
func TestExecute(t *testing.T) {
	inModule(t)
	require.NoError(t, os.WriteFile("some_test.go", []byte(`package some

import (
	"testing"
	"time"
)

func TestQuick(t *testing.T) {}

func TestSlow(t *testing.T) { time.Sleep(200 * time.Millisecond) }

func TestSkipped(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all")
	}
}

func TestFailing(t *testing.T) { t.Run("part", func(t *testing.T) { t.Error("2 is not 3") }) }
`), 0o644))
	e := &executor{short: true}
	r := e.execute(t.Context(), stage{name: "some", budget: 10, steps: []string{
		`for i in $(seq 100000); do :; done; echo 2.5 >"$CAIRN_TEST_CPU"`, "go test -vet=off .", "echo never",
	}})
	assert.Equal(t, failed, r.state)
	assert.Equal(t, counts{passed: 2, failed: 1, skipped: 1}, r.counts)
	assert.Equal(t, "some TestSlow", r.tests[0].name)
	assert.Greater(t, r.cpu, 2.5+0.01)
	assert.Positive(t, r.slow)
	log, err := os.ReadFile(filepath.Join(logs, "some.log"))
	require.NoError(t, err)
	assert.Contains(t, string(log), "2 is not 3")
	assert.NotContains(t, string(log), "never\n")
	assert.ErrorContains(t, verdict([]result{r}, true), "stage some failed: out/test/some.log\n        some TestFailing\n            some_test.go:18: 2 is not 3")
}

// Tests that end with their process are named, with what they printed, and nothing of a step stays.
func TestEndsOfProcesses(t *testing.T) {
	inModule(t)
	for name, code := range map[string]string{"hangs": "t.Log(1); select {}", "exits": "os.Exit(3)", "none": ""} {
		require.NoError(t, os.Mkdir(name, 0o777))
		if code != "" {
			code = "func TestX(t *testing.T) { t.Run(\"part\", func(t *testing.T) {" + code + "}) }"
		}
		require.NoError(t, os.WriteFile(filepath.Join(name, "x_test.go"), []byte("package "+name+`

import ("os"; "testing")

var _ = os.Exit
var _ testing.T

`+code), 0o644))
	}
	e := &executor{short: true}
	r := e.execute(t.Context(), stage{name: "some", steps: []string{"sleep 300 & echo $! >pid", "go test -vet=off -timeout 2s ./hangs ./exits"}})
	assert.Equal(t, failed, r.state)
	assert.Equal(t, counts{failed: 2}, r.counts)
	assert.Subset(t, r.wrong, []string{"some/hangs TestX: it did not end", "some/exits TestX: it did not end"})
	assert.Contains(t, strings.Join(r.wrong, "\n"), "panic: test timed out after 2s")
	pid, err := os.ReadFile("pid")
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		command, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "cmdline"))
		return err != nil || len(command) == 0
	}, 10*time.Second, 10*time.Millisecond)
	assert.Equal(t, failed, e.execute(t.Context(), stage{name: "none", steps: []string{"go test ./none"}}).state, "no test ran")
}

// A test that fails once is named and fails nothing. One that fails twice does, and so do many, one
// that ends its process and all of -all. Long lines are cut as a whole, not piece by piece.
func TestAgain(t *testing.T) {
	inModule(t)
	require.NoError(t, os.WriteFile("some_test.go", []byte(`package some

import (
	"os"
	"strings"
	"testing"
)

func once(t *testing.T, name string) {
	if os.Mkdir(name, 0o777) == nil {
		t.Log(strings.Repeat("long ", 2000))
		t.Error(name + " is new")
	}
}

func TestOnceA(t *testing.T)  { t.Run("part", func(t *testing.T) { once(t, "a") }) }
func TestOnceB(t *testing.T)  { once(t, "b") }
func TestOnceC(t *testing.T)  { once(t, "c") }
func TestAlways(t *testing.T) { t.Error("always") }
func TestExit(t *testing.T)   { os.Exit(3) }
func TestPasses(t *testing.T) {}
`), 0o644))
	for _, c := range []struct {
		tests string
		all   bool
		want  counts // none failed: the stage passes
	}{
		{tests: "OnceA|OnceB|Passes", want: counts{passed: 3}},
		{tests: "OnceA|OnceB|OnceC|Passes", want: counts{passed: 1, failed: 3}},
		{tests: "OnceA|Always|Passes", want: counts{passed: 1, failed: 2}},
		{tests: "Exit", want: counts{failed: 1}},
		{tests: "OnceA|Passes", all: true, want: counts{passed: 1, failed: 1}},
	} {
		for _, name := range []string{"a", "b", "c"} {
			_ = os.Remove(name)
		}
		e := &executor{short: !c.all}
		r := e.execute(t.Context(), stage{name: "some", steps: []string{"go test -vet=off -run '^Test(" + c.tests + ")$' ."}})
		assert.Equal(t, c.want, r.counts, c.tests)
		text := table([]result{r}, 1e9)
		if c.want.failed > 0 {
			assert.Equal(t, failed, r.state, c.tests)
			assert.NotContains(t, text, "run again", c.tests)
			continue
		}
		assert.Equal(t, passed, r.state, c.tests)
		assert.Empty(t, r.wrong)
		assert.Contains(t, text, "failed in stage some, and passed when run again:\n  some TestOnceA\n      some_test.go:11: long long ")
		assert.Contains(t, text, "      some_test.go:12: a is new\n  some TestOnceB\n")
	}
	assert.Equal(t, "hack/e2e.sh -run '^(TestX)$'", only("hack/e2e.sh", "test/e2e", []string{"TestX"}))
	assert.Equal(t, "go test -skip '^(A)$' -run '^(TestX|TestY)$' github.com/cairn-mpi/cairn/store", only("go test -skip '^(A)$' ./merger ./store", "store", []string{"TestX", "TestY"}))
	assert.Empty(t, only("hack/verify.sh", "store", []string{"TestX"}))
}

// In CI a stage over its budget is an error that names its most expensive tests.
func TestBudgets(t *testing.T) {
	over := result{
		stage: stage{name: "unit", budget: 100}, state: passed, cpu: 420, slow: 2,
		tests: []test{{"a TestA", 9e9}, {"b TestB", 8e9}, {"c TestC", 7e9}, {"d TestD", 6e9}},
	}
	assert.NoError(t, verdict([]result{over}, false))
	assert.EqualError(t, verdict([]result{over}, true), "stage unit takes 210 CPU seconds, more than 2 times its budget of 100; its most expensive tests:\n"+
		"        9.0 s   a TestA\n        8.0 s   b TestB\n        7.0 s   c TestC")
	over.cpu = 398 // less than twice
	assert.NoError(t, verdict([]result{over}, true))
	over.cpu, over.slow = 199, 0.5 // a fast machine does not get less
	assert.NoError(t, verdict([]result{over}, true))
	over.cpu, over.slow = 398, 2
	assert.EqualError(t, verdict([]result{over, {stage: stage{name: "mpi"}, state: notRun}}, true), "interrupted")
	assert.Contains(t, table([]result{over}, 1e9), "unit     passed         0     398     199     100")
}
