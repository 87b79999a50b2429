package launch

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every signal asks Cairn to end, is passed on, or is Cairn's own: one of the three.
func TestEverySignalHasOneMeaning(t *testing.T) {
	passed := passedSignals()
	for s := syscall.Signal(1); s <= numberOfSignals; s++ {
		n := 0
		for _, has := range []bool{slices.Contains(own, s), slices.Contains(endSignals, os.Signal(s)), slices.Contains(passed, os.Signal(s))} {
			if has {
				n++
			}
		}
		assert.Equal(t, 1, n, "%d: %s", s, s)
	}
}

// What cannot be executed is an error as os/exec has it. Otherwise arguments
// and variables are those of the command, and no more.
func TestSpawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o644))
	for path, expected := range map[string]syscall.Errno{"/no/such/file": syscall.ENOENT, file: syscall.EACCES} {
		_, err := spawn(path, []string{path}, nil)
		require.ErrorIs(t, err, expected)
		require.ErrorContains(t, err, path)
	}
	script := `test "$*" = "two words | " && test "$(env | grep -cv "^PWD=\|^SHLVL=\|^_=")" = 1 && test "$A" = "b c" && exit 7`
	process, err := spawn("/bin/sh", []string{"sh", "-c", script, "sh", "two words", "|", ""}, []string{"A=b c"})
	require.NoError(t, err)
	state, err := process.Wait()
	require.NoError(t, err)
	assert.Equal(t, 7, state.ExitCode())
}

// A signal that reaches the witness has reached the group, once. Others that it got meanwhile are
// not lost with it.
func TestReachedGroup(t *testing.T) {
	j := &Job{witness: newWitness()}
	require.NotNil(t, j.witness)
	defer func() { j.witness.dismiss() }()
	require.False(t, j.reachedGroup(syscall.SIGUSR1))
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, 64} {
		require.NoError(t, syscall.Kill(j.witness.pid(), s))
	}
	require.Eventually(t, func() bool { got, ok := j.witness.got(); return ok && has(got, 64) }, 5*time.Second, time.Millisecond)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, 64} {
		assert.True(t, j.reachedGroup(s), s)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, 64} {
		assert.False(t, j.reachedGroup(s), s)
	}
}
