//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// closesDescriptors closes the descriptors that are not MPI's, as daemons close all of them, and
// opens a file of its own.
const closesDescriptors = `
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 3; i < 300; i++) {
		char link[32], target[4096] = "";
		snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "/reference/") != NULL)
			close(i);
	}
	for (int i = 0; i < 200; i++)
		open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
	for (int i = 0; i < 1000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Finalize();
	return 0;
}
`

// TestVerifyOfClosedDescriptors: the reference log is not written into a file of the program that
// has the descriptor of the log, which the program has closed.
func TestVerifyOfClosedDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, program, file := filepath.Join(dir, "closes.c"), filepath.Join(dir, "closes"), filepath.Join(dir, "own")
	require.NoError(t, os.WriteFile(source, []byte(closesDescriptors), 0o644))
	out, err := exec.Command("mpicc.openmpi", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := trace(t, []string{"--verify"}, launched("openmpi", 1, program, file)...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
	own, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Empty(t, own)
}
