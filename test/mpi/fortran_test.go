//go:build mpi

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// bindings are the ways to call MPI from Fortran, as test/mpi/fortran/binding.h calls them.
var bindings = []string{"MPIF_H", "USE_MPI", "USE_MPI_F08"}

// fortranFamilies are the programs in test/mpi/fortran, one per family of functions.
var fortranFamilies = []string{"pointtopoint", "collectives", "communicators", "datatypes", "objects", "rma", "io", "spawn", "mpi4"}

// elsewhere maps programs to the only implementation that they run under. Open MPI 4 is an MPI 3.1.
// The process manager of Debian's MPICH 4.0 does not spawn (MPI_Comm_spawn fails in C as well:
// `MPID_Comm_spawn_multiple: Error in spawn call').
var elsewhere = map[string]string{"mpi4": "openmpi", "spawn": "mpich"}

// fortranProgram compiles one for a binding.
func fortranProgram(t *testing.T, implementation, binding, name string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(shimtest.Root(), "test", "mpi", "fortran")
	program := filepath.Join(dir, name)
	out, err := exec.Command("mpif90."+implementation, "-g", "-O1", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none",
		"-fcray-pointer", "-D"+binding, "-DWITH_"+implementation, "-J"+dir, "-I"+source, "-o", program,
		filepath.Join(source, "counted.F90"), filepath.Join(source, name+".F90")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// TestFortran runs every program of test/mpi/fortran in the three bindings: the decoded trace must
// equal the reference log in every call, and the program's own counts. Together the programs call
// every procedure that the Fortran libraries export, except those in untouched, which have a
// reason. Not with -short: USE_MPI, whose procedures are nearly all those of MPIF_H.
func TestFortran(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		for _, binding := range bindings {
			if testing.Short() && binding == "USE_MPI" {
				continue
			}
			t.Run(implementation+"/"+binding, func(t *testing.T) {
				t.Parallel()
				touched, ran := map[string]bool{}, 0
				for _, name := range fortranFamilies {
					if elsewhere[name] == implementation {
						ran++
						continue
					}
					t.Run(name, func(t *testing.T) {
						ran++
						for f := range runFortran(t, implementation, binding, name) {
							touched[f] = true
						}
					})
				}
				if t.Failed() || ran < len(fortranFamilies) {
					return // a program that failed or that -run left out has touched nothing
				}
				var missing []string
				for f := range fortranProcedures(t, implementation, binding) {
					if binding != "MPIF_H" && mpi.ByName(f).Removed != 0 {
						continue // in the library for old objects: the modules do not declare it
					}
					if !touched[f] && untouched[f] == "" && untouched[binding+" "+f] == "" && untouched[implementation+" "+f] == "" {
						missing = append(missing, f)
					}
				}
				assert.Empty(t, missing, "these are in the library, and no program calls them")
			})
		}
	}
}

// TestFortranLarge: MPICH's procedures with large counts.
func TestFortranLarge(t *testing.T) {
	t.Parallel()
	called := runFortran(t, "mpich", "USE_MPI_F08", "large")
	assert.True(t, called["MPI_Sendrecv_c"])
}

// runFortran returns the functions that the program called.
func runFortran(t *testing.T, implementation, binding, name string) map[string]bool {
	t.Helper()
	program := fortranProgram(t, implementation, binding, name)
	command := launch(implementation, 2, program)
	command[len(command)-1] = program
	file := filepath.Join(t.TempDir(), "file")
	r := trace(t, []string{"--verify"}, append([]string{"env", "CAIRN_TEST_FILE=" + file}, command...)...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
	printed := printedCounts(t, r.stdout)
	require.Len(t, printed, 2, r.stdout)
	file = filepath.Join(r.dir, "trace.cairn")
	if _, err := os.Stat(file); err != nil { // spawned worlds are runs of their own
		found, err := filepath.Glob(filepath.Join(r.dir, "run-0*", "trace.cairn"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		file = found[0]
	}
	assert.Equal(t, printed, dumpCounts(t, file))
	called := map[string]bool{}
	for f := range printed[0] {
		called[f] = true
	}
	for f := range printed[1] {
		called[f] = true
	}
	return called
}

const (
	noNameServer = "needs a name server, which Open MPI's mpirun does not start"
	noSpawn      = "Debian's MPICH has dynamic processes in no local run: see elsewhere"
)

// untouched are procedures that no program calls, with the reason; some with the binding or the
// implementation before the name.
var untouched = map[string]string{
	"MPI_Abort":                       "the process would not get to print its counts; the C examples call it",
	"MPI_Comm_join":                   "needs a socket, which Fortran has no means to make",
	"MPI_Register_datarep":            "Open MPI 4 and MPICH 4 refuse all but the predefined representations",
	"MPI_Init":                        "or MPI_Init_thread: a program calls one of them",
	"USE_MPI_F08 MPI_Info_create_env": "MPICH 4.0 crashes in it, traced or not",
	"MPI_Session_call_errhandler":     "MPICH 4.0 aborts in it with the error that it is given, also where errors are to be returned, traced or not",
	"openmpi MPI_Publish_name":        noNameServer,
	"openmpi MPI_Lookup_name":         noNameServer,
	"openmpi MPI_Unpublish_name":      noNameServer,
	"mpich MPI_Comm_accept":           noSpawn,
	"mpich MPI_Comm_connect":          noSpawn,
	"mpich MPI_Comm_spawn":            noSpawn,
	"mpich MPI_Comm_spawn_multiple":   noSpawn,
}

// fortranSymbol parses a symbol: the procedure and its name mangling. The second form is the one in
// which gfortran calls mpi_f08.
var (
	plainSymbol = regexp.MustCompile(`^(mpi_[a-z0-9_]*[a-z0-9])_$`)
	f08Symbol   = regexp.MustCompile(`^(mpi_[a-z0-9_]*[a-z0-9])_f08(ts)?_$`)
)

// fortranProcedures returns the C functions for the symbols of a binding that the implementation's
// libraries export.
func fortranProcedures(t *testing.T, implementation, binding string) map[string]bool {
	t.Helper()
	byLower := map[string]string{}
	for i := range mpi.Functions {
		byLower[strings.ToLower(mpi.Functions[i].Name)] = mpi.Functions[i].Name
	}
	found := map[string]bool{}
	for _, symbol := range fortranSymbols(t, implementation) {
		pattern := plainSymbol
		if binding == "USE_MPI_F08" {
			pattern = f08Symbol
		}
		if m := pattern.FindStringSubmatch(symbol); m != nil && (binding == "USE_MPI_F08" || f08Symbol.FindString(symbol) == "") {
			if f := byLower[m[1]]; f != "" {
				found[f] = true
			}
		}
	}
	require.Greater(t, len(found), 250)
	return found
}

// fortranLibrary are Open MPI's libmpi_mpifh, libmpi_usempi… and MPICH's libmpichfort.
var fortranLibrary = regexp.MustCompile(`^libmpi(_mpifh|_usempi\w*|chfort)\.so`)

// fortranSymbols are the symbols of MPI in the Fortran libraries that a program is linked with.
func fortranSymbols(t *testing.T, implementation string) []string {
	t.Helper()
	program := fortranProgram(t, implementation, "USE_MPI_F08", "collectives")
	out, err := exec.Command("ldd", program).Output()
	require.NoError(t, err)
	var symbols []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !fortranLibrary.MatchString(fields[0]) {
			continue
		}
		nm, err := exec.Command("nm", "-D", "--defined-only", fields[2]).Output()
		require.NoError(t, err)
		for s := range strings.Lines(string(nm)) {
			if f := strings.Fields(s); len(f) == 3 && strings.HasPrefix(strings.ToLower(f[2]), "mpi") {
				symbols = append(symbols, f[2])
			}
		}
	}
	slices.Sort(symbols)
	symbols = slices.Compact(symbols)
	require.Greater(t, len(symbols), 1000, fmt.Sprintf("%s has no Fortran libraries", program))
	return symbols
}

// fortranNotWrapped are the exported symbols that the shim leaves alone, with the reason.
var fortranNotWrapped = []struct{ pattern, reason string }{
	{`^MPI_[A-Z][a-zA-Z0-9_]*$`, "a C function, if it is in the table; the test of the C symbols looks after those"},
	{`^MPI_[A-Za-z0-9_]*_f(08)?$`, "Open MPI's C names of the code behind mpi_x_; no compiler and no module refers to them"},
	{`(?i)^mpi_sizeof_`, "MPI_SIZEOF: computes a size from the argument's type and calls nothing"},
	{`(?i)^mpi_f_sync_reg(_|__|_f08_|_f08ts_)?$`, "MPI_F_SYNC_REG: does nothing, it keeps the compiler from moving code"},
	{`(?i)^mpi_((comm|type|win)_)?(null_copy_fn|null_delete_fn|dup_fn)_*$`, "a predefined callback: passed, not called"},
	{`(?i)^mpi_conversion_fn_null(_f)?_*$`, "a predefined callback: passed, not called"},
	{`^mpi_fortran_[a-z_]+_$|^mpifcmb|^mpipriv|^MPI_F_(ARGV|ARGVS|ERRCODES)`, "a common block or variable: the address of a constant"},
	{`^mpirinit[cf]_$`, "MPICH's initialization of those"},
	{`(?i)^mpix_|^mpiext_`, "an extension of the implementation, not the standard's; no C function of the table is behind it"},
	{`^mpi_delete_error_(class|code|string)_f08_$`, "MPI 4.1 under the name of MPICH's extension MPIX_Delete_error_class"},
	{`^MPIR_|^MPIR?_F08_|^mpi_c_`, "MPICH's own data"},
	{`^MPI_(COMM|TYPE|WIN)_(DUP|NULL)`, "a predefined callback: passed, not called"},
}

// TestFortranSymbols: every symbol of MPI in the installed Fortran libraries is exported by the
// shim, or there is a reason.
func TestFortranSymbols(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			out, err := exec.Command("nm", "-D", "--defined-only", filepath.Join(shimtest.Root(), "lib", "libcairn-"+implementation+".so")).Output()
			require.NoError(t, err)
			wrapped := map[string]bool{}
			for s := range strings.Lines(string(out)) {
				if f := strings.Fields(s); len(f) == 3 {
					wrapped[f[2]] = true
				}
			}
			listed := 0
			for _, symbol := range fortranSymbols(t, implementation) {
				if wrapped[symbol] {
					continue
				}
				i := slices.IndexFunc(fortranNotWrapped, func(n struct{ pattern, reason string }) bool {
					return regexp.MustCompile(n.pattern).MatchString(symbol)
				})
				if assert.GreaterOrEqual(t, i, 0, "%s is neither wrapped nor listed with a reason", symbol) {
					listed++
				}
			}
			t.Logf("%d symbols are not wrapped", listed)
		})
	}
}
