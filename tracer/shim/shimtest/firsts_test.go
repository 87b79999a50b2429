//go:build mpi

package shimtest

import (
	"debug/elf"
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

// notFirst has the functions that a child of the process that initialized MPI cannot call.
var notFirst = regexp.MustCompile(`(?i)^mpi_(abort|init|init_thread|finalize|session_finalize|comm_spawn|comm_spawn_multiple|comm_accept|comm_connect|comm_join|comm_disconnect|` +
	`(un)?publish_name|lookup_name|(open|close)_port)$`)

// A first is a function under one of the names that the linker knows.
type first struct {
	symbol  string
	f       *mpi.Function
	binding binding
}

type binding int

const (
	inC binding = iota
	inFortran
	inFortranWithDescriptors
)

// linkerNames matches the names of a procedure in Fortran: the module mpi_f08, with descriptors or
// not; mpif.h and the module mpi, as compilers mangle them.
var linkerNames = regexp.MustCompile(`^(mpi_\w*?)(_f08_|_f08ts_|_f08_large_|_f08ts_large_|__|_|)$`)

// firsts returns all functions and procedures that the libraries of a program define.
func firsts(t *testing.T, program string) (list []first) {
	t.Helper()
	byName := map[string]*mpi.Function{}
	for i := range mpi.Functions {
		if f := &mpi.Functions[i]; f.ID != 0 && !notFirst.MatchString(f.Name) {
			byName[f.Name], byName[strings.ToLower(f.Name)] = f, f
		}
	}
	out, err := exec.Command("ldd", program).Output()
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`libmpi\S* => (\S+)`).FindAllStringSubmatch(string(out), -1) {
		library, err := elf.Open(m[1])
		require.NoError(t, err)
		defer library.Close()
		symbols, err := library.DynamicSymbols()
		require.NoError(t, err)
		for _, s := range symbols {
			if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
				continue
			}
			if f := byName[s.Name]; f != nil && strings.HasPrefix(s.Name, "MPI_") {
				list = append(list, first{s.Name, f, inC})
				continue
			}
			m := linkerNames.FindStringSubmatch(strings.ToLower(s.Name))
			if m == nil || byName[m[1]] == nil || byName[m[1]].Class.Group() == mpi.GroupTool {
				continue
			}
			f, mangling := byName[m[1]], m[2]
			if strings.HasSuffix(mangling, "_large_") && f.Large != 0 {
				f = mpi.ByID(f.Large)
			}
			how := inFortran
			if strings.HasPrefix(mangling, "_f08ts") {
				how = inFortranWithDescriptors
			}
			if s.Name == strings.ToUpper(s.Name) {
				mangling = "upper"
			}
			// All names that differ only in mangling have one entry: one of these, in turns,
			// beside gfortran's.
			if mangled := slices.Index([]string{"", "__", "upper"}, mangling); mangled >= 0 && mangled != int(f.ID)%3 {
				continue
			}
			list = append(list, first{s.Name, f, how})
		}
	}
	return list
}

// values are arguments other than 0 and null handles.
var values = map[mpi.Kind]string{
	mpi.KindDatatype:   "MPI_INT",
	mpi.KindOp:         "MPI_SUM",
	mpi.KindComm:       "MPI_COMM_SELF",
	mpi.KindGroup:      "MPI_GROUP_EMPTY",
	mpi.KindErrhandler: "MPI_ERRORS_RETURN",
	mpi.KindRank:       "MPI_PROC_NULL",
	mpi.KindWin:        "MPI_WIN_NULL",
	mpi.KindFile:       "MPI_FILE_NULL",
	mpi.KindInfo:       "MPI_INFO_NULL",
	mpi.KindRequest:    "MPI_REQUEST_NULL",
	mpi.KindMessage:    "MPI_MESSAGE_NO_PROC",
	mpi.KindSession:    "MPI_SESSION_NULL",
	mpi.KindKeyval:     "MPI_KEYVAL_INVALID",
}

// argument returns the statement that prepares argument i of a call.
func (c first) argument(i int) string {
	p := &c.f.Params[i]
	value := values[p.Kind]
	if value == "" {
		value = "0"
	}
	switch {
	case p.Kind == mpi.KindComm && strings.Contains(strings.ToLower(c.f.Name), "neighbor"):
		if c.binding != inC {
			return fmt.Sprintf("INTEGER(%d, f_graph)", i)
		}
		return fmt.Sprintf("VALUE(%d, graph)", i)
	case p.Kind == mpi.KindFunction:
		return fmt.Sprintf("VALUE(%d, callback)", i)
	case p.Kind == mpi.KindBuffer && c.binding == inFortranWithDescriptors:
		return fmt.Sprintf("DESCRIPTOR(%d)", i)
	case p.Kind == mpi.KindString:
		return fmt.Sprintf("TEXT(%d)", i)
	case p.Kind == mpi.KindStatus && p.Direction == mpi.Out && c.binding == inC && !strings.HasPrefix(c.f.Name, "MPI_Status_"):
		if p.IsArray() {
			return fmt.Sprintf("VALUE(%d, MPI_STATUSES_IGNORE)", i)
		}
		return fmt.Sprintf("VALUE(%d, MPI_STATUS_IGNORE)", i)
	case p.Kind == mpi.KindStrings || p.Kind == mpi.KindArgumentLists:
		return fmt.Sprintf("VALUE(%d, NULL)", i)
	case p.Kind == mpi.KindBuffer || p.Kind == mpi.KindPointer || p.Kind == mpi.KindStatus || p.Kind == mpi.KindF08Status:
		return fmt.Sprintf("POINTER(%d)", i)
	case c.binding == inC && p.Kind.IsHandle() && p.IsPointer() && values[p.Kind] != "":
		return fmt.Sprintf("HANDLES(%d, %s, %s)", i, p.Kind.CType(), value)
	case c.binding == inC && p.IsPointer():
		return fmt.Sprintf("POINTER(%d)", i)
	case c.binding == inC:
		return fmt.Sprintf("VALUE(%d, %s)", i, value)
	case p.Kind == mpi.KindDatatype || p.Kind == mpi.KindOp || p.Kind == mpi.KindComm || p.Kind == mpi.KindGroup || p.Kind == mpi.KindErrhandler:
		return fmt.Sprintf("F_HANDLES(%d, F_%s)", i, p.Kind.CType())
	case p.Kind == mpi.KindMessage:
		return fmt.Sprintf("F_HANDLES(%d, F_NO_MESSAGE)", i)
	case p.Kind.IsHandle() && p.Kind != mpi.KindKeyval:
		return fmt.Sprintf("F_HANDLES(%d, F_NULL(%s))", i, value)
	}
	return fmt.Sprintf("INTEGER(%d, %s)", i, value)
}

// row returns the function that prepares the arguments of a call, and the call's row of the table.
func (c first) row(number int) (prepare, row string) {
	var b strings.Builder
	for i := range c.f.Params {
		b.WriteString(" " + c.argument(i))
	}
	failure := -2
	switch {
	case c.f.Return == mpi.KindErrorCode && c.binding == inC:
		failure = -1
	case c.f.Return == mpi.KindErrorCode:
		failure = len(c.f.Params)
		fmt.Fprintf(&b, " INTEGER(%d, 0)", failure)
	}
	return fmt.Sprintf("static void prepare_%d(long *a) { (void)a;%s }\n", number, b.String()),
		fmt.Sprintf("\t{%q, prepare_%d, %d},\n", c.symbol, number, failure)
}

// compileFirsts returns the program testdata/firsts.c with the rows of all functions, linked with
// the Fortran libraries.
func compileFirsts(t *testing.T, implementation string) (program string, functions int) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "firsts")
	empty := filepath.Join(dir, "empty.f90")
	object := filepath.Join(dir, "firsts.o")
	require.NoError(t, os.WriteFile(empty, []byte("subroutine empty\nend\n"), 0o644))
	// linked against all, the program needs all
	link := func(input string) {
		out, err := exec.Command("mpif90."+implementation, "-Wl,--no-as-needed", "-o", program, input).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	compile := func(rows string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rows.h"), []byte(rows), 0o644))
		out, err := exec.Command("mpicc."+implementation, "-O0", "-w", "-I"+dir, "-c", "-o", object, "../testdata/firsts.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		link(object)
	}
	compile("static struct row rows[1];\n")
	var prepares, rows strings.Builder
	list := firsts(t, program)
	for i, c := range list {
		prepare, row := c.row(i)
		prepares.WriteString(prepare)
		rows.WriteString(row)
	}
	compile(prepares.String() + "static const struct row rows[] = {\n" + rows.String() + "\t{0}\n};\n")
	return program, len(list)
}

// TestFirstCalls: whatever function a process calls first, in C or Fortran, under whichever name,
// with no requests, no peers and ignored statuses, the process ends as it does without the tracer.
func TestFirstCalls(t *testing.T) {
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			t.Parallel()
			program, functions := compileFirsts(t, implementation)
			require.Greater(t, functions, 1000)
			for _, when := range []string{"early", "initialized"} {
				tracer := NewTracer(t, map[string]any{"call_sites": "path"})
				plain, traced := Run(t, nil, program, when, "2"), tracer.Run(t, program, when, "1")
				ends, undefined := strings.Split(traced.Stdout, "\n"), 0
				require.Len(t, ends, functions+1, traced.Stderr)
				for i, line := range strings.Split(strings.TrimSuffix(plain.Stdout, "\n"), "\n") {
					name, both, _ := strings.Cut(line, ":")
					end := both[:len(both)/2]
					if both != end+end || name+":"+end != ends[i] && endsSo(t, strings.TrimPrefix(ends[i], name+":"), program, when, "2", name) {
						undefined++
						continue
					}
					assert.Equal(t, name+":"+end, ends[i], when)
				}
				assert.Less(t, undefined, functions/20, "how many end as chance has it")
			}
		})
	}
}

// endsSo tells whether one of many runs without the tracer ends in this way: what a library did not
// initialize depends on the addresses of a process, too. After a failure it is not asked any more:
// a tracer that breaks all functions would take hours.
func endsSo(t *testing.T, end string, program ...string) bool {
	for i := 0; i < 60 && !t.Failed(); i++ {
		if ends := Run(t, nil, program...).Stdout; strings.Contains(strings.ReplaceAll(ends, "\n", " "), end+" ") {
			return true
		}
	}
	return false
}
