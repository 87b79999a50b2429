package spool

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// objects is a store with parts.
type objects map[string][]byte

func (o objects) remote(name string) io.ReaderAt {
	b, there := o[name]
	if !there {
		return failing{}
	}
	return bytes.NewReader(b)
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, os.ErrNotExist }

// store puts all parts that are in the spool into one object, with something before them.
func (o objects) store(t *testing.T, d *Directory) {
	parts, err := d.parts()
	require.NoError(t, err)
	name := fmt.Sprint("object ", len(o))
	object := []byte("of another process")
	places := map[int]int64{}
	for i, p := range parts {
		if p.Local() {
			b, err := d.read(fmt.Sprint(partFile, p.Number), maxPartFile)
			require.NoError(t, err)
			places[i] = int64(len(object))
			object = append(object, b...)
		}
	}
	if len(places) == 0 {
		return
	}
	o[name] = object
	for i, at := range places {
		_, err := d.Stored(parts[i], name, at)
		require.NoError(t, err)
	}
}

// chained returns the trace of a process as a chain of the objects and a tail.
func (o objects) chained(t *testing.T, d *Directory) *trace.Content {
	c, report, err := d.Recover()
	require.NoError(t, err)
	var chain trace.Chain
	var file []byte
	for _, name := range slices.Sorted(maps.Keys(o)) {
		for _, p := range report.Parts {
			for _, piece := range p.Pieces {
				if piece.Object == name {
					chain.PlaceBytes(p.Part, piece.From, piece.Bytes, piece.At)
				}
			}
		}
		chain.Add(int64(len(o[name])))
		file = append(file, o[name]...)
	}
	tail := bytes.NewBuffer(file)
	require.NoError(t, trace.WriteTail(tail, c, &chain))
	file = tail.Bytes()
	copy(file, "CAIRN\x1a\n\x03") // an object begins with a part; these begin with something else
	r, err := trace.Open(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	got, err := r.StreamedContent()
	require.NoError(t, err)
	return got
}

// Many parts in the store need few files in the spool, and the trace is the same. Parts that the
// store loses are replaced by sums.
func TestJoinedParts(t *testing.T) {
	before := joinedParts
	joinedParts = 3
	t.Cleanup(func() { joinedParts = before })
	calls := 900_000
	if testing.Short() {
		calls = 600_000
	}
	for seed, kind := range []string{"times", "chapters too"} {
		t.Run(kind, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 5))
			var s *recordtest.Shim
			if kind == "times" {
				s = recordtest.NewShim(t)
				s.Init(0, 4)
				for range calls {
					s.Clock += random.Uint64N(1 << 12)
					s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
				}
			} else {
				s = chaoticProgram(t, 40, calls)
			}
			s.Process.BootID = ""
			whole := wholeContent(s)
			w, dir := startSpool(t, s)
			w.spool.recorder.Limits.Grammar, w.spool.logs[0].fileBytes = calls/3, 1
			o := objects{}
			d, err := OpenPath(dir)
			require.NoError(t, err)
			defer d.Close()
			d.Remote, d.ChaptersApart = o.remote, kind != "times"
			most := 0
			w.play(s, func(n int) {
				if n%(calls/45) == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
				if random.IntN(calls/15) == 0 {
					packed(t, dir)
					if random.IntN(3) > 0 {
						o.store(t, d)
					}
					files, err := d.numbered(storedFile)
					require.NoError(t, err)
					most = max(most, len(files))
				}
			})
			packed(t, dir)
			o.store(t, d)
			files, err := d.numbered(storedFile)
			require.NoError(t, err)
			t.Log(len(o), "objects,", len(files), "files")
			require.Greater(t, len(o), 4)
			require.LessOrEqual(t, most, 2*2+1)
			parts, err := d.parts()
			require.NoError(t, err)
			joined := 0
			for _, p := range parts {
				joined = max(joined, len(p.Pieces))
			}
			require.GreaterOrEqual(t, joined, joinedParts)
			got := o.chained(t, d)
			compare(t, whole, got)
			requireTimes(t, s, got, func(int) uint64 { return 1 << 40 })
			if kind != "times" {
				return
			}
			// lose an object that has pieces of a joined part
			lost := parts[0].Pieces[random.IntN(len(parts[0].Pieces))].Object
			delete(o, lost)
			giveUp(t, d, lost)
			c := o.chained(t, d)
			require.NotEmpty(t, c.Coarse())
			compare(t, whole, c)
			requireWholeClock(t, c.Threads.At(0))
		})
	}
}

// giveUp does without an object that is lost: its times become sums, in one part after the other.
func giveUp(t *testing.T, d *Directory, lost string) {
	t.Helper()
	isLost := func(piece Piece) bool { return piece.Object == lost }
	for {
		parts, err := d.parts()
		require.NoError(t, err)
		k := slices.IndexFunc(parts, func(p Part) bool { return slices.ContainsFunc(p.Pieces, isLost) })
		if k < 0 {
			return
		}
		_, err = d.Lost(parts[k], lost)
		require.NoError(t, err)
	}
}

// requireWholeClock checks that times and sums together are all ticks of a thread.
func requireWholeClock(t *testing.T, th trace.Thread) {
	t.Helper()
	gaps, durations, err := th.Times()
	require.NoError(t, err)
	ticks := int64(0)
	for i := range gaps {
		ticks += gaps[i] + durations[i]
	}
	require.Equal(t, th.EndTick-th.FirstTick, ticks)
}
