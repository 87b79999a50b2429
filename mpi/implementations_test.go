package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// implementation is an MPI whose mpi.h the spec is compared with.
type implementation struct {
	name, compiler, debianPackage string

	// lacks reports the functions that the packaged version does not declare.
	lacks func(*Function) bool

	// spellings are the parameters that mpi.h does not declare as the standard does.
	spellings []spelling
}

var implementations = []implementation{
	{
		name: "MPICH", compiler: "mpicc.mpich", debianPackage: "libmpich-dev", spellings: mpichSpellings,
		lacks: func(f *Function) bool {
			// 4.0.2 has all of MPI 4.0, but its conversion functions are
			// macros, except those of files and statuses, which do more than
			// cast.
			return f.Since > 400 || f.Class == "convert" && !strings.HasPrefix(f.Name, "MPI_File_")
		},
	},
	{
		name: "Open MPI", compiler: "mpicc.openmpi", debianPackage: "libopenmpi-dev", spellings: openMPISpellings,
		lacks: func(f *Function) bool {
			// 4.1.4 is an MPI 3.1 without MPI_F08_status, and with macros for
			// MPI_Aint_add and MPI_Aint_diff. What 3.0 removed it exports
			// without declaring it.
			return f.Since > 301 || f.Removed != 0 ||
				strings.HasPrefix(f.Name, "MPI_Aint_") || f.Class.Has("convert") && strings.Contains(f.Name, "f08")
		},
	},
}

// forEachImplementation runs a test below each implementation's mpi.h. A
// missing implementation is a failure: skipped, the test would say that the
// spec is right when nobody looked.
func forEachImplementation(t *testing.T, test func(*testing.T, *implementation)) {
	for i := range implementations {
		mpi := &implementations[i]
		t.Run(mpi.name, func(t *testing.T) {
			if _, err := exec.LookPath(mpi.compiler); err != nil {
				t.Fatalf("%s is missing: install it with `apt-get install %s`", mpi.compiler, mpi.debianPackage)
			}
			test(t, mpi)
		})
	}
}

// compile checks a C program, which gets mpi.h in front.
func (mpi *implementation) compile(t *testing.T, source string) {
	t.Helper()
	if out := mpi.diagnose(t, source); out != "" {
		t.Errorf("%s says:\n%s", mpi.compiler, out)
	}
}

// diagnose returns what the compiler has against a program: nothing if all is
// well.
func (mpi *implementation) diagnose(t *testing.T, source string) string {
	t.Helper()
	out, err := exec.Command(mpi.compiler, "-std=c11", "-Wall", "-Werror", "-Wno-deprecated-declarations",
		"-fsyntax-only", writeC(t, source)).CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return string(out)
}

// preprocess returns a program after the preprocessor.
func (mpi *implementation) preprocess(t *testing.T, source string, flags ...string) string {
	t.Helper()
	args := append([]string{"-E"}, flags...)
	out, err := exec.Command(mpi.compiler, append(args, writeC(t, source))...).Output()
	if err != nil {
		t.Fatalf("%s -E: %v", mpi.compiler, err)
	}
	return string(out)
}

func writeC(t *testing.T, source string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.c")
	if err := os.WriteFile(file, []byte("#include <stddef.h>\n#include <mpi.h>\n"+source), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
