package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository reads the corpus of the tree.
func repository(t *testing.T) *corpus {
	c, err := readCorpus(".")
	require.NoError(t, err)
	return c
}

func TestTheCorpusIsComplete(t *testing.T) {
	c := repository(t)
	archive := 0
	for _, p := range c.programs {
		for what, value := range map[string]string{"about": p.About, "language": p.Language, "uses": p.Uses} {
			assert.NotEmpty(t, value, "%s: %s", p.Name, what)
		}
		assert.NotEmpty(t, p.Packages, p.Name)
		assert.NotEmpty(t, p.Commands, p.Name)
		if !p.Own {
			archive++
		}
	}
	assert.GreaterOrEqual(t, archive, 20, "programs that nobody here wrote")
	entries, err := os.ReadDir("inputs")
	require.NoError(t, err)
	for _, e := range entries {
		_, err := c.cases([]string{e.Name()})
		assert.NoError(t, err, "inputs of no program")
	}
}

// Every known failure and every refusal must be able to match: a misspelled one would hide nothing
// and stay for ever.
func TestTheListsNameWhatThereIs(t *testing.T) {
	c := repository(t)
	checks := []string{"control", "compared", "exit", "output", "verify", "analysis", "analysis-time", "verdict", "sentence"}
	for _, part := range parts {
		checks = append(checks, "part-"+part)
	}
	commands := map[string]bool{}
	for _, a := range attempts {
		checks = append(checks, a.name)
		commands[a.name] = true
	}
	cases, err := c.cases(nil)
	require.NoError(t, err)
	for _, k := range c.known {
		found := false
		for _, e := range cases {
			own := checks
			for _, s := range e.program.says {
				own = append(own, s.check())
			}
			for _, check := range own {
				found = found || k.cases.MatchString(e.name()) && k.checks.MatchString(check)
			}
		}
		assert.True(t, found, "%s %s matches no check of a case", k.cases, k.checks)
	}
	for _, r := range c.refusals {
		assert.True(t, commands[r.command], "%s is no command that is tried", r.command)
	}
}

func TestTheReadmeNamesThePrograms(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)<!-- apps: begin -->\n```\n(.*?)```\n<!-- apps: end -->").FindSubmatch(readme)
	require.NotNil(t, block, "README.md has no list of programs")
	var listed, expected []string
	for _, line := range strings.Split(strings.TrimSpace(string(block[1])), "\n") {
		listed = append(listed, strings.Fields(line)[0])
	}
	for _, p := range repository(t).programs {
		if !p.Own {
			expected = append(expected, p.Name)
		}
	}
	assert.Equal(t, expected, listed, "go run ./apps versions prints the list")
}

func TestWhatABlockMaySay(t *testing.T) {
	for text, problem := range map[string]string{
		"a\n  openmpi 2 a -x\n  says s | ^t=([0-9.]+) | seconds | within 5%": "",
		"  openmpi 2 a":      "belongs to no program",
		"a\na":               "twice",
		"a\n  openmpi two a": "no number of ranks",
		"a\n  mpicc 2 a":     `what is "mpicc"`,
		"a\n  says s | ^t=[0-9.]+ | seconds | equal":  "no group",
		"a\n  says s | ^t=([0-9.]+) | seconds | near": "no rule",
		"a\n  differs (": "missing closing",
	} {
		c, err := &corpus{}, error(nil)
		for _, line := range strings.Split(text, "\n") {
			if err == nil {
				err = c.programLine(line)
			}
		}
		if problem == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, problem, text)
		}
	}
}

func TestWhatIsRed(t *testing.T) {
	c := &corpus{}
	require.NoError(t, c.knownLine("a.openmpi replay: a constant of MPI 1"))
	require.NoError(t, c.knownLine(".*mpich skeleton sometimes: a race"))
	require.Error(t, c.knownLine("a.openmpi replay"))
	of := func(name string, ok bool) *record {
		return &record{Checks: map[string][]check{"commands": {{Name: name, OK: ok, Detail: "exit code 70"}}}}
	}
	for _, example := range []struct {
		name, check string
		ok          bool
		red, known  int
	}{
		{"a.openmpi", "info", true, 0, 0},
		{"a.openmpi", "info", false, 1, 0},   // new
		{"a.openmpi", "replay", false, 0, 1}, // known
		{"a.openmpi", "replay", true, 1, 0},  // mended
		{"aa.openmpi", "replay", false, 1, 0},
		{"b.mpich", "skeleton", false, 0, 1},
		{"b.mpich", "skeleton", true, 0, 0},
	} {
		red, known := judgeAll(c, example.name, of(example.check, example.ok))
		assert.Len(t, red, example.red, "%+v", example)
		assert.Len(t, known, example.known, "%+v", example)
	}
}

func TestAFailureIsRefusedClearlyOrAFailure(t *testing.T) {
	w := &work{driver: &driver{corpus: &corpus{}}}
	require.NoError(t, w.corpus.refusalLine("simgrid: has windows, which SimGrid cannot replay"))
	a := attempt{name: "simgrid"}
	ended := func(code int, stdout, stderr string) *execution {
		return &execution{Code: code, stdout: stdout, stderr: stderr}
	}
	refused := ended(1, "", "cairn: t.cairn has windows, which SimGrid cannot replay")
	assert.NoError(t, w.judge(a, refused, true, false))
	assert.Error(t, w.judge(a, refused, false, true), "a reader of what was written must not refuse it")
	assert.Error(t, w.judge(attempt{name: "otf2"}, refused, true, false), "another command")
	assert.Error(t, w.judge(a, ended(1, "", "cairn: file is damaged"), true, false))
	assert.Error(t, w.judge(a, ended(2, "", "has windows, which SimGrid cannot replay\ngoroutine 1 [running]"), true, false))
	assert.Error(t, w.judge(a, ended(139, "", "has windows, which SimGrid cannot replay"), true, false))
	assert.NoError(t, w.judge(a, ended(0, "ended", ""), false, true))
	assert.Error(t, w.judge(a, ended(0, "", ""), false, true), "nothing was printed")
}

func TestTheTable(t *testing.T) {
	t.Chdir(t.TempDir())
	c := &corpus{}
	for _, line := range []string{"a", "  openmpi 2 a", "  mpich 2 a"} {
		require.NoError(t, c.programLine(line))
	}
	cases, err := c.cases(nil)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(results, cases[0].name()), 0o755))
	r := &record{Version: "1.0-1", Lines: 40, Compared: 30, Calls: 200, Bytes: 100, Sentence: "Rank 1 makes this job slow.",
		Ratio: &ratio{Pairs: 5, Value: 1.01, Lower: 0.99, Upper: 1.02},
		Checks: map[string][]check{
			"run":      {{Name: "output", OK: true}, {Name: "verify", Detail: "2 disagreements"}},
			"commands": {{Name: "info", OK: true}, {Name: "simgrid", OK: true, Detail: "refused: windows"}},
		}}
	require.NoError(t, r.save(cases[0]))
	var out bytes.Buffer
	require.ErrorIs(t, printTable(&out, c, cases), errRed)
	for _, expected := range []string{
		`a\.openmpi +1\.0-1 +ok +30/40 +FAILS +200 +0\.50`, `1\.010 \(0\.990 to 1\.020, 5\)`, "Rank 1 makes", "info, simgrid refused",
		`RED: 2\n  a\.openmpi verify: 2 disagreements\n  a\.mpich: was not run`,
	} {
		assert.Regexp(t, expected, out.String())
	}
}
