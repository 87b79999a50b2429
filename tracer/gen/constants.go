package main

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// constants writes a function that passes every predefined handle and named constant of this ABI,
// with its value in this process, to a callback.
func constants() string {
	var b strings.Builder
	b.WriteString("// " + generated + "#include \"../process/constants.h\"\n\n#include \"../process/abi.h\"\n\nvoid cairn_constants(cairn_constant_visitor visit, void *data)\n{\n")
	for i := range mpi.Constants {
		c := &mpi.Constants[i]
		if c.ID == 0 {
			continue
		}
		// Most are macros; the rest are enumerators or variables, which exist from some version
		// of the header on.
		condition := fmt.Sprintf("defined(%s)", c.Name)
		if !c.Optional && c.Removed == 0 {
			condition += fmt.Sprintf(" || CAIRN_MPI_H >= %d", c.Since)
		}
		fmt.Fprintf(&b, "#if %s\n", condition)
		for _, k := range c.Kinds {
			fmt.Fprintf(&b, "\tCAIRN_CONSTANT(visit, data, %q, %s, %q);\n", k.String(), c.Name, c.Name)
			if k == mpi.KindFunction && !strings.HasPrefix(c.Name, "MPI_T_") {
				fmt.Fprintf(&b, "\tCAIRN_FORTRAN_FUNCTION(visit, data, %q);\n", c.Name)
			}
			if k == mpi.KindKeyval && c.Name != "MPI_KEYVAL_INVALID" {
				// MPICH's value + 1 requests an attribute as an integer.
				fmt.Fprintf(&b, "#ifdef CAIRN_MPICH\n\tCAIRN_CONSTANT(visit, data, %q, %s + 1, %q);\n#endif\n", k.String(), c.Name, c.Name)
			}
		}
		b.WriteString("#endif\n")
	}
	b.WriteString("}\n")
	return b.String()
}
