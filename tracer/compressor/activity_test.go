package compressor

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestThreadActivity(t *testing.T) {
	const rest = " 1 7 7 0 -1 4194560 100 0 0 0 "
	for stat, want := range map[string]struct {
		state byte
		ran   time.Duration
	}{
		"7 (solver) S" + rest + "12 34 0 0 20 0 1 0":   {'S', 460 * time.Millisecond},
		"7 (a) R 9 (b)) R" + rest + "0 0 0 0 20 0 1 0": {'R', 0},
		"7 (x) T" + rest + "100000 1 5 5 20 0 1 0":     {'T', 1000010 * time.Millisecond},
		"7 (cut) S 1 7 7":                      {},
		"":                                     {},
		"7 (x) S" + rest + "-1 0 0 0 20 0 1 0": {},
		"7 (x) S" + rest + "99999999999999999 0 20 0 1 0": {},
	} {
		state, ran, ok := threadActivity([]byte(stat))
		require.Equal(t, want.state != 0, ok, stat)
		require.Equal(t, want.state, state, stat)
		require.Equal(t, want.ran, ran, stat)
	}
}

// A process that is stopped is seen so, and no more once it goes on.
func TestSeesSuspension(t *testing.T) {
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	state := func() string {
		s, _, ok := threadActivity(activityOf(child.Process.Pid).read())
		require.True(t, ok)
		return string(s)
	}
	for _, c := range []struct {
		signal    os.Signal
		suspended bool
	}{{syscall.SIGSTOP, true}, {syscall.SIGCONT, false}} {
		require.NoError(t, child.Process.Signal(c.signal))
		require.Eventually(t, func() bool { return trace.IsSuspended(state()[0]) == c.suspended }, 10*time.Second, time.Millisecond, "after %v: %s", c.signal, state())
	}
}

// BenchmarkLook is what the compressor does ten times a second for each process.
func BenchmarkLook(b *testing.B) {
	a := activityOf(os.Getpid())
	for b.Loop() {
		_, _, _ = threadActivity(a.read())
	}
}

// The kernel's own file is read, too.
func TestOwnActivity(t *testing.T) {
	state, _, ok := threadActivity(activityOf(os.Getpid()).read())
	require.True(t, ok)
	require.True(t, strings.ContainsRune("RSD", rune(state)), "%c", state)
	require.Empty(t, activityOf(0).stat)
}
