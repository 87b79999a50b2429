//go:build mpi

package shimtest

import (
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A graph maps each node to the nodes that it depends on.
type graph map[string]map[string]bool

func (g graph) add(from, to string) {
	if g[from] == nil {
		g[from] = map[string]bool{}
	}
	g[from][to] = true
}

// reach adds to seen what can be reached from a node.
func (g graph) reach(from string, seen map[string]bool) {
	for to := range g[from] {
		if !seen[to] {
			seen[to] = true
			g.reach(to, seen)
		}
	}
}

// circles returns the sets of nodes that depend on each other, each sorted.
func (g graph) circles() [][]string {
	reached := map[string]map[string]bool{}
	for node := range g {
		reached[node] = map[string]bool{}
		g.reach(node, reached[node])
	}
	var found [][]string
	for node := range g {
		var circle []string
		for other := range reached[node] {
			if reached[other][node] {
				circle = append(circle, other)
			}
		}
		if slices.Sort(circle); len(circle) > 1 && circle[0] == node {
			found = append(found, circle)
		}
	}
	slices.SortFunc(found, slices.Compare)
	return found
}

func TestCircles(t *testing.T) {
	t.Parallel()
	g := graph{}
	for _, edge := range strings.Fields("a-b b-c c-a c-d d-d e-a f-g g-f") {
		from, to, _ := strings.Cut(edge, "-")
		g.add(from, to)
	}
	require.Equal(t, [][]string{{"a", "b", "c"}, {"f", "g"}}, g.circles())
}

// linked returns which C file of the shim needs symbols of which other one, according to their
// objects. It ignores generated code, since the table of the wrappers names them all.
func linked(t *testing.T, implementation string) graph {
	t.Helper()
	objects := filepath.Join(Root(), "tracer", "shim", "build", implementation)
	defines, needs := map[string]string{}, map[string][]string{}
	require.NoError(t, filepath.WalkDir(objects, func(path string, _ fs.DirEntry, err error) error {
		source := strings.TrimSuffix(strings.TrimPrefix(path, objects+"/"), ".o") + ".c"
		if err != nil || filepath.Ext(path) != ".o" || strings.HasSuffix(source, "_gen.c") {
			return err
		}
		if _, err := os.Stat(filepath.Join(Root(), "tracer", "shim", source)); err != nil {
			return nil // of a file that is no more
		}
		object, err := elf.Open(path)
		if err != nil {
			return err
		}
		defer object.Close()
		symbols, err := object.Symbols()
		for _, s := range symbols {
			switch {
			case s.Section == elf.SHN_UNDEF:
				needs[source] = append(needs[source], s.Name)
			case elf.ST_BIND(s.Info) != elf.STB_LOCAL:
				defines[s.Name] = source
			}
		}
		return err
	}))
	g := graph{}
	for source, symbols := range needs {
		for _, name := range symbols {
			if of := defines[name]; of != "" {
				g.add(source, of)
			}
		}
	}
	return g
}

// No two files of the shim depend on each other, directly or indirectly: each can be read with
// the files below it.
func TestFilesOfTheShimFormNoCircle(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("make", "-s", "-C", filepath.Join(Root(), "tracer", "shim")).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, implementation := range Implementations {
		g := linked(t, implementation)
		require.Greater(t, len(g), 20, "the objects were not understood")
		require.Empty(t, g.circles(), implementation)
	}
}

// maxFiles is the maximal number of hand-written files in a folder of the shim.
const maxFiles = 30

var included = regexp.MustCompile(`(?m)^#include "(\.\./)+(\w+)/[^"]*"`)

// The includes of the folders of the shim form no cycle either. Generated headers belong to no
// folder, since they name everything in the standard.
func TestFoldersOfTheShimFormNoCircle(t *testing.T) {
	t.Parallel()
	shim := filepath.Join(Root(), "tracer", "shim")
	g, files := graph{}, map[string]int{}
	for _, pattern := range []string{"*/*.[chS]", "*/*.inc"} {
		paths, err := filepath.Glob(filepath.Join(shim, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			folder := filepath.Base(filepath.Dir(path))
			if folder == "testdata" || folder == "gen" {
				continue
			}
			files[folder]++
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, m := range included.FindAllStringSubmatch(string(text), -1) {
				if m[2] != "gen" {
					g.add(folder, m[2])
				}
			}
		}
	}
	require.True(t, g["wrapper"]["process"], "the files were not understood")
	require.Empty(t, g.circles())
	for folder, n := range files {
		require.LessOrEqual(t, n, maxFiles, folder)
	}
}
