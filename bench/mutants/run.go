package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A runner runs the tests of a tree against mutants.
type runner struct {
	tree   *tree
	folder string // what is known
	short  bool
	budget float64 // seconds of tests of one package for one mutant, as long as they take without it
	hints  map[mutant]string

	overlay string
	found   map[int]bool
	reaches map[string][]reach // by package of tests
}

// reach is what one run of a test without a mutant shows. Package has another meaning than in
// mutant: that of the test.
type reach struct {
	Package string  `json:"package"`
	Test    string  `json:"test"` // empty: the last line of a package: what happens before the tests
	Passed  bool    `json:"passed"`
	Seconds float64 `json:"seconds"`
	Mutants []int   `json:"mutants"`
}

func (r *runner) run(ctx context.Context, list []mutant) error {
	if err := os.MkdirAll(r.folder, 0o777); err != nil {
		return err
	}
	var err error
	overlay := filepath.Join(r.folder, "overlay")
	if r.overlay, r.found, err = writeOverlay(r.tree, overlay, list); err != nil {
		return err
	}
	known, err := readLines[reach](r.file("reached"))
	if err != nil {
		return err
	}
	r.reaches = map[string][]reach{}
	var lines []reach
	for _, k := range known { // an interrupted package has no last line
		if lines = append(lines, k); k.Test == "" {
			r.reaches[k.Package], lines = lines, nil
		}
	}
	results, err := readResults(r.file("results"))
	if err != nil {
		return err
	}
	// the packages' own tests come first, of all packages: they notice the most mutants
	for open, round := true, 0; open; round++ {
		open = false
		for _, s := range subjects {
			for _, m := range list {
				if m.Package != s.folder || round >= len(s.tests) {
					continue
				}
				open = true
				if err := r.tryRound(ctx, m, results, s.tests, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tryRound runs the tests of one package, unless it is known what they make of a mutant.
func (r *runner) tryRound(ctx context.Context, m mutant, results map[mutant]result,
	folders []string, round int) error {
	out, ok := results[m.key()]
	switch {
	case !ok && r.found[m.Number]:
		out = result{Outcome: unreached, mutant: m}
	case !ok:
		out = result{Outcome: gone, mutant: m, Packages: len(folders)}
	case out.noticed() || out.Packages > round:
		return nil
	}
	if out.Outcome != gone {
		if err := r.try(ctx, &out, folders); err != nil {
			return err
		}
	}
	results[m.key()] = out
	fmt.Printf("%d %s %s: %s %s\n", m.Number, m.Place, m.Operator, out.Outcome, out.Test)
	return appendLine(r.file("results"), out)
}

func (r *runner) file(name string) string {
	if r.short {
		name += "-short"
	}
	return filepath.Join(r.folder, name+".jsonl")
}

// try runs the tests of one more package that reach a mutant, until one fails.
func (r *runner) try(ctx context.Context, out *result, folders []string) error {
	hint := r.hints[out.key()] // package and test
	folders = first(folders, func(f string) bool { return strings.HasPrefix(hint, f+" ") })
	folder := folders[out.Packages]
	out.Packages++
	tests, err := r.reaching(ctx, folder, out.mutant)
	if err != nil {
		return err
	}
	begun := time.Now()
	defer func() { out.Seconds += time.Since(begun).Seconds() }()
	left := r.budget
	tests = first(tests, func(t reach) bool { return hint == folder+" "+t.Test })
	for _, batch := range batches(tests) {
		if total(batch) > left {
			out.Left += len(batch)
			continue
		}
		left -= total(batch)
		out.Tests += len(batch)
		outcome, test, err := r.noticed(ctx, folder, out.Number, batch)
		if err != nil {
			return err
		}
		if out.Outcome = outcome; outcome != survived {
			out.Test = folder + " " + test
			return nil
		}
	}
	return nil
}

// batches divides tests, fastest first, among processes: starting one takes longer than many
// tests do.
func batches(tests []reach) (list [][]reach) {
	limit := 0.3
	for len(tests) > 0 {
		n := 1
		for n < len(tests) && total(tests[:n+1]) <= limit {
			n++
		}
		list = append(list, tests[:n])
		tests = tests[n:]
		limit *= 4
	}
	return list
}

func total(tests []reach) (seconds float64) {
	for _, t := range tests {
		seconds += t.Seconds
	}
	return seconds
}

// noticed runs tests with a mutant. One that fails fails a second time, alone: others that fail on
// a busy machine have not noticed the mutant.
func (r *runner) noticed(ctx context.Context, folder string, number int, tests []reach) (
	outcome, test string, err error) {
	e, err := r.runTests(ctx, folder, number, tests)
	if err != nil || !e.failed && !e.timedOut {
		return survived, "", err
	}
	if e.timedOut {
		return timeout, e.culprit(), nil
	}
	// -1: it is not clear which one failed
	i := slices.IndexFunc(tests, func(t reach) bool { return t.Test == e.culprit() })
	if len(tests) == 1 {
		i = 0
	}
	if i >= 0 {
		again, err := r.runTests(ctx, folder, number, tests[i:i+1])
		if err != nil || again.failed || again.timedOut {
			return killed, tests[i].Test, err
		}
	}
	if len(tests) == 1 {
		return survived, "", nil
	}
	for i := range tests {
		outcome, test, err := r.noticed(ctx, folder, number, tests[i:i+1])
		if err != nil || outcome != survived {
			return outcome, test, err
		}
	}
	return survived, "", nil
}

func (r *runner) runTests(ctx context.Context, folder string, number int, tests []reach) (
	*ended, error) {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t.Test)
	}
	all := r.reaches[folder]
	start := all[len(all)-1].Seconds
	limit := time.Duration((10 + 3*start + 10*total(tests)) * float64(time.Second))
	flags := testFlags(r.short, "^("+strings.Join(names, "|")+")$")
	return r.test(ctx, folder, "CAIRN_MUTANT="+strconv.Itoa(number), limit, flags)
}

// test runs the binary of a package, in its folder.
func (r *runner) test(ctx context.Context, folder, variable string, limit time.Duration,
	flags []string) (*ended, error) {
	return execute(ctx, filepath.Join(r.tree.root, folder), []string{variable}, limit,
		append([]string{r.binary(folder)}, flags...)...)
}

func (r *runner) binary(folder string) string {
	return filepath.Join(r.folder, "bin", strings.ReplaceAll(folder, "/", "-")+".test")
}

// reaching returns the tests of a package that reach a mutant and pass without it, fastest first.
func (r *runner) reaching(ctx context.Context, folder string, m mutant) (tests []reach, err error) {
	if r.tree.packages[folder] == nil {
		return nil, nil // the tree does not have it
	}
	all, ok := r.reaches[folder]
	if !ok {
		if all, err = r.record(ctx, folder); err != nil {
			return nil, err
		}
		r.reaches[folder] = all
	}
	if len(all) == 0 {
		return nil, nil
	}
	always := slices.Contains(all[len(all)-1].Mutants, m.Number)
	for _, t := range all[:len(all)-1] {
		if t.Passed && (always || slices.Contains(t.Mutants, m.Number)) {
			tests = append(tests, t)
		}
	}
	slices.SortStableFunc(tests, func(a, b reach) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return tests, nil
}

// first moves what is preferred to the front.
func first[T any](list []T, preferred func(T) bool) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int {
		switch {
		case preferred(a) == preferred(b):
			return 0
		case preferred(a):
			return -1
		default:
			return 1
		}
	})
	return list
}

// record compiles the tests of a package and runs them once, without a mutant.
func (r *runner) record(ctx context.Context, folder string) ([]reach, error) {
	fmt.Printf("running the tests of %s without mutants\n", folder)
	if err := command(ctx, r.tree.root, "go", "test", "-c", "-vet=off", "-overlay", r.overlay,
		"-o", r.binary(folder), "./"+folder); err != nil {
		return nil, err
	}
	if _, err := os.Stat(r.binary(folder)); err != nil {
		return nil, nil // no tests
	}
	record := filepath.Join(r.folder, "reached.txt")
	if err := os.RemoveAll(record); err != nil {
		return nil, err
	}
	flags := append(testFlags(r.short, "."), "-test.parallel=1", "-test.failfast=false")
	e, err := r.test(ctx, folder, "CAIRN_MUTANTS_REACHED="+record, time.Hour, flags)
	if err != nil {
		return nil, err
	}
	mutants, err := readReached(record)
	if err != nil {
		return nil, err
	}
	var all []reach
	for _, l := range e.lines {
		if l.depth > 0 || l.word != "PASS" && l.word != "FAIL" {
			continue
		}
		passed := l.word == "PASS"
		all = append(all, reach{folder, l.test, passed, e.seconds(l.test), mutants[l.test]})
		if !passed {
			fmt.Printf("%s of %s fails without a mutant: it is not used\n", l.test, folder)
		}
	}
	if len(all) == 0 && e.failed {
		return nil, fmt.Errorf("no test of %s runs:\n%s", folder, e.output)
	}
	start := e.took.Seconds() - total(all)
	all = append(all, reach{Package: folder, Mutants: mutants[""], Seconds: start})
	for _, t := range all {
		if err := appendLine(r.file("reached"), t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readReached reads what the switch wrote: lines with a test and a mutant.
func readReached(name string) (map[string][]int, error) {
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	reached := map[string][]int{}
	for line := range strings.Lines(string(b)) {
		test, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: line %q is no test and mutant", name, line)
		}
		if !slices.Contains(reached[test], n) {
			reached[test] = append(reached[test], n)
		}
	}
	return reached, nil
}
