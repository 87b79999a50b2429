package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A tree is a checkout of this repository that has been built, with its measurements.
type tree struct {
	folder  string // absolute
	name    string // of its results file: the output of git describe
	results []result
}

// A result is one measurement: a line in Go's benchmark format.
type result struct {
	name   string // "Commands/command=analyze/trace=stencil"
	values []value
}

type value struct {
	amount float64
	unit   string
}

// add records a measurement of the tree.
func (t *tree) add(name string, values ...value) {
	t.results = append(t.results, result{name, values})
}

// openTrees checks that each folder is a built tree, and gives each a unique name.
func openTrees(folders []string) ([]*tree, error) {
	var trees []*tree
	for _, folder := range folders {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		for _, built := range []string{"bin/cairn", "lib/libcairn-core.so"} {
			if _, err := os.Stat(filepath.Join(folder, built)); err != nil {
				return nil, fmt.Errorf("%s is not built: run make build in it: %w", folder, err)
			}
		}
		described, err := exec.Command("git", "-C", folder, "describe", "--tags", "--always", "--dirty").Output()
		if err != nil {
			return nil, fmt.Errorf("git describe in %s: %w", folder, err)
		}
		name := strings.TrimSpace(string(described))
		if slices.ContainsFunc(trees, func(t *tree) bool { return t.name == name }) {
			name = fmt.Sprintf("%s-%d", name, len(trees)+1) // the same tree twice, to see the noise
		}
		trees = append(trees, &tree{folder: folder, name: name})
	}
	return trees, nil
}

// A plan is what is measured, and how often.
type plan struct {
	rounds int
	only   string // one of the steps, or "" for all
	log    io.Writer
}

// run measures all trees. Sizes do not depend on chance: they are measured once. The other steps
// run round by round, and every second round visits the trees in reverse order.
func (p plan) run(trees []*tree) error {
	scratch, err := os.MkdirTemp("", "cairn-baseline-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	benches := make([]*bench, len(trees))
	for i, t := range trees {
		benches[i] = &bench{tree: t, scratch: filepath.Join(scratch, fmt.Sprint(i))}
	}
	steps := []struct {
		name   string
		rounds int
		run    func(*bench) error
	}{
		{"sizes", 1, (*bench).sizes},
		{"commands", p.rounds, (*bench).commands},
		{"instructions", p.rounds, (*bench).instructions},
	}
	for _, step := range steps {
		if p.only != "" && p.only != step.name {
			continue
		}
		for round := range step.rounds {
			for _, b := range benches {
				fmt.Fprintf(p.log, "%s of %s, round %d of %d\n", step.name, b.tree.name, round+1, step.rounds)
				if err := step.run(b); err != nil {
					return fmt.Errorf("%s of %s: %w", step.name, b.tree.folder, err)
				}
			}
			slices.Reverse(benches)
		}
	}
	return nil
}

// A bench measures one tree.
type bench struct {
	tree    *tree
	scratch string // folder for its traces; created on first use
	traces  []string
	stores  []string
}

// cairn returns a run of the tree's command.
func (b *bench) cairn(arguments ...string) *exec.Cmd {
	return exec.Command(filepath.Join(b.tree.folder, "bin", "cairn"), arguments...)
}
