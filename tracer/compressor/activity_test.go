package compressor

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// The kernel's own file is read, too.
func TestOwnActivity(t *testing.T) {
	b, err := os.ReadFile(activityOf("/", os.Getpid()).stat)
	require.NoError(t, err)
	state, _, ok := threadActivity(b)
	require.True(t, ok)
	require.True(t, strings.ContainsRune("RSD", rune(state)), "%c", state)
	require.Empty(t, activityOf("/", 0).stat)
}
