//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// launcher is the part of launch before the program.
func launcher(implementation string, ranks int) []string {
	command := launch(implementation, ranks, "")
	return command[:len(command)-1]
}

// replay executes the run in a folder again.
func replay(t *testing.T, dir, implementation string, ranks int, flags ...string) result {
	t.Helper()
	arguments := append([]string{"replay", filepath.Join(dir, "trace.cairn")}, flags...)
	return cairn(t, dir, append(append(arguments, "--"), launcher(implementation, ranks)...)...)
}

// TestReplay: the re-execution of an example, traced again, makes the same calls with the same
// arguments. make bench-replay does all examples.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"requests", "persistent", "rma", "threads"} {
		for _, implementation := range implementations {
			t.Run(program+" "+implementation, func(t *testing.T) {
				r := trace(t, nil, launch(implementation, 3, program)...)
				require.Equal(t, 0, r.code, r.stderr)
				again := replay(t, r.dir, implementation, 3, "--speed", "max", "--check")
				require.Equal(t, 0, again.code, again.stdout+again.stderr)
				assert.Regexp(t, `^The re-execution made the same \d+ calls as the run\.\n$`, again.stdout)
				assert.Regexp(t, `executed again in [\d.]+ s; the recorded run took [\d.]+ s`, again.stderr)
			})
		}
	}
}

// TestReplayOfManySignatures: of a program with so many signatures that its handles and
// requests are in streams, every call agrees with the reference log, and the re-execution
// makes the same ones.
func TestReplayOfManySignatures(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "many")
			out, err := exec.Command("mpicc."+implementation, "-O1", "-Wall", "-Wno-stringop-overflow", "-Werror", "-o", program, "many/many.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			r := trace(t, []string{"--verify"}, append(launcher(implementation, 2), program)...)
			require.Equal(t, 0, r.code, r.stdout+r.stderr)
			again := replay(t, r.dir, implementation, 2, "--speed", "max", "--check")
			require.Equal(t, 0, again.code, again.stdout+again.stderr)
		})
	}
}

// TestReplayUnderTheOtherMPI: communicators and groups, whose handles MPIs count in different ways.
func TestReplayUnderTheOtherMPI(t *testing.T) {
	t.Parallel()
	for i, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			r := trace(t, nil, launch(implementation, 3, "split")...)
			require.Equal(t, 0, r.code, r.stderr)
			again := replay(t, r.dir, implementations[1-i], 3, "--check")
			require.Equal(t, 0, again.code, again.stdout+again.stderr)
		})
	}
}

// TestReplayRefuses: what cannot be executed again is reported before anything starts. A number of
// ranks that differs from the run's is reported by one of the ranks.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	r := trace(t, nil, launch("openmpi", 2, "early-exit", "--abort", "3")...)
	require.Equal(t, 3, r.code, r.stderr)
	again := replay(t, r.dir, "openmpi", 2)
	assert.Equal(t, 65, again.code)
	assert.Contains(t, again.stderr, "MPI_Abort: it ends the job")

	r = trace(t, nil, launch("mpich", 2, "persistent")...)
	require.Equal(t, 0, r.code, r.stderr)
	again = replay(t, r.dir, "openmpi", 2)
	assert.Equal(t, 65, again.code)
	assert.Contains(t, again.stderr, "MPI_Allreduce_init: the MPI that is to execute it again does not have it")

	r = trace(t, nil, launch("mpich", 2, "ring", "--bytes", "100000")...)
	require.Equal(t, 0, r.code, r.stderr)
	again = replay(t, r.dir, "mpich", 2, "--memory", "64KiB")
	assert.NotEqual(t, 0, again.code)
	assert.Contains(t, again.stderr, "takes 100000 bytes of memory, with what others take more than the limit of 65536 bytes (--memory)")
	again = replay(t, r.dir, "mpich", 1)
	assert.NotEqual(t, 0, again.code)
	assert.Contains(t, again.stderr, "it is rank 0 of 1 in MPI_COMM_WORLD, and the recorded run had 2 ranks")
}

// TestReplayerReadsAnything: a replayer with address and undefined behavior sanitizers reads
// streams that are damaged in many ways. It reports an error, or makes the calls of the damaged
// stream, but does nothing that a sanitizer detects.
func TestReplayerReadsAnything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alone := filepath.Join(dir, "alone")
	out, err := exec.Command("mpicc.mpich", "-O1", "-Wall", "-Wno-stringop-overflow", "-Werror", "-o", alone, "replay/alone.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("make", "-s", "-C", filepath.Join(shimtest.Root(), "replayer"), "BUILD="+dir, "MPIS=mpich", "asan").CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := trace(t, nil, "mpirun.mpich", "-np", "1", alone)
	require.Equal(t, 0, r.code, r.stderr)
	whole := stream(t, r.dir)
	feeder := filepath.Join(dir, "feeder")
	require.NoError(t, os.WriteFile(feeder, []byte("#!/bin/bash\nexec cat \"$0.calls\" >&64\n"), 0o755))
	run := func(calls []byte) (string, error) {
		require.NoError(t, os.WriteFile(feeder+".calls", calls, 0o644))
		cmd := exec.Command(filepath.Join(dir, "asan", "cairn-replay-mpich"), "--feeder", feeder, "--ranks", "1", "--compute", "none", "--memory", "1048576", "unused")
		cmd.Env = append(os.Environ(), "PMI_RANK=0", "ASAN_OPTIONS=detect_leaks=0")
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	text, err := run(whole)
	require.NoError(t, err, text)
	const places = 8
	for i := range places {
		at := len(whole) / 8 * i / places * 8
		_, err := run(whole[:at])
		require.Error(t, err, "%d of %d bytes are enough", at, len(whole))
		damaged := append([]byte(nil), whole...)
		damaged[at+i%8] ^= byte(1 << (i % 8))
		text, _ := run(damaged)
		require.NotContains(t, text, "Sanitizer", "byte %d", at+i%8)
		require.NotContains(t, text, "runtime error", "byte %d", at+i%8)
	}
}

// stream is what the feeder writes for rank 0.
func stream(t *testing.T, dir string) []byte {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stream")
	require.NoError(t, err)
	defer file.Close()
	cmd := exec.Command(filepath.Join(shimtest.Root(), "bin", "cairn"), "replay-feed", "--rank", "0", "--threads", "1", "--first-file", strconv.Itoa(3), "--", filepath.Join(dir, "trace.cairn"))
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	b, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Zero(t, len(b)%8)
	return b
}
