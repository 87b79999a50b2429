package hosts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leave makes what a compressor that was killed leaves of one process.
func (f folder) leave(t *testing.T, process string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(f.spool(), process), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(f.spool(), process, "process.json"), []byte("{}"), 0o644))
}

// twice leaves two starts of a program: the part of one, and the spool of another.
func (f folder) twice(t *testing.T) {
	t.Helper()
	f.leave(t, "first")
	require.NoError(t, f.packLeft())
	f.leave(t, "second")
}

// All parts of a host come to the run's folder.
func TestTwoStartsAreDelivered(t *testing.T) {
	run, f := madeRun(t)
	f.twice(t)
	require.NoError(t, Deliver(run.Out, 0))
	require.NoDirExists(t, string(f))
	into := filepath.Join(t.TempDir(), "spool")
	parts, err := Unpack(run.Out, into)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	require.FileExists(t, filepath.Join(into, "first", "process.json"))
	require.FileExists(t, filepath.Join(into, "second", "process.json"))
	left, err := os.ReadDir(filepath.Dir(string(f)))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What is left of a run is found by another name of its folder, and nothing of another run.
func TestFolderOfAnotherName(t *testing.T) {
	run, f := madeRun(t)
	f.leave(t, "first")
	require.NoError(t, run.Mark())
	another, empty := filepath.Join(t.TempDir(), "another"), t.TempDir()
	require.NoError(t, os.Symlink(run.Out, another))
	require.NoError(t, Deliver(empty, 0))
	require.DirExists(t, string(f))
	require.NoError(t, Deliver(another, 0))
	require.NoDirExists(t, string(f))
	require.Len(t, list(another), 1)
}

// All parts of a host are announced and sent, and the folder goes with the last one.
func TestTwoStartsAreSent(t *testing.T) {
	run, f := madeRun(t)
	f.twice(t)
	turn := 0
	send := func(s sender) string {
		var out bytes.Buffer
		turn++
		s.run, s.turn, s.out = run.ID, strings.Repeat("x", turn), &out
		require.NoError(t, s.send())
		return out.String()
	}
	names := announcements(strings.NewReader(send(sender{})))
	require.Len(t, names, 2)
	for _, name := range names {
		require.NoError(t, save(strings.NewReader(send(sender{part: name})), run.Out, name))
	}
	send(sender{done: names[:1]})
	require.Equal(t, names[1:], f.packed())
	send(sender{done: names[1:]})
	require.NoDirExists(t, string(f))
	require.Len(t, list(run.Out), 2)
}

// Whoever waits for parts does so while one is being made, and no longer.
func TestPartThatComes(t *testing.T) {
	run, _ := madeRun(t)
	require.NoError(t, run.Mark())
	done := run.comes()
	require.True(t, arriving(run.Out))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	AwaitAll(ctx, run.Out, 0)
	require.Error(t, ctx.Err(), "it waits")
	sign, err := filepath.Glob(filepath.Join(partsOf(run.Out), unfinished+"*"))
	require.NoError(t, err)
	require.Len(t, sign, 1)
	require.NoError(t, os.Chtimes(sign[0], time.Time{}, time.Now().Add(-time.Hour)))
	require.Eventually(t, func() bool { return arriving(run.Out) }, recently, 10*time.Millisecond, "it is renewed")
	done()
	require.False(t, arriving(run.Out))
	AwaitAll(t.Context(), run.Out, 0)
}

// Of several hosts one finishes the run.
func TestOneHostFinishes(t *testing.T) {
	run, _ := madeRun(t)
	require.NoError(t, run.Mark())
	require.NoError(t, os.Mkdir(run.election(), 0o755))
	require.NoError(t, finish(run)) // which would fail: this program is no cairn
	require.DirExists(t, run.election())
}
