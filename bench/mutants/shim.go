package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed shim.txt
var shimFaults string

// A fault is an entry of shim.txt.
type fault struct {
	what, files, in string
	before, after   []string
}

func parseFaults(text string) (list []fault, err error) {
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "mutant" {
			list = append(list, fault{what: rest})
			continue
		}
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("shim.txt:%d: %q stands before the first mutant", i+1, line)
		}
		f := &list[len(list)-1]
		switch word {
		case "file":
			f.files = rest
		case "in":
			f.in = rest
		case "-":
			f.before = append(f.before, rest)
		case "+":
			f.after = append(f.after, rest)
		default:
			return nil, fmt.Errorf("shim.txt:%d: unknown word %q", i+1, word)
		}
	}
	return list, nil
}

// apply returns the code with the fault, if it has the place.
func (f fault) apply(code string) (string, bool) {
	start := strings.Index(code, f.in)
	if start < 0 {
		return "", false
	}
	lines := make([]string, len(f.before))
	for i, l := range f.before {
		lines[i] = regexp.QuoteMeta(l)
	}
	at := regexp.MustCompile(strings.Join(lines, `\n\s*`)).FindStringIndex(code[start:])
	if at == nil {
		return "", false
	}
	return code[:start+at[0]] + strings.Join(f.after, "\n") + code[start+at[1]:], true
}

// shimTests run the tracer's C code: the package and what is run of it. What notices most is first.
var shimTests = []struct{ folder, run string }{
	{"test/mpi", "^Test(Families|Dumps|Wrappers|Fortran|ThreadsInAnyOrder|Markers|Exports)$"},
	{"tracer/shim/shimtest", "."},
}

// A shimRunner runs tests against the faults in a copy of a tree.
type shimRunner struct {
	root, folder string
	short        bool
}

func (r *shimRunner) run(ctx context.Context) error {
	faults, err := parseFaults(shimFaults)
	if err != nil {
		return err
	}
	results, err := readResults(r.results())
	if err != nil {
		return err
	}
	copied := filepath.Join(r.folder, "tree")
	if _, err := os.Stat(copied); err != nil {
		if err := command(ctx, r.root, "git", "worktree", "add", "--detach", copied, "HEAD"); err != nil {
			return err
		}
	} else if err := command(ctx, copied, "git", "restore", "."); err != nil {
		return err // of an interrupted run
	}
	if err := command(ctx, copied, "make", "-s", "build", "examples", "bin/cairn-otf2"); err != nil {
		return err
	}
	for _, t := range shimTests {
		if err := command(ctx, copied, "go", "test", "-c", "-tags", "mpi",
			"-o", r.binary(t.folder), "./"+t.folder); err != nil {
			return err
		}
	}
	if len(results) == 0 {
		outcome, test, err := r.noticed(ctx, copied)
		if err != nil {
			return err
		}
		if outcome != survived {
			return fmt.Errorf("%s fails without a fault: %s", test, outcome)
		}
	}
	for i, f := range faults {
		m := mutant{Number: i + 1, Package: "tracer/shim", Operator: "fault", Source: f.what}
		if _, ok := results[m.key()]; ok {
			continue
		}
		result, err := r.try(ctx, copied, f, m)
		if err != nil {
			return err
		}
		fmt.Printf("%d %s: %s %s\n", m.Number, f.what, result.Outcome, result.Test)
		if err := appendLine(r.results(), result); err != nil {
			return err
		}
	}
	return nil
}

func (r *shimRunner) results() string {
	if r.short {
		return filepath.Join(r.folder, "shim-short.jsonl")
	}
	return filepath.Join(r.folder, "shim.jsonl")
}

func (r *shimRunner) binary(folder string) string {
	return filepath.Join(r.folder, "bin", "shim-"+filepath.Base(folder)+".test")
}

// try changes a file, builds the libraries, runs the tests and restores the file.
func (r *shimRunner) try(ctx context.Context, root string, f fault, m mutant) (result, error) {
	begun := time.Now()
	out := result{Outcome: gone, mutant: m}
	files, err := filepath.Glob(filepath.Join(root, f.files))
	if err != nil {
		return out, err
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			return out, err
		}
		changed, ok := f.apply(string(code))
		if !ok {
			continue
		}
		if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
			return out, err
		}
		out.Outcome, out.Test, err = r.noticed(ctx, root)
		out.Seconds = time.Since(begun).Seconds()
		if restored := os.WriteFile(file, code, 0o666); err == nil {
			err = restored
		}
		return out, err
	}
	return out, nil
}

func (r *shimRunner) noticed(ctx context.Context, root string) (outcome, test string, err error) {
	for _, part := range []string{"tracer/shim", "tracer/allocations"} {
		e, err := execute(ctx, root, nil, time.Hour,
			"make", "-s", "-C", part, "OUT="+filepath.Join(root, "lib"))
		if err != nil {
			return "", "", err
		}
		if e.failed {
			return unbuilt, part, nil
		}
	}
	for _, t := range shimTests {
		outcome, test, err := r.runTests(ctx, root, t.folder, t.run)
		if err != nil || outcome != survived {
			return outcome, t.folder + " " + test, err
		}
	}
	return survived, "", nil
}

// runTests runs tests until they pass, at most twice: on a busy machine others fail, too.
func (r *shimRunner) runTests(ctx context.Context, root, folder, run string) (
	outcome, test string, err error) {
	const limit = 20 * time.Minute
	flags := append([]string{r.binary(folder)}, testFlags(r.short, run)...)
	for range 2 {
		e, err := execute(ctx, filepath.Join(root, folder), nil, limit, flags...)
		switch {
		case err != nil:
			return "", "", err
		case e.timedOut:
			return timeout, e.culprit(), nil
		case !e.failed:
			return survived, "", nil
		}
		test = e.culprit()
	}
	return killed, test, nil
}
