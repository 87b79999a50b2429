package spool

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// A shard with chapters in parts is read as the same trace as one with them in its grammar, with
// coded times or without, and whatever was packed when.
func TestChaptersApart(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 8))
		s := chaoticProgram(t, 20+seed, 400_000)
		whole := wholeContent(s)
		w, dir := startSpool(t, s)
		w.spool.recorder.Limits.Grammar = 100_000
		w.spool.logs[0].fileBytes = 1
		w.play(s, func(n int) {
			if n%30_000 == 0 {
				w.spool.raw = checkpointBytes + w.spool.stateSize + 1
			}
			if random.IntN(40_000) == 0 {
				packed(t, dir)
			}
		})
		packed(t, dir)
		left, err := filepath.Glob(filepath.Join(dir, chaptersFile+"*"))
		require.NoError(t, err)
		require.LessOrEqual(t, len(left), 25)
		together, _, err := Recover(dir)
		require.NoError(t, err)
		compare(t, whole, together)

		d, err := OpenPath(dir)
		require.NoError(t, err)
		defer d.Close()
		d.ChaptersApart = true
		c, report, err := d.Recover()
		require.NoError(t, err)
		chapters := 0
		for _, th := range c.Threads.All() {
			if th.Chapters != nil {
				chapters += len(th.Chapters.List)
			}
		}
		require.Greater(t, chapters, 5)
		var chain trace.Chain
		var file bytes.Buffer
		for _, p := range report.Parts {
			f, err := d.OpenPart(p)
			require.NoError(t, err)
			chain.Place(p.Part, 0)
			chain.Add(p.Size())
			_, err = file.ReadFrom(f)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		parts := file.Len()
		require.NoError(t, trace.WriteTail(&file, c, &chain))
		var alone bytes.Buffer
		require.NoError(t, trace.Write(&alone, c))
		for _, b := range [][]byte{file.Bytes(), alone.Bytes()} {
			r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
			require.NoError(t, err)
			got, err := r.StreamedContent()
			require.NoError(t, err)
			compare(t, whole, got)
			requireTimes(t, s, got, func(int) uint64 { return 1 << 40 })
		}
		require.Less(t, file.Len()-parts, alone.Len()/2)
	}
}

// A shard with damaged chapters is refused, whichever byte is damaged.
func TestDamagedChapters(t *testing.T) {
	s := chaoticProgram(t, 30, 200_000)
	w, dir := startSpool(t, s)
	w.spool.recorder.Limits.Grammar, w.spool.logs[0].fileBytes = 100_000, 1
	w.play(s, func(n int) {
		if n%3_000 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
	})
	packed(t, dir)
	parts, err := filepath.Glob(filepath.Join(dir, partFile+"*"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	d, err := OpenPath(dir)
	require.NoError(t, err)
	defer d.Close()
	b, err := d.read(partFile+"0", maxPartFile)
	require.NoError(t, err)
	p, err := trace.OpenPart(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.NotEmpty(t, p.Chapters())
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		damaged := bytes.Clone(b)
		damaged[8+random.IntN(len(b)-8)] ^= byte(1 + random.IntN(255))
		p, err := trace.OpenPart(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			continue
		}
		wrong := 0
		for _, c := range p.Chapters() {
			if _, err := c.Grammar(); err != nil {
				wrong++
			}
		}
		require.LessOrEqual(t, wrong, 1)
	}
}
