package analysis

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

// An Analysis computes findings of type T for a run.
type Analysis[T any] struct {
	*pass.Pass[T]
	About
}

// About describes an analysis.
type About struct {
	Title string // a few words for a list of analyses
	// Version is the version of the findings. It is incremented when a key is removed or changes
	// its meaning.
	Version int
	// Sections are the sections of the report that show them, in order.
	Sections []section.Section
}

// Any is an analysis of any type of findings.
type Any interface {
	pass.Step
	Describe() About
	// New returns a pointer to empty findings.
	New() any
	// Run computes and encodes the findings, as stored in findings/<name>.json.
	Run(context.Context, *pass.Run) ([]byte, error)
	// Decode decodes the result of Run and returns a pointer to findings. It fails if the version
	// differs.
	Decode([]byte) (any, error)
}

// New returns an analysis that runs find, which may ask only for results of the required passes and
// analyses.
func New[T any](name string, about About, find func(context.Context, *pass.Run) (T, error), requires ...pass.Step) *Analysis[T] {
	return &Analysis[T]{pass.New(name, find, requires...), about}
}

// Uses declares results that the analysis uses in runs that want them anyway.
func (a *Analysis[T]) Uses(optional ...pass.Step) *Analysis[T] {
	a.Pass.Uses(optional...)
	return a
}

// Describe returns the description of the analysis.
func (a *Analysis[T]) Describe() About { return a.About }

// A Head is the part of findings with their version.
type Head struct {
	SchemaVersion int `json:"schema_version"`
}

// New returns a pointer to empty findings.
func (a *Analysis[T]) New() any { return new(T) }

// Run computes and encodes the findings.
func (a *Analysis[T]) Run(ctx context.Context, r *pass.Run) ([]byte, error) {
	found, err := a.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	version, err := json.Marshal(Head{a.Version})
	if err != nil || string(body) == "{}" {
		return version, err
	}
	return append(append(version[:len(version)-1], ','), body[1:]...), nil
}

// Decode decodes findings of this version.
func (a *Analysis[T]) Decode(raw []byte) (any, error) {
	var h Head
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, fmt.Errorf("findings of %s: %w", a.Name(), err)
	}
	if h.SchemaVersion != a.Version {
		return nil, fmt.Errorf("findings of %s have version %d, this cairn reads %d", a.Name(), h.SchemaVersion, a.Version)
	}
	found := new(T)
	if err := json.Unmarshal(raw, found); err != nil {
		return nil, fmt.Errorf("findings of %s: %w", a.Name(), err)
	}
	return found, nil
}
