package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// program prints the return addresses of two calls, relative to the lowest
// mapped address of the executable, which it reads from /proc/self/maps.
const program = `#include <stdio.h>
#include <stdlib.h>
static unsigned long base(void) {
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long a;
	if (!f || fscanf(f, "%lx", &a) != 1) exit(1);
	fclose(f);
	return a;
}
__attribute__((noinline)) void traced(void) {
	printf("%lx\n", (unsigned long)__builtin_return_address(0) - base());
}
__attribute__((noinline)) static void exchange(void) {
	traced(); /* line 14 */
	puts("") ;
}
__attribute__((noinline, noreturn)) static void leave(void) {
	traced(); /* line 18 */
	exit(0);
}
int main(void) {
	exchange();
	traced(); /* line 23 */
	leave();
}
`

func compile(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("gcc", append(flags, "-o", binary, source)...).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return binary
}

// offsets runs the program and returns what it printed.
func offsets(t *testing.T, binary string) []uint64 {
	t.Helper()
	out, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []uint64
	for _, field := range strings.Fields(string(out)) {
		n, err := strconv.ParseUint(field, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

func TestLookup(t *testing.T) {
	want := []Location{{Function: "exchange", Line: 14}, {Function: "main", Line: 23}, {Function: "leave", Line: 18}}
	for name, c := range map[string]struct {
		flags []string
		lines bool
	}{
		"debug":             {[]string{"-g", "-O0"}, true},
		"optimized":         {[]string{"-g", "-O2", "-fno-inline"}, true},
		"not relocatable":   {[]string{"-g", "-O1", "-no-pie"}, true},
		"compressed":        {[]string{"-g", "-gz"}, true},
		"DWARF 4":           {[]string{"-gdwarf-4"}, true},
		"no debug sections": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			binary := compile(t, c.flags...)
			dir := t.TempDir()
			file, err := Resolve(binary, dir)
			if err != nil {
				t.Fatal(err)
			}
			id := strings.TrimSuffix(filepath.Base(file), ".json")
			table, err := Read(dir, id)
			if err != nil {
				t.Fatal(err)
			}
			for i, offset := range offsets(t, binary) {
				got, ok := table.Lookup(offset)
				if !ok || got.Function != want[i].Function {
					t.Errorf("call %d: %+v, want %s", i, got, want[i].Function)
				}
				if c.lines && (got.Line != want[i].Line || filepath.Base(got.File) != "program.c") {
					t.Errorf("call %d: %s:%d, want program.c:%d", i, got.File, got.Line, want[i].Line)
				}
			}
		})
	}
}

func TestBinaryWithoutBuildID(t *testing.T) {
	binary := compile(t, "-g", "-Wl,--build-id=none")
	dir := t.TempDir()
	if _, err := Resolve(binary, dir); err != nil {
		t.Fatal(err)
	}
	table, err := Read(dir, binary)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := table.Lookup(offsets(t, binary)[1]); !ok || p.Function != "main" {
		t.Errorf("%+v", p)
	}
}

func TestStrippedBinaryGetsAnEmptyTable(t *testing.T) {
	binary := compile(t, "-s")
	dir := t.TempDir()
	file, err := Resolve(binary, dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestResolveOnce(t *testing.T) {
	binary := compile(t, "-g")
	dir := t.TempDir()
	file, err := Resolve(binary, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(binary, dir); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(file); string(raw) != "kept" {
		t.Error("an existing table was written again")
	}
}

func TestNoBinary(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(script, t.TempDir()); err == nil || !strings.Contains(err.Error(), "not an ELF binary") {
		t.Errorf("error %v", err)
	}
}

func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	for _, raw := range []string{"", "{}", `{"format":2}`, `{"format":1,"functions":["a"]}`, `{"format":1,"lines":[1,7,1]}`, `{"format":1,"lines":[-1,-1,1]}`,
		`{"format":1,"instances":[0,0,-1,1,1]}`, `{"format":1,"inlined":["a"],"instances":[0,0,-1,1]}`, `{"format":1,"inlined":["a"],"instances":[0,1,-1,1,1]}`,
		`{"format":1,"inlined":["a"],"instances":[0,0,-1,1,1],"stretches":[1,2]}`, `{"format":1,"stretches":[-1,0]}`} {
		if err := os.WriteFile(filepath.Join(dir, "ab.json"), []byte(raw), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir, "ab"); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t, err := Extract(self)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(t.lines)), "lines")
		b.ReportMetric(float64(len(t.instances)), "inlined")
	}
}

// TestFortran checks names that only DWARF knows: contained procedures and module procedures.
func TestFortran(t *testing.T) {
	const program = `module m
contains
  subroutine work(x)
    real, intent(inout) :: x
    x = x + 1
    print *, x
  end subroutine
end module
program stencil
  use m
  real :: y
  y = 1
  call inner()
  call work(y)
contains
  subroutine inner()
    print *, "inner"
  end subroutine
end program
`
	for _, level := range []string{"-O0", "-O1"} {
		dir := t.TempDir()
		source, binary := filepath.Join(dir, "program.f90"), filepath.Join(dir, "program")
		if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("gfortran", "-g", level, "-o", binary, source)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gfortran: %v\n%s", err, out)
		}
		table, err := Extract(binary)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, f := range table.functions {
			names[f.name] = true
		}
		if !names["work"] || !names["inner"] {
			t.Errorf("%s: %v", level, names)
		}
	}
}
