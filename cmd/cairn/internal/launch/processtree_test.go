package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A process, the processes that it started, and whether they are stopped. Names may have
// parentheses and spaces.
func TestDescendants(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "a) R 1 (b")
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	binary, err := os.ReadFile(sleep)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(odd, binary, 0o755))
	shell := exec.Command("bash", "-c", `"$0" 60 & echo; "$0" 60; :`, odd)
	require.NoError(t, shell.Start())
	defer func() {
		for _, p := range descendants(os.Getpid()) {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
		_ = shell.Wait()
	}()
	require.Eventually(t, func() bool { return len(descendants(shell.Process.Pid)) == 2 }, 5*time.Second, 10*time.Millisecond)
	for _, p := range descendants(shell.Process.Pid) {
		assert.Equal(t, shell.Process.Pid, p.parent)
		assert.Equal(t, unix.Getpgrp(), p.group)
		assert.False(t, p.stopped)
		require.NoError(t, unix.Kill(p.pid, unix.SIGSTOP))
	}
	assert.Eventually(t, func() bool {
		for _, p := range descendants(shell.Process.Pid) {
			if !p.stopped {
				return false
			}
		}
		return true
	}, 5*time.Second, 10*time.Millisecond)
	assert.GreaterOrEqual(t, len(descendants(os.Getpid())), 3)
}
