package analyses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// All returns the analyses of all sets.
func All() (all []analysis.Any) {
	for _, s := range Sets {
		all = append(all, s.Analyses...)
	}
	return all
}

// Names returns the names that Select accepts: those of the sets, then those of the analyses.
func Names() (names []string) {
	for _, s := range Sets {
		names = append(names, s.Name)
	}
	for _, a := range All() {
		names = append(names, a.Name())
	}
	return names
}

// Select returns the analyses with these names, and those of the sets with these names, in the
// order of All. Without names it returns all.
func Select(names ...string) ([]analysis.Any, error) {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("no analysis is called %q; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	var selected []analysis.Any
	for _, s := range Sets {
		for _, a := range s.Analyses {
			if len(names) == 0 || slices.Contains(names, s.Name) || slices.Contains(names, a.Name()) {
				selected = append(selected, a)
			}
		}
	}
	return selected, nil
}

// WithRequired adds the analyses that those in list require, directly or indirectly. They are
// computed anyway, and sections of the report may show their findings.
func WithRequired(list []analysis.Any) []analysis.Any {
	required := map[pass.Step]bool{}
	var add func(pass.Step)
	add = func(s pass.Step) {
		if !required[s] {
			required[s] = true
			for _, r := range s.Requires() {
				add(r)
			}
		}
	}
	for _, a := range list {
		add(a)
	}
	return slices.DeleteFunc(All(), func(a analysis.Any) bool { return !required[a] })
}

// Selected returns the names of the analyses that Select selects.
func Selected(names ...string) ([]string, error) {
	selected, err := Select(names...)
	list := make([]string, len(selected))
	for i, a := range selected {
		list[i] = a.Name()
	}
	return list, err
}
