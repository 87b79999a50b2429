package mpispec

import "fmt"

// Constant is a named constant of the standard. Its value differs between
// implementations; the shim knows it when it is compiled, or for handles that
// are addresses when it runs, and tells the recorder.
type Constant struct {
	// ID is the constant's number in traces. 0 means none.
	ID uint16

	Name string

	// Since, Deprecated and Removed are as in Function.
	Since, Deprecated, Removed Version

	// Kinds are the kinds that have this value: MPI_PROC_NULL is a rank and a
	// root.
	Kinds []Kind

	// Pointer: the constant is an address that stands for something else, to
	// be compared with the address of a buffer, status or array.
	Pointer bool

	// Optional: implementations may lack it whatever version they claim.
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

// Guard returns the condition, for #if after mpi.h, under which a C program
// can name the constant. Some constants are macros and some are enumerators,
// so the version has to tell; and Open MPI defines what was removed as a
// compile-time error.
func (c *Constant) Guard() string {
	switch {
	case c.Removed != 0:
		return "defined(" + c.Name + ") && !defined(OPEN_MPI)"
	case c.Optional:
		return "defined(" + c.Name + ")"
	}
	return fmt.Sprintf("MPI_VERSION * 100 + MPI_SUBVERSION >= %d || defined(%s)", c.Since, c.Name)
}

// ConstantByName returns the constant with the given C name, or nil.
func ConstantByName(name string) *Constant {
	id, ok := constantIDs[name]
	if !ok {
		return nil
	}
	return &Constants[id]
}

var constantIDs = func() map[string]uint16 {
	m := make(map[string]uint16, len(Constants))
	for i := range Constants {
		if c := &Constants[i]; c.ID != 0 {
			m[c.Name] = c.ID
		}
	}
	return m
}()
