package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	link       = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```[^\n]*$")
	code       = regexp.MustCompile("`[^`\n]*`")
	heading    = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	linkInText = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// pages are all Markdown files of the repository, by their path within it.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(Root()), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "out" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			text, err := os.ReadFile(filepath.Join(Root(), path))
			texts[path] = string(text)
			return err
		}
		return nil
	}))
	require.Greater(t, len(texts), 50)
	return texts
}

// anchors are what headings of a page are called in links, as GitHub makes it: lower case, without
// punctuation, a hyphen for each space.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		plain := linkInText.ReplaceAllString(match[1], "$1")
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, plain)] = true
	}
	return found
}

// Every relative link of every page leads to a file or folder, and to a heading where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	texts := pages(t)
	checked := 0
	for page, text := range texts {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(fence.ReplaceAllString(text, ""), ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue // an address elsewhere
			}
			checked++
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(filepath.Join(Root(), path)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, match[1])
				continue
			}
			if anchor != "" {
				assert.Contains(t, anchors(texts[path]), anchor, "%s links to %s", page, match[1])
			}
		}
	}
	require.Greater(t, checked, 80) // the pattern still finds them
}

// docs/README.md names every page and every decision.
func TestIndexIsComplete(t *testing.T) {
	texts := pages(t)
	indexed := map[string]bool{"docs/README.md": true}
	for _, match := range link.FindAllStringSubmatch(texts["docs/README.md"], -1) {
		target, _, _ := strings.Cut(match[1], "#")
		indexed[filepath.Join("docs", target)] = true
	}
	for page := range texts {
		if strings.HasPrefix(page, "docs/") {
			assert.True(t, indexed[page], "docs/README.md does not name %s", page)
		}
	}
}

func TestAnchors(t *testing.T) {
	assert.Equal(t, map[string]bool{"codec-2-mixed-contexts": true, "calls-one-row-per-call": true, "a-link": true},
		anchors("# Codec 2: mixed contexts\n```\n# no heading\n```\n## calls: one row per call\n### A [link](there.md)\n"))
}
