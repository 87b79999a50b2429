package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// control writes the group of each function; groups can be excluded from a trace.
func control(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("// " + generated + "#include \"../bind/control.h\"\n\n")
	fmt.Fprintf(&b, "const char cairn_group_name[CAIRN_GROUPS][CAIRN_GROUP_NAME] = {\n")
	for _, g := range mpi.Groups {
		fmt.Fprintf(&b, "\t%q,\n", g)
	}
	b.WriteString("};\n\n// 1 + the group; 0: always recorded.\nconst unsigned char cairn_group[CAIRN_FUNCTIONS] = {\n")
	for _, f := range functions {
		if !f.AlwaysRecorded() {
			fmt.Fprintf(&b, "\t[CAIRN_ID_%s] = %d,\n", f.Name, 1+slices.Index(mpi.Groups, f.Class.Group()))
		}
	}
	b.WriteString("};\n\nconst unsigned char cairn_marker[CAIRN_FUNCTIONS] = {\n")
	for _, f := range functions {
		if op := semantics.Of(f).Operation; f.MayMark() || op == semantics.Control || op == semantics.Finalize {
			fmt.Fprintf(&b, "\t[CAIRN_ID_%s] = 1,\n", f.Name)
		}
	}
	b.WriteString("};\n")
	return b.String()
}

func controlHeader() string {
	longest := 0
	for _, g := range mpi.Groups {
		longest = max(longest, len(g)+1)
	}
	return "// " + generated + fmt.Sprintf(`#ifndef CAIRN_GROUPS_GEN_H
#define CAIRN_GROUPS_GEN_H

enum {
	CAIRN_GROUPS = %d,
	CAIRN_GROUP_NAME = %d, // bytes of the longest name with its terminating 0
};

#endif
`, len(mpi.Groups), longest)
}
