package mpi

import (
	"fmt"
	"sync"
)

// Constant is a named constant of the standard. Its value differs between implementations. The shim
// knows the value when it is compiled or, for handles that are addresses, when it runs, and passes
// it to the recorder.
type Constant struct {
	// ID is the constant's number in traces. 0 means none.
	ID uint16

	Name string

	// Since, Deprecated and Removed have the same meaning as in Function.
	Since, Deprecated, Removed Version

	// Kinds are the kinds that have this value: MPI_PROC_NULL is a rank and a
	// root.
	Kinds []Kind

	// Pointer: the constant is an address with a special meaning, to be compared with the address
	// of a buffer, status or array.
	Pointer bool

	// Optional: implementations may lack it, whatever version of MPI they claim.
	Optional bool
}

// IsKind reports whether the constant is a value of kind k.
func (c *Constant) IsKind(k Kind) bool {
	for _, kind := range c.Kinds {
		if kind == k {
			return true
		}
	}
	return false
}

// Guard returns the condition, for #if after mpi.h, under which a C program can use the constant.
// Constants may be macros, enumerators or variables, so #ifdef is not enough: the condition uses
// the version.
func (c *Constant) Guard() string {
	switch {
	case c.Optional:
		// All optional constants are macros.
		return "defined(" + c.Name + ")"
	case c.Removed != 0:
		// Open MPI defines removed constants as a compile-time error.
		return "!defined(OPEN_MPI)"
	case c.Kinds[0] == KindF08Status:
		// Open MPI 4 claims MPI 3.1 and has no MPI_F08_status.
		return "!defined(OPEN_MPI) || OMPI_MAJOR_VERSION >= 5"
	}
	return fmt.Sprintf("MPI_VERSION * 100 + MPI_SUBVERSION >= %d || defined(%s)", c.Since, c.Name)
}

// ConstantByName returns the constant with the given C name, or nil.
func ConstantByName(name string) *Constant {
	id, ok := constantIDs()[name]
	if !ok {
		return nil
	}
	return &Constants[id]
}

var constantIDs = sync.OnceValue(func() map[string]uint16 {
	m := make(map[string]uint16, len(Constants))
	for i := range Constants {
		if c := &Constants[i]; c.ID != 0 {
			m[c.Name] = c.ID
		}
	}
	return m
})
