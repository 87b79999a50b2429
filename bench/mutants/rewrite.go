package main

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// maxMutants is the highest number of a mutant that the switch has room for.
const maxMutants = 4095

// switchPath is the package with the switch of mutants. Only the overlay has it.
const (
	switchPath   = module + "internal/mutants"
	switchImport = "; import cairnmutants \"" + switchPath + "\""
	switchCode   = `// Package mutants switches mutants on.
package mutants

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

var (
	active, _ = strconv.Atoi(os.Getenv("CAIRN_MUTANT"))
	record    = os.Getenv("CAIRN_MUTANTS_REACHED") // a file
	recording = record != ""

	mutex  sync.Mutex
	test   = os.Getenv("CAIRN_MUTANTS_TEST") // which runs now; programs that it starts inherit it
	tests  atomic.Int32                      // how many have run
	seenIn [4096]atomic.Int32                // by mutant: the number of the last test that reached it
)

// On reports whether mutant n is switched on.
func On(n int) bool {
	if recording && seenIn[n].Load() <= tests.Load() {
		reached(n)
	}
	return n == active
}

func reached(n int) {
	mutex.Lock()
	defer mutex.Unlock()
	seenIn[n].Store(tests.Load() + 1)
	f, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	fmt.Fprintf(f, "%s %d\n", test, n)
	f.Close()
}

// Test says which test runs.
func Test(name string) {
	name, _, _ = strings.Cut(name, "/")
	mutex.Lock()
	defer mutex.Unlock()
	if recording && name != test {
		test = name
		tests.Add(1)
		os.Setenv("CAIRN_MUTANTS_TEST", name)
	}
}
`
)

// mutated returns the file's content with mutants. Lines keep their numbers.
func (s *source) mutated(sites []site) string {
	sites = slices.SortedStableFunc(slices.Values(sites), func(a, b site) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	name := s.syntax.Name.End()
	return s.text(s.syntax.FileStart, name) + switchImport + s.render(name, s.syntax.FileEnd, sites)
}

// render returns a piece with the mutants in it: each contains those after it, or ends before them.
func (s *source) render(from, to token.Pos, sites []site) string {
	var out strings.Builder
	for len(sites) > 0 {
		first := sites[0]
		end := 1
		for end < len(sites) && sites[end].to <= first.to && first.from < first.to {
			end++
		}
		inner := sites[1:end]
		out.WriteString(s.text(from, first.from))
		on := fmt.Sprintf("cairnmutants.On(%d)", first.Number)
		text := func(from, to token.Pos) string { return s.render(from, to, within(inner, from, to)) }
		out.WriteString(first.replace(on, text(first.from, first.to), text))
		from = first.to
		sites = sites[end:]
	}
	out.WriteString(s.text(from, to))
	return out.String()
}

func within(sites []site, from, to token.Pos) (inner []site) {
	for _, s := range sites {
		if from <= s.from && s.to <= to {
			inner = append(inner, s)
		}
	}
	return inner
}
