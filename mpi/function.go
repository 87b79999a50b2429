package mpi

import (
	"strings"
	"sync"
)

// Function is a C function of the MPI standard.
type Function struct {
	// ID is the function's number in traces. 0 means no function.
	ID uint16

	// Name is the C name, such as MPI_Send.
	Name string

	// Since is the version that introduced the function. Deprecated and Removed are those that
	// deprecated and removed it, or zero. Implementations still export removed functions.
	Since, Deprecated, Removed Version

	// Class is what the call does; see class.go.
	Class Class

	// Return is the kind of the value returned: KindErrorCode for nearly all.
	Return Kind

	// ReturnType is the C type of the value returned.
	ReturnType string

	// Large is the id of the large-count form (MPI_Send_c for MPI_Send) and
	// Small that of the form without it; 0 where there is none.
	Large, Small uint16

	Params []Param

	// Variadic: more arguments without a defined meaning follow (MPI_Pcontrol).
	Variadic bool
}

// Version is a version of the standard, 100·major + minor: 301 is MPI 3.1.
type Version uint16

// Major returns 3 for MPI 3.1.
func (v Version) Major() int { return int(v / 100) }

// Minor returns 1 for MPI 3.1.
func (v Version) Minor() int { return int(v % 100) }

// Prototype returns the C declaration of the function without a semicolon,
// under the given name (`MPI_Send`, `PMPI_Send`).
func (f *Function) Prototype(name string) string {
	var b strings.Builder
	b.WriteString(f.ReturnType)
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteByte('(')
	for i := range f.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Params[i].Declaration())
	}
	switch {
	case f.Variadic:
		b.WriteString(", ...")
	case len(f.Params) == 0:
		b.WriteString("void")
	}
	b.WriteByte(')')
	return b.String()
}

// IsBlockingCollective reports whether calls of the function are barriers or blocking collectives
// that exchange data. All processes of a communicator count the same number of them.
func (f *Function) IsBlockingCollective() bool {
	switch f.Class.Op() {
	case "barrier", "one-to-all", "all-to-one", "all-to-all", "prefix", "neighbor":
		return f.Class.Has("blocking")
	}
	return false
}

// MayMark reports whether calls of the function can be markers of online clustering. All processes
// of a communicator, or of the group of a window, must make these calls in the same order, and may
// have to wait for each other in them.
func (f *Function) MayMark() bool {
	return f.IsBlockingCollective() || f.Class == "rma-sync fence"
}

// ParamIndex returns the index of the parameter called name, or -1.
func (f *Function) ParamIndex(name string) int {
	for i := range f.Params {
		if f.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// ByName returns the function with the given C name, or nil.
func ByName(name string) *Function {
	id, ok := functionIDs()[name]
	if !ok {
		return nil
	}
	return &Functions[id]
}

// ByID returns the function with the given id, or nil.
func ByID(id uint16) *Function {
	if int(id) >= len(Functions) || Functions[id].ID == 0 {
		return nil
	}
	return &Functions[id]
}

// functionIDs is created on first use: the tables are linked into applications, which should not
// pay for it at start-up.
var functionIDs = sync.OnceValue(func() map[string]uint16 {
	m := make(map[string]uint16, len(Functions))
	for i := range Functions {
		if f := &Functions[i]; f.ID != 0 {
			m[f.Name] = f.ID
		}
	}
	return m
})
