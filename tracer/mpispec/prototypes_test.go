package mpispec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// The MPI implementations that the prototypes are compared with.
var implementations = []struct {
	name, compiler, debianPackage string

	// lacks reports the functions that the packaged versions do not declare.
	lacks func(*Function) bool
}{
	{"MPICH", "mpicc.mpich", "libmpich-dev", func(f *Function) bool {
		// 4.0.2 has all of MPI 4.0, but its conversion functions are macros,
		// but for those of files and statuses, which are not just casts.
		return f.Since > 400 || f.Class == "convert" && !strings.HasPrefix(f.Name, "MPI_File_")
	}},
	{"Open MPI", "mpicc.openmpi", "libopenmpi-dev", func(f *Function) bool {
		// 4.1.4 is an MPI 3.1 without MPI_F08_status, and with macros for
		// MPI_Aint_add and MPI_Aint_diff. What 3.0 removed it exports without
		// declaring it.
		return f.Since > 301 || f.Removed != 0 ||
			strings.HasPrefix(f.Name, "MPI_Aint_") || f.Class.Has("convert") && strings.Contains(f.Name, "f08")
	}},
}

// notInSpec has what headers declare and the spec leaves out on purpose.
var notInSpec = map[string]string{}

// TestPrototypes redeclares every function from the spec below each
// implementation's mpi.h: the compiler rejects a declaration that differs.
func TestPrototypes(t *testing.T) {
	for _, mpi := range implementations {
		t.Run(mpi.name, func(t *testing.T) {
			if _, err := exec.LookPath(mpi.compiler); err != nil {
				t.Fatalf("%s is missing: install the package %s (apt-get install %[2]s)", mpi.compiler, mpi.debianPackage)
			}
			declared := declaredFunctions(t, mpi.compiler)
			var source strings.Builder
			source.WriteString("#include <mpi.h>\n")
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
			for _, name := range sortedKeys(declared) {
				if ByName(name) == nil && notInSpec[name] == "" && !strings.HasPrefix(name, "MPIX_") {
					t.Errorf("%s is declared in mpi.h and not in the spec", name)
				}
			}
			file := filepath.Join(t.TempDir(), "prototypes.c")
			if err := os.WriteFile(file, []byte(source.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(mpi.compiler, "-std=c11", "-Wall", "-Werror", "-Wno-deprecated-declarations", "-fsyntax-only", file).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

var (
	attributeRE   = regexp.MustCompile(`__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)`)
	declarationRE = regexp.MustCompile(`(?s)^\s*(?:extern\s+)?[\w\s*]+?\b(MPIX?_\w+)\s*\(.*\)\s*$`)
)

// declaredFunctions returns the names of the MPI functions in mpi.h.
func declaredFunctions(t *testing.T, compiler string) map[string]bool {
	file := filepath.Join(t.TempDir(), "mpi.c")
	if err := os.WriteFile(file, []byte("#include <mpi.h>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(compiler, "-E", "-P", file).Output()
	if err != nil {
		t.Fatalf("%s -E: %v", compiler, err)
	}
	names := make(map[string]bool)
	for statement := range strings.SplitSeq(attributeRE.ReplaceAllString(string(out), ""), ";") {
		m := declarationRE.FindStringSubmatch(statement)
		if m != nil && !strings.Contains(statement, "typedef") {
			names[m[1]] = true
		}
	}
	if len(names) < 300 {
		t.Fatalf("only %d functions found in mpi.h of %s", len(names), compiler)
	}
	return names
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
