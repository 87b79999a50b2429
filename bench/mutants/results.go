package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Outcomes of a mutant. All but survived, unreached and gone mean that the tests notice it.
const (
	killed    = "killed"
	timeout   = "timeout"   // the tests take ten times as long
	unbuilt   = "unbuilt"   // a fault of shim.txt that the compiler refuses
	survived  = "survived"  // tests reach it, and none fails
	unreached = "unreached" // no test reaches it
	gone      = "gone"      // the tree no longer has this code
)

// A result says what the tests made of a mutant.
type result struct {
	Outcome  string  `json:"outcome"`
	Test     string  `json:"test,omitempty"` // that noticed it: package and name
	Tests    int     `json:"tests"`          // how many were run
	Left     int     `json:"left,omitempty"` // how many reach it, too, but take too long
	Packages int     `json:"packages"`       // how many of those with tests had their turn
	Seconds  float64 `json:"seconds"`
	mutant
}

func (r result) noticed() bool {
	return r.Outcome == killed || r.Outcome == timeout || r.Outcome == unbuilt
}

// readLines reads a file of JSON lines; a missing file is empty.
func readLines[T any](name string) (list []T, err error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, len(list)+1, err)
		}
		list = append(list, v)
	}
}

// readResults reads a file of results. A later line of a mutant goes on where the one before ended.
func readResults(name string) (map[mutant]result, error) {
	list, err := readLines[result](name)
	results := map[mutant]result{}
	for _, r := range list {
		results[r.key()] = r
	}
	return results, err
}

func appendLine(name string, v any) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// compare prints how many mutants are noticed, by package, and those that no longer are, also
// because their code is gone. It returns how many mutants are not noticed any more, or not run yet.
func compare(w io.Writer, before, after map[mutant]result) (lost int) {
	type row struct{ mutants, before, after, gone, open int }
	rows := map[string]*row{}
	var losses []string
	byNumber := func(a, b result) int { return cmp.Compare(a.Number, b.Number) }
	for _, b := range slices.SortedFunc(maps.Values(before), byNumber) {
		r := rows[b.Package]
		if r == nil {
			r = &row{}
			rows[b.Package] = r
		}
		r.mutants++
		a, measured := after[b.key()]
		switch {
		case !measured:
			r.open++
			lost++
		case a.Outcome == gone:
			r.gone++
			if b.noticed() {
				losses = append(losses, fmt.Sprintf("%d %s: gone; before %s by %s", b.Number, b.Place, b.Outcome, b.Test))
			}
		case b.noticed() && !a.noticed():
			losses = append(losses,
				fmt.Sprintf("%d %s: %s %s: %s", b.Number, b.Place, b.Function, b.Operator, b.Source),
				fmt.Sprintf("\t%s by %s; now %s, %d tests", b.Outcome, b.Test, a.Outcome, a.Tests))
			lost++
		}
		if b.noticed() {
			r.before++
		}
		if a.noticed() {
			r.after++
		}
	}
	fmt.Fprintf(w, "%-24s %8s %8s %8s %8s %8s\n",
		"package", "mutants", "before", "after", "gone", "not run")
	for _, f := range slices.Sorted(maps.Keys(rows)) {
		r := rows[f]
		fmt.Fprintf(w, "%-24s %8d %8d %8d %8d %8d\n", f, r.mutants, r.before, r.after, r.gone, r.open)
	}
	for _, l := range losses {
		fmt.Fprintln(w, l)
	}
	return lost
}
