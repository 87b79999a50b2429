package repository

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// a file or folder of the repository, in backquotes: trace/reader.go, rules.go,
	// controllers/inject
	named = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.*-]+)*)`")
	file  = regexp.MustCompile(`\.(go|c|h|inc|sh|py|txt|yml|md)$`)
)

// toBeMade are the files that a recipe tells its reader to create. They are there for those who
// follow it.
var toBeMade = map[string]bool{"analyzer/analyses/late/late.go": true}

// The files and folders that the pages about the tree name exist.
func TestTheMapNamesWhatIsThere(t *testing.T) {
	folders, files := map[string]bool{}, map[string]bool{} // files also by their last name
	require.NoError(t, fs.WalkDir(os.DirFS(Root()), ".", func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "out" || strings.HasPrefix(entry.Name(), ".") && p != "."):
			return filepath.SkipDir
		case entry.IsDir():
			folders[p] = true
		default:
			files[p], files[path.Base(p)] = true, true
		}
		return nil
	}))
	texts := pages(t)
	for _, page := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		checked := 0
		for _, match := range named.FindAllStringSubmatch(fence.ReplaceAllString(texts[page], ""), -1) {
			name := match[1]
			top, _, below := strings.Cut(name, "/")
			switch {
			case toBeMade[name]:
			case strings.Contains(name, "*"):
				found, err := filepath.Glob(filepath.Join(Root(), name))
				require.NoError(t, err)
				assert.True(t, len(found) > 0 || !below, "%s names %s, which nothing matches", page, name)
			case file.MatchString(name):
				assert.True(t, files[name], "%s names %s, which is not there", page, name)
				checked++
			case below && folders[top]:
				assert.True(t, folders[name] || files[name], "%s names %s, which is not there", page, name)
				checked++
			}
		}
		require.Greater(t, checked, 10) // the pattern still finds them
	}
}
