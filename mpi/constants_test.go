package mpi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestConstantsExist names every constant, under its Guard and as the C type
// of its kind, below each implementation's mpi.h.
func TestConstantsExist(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		var source strings.Builder
		source.WriteString("void use(const void *);\n")
		for i := range Constants {
			if c := &Constants[i]; c.ID != 0 {
				fmt.Fprintf(&source, "#if %s\nvoid use%d(void) { %s }\n#endif\n", c.Guard(), c.ID, c.use())
			}
		}
		mpi.compile(t, source.String())
	})
}

// use returns a C statement that compiles only if the constant has the type
// that the spec gives it.
func (c *Constant) use() string {
	kind := c.Kinds[0]
	switch {
	case kind == KindFunction:
		return fmt.Sprintf("use((const void *)%s);", c.Name)
	case c.Pointer:
		// The pointer types differ in const between implementations.
		return fmt.Sprintf("%s *p = (void *)%s; use(p);", kind.CType(), c.Name)
	}
	return fmt.Sprintf("%s v = %s; use(&v);", kind.CType(), c.Name)
}

// guardedOut has the constants that an implementation lacks, whatever its
// version: these are the kind of names that must not go missing unnoticed.
var guardedOut = map[string][]string{
	"MPICH": {
		"MPI_2COMPLEX", "MPI_2DOUBLE_COMPLEX", "MPI_COMPLEX4", "MPI_REAL2",
	},
	"Open MPI": {
		"MPI_COMBINER_HINDEXED_INTEGER", "MPI_COMBINER_HVECTOR_INTEGER", "MPI_COMBINER_STRUCT_INTEGER",
		"MPI_COMPLEX4", "MPI_F08_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE", "MPI_INTEGER16", "MPI_LB",
		"MPI_REAL2", "MPI_UB",
	},
}

// TestConstantGuards finds the constants that Guard keeps out, and expects
// those that are newer than the implementation and those in guardedOut.
func TestConstantGuards(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		var source strings.Builder
		source.WriteString("version: MPI_VERSION MPI_SUBVERSION\n")
		for i := range Constants {
			if c := &Constants[i]; c.ID != 0 {
				fmt.Fprintf(&source, "#if !(%s)\nlacks: %d\n#endif\n", c.Guard(), c.ID)
			}
		}
		out := mpi.preprocess(t, source.String(), "-P")
		var major, minor Version
		_, version, _ := strings.Cut(out, "version:")
		if _, err := fmt.Sscanf(version, "%d %d", &major, &minor); err != nil {
			t.Fatal(err)
		}
		missing := make(map[string]bool)
		for _, m := range regexp.MustCompile(`lacks: (\d+)`).FindAllStringSubmatch(out, -1) {
			var id int
			fmt.Sscan(m[1], &id)
			if c := &Constants[id]; c.Since <= 100*major+minor {
				missing[c.Name] = true
			}
		}
		if got, want := slices.Sorted(maps.Keys(missing)), slices.Sorted(slices.Values(guardedOut[mpi.name])); !slices.Equal(got, want) {
			t.Errorf("lacks %q\nexpected %q", got, want)
		}
	})
}

// notConstants has what looks like a constant in an mpi.h and is none of the
// standard's, or none with a value to record.
var notConstants = map[string]string{
	"MPI_VERSION":              "the version itself",
	"MPI_SUBVERSION":           "the version itself",
	"MPI_SOURCE":               "a field of MPI_Status",
	"MPI_TAG":                  "a field of MPI_Status",
	"MPI_ERROR":                "a field of MPI_Status",
	"MPI_F_SOURCE":             "an index into a Fortran status",
	"MPI_F_TAG":                "an index into a Fortran status",
	"MPI_F_ERROR":              "an index into a Fortran status",
	"MPI_INCLUDED":             "include guard",
	"MPI_PROTO_H_INCLUDED":     "include guard",
	"MPI_FILE_DEFINED":         "include guard",
	"MPI_AINT_FMT_DEC_SPEC":    "MPICH's own",
	"MPI_AINT_FMT_HEX_SPEC":    "MPICH's own",
	"MPI_CXX_COMPLEX":          "Open MPI's own name for MPI_CXX_FLOAT_COMPLEX",
	"MPI_T_BIND_INVALID":       "MPICH's own",
	"MPI_T_PVAR_CLASS_INVALID": "MPICH's own",
	"MPI_T_SCOPE_INVALID":      "MPICH's own",
	"MPI_T_VERBOSITY_INVALID":  "MPICH's own",
}

var (
	constantRE = regexp.MustCompile(`\bMPI_[A-Z0-9][A-Z0-9_]*\b`)
	// MPICH numbers its functions in mpi.h: MPI_SEND_T, MPI_LAST_FUNC_T.
	functionNumberRE = regexp.MustCompile(`^MPI_([A-Z0-9_]+)_T$`)
)

// TestConstantsComplete finds the constants in each mpi.h and expects all of
// them in the spec.
func TestConstantsComplete(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		text := mpi.preprocess(t, "", "-P") + mpi.preprocess(t, "", "-dM")
		found := 0
		seen := make(map[string]bool)
		for _, name := range constantRE.FindAllString(text, -1) {
			if seen[name] || functionNumberRE.MatchString(name) && ConstantByName(name) == nil {
				continue
			}
			seen[name] = true
			if ConstantByName(name) != nil {
				found++
			} else if notConstants[name] == "" {
				t.Errorf("%s is in mpi.h and not in the spec", name)
			}
		}
		if found < 300 {
			t.Errorf("only %d constants found in mpi.h", found)
		}
	})
}
