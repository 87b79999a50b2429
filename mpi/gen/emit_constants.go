package main

import (
	"bytes"
	"fmt"
	"go/format"

	"github.com/cairn-mpi/cairn/mpi"
)

// emitConstants returns the source of constants_gen.go.
func emitConstants(constants []mpi.Constant) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, generatedNotice, "constants.txt")
	b.WriteString("// Constants has every named constant of the MPI standard at the index of its ID.\n" +
		"// Index 0 and ids that were never given are zero values.\n")
	b.WriteString("var Constants = []Constant{\n")
	for i := range constants {
		if constants[i].ID != 0 {
			emitConstant(&b, &constants[i])
		}
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}

func emitConstant(b *bytes.Buffer, c *mpi.Constant) {
	fmt.Fprintf(b, "%d: {ID: %d, Name: %q, Since: %d, ", c.ID, c.ID, c.Name, c.Since)
	emitNonZero(b, "Deprecated", int(c.Deprecated))
	emitNonZero(b, "Removed", int(c.Removed))
	b.WriteString("Kinds: []Kind{")
	for _, k := range c.Kinds {
		b.WriteString(kindIdent(k) + ", ")
	}
	b.WriteString("}, ")
	emitTrue(b, "Pointer", c.Pointer)
	emitTrue(b, "Optional", c.Optional)
	b.WriteString("},\n")
}
