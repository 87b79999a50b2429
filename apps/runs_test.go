package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsCompared(t *testing.T) {
	const one, two = "in /a/run\n\nforce  12 calls  1.5 s\nforce 3 calls  1e-05 s\nWARN 0x1f at 12:40: 3\n",
		"in /b/run\nforce  12 calls    10.25 s\nforce 3 calls -2 s\n\nWARN at 12:41\n"
	for _, example := range []struct {
		rules, native, traced string
		compared              int
		equal                 bool
	}{
		{"", one, strings.ReplaceAll(one, "/a/", "/b/"), 4, true},
		{"", one, two, 4, false},
		{"differs ^WARN", one, two, 3, false},
		{"measures force +[0-9]+ calls|^WARN", one, two, 4, false}, // the lines that warn differ as a whole
		{"measures force +[0-9]+ calls\ndiffers ^WARN", one, two, 3, true},
		{"measures ^force\ndiffers ^WARN", one, two, 3, true},
		// the match itself is compared
		{"measures force +[0-9]+ calls", "force 12 calls 3 s", "force 13 calls 3 s", 1, false},
		{"measures ^force", "force 12 calls 3 s", "force 13 calls x s", 1, false}, // so are words
		{"", "b\na", "a\nb", 2, false},
		{"any-order", "b\na", "a\nb", 2, true},
		{"differs .", "a", "b", 0, true}, // which is why the check "compared" fails
	} {
		p := &program{}
		for _, rule := range strings.Split(example.rules, "\n") {
			if word, value, _ := strings.Cut(rule, " "); word != "" {
				require.NoError(t, p.set(word, value))
			}
		}
		a, b := p.comparable(example.native, "/a/run"), p.comparable(example.traced, "/b/run")
		assert.Equal(t, example.compared, a.compared, "%+v", example)
		assert.Equal(t, example.equal, a.text == b.text, "%+v", example)
	}
}
