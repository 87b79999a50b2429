//go:build mpi

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
)

// countingLibrary compiles a library with all functions of MPI in the table. Each counts its calls
// and jumps to the next definition, which is the shim's, since `cairn run` preloads the shim after
// what is preloaded already. So every call of the program passes here first. At its end a process
// prints "counts rank=…".
func countingLibrary(t *testing.T) string {
	t.Helper()
	var names, entries strings.Builder
	for i, f := range mpi.Functions[1:] {
		fmt.Fprintf(&names, "\t%q,\n", f.Name)
		fmt.Fprintf(&entries, "ENTRY(%s, %d)\n", f.Name, i)
	}
	source := fmt.Sprintf(`#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const char *const names[] = {
%s};
enum { functions = sizeof names / sizeof *names };
__attribute__((visibility("hidden"))) unsigned long counted[functions];
__attribute__((visibility("hidden"))) void *behind[functions];
#define ENTRY(name, i) __asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	"lock incq counted+8*" #i "(%%rip)\njmp *behind+8*" #i "(%%rip)\n");
%s
__attribute__((constructor)) static void find(void)
{
	for (int i = 0; i < functions; i++)
		behind[i] = dlsym(RTLD_NEXT, names[i]);
}
__attribute__((destructor)) static void print(void)
{
	static char line[65536];
	int n = snprintf(line, sizeof line, "counts rank=%%s", getenv("OMPI_COMM_WORLD_RANK"));
	int nothing = n;
	for (int i = 0; i < functions; i++)
		if (counted[i] != 0)
			n += snprintf(line + n, sizeof line - (size_t)n, " %%s=%%lu", names[i], counted[i]);
	line[n++] = '\n';
	if (n > nothing + 1 && write(1, line, (size_t)n) < 0)
		abort();
}
`, names.String(), entries.String())
	dir := t.TempDir()
	file, library := filepath.Join(dir, "count.c"), filepath.Join(dir, "count.so")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	out, err := exec.Command("gcc", "-O1", "-shared", "-fPIC", "-o", library, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return library
}
