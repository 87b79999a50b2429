package mpi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPrototypes redeclares every function from the spec below each
// implementation's mpi.h: the compiler rejects a declaration that differs.
func TestPrototypes(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		declared := mpi.declaredFunctions(t)
		var source strings.Builder
		for i := range Functions {
			f := &Functions[i]
			if f.ID == 0 {
				continue
			}
			if declared[f.Name] == mpi.lacks(f) {
				t.Errorf("%s: declared in mpi.h: %v, expected: %v", f.Name, declared[f.Name], !mpi.lacks(f))
			}
			if declared[f.Name] {
				fmt.Fprintf(&source, "#undef %s\n%s;\n", f.Name, f.Prototype(f.Name))
			}
		}
		mpi.compile(t, source.String())

		// MPIX_ functions are each implementation's own.
		for _, name := range slices.Sorted(maps.Keys(declared)) {
			if ByName(name) == nil && !strings.HasPrefix(name, "MPIX_") {
				t.Errorf("%s is declared in mpi.h and not in the spec", name)
			}
		}
	})
}

// TestPrototypesDiffer makes sure that TestPrototypes can fail: a wrong
// declaration must not compile.
func TestPrototypesDiffer(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		f := *ByName("MPI_Gatherv")
		f.Params = slices.Clone(f.Params)
		f.Params[f.ParamIndex("recvcounts")].Const = false
		file := f.Prototype(f.Name) + ";\n"
		if out := mpi.diagnose(t, file); !strings.Contains(out, "conflicting types") {
			t.Errorf("no conflict found in %s: %q", file, out)
		}
	})
}

var (
	attributeRE   = regexp.MustCompile(`__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)`)
	declarationRE = regexp.MustCompile(`(?s)^\s*(?:extern\s+)?[\w\s*]+?\b(MPIX?_\w+)\s*\(.*\)\s*$`)
)

// declaredFunctions returns the names of the MPI functions in mpi.h.
func (mpi *implementation) declaredFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for statement := range strings.SplitSeq(attributeRE.ReplaceAllString(mpi.preprocess(t, "", "-P"), ""), ";") {
		m := declarationRE.FindStringSubmatch(statement)
		if m != nil && !strings.Contains(statement, "typedef") {
			names[m[1]] = true
		}
	}
	// Not even MPI 1 has so few; the patterns above must have failed.
	if len(names) < 300 {
		t.Fatalf("only %d functions found in mpi.h", len(names))
	}
	return names
}
