package spool

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// written returns the trace of a process as a file.
func written(t *testing.T, c *trace.Content) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	return b.Bytes()
}

func packed(t *testing.T, dir string) Packed {
	t.Helper()
	return packedOf(t, dir, false)
}

func packedOf(t *testing.T, dir string, ended bool) Packed {
	t.Helper()
	d, err := OpenPath(dir)
	require.NoError(t, err)
	defer d.Close()
	d.Ended = ended
	done, err := d.Pack()
	require.NoError(t, err)
	return done
}

// A trace is the same whether its times were coded at random times while the process continued or
// at its end, even if a packer was killed.
func TestPackWhileTheProcessGoesOn(t *testing.T) {
	for seed, mode := range []string{"lossless", "lossy 5"} {
		t.Run(mode, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 8))
			s := longProgram(t, uint64(seed), 420_000)
			s.Process.Timing = mode
			want := wholeContent(s)
			w, dir := startSpool(t, s)
			var coded, before, after int64
			w.play(s, func(n int) {
				if n%40_000 == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
				if random.IntN(25_000) != 0 {
					return
				}
				if random.IntN(2) == 0 { // killed while it wrote
					require.NoError(t, os.WriteFile(filepath.Join(dir, partNew), []byte("CAIRN"), 0o644))
				}
				name := filepath.Join(dir, w.spool.logs[0].file(w.spool.logs[0].number-1))
				old, _ := os.ReadFile(name)
				done := packed(t, dir)
				coded, before, after = coded+int64(done.Calls), before+done.Before, after+done.After
				// killed before it removed the last file
				if done.Before > 0 && random.IntN(2) == 0 {
					require.NoError(t, os.WriteFile(name, old, 0o644))
				}
				c, _, err := snapshot(dir)
				require.NoError(t, err)
				written(t, c)
			})
			require.Greater(t, coded, int64(150_000))
			require.Less(t, after, 2*before)
			require.Zero(t, coded%timing.BlockCalls)
			for _, ended := range []bool{false, true, true} { // coded before the next round
				c, report, err := Recover(dir)
				require.NoError(t, err)
				require.Zero(t, report.Lost)
				again, _, err := Recover(dir)
				require.NoError(t, err)
				if mode == "lossless" {
					requireTimes(t, s, again, func(int) uint64 { return 1 << 40 })
				}
				for i := range want.Threads.Len() {
					gaps, durations, err := func() ([]int64, []int64, error) { th := again.Threads.At(i); return th.Times() }()
					require.NoError(t, err)
					require.Equal(t, want.Threads.At(i).Gaps, gaps)
					require.Equal(t, want.Threads.At(i).Durations, durations)
				}
				want.Ranks, want.Meta.Notes = c.Ranks, c.Meta.Notes
				require.True(t, bytes.Equal(written(t, recordtest.InMemory(t)(again, nil)), written(t, c)), "copied and coded are the same bytes")
				for packedOf(t, dir, ended).More > 0 {
				}
			}
			logs, err := filepath.Glob(filepath.Join(dir, "times-*"))
			require.NoError(t, err)
			require.LessOrEqual(t, len(logs), 1, "what no checkpoint counts stays in the last one")
		})
	}
}

// A file of a log that is being written to is not packed, even if it is long enough: later blocks
// would be lost with it.
func TestPackLeavesWhatIsBeingWritten(t *testing.T) {
	s := longProgram(t, 3, 420_000)
	w, dir := startSpool(t, s)
	seen := 0
	w.play(s, func(int) {
		log := &w.spool.logs[0]
		if log.number == seen {
			return
		}
		seen = log.number
		last := filepath.Join(dir, log.file(log.number-1))
		whole, err := os.ReadFile(last)
		require.NoError(t, err)
		next := filepath.Join(dir, log.file(log.number))
		following, err := os.ReadFile(next)
		if err == nil {
			require.NoError(t, os.Remove(next))
		}
		for at := 0; ; { // before the last block is in it, or half of it is
			_, size, ok := recorder.ParseBlock(whole[at:])
			require.True(t, ok)
			if at += size; at < len(whole) {
				continue
			}
			for _, written := range []int{at - size, at - size/2} {
				require.NoError(t, os.Truncate(last, int64(written)))
				packed(t, dir)
				require.FileExists(t, last)
			}
			break
		}
		require.NoError(t, os.WriteFile(last, whole, 0o644))
		if err == nil {
			require.NoError(t, os.WriteFile(next, following, 0o644))
		}
		_, _, err = snapshot(dir)
		require.NoError(t, err)
	})
	require.Positive(t, seen)
	_, _, err := Recover(dir)
	require.NoError(t, err)
}

// Nothing that replaces a part is followed, and a damaged part is an error that names it.
func TestPartsOfOthers(t *testing.T) {
	s := longProgram(t, 1, 420_000)
	w, dir := startSpool(t, s)
	w.play(s, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, partNew)))
	require.Positive(t, packed(t, dir).Calls)
	content, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "SECRET", string(content))
	part := filepath.Join(dir, partFile+"0")
	whole, err := os.ReadFile(part)
	require.NoError(t, err)
	for name, damage := range map[string]func(){
		"link":      func() { require.NoError(t, os.Symlink(secret, part)) },
		"shorter":   func() { require.NoError(t, os.WriteFile(part, whole[:len(whole)-1], 0o644)) },
		"empty":     func() { require.NoError(t, os.WriteFile(part, nil, 0o644)) },
		"directory": func() { require.NoError(t, os.Mkdir(part, 0o755)) },
		"missing":   func() {},
	} {
		require.NoError(t, os.RemoveAll(part))
		damage()
		_, _, err := Recover(dir)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "SECRET")
	}
}
