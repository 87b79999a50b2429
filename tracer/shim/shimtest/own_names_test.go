//go:build mpi

package shimtest

import (
	"cmp"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// definedBy returns the functions that libraries define for others.
func definedBy(t *testing.T, libraries ...string) (names []string) {
	t.Helper()
	for _, path := range libraries {
		f, err := elf.Open(path)
		require.NoError(t, err)
		defer f.Close()
		symbols, err := f.DynamicSymbols()
		require.NoError(t, err)
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// librariesOf returns the MPI libraries that a program or library needs.
func librariesOf(t *testing.T, file string) (paths []string) {
	t.Helper()
	out, err := exec.Command("ldd", file).Output()
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`libmpi\S* => (\S+)`).FindAllStringSubmatch(string(out), -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// An owner is a module with functions of its own under names of MPI.
type owner struct {
	name    string
	defines []string
	calls   []string
	exports []string // whose addresses it hands to the executable
	mode    string   // of dlopen
	flags   []string
}

// source returns the text of the module. A function returns its owner and its arguments.
func (o owner) source() string {
	var b strings.Builder
	b.WriteString("#include <stdio.h>\ntypedef const char *function(const char *, double);\n" +
		"static void show(const char *name, const char *owner) { printf(\"%s %s\\n\", name, owner); }\n")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.defines, o.calls)))) {
		fmt.Fprintf(&b, "function %s;\n", name)
	}
	for _, name := range o.defines {
		fmt.Fprintf(&b, "const char *%s(const char *a, double b) { static char text[99]; snprintf(text, 99, \"of %s: %%s %%g\", a, b); return text; }\n", name, o.name)
	}
	fmt.Fprintf(&b, "void calls_of_%s(void) {\n", o.name)
	for _, name := range o.calls {
		fmt.Fprintf(&b, "\tshow(\"%s\", %s(\"%s\", 0.5));\n", name, name, o.name)
	}
	fmt.Fprintf(&b, "}\nstruct { const char *name; function *f; } exports_of_%s[] = {", o.name)
	for _, name := range o.exports {
		fmt.Fprintf(&b, "{%q, %s}, ", name, name)
	}
	b.WriteString("{0, 0}};\n")
	return b.String()
}

// An arrangement is a program with libraries that are linked and that are loaded, all with
// names from a few.
type arrangement struct {
	random              *rand.Rand
	implementation, how string // none: without MPI; linked: to MPI; loaded: a plugin loads MPI, for itself
	names               []string
	program, linked     owner
	needed              owner // by the last plugin
	plugins             []owner
}

func (a *arrangement) some(names []string) (list []string) {
	for _, name := range names {
		if a.random.IntN(2) == 0 {
			list = append(list, name)
		}
	}
	return list
}

func arrange(seed uint64, names []string, implementation, how string) *arrangement {
	a := &arrangement{random: rand.New(rand.NewPCG(seed, 2)), implementation: implementation, how: how}
	forms := []string{`^MPI_[A-Z][a-z]`, `^PMPI_`, `^mpi_.*[^_]$`, `^mpi_.*[^_8]_$`, `__$`, `^MPI_[A-Z_]+$`, `_f08_$`}
	for _, form := range forms {
		matching := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !regexp.MustCompile(form).MatchString(name) })
		for range 2 {
			a.names = append(a.names, matching[a.random.IntN(len(matching))])
		}
	}
	slices.Sort(a.names)
	a.names = slices.Compact(a.names)
	third := a.random.Perm(len(a.names))
	global := []string{}
	for i, j := range third[:len(third)/3] {
		if i%2 == 0 {
			a.program.defines = append(a.program.defines, a.names[j])
		} else {
			a.linked.defines = append(a.linked.defines, a.names[j])
		}
		global = append(global, a.names[j])
	}
	a.program.name, a.linked.name, a.needed.name = "program", "linked", "needed"
	a.program.calls, a.linked.calls = a.some(global), a.some(global)
	a.needed.defines = a.some(a.names)
	a.needed.calls = a.some(append(slices.Clone(a.needed.defines), global...))
	modes := []string{"RTLD_LOCAL", "RTLD_GLOBAL", "RTLD_LOCAL | RTLD_DEEPBIND", "RTLD_LOCAL", "RTLD_LOCAL"}
	a.random.Shuffle(len(modes), func(i, j int) { modes[i], modes[j] = modes[j], modes[i] })
	defined := map[string]int{}
	for i, mode := range modes {
		o := owner{name: fmt.Sprintf("plugin%d", i), defines: a.some(a.names), mode: mode + " | " + []string{"RTLD_NOW", "RTLD_LAZY"}[a.random.IntN(2)]}
		visible := append(slices.Clone(o.defines), global...)
		if i == len(modes)-1 {
			visible = append(visible, a.needed.defines...)
		}
		slices.Sort(visible)
		o.calls = a.some(slices.Compact(visible))
		o.flags = [][]string{nil, {"-Wl,--hash-style=sysv"}, {"-Wl,-z,now"}, {"-Wl,-Bsymbolic"}}[a.random.IntN(4)]
		for _, name := range o.defines {
			defined[name]++
		}
		a.plugins = append(a.plugins, o)
	}
	for _, name := range a.needed.defines {
		defined[name]++
	}
	// of two pointers to functions of one name nothing says which is which
	for i := range a.plugins {
		for _, name := range a.plugins[i].defines {
			if defined[name] == 1 {
				a.plugins[i].exports = append(a.plugins[i].exports, name)
			}
		}
	}
	return a
}

// user uses MPI, whatever the others call theirs.
const user = `
#include <mpi.h>
#include <stdio.h>
void calls_of_user(void)
{
	int rank = -1, sum = 1;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d, sum %d\n", rank, sum);
	MPI_Finalize();
}
`

// main returns the text of the executable: it calls, loads each plugin and has it call, once,
// twice, and after it was unloaded and loaded again.
func (a *arrangement) main(dir string) string {
	var b strings.Builder
	b.WriteString(a.program.source())
	b.WriteString(`
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static void *load(const char *path, int mode)
{
	void *handle = dlopen(path, mode);
	if (handle == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return handle;
}
static void use(void *handle, const char *calls, const char *exports)
{
	((void (*)(void))dlsym(handle, calls))();
	struct { const char *name; function *f; } *e = dlsym(handle, exports);
	for (; exports[0] && e->name; e++)
		show(e->name, e->f("a pointer", 1.5));
}
void calls_of_linked(void);
int main(void)
{
	calls_of_program();
	calls_of_linked();
`)
	if a.how != "none" {
		fmt.Fprintf(&b, "\tuse(load(\"%s/libuser.so\", RTLD_NOW | RTLD_LOCAL), \"calls_of_user\", \"\");\n", dir)
	}
	for i, o := range a.plugins {
		fmt.Fprintf(&b, "\tvoid *h%d = load(\"%s/lib%s.so\", %s);\n\tuse(h%d, \"calls_of_%s\", \"exports_of_%s\");\n", i, dir, o.name, o.mode, i, o.name, o.name)
	}
	for i, o := range a.plugins {
		fmt.Fprintf(&b, "\tuse(h%d, \"calls_of_%s\", \"exports_of_%s\");\n", i, o.name, o.name)
	}
	again := a.random.IntN(len(a.plugins))
	o := a.plugins[again]
	fmt.Fprintf(&b, "\tdlclose(h%d);\n\tuse(load(\"%s/lib%s.so\", %s), \"calls_of_%s\", \"exports_of_%s\");\n", again, dir, o.name, o.mode, o.name, o.name)
	b.WriteString("\tcalls_of_program();\n\treturn 42;\n}\n")
	return "#define _GNU_SOURCE\n" + b.String()
}

// build compiles all, and returns the program.
func (a *arrangement) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	compile := func(compiler, name, text string, flags ...string) string {
		source, out := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(source, []byte(text), 0o644))
		arguments := append([]string{"-O1", "-w", "-fno-builtin", "-o", out, source, "-L" + dir, "-Wl,-rpath," + dir}, flags...)
		printed, err := exec.Command(compiler, arguments...).CombinedOutput()
		require.NoError(t, err, "%s", printed)
		return out
	}
	library := func(o owner, flags ...string) {
		compile("gcc", "lib"+o.name+".so", o.source(), append(append([]string{"-shared", "-fPIC"}, o.flags...), flags...)...)
	}
	library(a.linked)
	library(a.needed)
	for i, o := range a.plugins {
		if i == len(a.plugins)-1 {
			library(o, "-lneeded")
		} else {
			library(o)
		}
	}
	if a.how != "none" {
		compile("mpicc."+a.implementation, "libuser.so", user, "-shared", "-fPIC")
	}
	compiler := "gcc"
	if a.how == "linked" {
		compiler = "mpicc." + a.implementation
	}
	return compile(compiler, "program", a.main(dir), "-rdynamic", "-Wl,--no-as-needed", "-llinked", "-ldl")
}

// TestOwnNames: functions of the program, and of libraries that it is linked with or loads, are
// called as without the tracer, whatever their names, and MPI's are recorded.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	shims := []string{filepath.Join(Root(), "lib", "libcairn-openmpi.so"), filepath.Join(Root(), "lib", "libcairn-mpich.so")}
	exported := slices.DeleteFunc(definedBy(t, shims...), func(name string) bool { return !regexp.MustCompile(`^P?MPI_|^mpi_`).MatchString(name) })
	slices.Sort(exported)
	exported = slices.Compact(exported)
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("CAIRN_OWN_NAMES_ROUNDS"), "1")) // more, to search
	require.NoError(t, err)
	for seed := range uint64(5 * rounds) {
		how := []string{"none", "linked", "loaded"}[(seed%5+1)/2]
		implementation := Implementations[seed%2]
		t.Run(fmt.Sprintf("%d %s %s", seed, implementation, how), func(t *testing.T) {
			names := exported
			// What is MPI's for the program is MPI's for its libraries. Open MPI makes itself so
			// when it is initialized.
			if how == "linked" || how == "loaded" && implementation == "openmpi" {
				mpis := definedBy(t, librariesOf(t, Example(implementation, "ring"))...)
				slices.Sort(mpis)
				names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
					_, found := slices.BinarySearch(mpis, name)
					return found
				})
			}
			program := arrange(seed, names, implementation, how).build(t)
			plain := Run(t, nil, program)
			require.Equal(t, 42, plain.Code, plain.Stdout+plain.Stderr)
			tracer := NewTracer(t, map[string]any{"call_sites": "path"})
			traced := tracer.Run(t, program)
			assert.Equal(t, plain.Code, traced.Code, traced.Stderr)
			assert.Equal(t, plain.Stdout, traced.Stdout)
			assert.NotContains(t, traced.Stderr, "cairn")
			if how != "none" {
				assert.Len(t, tracer.Processes(t), 1)
			}
		})
	}
}
