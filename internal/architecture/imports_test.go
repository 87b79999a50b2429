package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/repository"
)

// A goPackage is the output of `go list -json` for a package.
type goPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// list is the packages that `go list` names for arguments.
func list(t *testing.T, arguments ...string) []goPackage {
	t.Helper()
	c := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard"}, arguments...)...)
	c.Dir = repository.Root()
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := c.Output()
	require.NoError(t, err)
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

// Every import of every package that is not a test is one that the rules allow, with the OTF2
// library and without.
func TestImports(t *testing.T) {
	for _, tags := range []string{"", "otf2"} {
		packages := list(t, "-tags", tags, "./...")
		require.NotEmpty(t, packages)
		for _, p := range packages {
			room := RoomOf(strings.TrimPrefix(p.ImportPath, Module))
			if !assert.NotNil(t, room, "%s is in no room: add it to Rooms", p.ImportPath) {
				continue
			}
			for _, path := range p.Imports {
				if why := room.Forbidden(path); why != "" {
					t.Errorf("%s imports %s: %s (docs/architecture.md)", p.ImportPath, path, why)
				}
			}
		}
	}
}

// Binaries do not link, even indirectly, what they must not import.
func TestBinariesLinkNothingForeign(t *testing.T) {
	for _, binary := range Binaries {
		for _, p := range list(t, "-deps", "-tags", "otf2", "./"+binary.Folder) {
			for _, module := range binary.NoModules {
				assert.False(t, strings.HasPrefix(p.ImportPath, module), "%s links %s", binary.Folder, p.ImportPath)
			}
			if folder, ours := strings.CutPrefix(p.ImportPath, Module); ours && RoomOf(folder) != nil {
				assert.NotContains(t, binary.NoRooms, RoomOf(folder).Name, "%s links %s", binary.Folder, p.ImportPath)
			}
		}
	}
}

// Every folder of the rules exists and has packages, and every entry of the rules is needed by an
// import.
func TestRulesAreNotWiderThanTheTree(t *testing.T) {
	needed := map[[2]string]bool{}
	for _, p := range list(t, "-tags", "otf2", "./...") {
		from := RoomOf(strings.TrimPrefix(p.ImportPath, Module))
		for _, path := range p.Imports {
			if folder, ours := strings.CutPrefix(path, Module); ours && from != nil && RoomOf(folder) != nil {
				needed[[2]string{from.Name, RoomOf(folder).Name}] = true
			}
		}
	}
	for _, r := range Rooms {
		for _, folder := range r.Folders {
			assert.DirExists(t, filepath.Join(repository.Root(), folder), "of room %s", r.Name)
		}
		for _, to := range r.May {
			assert.True(t, needed[[2]string{r.Name, to}], "%s may import %s, but nothing needs it", r.Name, to)
		}
	}
}

// Dependencies between rooms have one direction: a room may import only those before it in the
// list. The room that all rooms may import, and that imports the trace, is no exception.
func TestArrowsRunOneWay(t *testing.T) {
	before := map[string]bool{}
	for _, r := range Rooms {
		for _, to := range r.May {
			assert.True(t, before[to], "%s may import %s, which stands below it", r.Name, to)
		}
		before[r.Name] = true
	}
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct{ from, path, why string }{
		{"controllers/inject", Module + "trace", "operator may not import trace"},
		{"controllers/inject", "k8s.io/api/core/v1", ""},
		{"api/messages", "k8s.io/api/core/v1", "messages may not import k8s.io/…"},
		{"api/messages", "golang.org/x/sys/unix", "messages may import Go's standard library only"},
		{"api/messages", "encoding/json", ""},
		{"trace", Module + "tracer/recorder", "trace may not import tracer"},
		{"trace/codec", Module + "trace", ""},
		{"tracer/recorder", Module + "merger", "tracer may not import merger"},
		{"merger", Module + "merger/collect", "merger may not import collect"},
		{"cmd/cairn", "sigs.k8s.io/controller-runtime", "commands may not import sigs.k8s.io/…"},
		{"cmd/cairn", Module + "store", ""},
		{"cmd/cairn", "github.com/minio/minio-go/v7", "commands may not import github.com/minio/…"},
		{"analyzer/match", "testing", "analyzer may not import testing…"},
		{"analyzer/match", Module + "internal/tracetest", "analyzer may not import tests"},
		{"analyzer/match", Module + "elsewhere", "it is in no room"},
	} {
		t.Run(c.from+" "+c.path, func(t *testing.T) {
			assert.Equal(t, c.why, RoomOf(c.from).Forbidden(c.path))
		})
	}
}

// What is generated from the rules is what the files have.
func TestGeneratedPartsAreUpToDate(t *testing.T) {
	for _, text := range Texts {
		content, err := os.ReadFile(filepath.Join(repository.Root(), text.File))
		require.NoError(t, err)
		written, err := text.Replace(string(content))
		require.NoError(t, err)
		assert.Equal(t, string(content), written, "%s is out of date: make generate", text.File)
	}
}
