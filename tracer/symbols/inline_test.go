package symbols

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources of a program with functions that are inlined into each other, also across files. Return
// addresses are printed relative to the lowest mapped address, as in program.
var inlinedSources = map[string]string{
	"traced.c": strings.Replace(strings.Split(program, "__attribute__((noinline)) static void exchange")[0], "static unsigned long base", "unsigned long base", 1),
	"halo.h": `void traced(void);
static inline __attribute__((always_inline)) void send_side(int side) {
	__asm__ volatile("" : : "r"(side));
	traced(); /* halo.h:4 */
	__asm__ volatile("");
}
static inline __attribute__((always_inline)) void exchange(void) {
	send_side(0); /* halo.h:8 */
	for (volatile int i = 0; i < 1; i++)
		send_side(1); /* halo.h:10 */
}
`,
	"main.c": `#include "halo.h"
static void setup(void) {
	traced(); /* main.c:3 */
	__asm__ volatile("");
}
static __attribute__((noinline)) void step(void) {
	exchange(); /* main.c:7 */
	__asm__ volatile("");
}
int main(void) {
	setup(); /* main.c:11 */
	step();
	exchange(); /* main.c:13 */
	traced(); /* main.c:14 */
	return 0;
}
`,
}

// build compiles sources, given by their names, in a temporary directory.
func build(t *testing.T, compiler string, sources map[string]string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	arguments := append([]string{"-o", "program"}, flags...)
	for name, text := range sources {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		if !strings.HasSuffix(name, ".h") {
			arguments = append(arguments, name)
		}
	}
	command := exec.Command(compiler, arguments...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", compiler, arguments, out)
	return filepath.Join(dir, "program")
}

// stored returns the table of a binary as read from its file.
func storedTable(t *testing.T, binary string) *Table {
	t.Helper()
	dir := t.TempDir()
	file, err := Resolve(binary, dir)
	require.NoError(t, err)
	table, err := Read(dir, strings.TrimSuffix(filepath.Base(file), ".json"))
	require.NoError(t, err)
	return table
}

// path formats the frames of a return address, innermost first.
func path(table *Table, offset uint64) string {
	var words []string
	for _, p := range table.Frames(offset) {
		words = append(words, fmt.Sprintf("%s %s:%d", p.Function, filepath.Base(p.File), p.Line))
	}
	return strings.Join(words, " < ")
}

// TestInlinedFrames compares the frames of the sources above with the expected ones, at several
// optimization levels.
func TestInlinedFrames(t *testing.T) {
	// main inlines setup, which is called once, from -O1 on; exchange and send_side are
	// inlined everywhere
	want := []string{
		"setup main.c:3 < main main.c:11",
		"send_side halo.h:4 < exchange halo.h:8 < step main.c:7",
		"send_side halo.h:4 < exchange halo.h:10 < step main.c:7",
		"send_side halo.h:4 < exchange halo.h:8 < main main.c:13",
		"send_side halo.h:4 < exchange halo.h:10 < main main.c:13",
		"main main.c:14",
	}
	for name, flags := range map[string][]string{
		"O1":                           {"-O1", "-g"},
		"O2":                           {"-O2", "-g"},
		"O3":                           {"-O3", "-g"},
		"DWARF 4":                      {"-O2", "-gdwarf-4"},
		"DWARF 4, types":               {"-O2", "-gdwarf-4", "-fdebug-types-section"},
		"not relocatable":              {"-O2", "-g", "-no-pie"},
		"compressed":                   {"-O2", "-g", "-gz"},
		"LTO":                          {"-O2", "-g", "-flto"},
		"LTO, partitions":              {"-O2", "-g", "-flto", "-flto-partition=max"},
		"sections":                     {"-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"},
		"partial inlining, cold parts": {"-O3", "-g", "-freorder-blocks-and-partition"},
	} {
		t.Run(name, func(t *testing.T) {
			binary := build(t, "gcc", inlinedSources, flags...)
			table := storedTable(t, binary)
			var got []string
			for _, offset := range offsets(t, binary) {
				got = append(got, path(table, offset))
				place, known := table.Lookup(offset)
				assert.True(t, known)
				assert.Equal(t, table.Frames(offset)[0].Location, place, "the call itself")
			}
			assert.Equal(t, want, got)
		})
	}
	t.Run("no debug information", func(t *testing.T) {
		binary := build(t, "gcc", inlinedSources, "-O2")
		table := storedTable(t, binary)
		for i, offset := range offsets(t, binary) {
			assert.Equal(t, []string{"main", "step", "step", "main", "main", "main"}[i]+" .:0", path(table, offset))
		}
	})
}

// Two calls in one inlined instance have the same source location; the same line inlined elsewhere
// is another frame.
func TestInlinedInstancesAreTheirOwnPlaces(t *testing.T) {
	binary := build(t, "gcc", inlinedSources, "-O2", "-g")
	table := storedTable(t, binary)
	calls := offsets(t, binary)
	first, second, elsewhere := table.Frames(calls[1]), table.Frames(calls[2]), table.Frames(calls[3])
	require.Len(t, first, 3)
	assert.Equal(t, calls[1], first[0].Offset, "the innermost is at the return address")
	assert.Equal(t, first[2], second[2], "both sides are exchanged by one call of exchange")
	assert.NotEqual(t, first[1].Offset, second[1].Offset)
	assert.NotEqual(t, first[2].Offset, elsewhere[2].Offset)
}

// A callback is given by its first byte: its name is not that of a function inlined
// at its beginning.
func TestCallbackThatBeginsWithInlinedCode(t *testing.T) {
	binary := build(t, "gcc", map[string]string{"main.c": `#include <stdio.h>
#include <stdlib.h>
static unsigned long base(void) {
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long a;
	if (!f || fscanf(f, "%lx", &a) != 1) exit(1);
	fclose(f);
	return a;
}
static int value;
static inline __attribute__((always_inline)) void bump(void) { __asm__ volatile("incl %0" : "+m"(value)); }
__attribute__((noinline)) void callback(void) { bump(); }
int main(void) { callback(); printf("%lx\n", (unsigned long)(void *)callback - base() + 1); }
`}, "-O2", "-g", "-fcf-protection=none")
	place, _ := storedTable(t, binary).Lookup(offsets(t, binary)[0])
	assert.Equal(t, "callback", place.Function)
}

// TestFramesAreThoseOfAddr2line compares with binutils on random programs: functions that call each
// other, some of them inlined, in nested blocks and loops.
func TestFramesAreThoseOfAddr2line(t *testing.T) {
	levels := []string{"-O1", "-O2", "-O3", "-Os"}
	longest := 0
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		sources := map[string]string{"traced.c": inlinedSources["traced.c"], "main.c": randomProgram(random)}
		flags := []string{levels[seed%4], "-g"}
		if seed%3 == 1 {
			flags = append(flags, "-flto")
		}
		binary := build(t, "gcc", sources, flags...)
		table := storedTable(t, binary)
		for _, offset := range offsets(t, binary) {
			got, want := path(table, offset), addr2line(t, binary, offset-1)
			require.Equal(t, want, got, "seed %d, %#x", seed, offset)
			longest = max(longest, len(table.Frames(offset)))
		}
	}
	assert.Greater(t, longest, 3)
}

func randomProgram(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("void traced(void);\nvolatile int zero;\n")
	const functions = 12
	for i := range functions {
		how := []string{"static inline __attribute__((always_inline))", "static inline", "static", "static __attribute__((noinline))"}[random.IntN(4)]
		fmt.Fprintf(&b, "%s void f%d(int n) {\n", how, i)
		for range 1 + random.IntN(3) {
			call := "traced();"
			if i > 0 && random.IntN(3) > 0 {
				call = fmt.Sprintf("f%d(n + %d);", random.IntN(i), random.IntN(3))
			}
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "\tif (zero == 0) {\n\t\tint k = n * 2;\n\t\t__asm__ volatile(\"\" : : \"r\"(k));\n\t\t%s\n\t}\n", call)
			case 1:
				fmt.Fprintf(&b, "\tfor (int i = 0; i < 1 + zero; i++)\n\t\t%s\n", call)
			default:
				fmt.Fprintf(&b, "\t%s\n", call)
			}
			b.WriteString("\t__asm__ volatile(\"\");\n")
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "int main(void) {\n\tf%d(1);\n\tf%d(2);\n\t__asm__ volatile(\"\");\n\treturn 0;\n}\n", functions-1, functions-2)
	return b.String()
}

// addr2line formats the output of binutils for an address as path does.
func addr2line(t *testing.T, binary string, address uint64) string {
	t.Helper()
	out, err := exec.Command("addr2line", "-f", "-i", "-e", binary, fmt.Sprintf("%#x", address)).Output()
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	var words []string
	for i := 0; i+1 < len(rows); i += 2 {
		file, number, _ := strings.Cut(rows[i+1], ":")
		number, _, _ = strings.Cut(number, " ")
		line, err := strconv.Atoi(number)
		require.NoError(t, err, rows[i+1])
		words = append(words, fmt.Sprintf("%s %s:%d", rows[i], filepath.Base(file), line))
	}
	return strings.Join(words, " < ")
}

// Fortran's contained and module procedures, inlined at -O2.
func TestInlinedFortran(t *testing.T) {
	sources := map[string]string{"traced.c": strings.Replace(inlinedSources["traced.c"], "traced(", "traced_(", 1), "main.f90": `module m
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    if (n > 0) call traced()
    call done(n)
  end subroutine
  subroutine done(n)
    integer, intent(in) :: n
    if (n > 99) print *, n
  end subroutine
end module
program stencil
  use m
  integer, volatile :: n
  n = 1
  call exchange(n)
  call inner()
contains
  subroutine inner()
    call traced()
    n = n + 1
  end subroutine
end program
`}
	for _, level := range []string{"-O1", "-O2", "-O3"} {
		binary := build(t, "gfortran", sources, "-g", level, "-finline-functions", "-finline-small-functions")
		table := storedTable(t, binary)
		calls := offsets(t, binary)
		require.Len(t, calls, 2)
		inlined := path(table, calls[0])
		if strings.Contains(inlined, "<") {
			assert.Equal(t, "exchange main.f90:5 < stencil main.f90:17", inlined, level)
		} else {
			assert.Equal(t, "exchange main.f90:5", inlined, level)
		}
		// gfortran makes a main around
		assert.Equal(t, "inner main.f90:21 < stencil main.f90:18 < main main.f90:14", path(table, calls[1]), level)
	}
}

// Without inlined code tables have the earlier form, which all readers understand.
func TestTablesWithoutInlinedCode(t *testing.T) {
	binary := build(t, "gcc", inlinedSources, "-O2")
	file, err := Resolve(binary, t.TempDir())
	require.NoError(t, err)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "inlined")
}
