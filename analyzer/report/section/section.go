package section

import (
	"html/template"
	"io/fs"
	"slices"
)

// A Section is a part of the page.
type Section struct {
	Name  string // of its files, and of its anchor on the page
	Title string
	Files fs.FS
	// Functions are additional functions of the template.
	Functions template.FuncMap
	// View returns the data of the template. If it is nil or returns nil there is nothing to show.
	View func(*Run) any
	// Chart returns the data of the script, as JSON. If it is nil or returns nil there is no
	// script.
	Chart func(*Run) any
}

// A Run is what is known of a run.
type Run struct {
	Provenance Provenance
	// Named are the ranks that the verdict names, the most important first: they come first in all
	// lists of ranks.
	Named []int

	findings []any // a pointer per analysis
}

// Put adds the findings of an analysis, a pointer to a struct.
func (r *Run) Put(findings any) { r.findings = append(r.findings, findings) }

// Findings returns the findings in the order of Put: pointers to structs.
func (r *Run) Findings() []any { return r.findings }

// Of returns the findings of the type T of an analysis; the zero T if there are none.
func Of[T any](r *Run) T {
	if found := Find[T](r); found != nil {
		return *found
	}
	var none T
	return none
}

// Find returns the findings of the type T of an analysis; nil if there are none.
func Find[T any](r *Run) *T {
	for _, f := range r.findings {
		if found, ok := f.(*T); ok {
			return found
		}
	}
	return nil
}

// NamedFirst moves the ranks that the verdict names to the front of a list, and keeps the order
// otherwise.
func NamedFirst[T any](r *Run, list []T, rank func(T) int) []T {
	place := map[int]int{}
	for i, named := range r.Named {
		place[named] = i - len(r.Named) // before all others, which have 0
	}
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b T) int { return place[rank(a)] - place[rank(b)] })
	return ordered
}

// InPods reports whether ranks ran in pods, so that their location is more than a host.
func (r *Run) InPods() bool {
	return slices.ContainsFunc(r.Provenance.Pods, func(h Host) bool { return h.Pod != "" || h.Node != "" })
}
