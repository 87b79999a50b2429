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
)

// constantUses are statements that pass a constant of a kind, %[1]s, to MPI. If it has no result,
// MPI may refuse it.
var constantUses = map[mpi.Kind]string{
	mpi.KindDatatype: `types[0] = MPI_INT, types[1] = %[1]s;
		if (MPI_Type_create_struct(2, ones, displacements, types, &type) == MPI_SUCCESS) { used("%[1]s"); MPI_Type_free(&type); }`,
	mpi.KindOp:        `if (MPI_Op_commutative(%[1]s, &n) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindComm:      `if (MPI_Comm_compare(MPI_COMM_SELF, %[1]s, &n) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindGroup:     `if (MPI_Group_size(%[1]s, &n) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindInfo:      `if (MPI_Comm_dup_with_info(comm, %[1]s, &other) == MPI_SUCCESS) { used("%[1]s"); MPI_Comm_free(&other); }`,
	mpi.KindRequest:   `request = %[1]s; if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindMessage:   `message = %[1]s; if (MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindKeyval:    `if (MPI_Comm_get_attr(MPI_COMM_WORLD, %[1]s, &attribute, &n) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindLockType:  `if (MPI_Win_lock(%[1]s, 0, 0, win) == MPI_SUCCESS) { used("%[1]s"); MPI_Win_unlock(0, win); }`,
	mpi.KindSplitType: `if (MPI_Comm_split_type(comm, %[1]s, 0, MPI_INFO_NULL, &other) == MPI_SUCCESS) { used("%[1]s"); if (other != MPI_COMM_NULL) MPI_Comm_free(&other); }`,
	mpi.KindTypeClass: `if (MPI_Type_match_size(%[1]s, 8, &type) == MPI_SUCCESS) used("%[1]s");`,
	mpi.KindOrdering:  `if (MPI_Type_create_subarray(1, ones, ones, zeros, %[1]s, MPI_INT, &type) == MPI_SUCCESS) { used("%[1]s"); MPI_Type_free(&type); }`,
	mpi.KindDistribution: `distribution = %[1]s;
		if (MPI_Type_create_darray(1, 0, 1, ones, &distribution, &argument, ones, MPI_ORDER_C, MPI_INT, &type) == MPI_SUCCESS) { used("%[1]s"); MPI_Type_free(&type); }`,
}

const constantsProgram = `
#include <mpi.h>
#include <stdio.h>

#ifdef OPEN_MPI // its library has them for old programs
#undef MPI_LB
#undef MPI_UB
extern char ompi_mpi_lb[], ompi_mpi_ub[];
#define MPI_LB ((MPI_Datatype)(void *)ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)(void *)ompi_mpi_ub)
#endif

static void used(const char *name) { printf("used %%s\n", name); }

int main(int argc, char **argv)
{
	int n, ones[2] = {1, 1}, zeros[1] = {0}, distribution, argument = MPI_DISTRIBUTE_DFLT_DARG;
	MPI_Aint displacements[2] = {0, 64};
	MPI_Datatype types[2], type;
	MPI_Comm comm, other;
	MPI_Request request;
	MPI_Message message;
	MPI_Win win;
	void *attribute;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Win_create(ones, sizeof(ones), sizeof(int), MPI_INFO_NULL, comm, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
%s
	MPI_Win_free(&win);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
`

// TestReplayOfConstants: a run that passes the constants of the table to MPI, as far as its MPI has
// them, is executed again on the same MPI. On the other one it is, too, or it is refused with the
// names of the constants that are missing.
func TestReplayOfConstants(t *testing.T) {
	t.Parallel()
	var uses strings.Builder
	for i := range mpi.Constants {
		c := &mpi.Constants[i]
		switch {
		case c.ID == 0 || constantUses[c.Kinds[0]] == "", c.Name == "MPI_MESSAGE_NULL":
			continue // MPI_MESSAGE_NULL ends the program
		}
		guard := c.Guard()
		if c.Name == "MPI_LB" || c.Name == "MPI_UB" {
			guard = "1"
		}
		fmt.Fprintf(&uses, "#if %s\n\t%s\n#endif\n", guard, fmt.Sprintf(constantUses[c.Kinds[0]], c.Name))
	}
	for i, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			used := runConstants(t, implementation, "mpicc."+implementation, "constants.c", fmt.Sprintf(constantsProgram, uses.String()))
			assert.Subset(t, used.names, []string{"MPI_LB", "MPI_UB", "MPI_SUM", "MPI_COMM_WORLD", "MPI_TAG_UB"})
			replayOfConstants(t, used, implementation, implementations[1-i])
		})
	}
}

// TestReplayOfFortranConstants: the datatypes that mpif.h has, some of which mpi.h has not.
func TestReplayOfFortranConstants(t *testing.T) {
	t.Parallel()
	for i, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			declared := mpifHandles(t, implementation)
			var uses strings.Builder
			for j := range mpi.Constants {
				if c := &mpi.Constants[j]; c.IsKind(mpi.KindDatatype) && declared[c.Name] {
					fmt.Fprintf(&uses, "types(2) = %[1]s\ncall MPI_TYPE_CREATE_STRUCT(2, ones, displacements, types, type, error)\n"+
						"if (error == MPI_SUCCESS) then\nprint '(a)', 'used %[1]s'\ncall MPI_TYPE_FREE(type, error)\nend if\n", c.Name)
				}
			}
			source := "program constants\nimplicit none\ninclude 'mpif.h'\ninteger :: ones(2) = 1, types(2), type, error\n" +
				"integer(kind=MPI_ADDRESS_KIND) :: displacements(2) = (/ 0, 64 /)\ntypes(1) = MPI_INTEGER\ncall MPI_INIT(error)\n" +
				"call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)\n" +
				"call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)\n" +
				uses.String() + "call MPI_FINALIZE(error)\nend program\n"
			used := runConstants(t, implementation, "mpif90."+implementation, "constants.f90", source)
			assert.Subset(t, used.names, []string{"MPI_LB", "MPI_REAL16", "MPI_2INTEGER", "MPI_COMPLEX32"})
			replayOfConstants(t, used, implementation, implementations[1-i])
		})
	}
}

// mpifHandles returns the names of constants that a Fortran program can use.
func mpifHandles(t *testing.T, implementation string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "names.F90")
	declared := map[string]bool{}
	for i := range mpi.Constants {
		if c := &mpi.Constants[i]; c.IsKind(mpi.KindDatatype) {
			declared[c.Name] = true
		}
	}
	for {
		var text strings.Builder
		text.WriteString("program names\nimplicit none\ninclude 'mpif.h'\n")
		for name := range declared {
			text.WriteString("print *, " + name + "\n")
		}
		text.WriteString("end program\n")
		require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o644))
		out, err := exec.Command("mpif90."+implementation, "-fmax-errors=0", "-fsyntax-only", source).CombinedOutput()
		if err == nil {
			return declared
		}
		missing := regexp.MustCompile(`Symbol .(mpi_\w+). at`).FindAllStringSubmatch(string(out), -1)
		require.NotEmpty(t, missing, "%s", out)
		for _, m := range missing {
			delete(declared, strings.ToUpper(m[1]))
		}
	}
}

// A constantsRun is a run, with the constants that MPI accepted.
type constantsRun struct {
	result
	names []string
}

// runConstants compiles and traces a program that prints the constants which MPI accepts.
func runConstants(t *testing.T, implementation, compiler, name, source string) constantsRun {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644))
	program := filepath.Join(dir, "constants")
	out, err := exec.Command(compiler, "-w", "-o", program, filepath.Join(dir, name)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := trace(t, []string{"--verify"}, append(launcher(implementation, 1), program)...)
	require.Equal(t, 0, r.code, r.stderr)
	run := constantsRun{result: r}
	for _, m := range regexp.MustCompile(`(?m)^used (\w+)$`).FindAllStringSubmatch(r.stdout, -1) {
		run.names = append(run.names, m[1])
	}
	return run
}

// replayOfConstants executes the run again under its own MPI and under the other one.
func replayOfConstants(t *testing.T, run constantsRun, implementation, other string) {
	t.Helper()
	dump := cairn(t, "", "dump", filepath.Join(run.dir, "trace.cairn"))
	require.Equal(t, 0, dump.code, dump.stderr)
	assert.NotRegexp(t, `types=\[[^\]]*#`, dump.stdout, "a predefined datatype has no name")
	named := regexp.MustCompile(`MPI_\w+`).FindAllString(dump.stdout, -1)
	again := replay(t, run.dir, implementation, 1, "--check")
	require.Equal(t, 0, again.code, again.stdout+again.stderr)
	again = replay(t, run.dir, other, 1, "--check")
	if again.code != 0 {
		refused := regexp.MustCompile(`(?m)^  (\w+): the MPI that is to execute it again does not have it$`).FindAllStringSubmatch(again.stderr, -1)
		require.NotEmpty(t, refused, again.stdout+again.stderr)
		for _, m := range refused {
			assert.True(t, slices.Contains(named, m[1]), "%s is refused, and not in the trace", m[1])
			t.Log(other, "lacks", m[1])
		}
	}
}
