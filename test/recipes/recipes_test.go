//go:build recipes

package recipes

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/repository"
)

// A change is what a reader does with a code block of a recipe, in a copy of the tree.
type change func(t *testing.T, tree, block string)

// recipes are the changes of each recipe, in the order of its code blocks.
var recipes = map[string][]change{
	"Add an MPI function": {
		atEnd("mpi/functions.txt"),
		insteadOf("mpi/functions_test.go", `\{401, \d+\}`),
		before("test/mpi/families/blocking.c", "    MPI_Buffer_detach(&detached, &size);\n"),
	},
	"Add an analysis": {
		create("analyzer/analyses/late/late.go"),
		create("analyzer/analyses/late/late.html.tmpl"),
		func(t *testing.T, tree, block string) {
			list := "analyzer/analyses/list.go"
			before(list, "topology.Analysis, ")(t, tree, strings.TrimSpace(block)+" ")
			before(list, `	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"`+"\n")(t, tree,
				`	"github.com/cairn-mpi/cairn/analyzer/analyses/late"`+"\n")
		},
		create("analyzer/analyses/late/late_test.go"),
	},
	"Add a real program": {
		func(t *testing.T, tree, block string) {
			create("apps/inputs/toy/toy.in")(t, tree, "1\n")
			atEnd("apps/programs.txt")(t, tree, block)
		},
		before("README.md", "```\n<!-- apps: end -->"),
	},
	"Add a field to the CRD": {
		before("api/v1alpha1/tracing.go", "	// FailurePolicy for a job"),
		before("tracer/settings/settings.go", "	Verify          bool"),
		before("tracer/settings/settings.go", `	{Key: "verify", Flags`),
		before("controllers/tracing.go", "	s.Mode, why = modeSetting("),
		before("api/v1alpha1/crd_test.go", "	require.Equal(t, v1alpha1.TracingEnabled, tracing.Mode)\n"),
		atEnd("controllers/tracing_test.go"),
	},
}

// notHere are commands that the recipes mention, and why they are not run here.
var notHere = map[string]string{
	"make apps APPS=toy":     "there is no such package",
	"go run ./apps versions": "it needs the packages of all programs",
	"make test":              "it has the test of what a program has found",
}

func TestRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository.Root(), "CONTRIBUTING.md"))
	require.NoError(t, err)
	for heading, changes := range recipes {
		t.Run(heading, func(t *testing.T) {
			_, recipe, found := strings.Cut(string(page), "\n### "+heading+"\n")
			require.True(t, found, "CONTRIBUTING.md has no such recipe")
			recipe, _, _ = strings.Cut(recipe, "\n##")
			tree := copyOfTheTree(t)
			for _, s := range steps(recipe) {
				switch {
				case s.command == "":
					require.NotEmpty(t, changes, "what is done with this code block?\n%s", s.block)
					changes[0](t, tree, s.block)
					changes = changes[1:]
				case notHere[s.command] == "":
					run(t, tree, s.command)
				}
			}
			require.Empty(t, changes, "the recipe has fewer code blocks")
			run(t, tree, "go test ./internal/repository ./internal/architecture")
		})
	}
}

// A step is a code block or a command in the text.
type step struct{ block, command string }

var (
	blockOrCode = regexp.MustCompile("(?ms)^   ```[a-z]*\n(.*?)^   ```$|`([^`]+)`")
	command     = regexp.MustCompile(`^(go|make|export|bin/\S+|hack/\S+) `)
)

// steps returns the code blocks and the commands of a recipe, in their order.
func steps(recipe string) (list []step) {
	for _, m := range blockOrCode.FindAllStringSubmatch(recipe, -1) {
		switch text := strings.Join(strings.Fields(m[2]), " "); {
		case m[2] == "":
			list = append(list, step{block: regexp.MustCompile("(?m)^   ").ReplaceAllString(m[1], "")})
		case command.MatchString(text):
			list = append(list, step{command: text})
		}
	}
	return list
}

// copyOfTheTree copies the files of the repository, also those that are not committed yet.
func copyOfTheTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	files := exec.Command("bash", "-o", "pipefail", "-c",
		`git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"`, tree)
	files.Dir = repository.Root()
	out, err := files.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return tree
}

// run runs a command. Go tests are run with -short, since they are to find what the recipe lacks.
func run(t *testing.T, tree, command string) {
	t.Helper()
	c := exec.Command("bash", "-o", "pipefail", "-c", command)
	c.Dir = tree
	c.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -short")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
}

func create(file string) change {
	return func(t *testing.T, tree, block string) {
		t.Helper()
		path := filepath.Join(tree, file)
		require.NoFileExists(t, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(block), 0o666))
	}
}

func atEnd(file string) change {
	return func(t *testing.T, tree, block string) {
		t.Helper()
		edit(t, tree, file, func(text string) string { return text + "\n" + block })
	}
}

func before(file, place string) change {
	return func(t *testing.T, tree, block string) {
		t.Helper()
		edit(t, tree, file, func(text string) string {
			require.Equal(t, 1, strings.Count(text, place), "%s: %s", file, place)
			return strings.Replace(text, place, block+place, 1)
		})
	}
}

func insteadOf(file, pattern string) change {
	return func(t *testing.T, tree, block string) {
		t.Helper()
		edit(t, tree, file, func(text string) string {
			found := regexp.MustCompile(pattern).FindAllString(text, -1)
			require.Len(t, found, 1, "%s: %s", file, pattern)
			return strings.Replace(text, found[0], strings.TrimSpace(block), 1)
		})
	}
}

func edit(t *testing.T, tree, file string, change func(string) string) {
	t.Helper()
	path := filepath.Join(tree, file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(change(string(text))), 0o666))
}
