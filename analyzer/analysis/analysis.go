package analysis

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

// An Analysis finds a T of a run.
type Analysis[T any] struct {
	*pass.Pass[T]
	About
}

// About is what people are told of an analysis.
type About struct {
	Title string // a few words for a list of analyses
	// Version is that of the findings: it grows when a key changes its meaning or goes.
	Version int
	// Sections of the report that show them, in order.
	Sections []section.Section
}

// Any is an analysis of any type of findings.
type Any interface {
	pass.Step
	Describe() About
	// New is a pointer to findings that are empty.
	New() any
	// Run finds and encodes: what findings/<name>.json holds.
	Run(context.Context, *pass.Run) ([]byte, error)
	// Decode reads what Run has written, into a pointer to findings. The error says what is wrong with it.
	Decode([]byte) (any, error)
}

// New makes an analysis of a function, which asks for results of the required passes and analyses only.
func New[T any](name string, about About, find func(context.Context, *pass.Run) (T, error), requires ...pass.Step) *Analysis[T] {
	return &Analysis[T]{pass.New(name, find, requires...), about}
}

// Uses says which results the analysis asks for in runs that want them anyway.
func (a *Analysis[T]) Uses(optional ...pass.Step) *Analysis[T] {
	a.Pass.Uses(optional...)
	return a
}

// Describe is what people are told of it.
func (a *Analysis[T]) Describe() About { return a.About }

// A Head is the part of findings that says of which version they are.
type Head struct {
	SchemaVersion int `json:"schema_version"`
}

// New is a pointer to findings that are empty.
func (a *Analysis[T]) New() any { return new(T) }

// Run finds and encodes.
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

// Decode reads findings that this version understands.
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
