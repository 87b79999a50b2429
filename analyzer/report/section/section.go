package section

import (
	"html/template"
	"io/fs"
	"slices"
)

// A Section is a part of the page.
type Section struct {
	Name  string // of its files, and of its place on the page
	Title string
	Files fs.FS
	// Functions are what the template has beside those of this package.
	Functions template.FuncMap
	// View is what the template is given; nil, or a nil result: there is nothing to show of this run.
	View func(*Run) any
	// Chart is what the script is given, as JSON; nil, or a nil result: there is no script.
	Chart func(*Run) any
}

// A Run is what is known of a run.
type Run struct {
	Provenance Provenance
	// Named are the ranks that the verdict names, the first to look at first: they come first wherever ranks are listed.
	Named []int

	findings []any // a pointer for each analysis
}

// Put adds the findings of an analysis, a pointer to a struct.
func (r *Run) Put(findings any) { r.findings = append(r.findings, findings) }

// Findings are those of all analyses that have some, in the order of Put: pointers to structs.
func (r *Run) Findings() []any { return r.findings }

// Of is the findings of the analysis that finds a T; the zero T where it has none.
func Of[T any](r *Run) T {
	if found := Find[T](r); found != nil {
		return *found
	}
	var none T
	return none
}

// Find is the findings of the analysis that finds a T; nil where it has none.
func Find[T any](r *Run) *T {
	for _, f := range r.findings {
		if found, ok := f.(*T); ok {
			return found
		}
	}
	return nil
}

// NamedFirst puts a list in the order of the ranks that the verdict names, then as it was.
func NamedFirst[T any](r *Run, list []T, rank func(T) int) []T {
	place := map[int]int{}
	for i, named := range r.Named {
		place[named] = i - len(r.Named) // before all others, which have 0
	}
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b T) int { return place[rank(a)] - place[rank(b)] })
	return ordered
}

// InPods reports whether ranks ran in pods, so that there is more to say of where they are than the host.
func (r *Run) InPods() bool {
	return slices.ContainsFunc(r.Provenance.Pods, func(h Host) bool { return h.Pod != "" || h.Node != "" })
}
