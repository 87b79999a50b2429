//go:build mpi

package mpi

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/counts"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A placement is where a tool that defines functions of MPI is in the order of symbol resolution.
type placement int

const (
	preloaded placement = iota // before the shim, by the user
	own                        // in the program
	linked                     // a library that the program is linked with
	after                      // preloaded after the shim
	placements
)

func (p placement) String() string { return []string{"preloaded", "own", "linked", "after"}[p] }

// A tooled program is a program with at most one tool in each placement.
type tooled struct {
	implementation string
	program        string // its source
	tools          [placements]string
	file           string // the executable
	preload, after string // libraries
}

// ways are the ways in which a tool calls the next definition, as flags of tool.c; none: there is
// no tool.
var ways = []string{"-DPLAIN", `-DNEXT="PMPI_"`, `-DNEXT="MPI_"`}

func (p tooled) String() string {
	name := p.implementation + " " + p.program
	for place, way := range p.tools {
		if way != "" {
			name += fmt.Sprintf(" %s%s", placement(place), strings.TrimPrefix(way, "-D"))
		}
	}
	return name
}

func compile(t *testing.T, compiler string, arguments ...string) {
	t.Helper()
	out, err := exec.Command(compiler, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// build compiles the program and its tools.
func (p *tooled) build(t *testing.T, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	c, fortran := "mpicc."+p.implementation, "mpif90."+p.implementation
	file := filepath.Join(dir, "program")
	link := []string{"-g", "-O1", "-o", file, filepath.Join("tools", p.program)}
	for place, way := range p.tools {
		name := placement(place).String()
		library := filepath.Join(dir, "lib"+name+".so")
		arguments := []string{"-g", "-O1", "-fPIC", way, fmt.Sprintf("-DNAME=%q", name), "tools/tool.c", "-ldl"}
		switch {
		case way == "":
			continue
		case placement(place) == own:
			object := filepath.Join(dir, "own.o")
			compile(t, c, append(arguments[:len(arguments)-1], "-c", "-o", object)...)
			link = append(link, object)
			continue
		case placement(place) == linked:
			link = append(link, "-Wl,--no-as-needed", library, "-Wl,-rpath,"+dir)
		case placement(place) == preloaded:
			p.preload = library
		case placement(place) == after:
			p.after = library
		}
		compile(t, c, append(arguments, "-shared", "-o", library)...)
	}
	if filepath.Ext(p.program) == ".c" {
		compile(t, c, append(append(link, flags...), "-ldl")...)
	} else {
		compile(t, fortran, append(append(link, flags...), "-fallow-argument-mismatch", "-ffree-line-length-none", "-ldl")...)
	}
	p.file = file
}

// command returns the program's command. Ranks preload the libraries before and after what is
// preloaded already.
func (p *tooled) command() []string {
	return launched(p.implementation, 2, "sh", "-c", `LD_PRELOAD="$0:$LD_PRELOAD:$1" exec "$2"`, p.preload, p.after, p.file)
}

// printedByTools returns the lines of the tools, which do not depend on who listens.
func printedByTools(output string) []string {
	lines := regexp.MustCompile(`(?m)^tool .*$`).FindAllString(output, -1)
	slices.Sort(lines)
	return lines
}

// expect adds the calls that tools in front of the shim make for themselves.
func (p *tooled) expect(t *testing.T, output string) counts.ByRank {
	t.Helper()
	expected := printedCounts(t, output)
	for _, line := range printedByTools(output) {
		var name string
		var rank int
		var calls, ofTool uint64
		_, err := fmt.Sscanf(line, "tool %s rank=%d calls=%d own=%d", &name, &rank, &calls, &ofTool)
		require.NoError(t, err)
		if name == preloaded.String() || name == own.String() {
			require.Contains(t, expected, rank, output)
			if ofTool > 0 {
				expected[rank]["MPI_Comm_size"] += ofTool
			}
			expected[rank]["MPI_Comm_rank"]++
		}
	}
	return expected
}

// check runs the program natively and traced, and compares.
func (p *tooled) check(t *testing.T) {
	t.Helper()
	command := p.command()
	native := exec.Command(command[0], command[1:]...)
	native.Env = append(os.Environ(), "LD_PRELOAD="+yield, shimtest.OwnSessions(t))
	out, err := native.CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := trace(t, []string{"--verify"}, command...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Equal(t, printedByTools(string(out)), printedByTools(r.stdout), "what the tools see")
	assert.Regexp(t, `verify: all \d+ calls on 2 ranks agree`, r.stdout+r.stderr)
	assert.Equal(t, p.expect(t, r.stdout), dumpCounts(t, filepath.Join(r.dir, "trace.cairn")))
}

// TestTools: with tools that define MPI_X and call PMPI_X, in front of the shim, behind it, and in
// the program, each call is in the trace once, and tools see what they see without the tracer.
func TestTools(t *testing.T) {
	rounds := uint64(40)
	if testing.Short() {
		rounds = 2
	}
	for i := range rounds {
		random := rand.New(rand.NewPCG(i, 0))
		for j, program := range []string{"program.c", "program.F90"} {
			p := tooled{implementation: implementations[(i+uint64(j))%2], program: program}
			for place := range p.tools {
				if random.IntN(2) == 0 {
					p.tools[place] = ways[random.IntN(len(ways))]
				}
			}
			var flags []string
			if random.IntN(2) == 0 && program == "program.F90" {
				flags = append(flags, "-DOWN")
			}
			t.Run(strings.Join(append([]string{fmt.Sprint(i), p.String()}, flags...), " "), func(t *testing.T) {
				p.build(t, flags...)
				p.check(t)
			})
		}
	}
}

// libraryOf returns the path of a library that the dynamic linker finds.
func libraryOf(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("/sbin/ldconfig", "-p").Output()
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(name) + ` .*=> (\S+)$`).FindSubmatch(out)
	require.NotNil(t, m, "%s is missing: `hack/install.sh base` installs it", name)
	return string(m[1])
}

// TestOtherLibraries: libraries of other people in the process, each before or after the shim:
// allocators, a tool for MPI, and the other MPI. Each call is in the trace once.
func TestOtherLibraries(t *testing.T) {
	mpis := map[string]string{"openmpi": libraryOf(t, "libmpi.so.40"), "mpich": libraryOf(t, "libmpich.so.12")}
	other := map[string]string{"openmpi": "mpich", "mpich": "openmpi"}
	seed := 0
	for _, library := range []string{"libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libompitrace.so.40", "the other MPI"} {
		for _, implementation := range implementations {
			seed++
			p := tooled{implementation: implementation, program: "program.c"}
			switch {
			case library == "the other MPI":
			case library == "libompitrace.so.40" && implementation == "mpich":
				continue // it is Open MPI's
			case library == "libompitrace.so.40" || seed%2 == 0:
				// in front of the shim it calls MPI for itself, and does not say how often
				p.after = libraryOf(t, library)
			default:
				p.preload = libraryOf(t, library)
			}
			t.Run(implementation+" "+library, func(t *testing.T) {
				if library == "the other MPI" {
					p.build(t, "-Wl,--no-as-needed", mpis[implementation], mpis[other[implementation]])
				} else {
					p.build(t)
				}
				p.check(t)
			})
		}
	}
}
