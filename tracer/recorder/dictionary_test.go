package recorder

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A dictionaryWriter writes the file as the shim does.
type dictionaryWriter struct {
	t    *testing.T
	path string
}

func newDictionary(t *testing.T) *dictionaryWriter {
	t.Helper()
	return &dictionaryWriter{t, filepath.Join(t.TempDir(), record.DictionaryFile)}
}

// file opens the file for reading.
func (w *dictionaryWriter) file() *os.File {
	w.t.Helper()
	f, err := os.Open(w.path)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

func (w *dictionaryWriter) write(b []byte) {
	w.t.Helper()
	f, err := os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	defer f.Close()
	_, err = f.Write(b)
	require.NoError(w.t, err)
}

func entry(kind uint64, words ...uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(8+8*len(words))|kind<<32)
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

func textWords(s string) []uint64 {
	words := make([]uint64, 1+(len(s)+7)/8)
	words[0] = uint64(len(s))
	copy(record.BytesOf(words[1:]), s)
	return words
}

func moduleEntry(base, limit uint64, id, path string) []byte {
	return entry(rawlayout.EntryModule, append(append([]uint64{base, limit}, textWords(id)...), textWords(path)...)...)
}

func pathWord(number uint64) uint64 { return rawlayout.EntryTag<<rawlayout.EntryShift | number }
func located(number, offset uint64) record.Address {
	return record.Address(rawlayout.EntryTag<<rawlayout.EntryShift | number<<record.AllocationShift | offset)
}

func TestLocatedPointers(t *testing.T) {
	s := recordtest.NewShim(t)
	w := newDictionary(t)
	s.Init(0, 2)
	w.write(entry(rawlayout.EntryAllocation, uint64(trace.HeapAllocation), 0, 4096, 0x401234, 2))
	w.write(entry(rawlayout.EntryAllocation, uint64(trace.DeviceAllocation), 3, 1<<33, 0, 0))
	for _, buffer := range []record.Address{located(0, 0), located(1, 1<<32), located(0, 0), located(7, 0), 0x7fff0000, 0, recordtest.Word(recordtest.InPlace)} {
		s.Call(0, "MPI_Send", 0, int64(buffer), 1, recordtest.TypeInt, 1, 0, recordtest.CommWorld)
	}
	r := New(s.Process)
	r.Dictionary().Follow(w.file())
	r.Consume(sourcesOf(s, r, true))
	check := func(r *Recorder) {
		c, err := r.Content()
		require.NoError(t, err)
		require.NoError(t, c.Validate())
		require.Equal(t, []trace.Allocation{
			{Kind: trace.HeapAllocation, Size: 4096, Ordinal: 2, Site: c.Allocations[0].Site},
			{Kind: trace.DeviceAllocation, Number: 3, Size: 1 << 33},
		}, c.Allocations)
		require.Equal(t, uint64(0x1234), c.Sites[c.Allocations[0].Site-1].Offset)
		var buffers []trace.Value
		cursor, err := c.Cursor(0, 0)
		require.NoError(t, err)
		for cursor.Next() {
			if e := cursor.Event(); e.Function.Name == "MPI_Send" {
				buffers = append(buffers, e.In[0])
			}
		}
		require.NoError(t, cursor.Err())
		require.Equal(t, []trace.Value{
			{Form: trace.Pointer, Int: 1}, {Form: trace.Pointer, Int: 2, Offset: 1 << 32}, {Form: trace.Pointer, Int: 1},
			{Form: trace.Pointer}, {Form: trace.Pointer}, {Form: trace.Name, Text: "MPI_BOTTOM"}, {Form: trace.Name, Text: "MPI_IN_PLACE"},
		}, buffers)
	}
	check(r)
	resumed, err := Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	resumed.Dictionary().Follow(w.file())
	check(resumed)

	// without its dictionary a rank is not lost
	resumed, err = Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	c, err := resumed.Content()
	require.NoError(t, err)
	require.NoError(t, c.Validate())
	require.Empty(t, c.Allocations)
}

func FuzzDictionary(f *testing.F) {
	f.Add(moduleEntry(0x900000, 0x901000, "f00d", "/opt/plugin.so"))
	f.Add(entry(rawlayout.EntryPath, 0x401000, 0x401500))
	f.Add(entry(rawlayout.EntryAllocation, 1, 0, 4096, 0x401234, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := recordtest.NewShim(t)
		w := newDictionary(t)
		w.write(b)
		r := New(s.Process)
		r.Dictionary().Follow(w.file())
		for number := range uint64(4) {
			r.sites.Of(pathWord(number))
			r.sites.Allocation(number)
		}
		c, err := r.Content()
		require.NoError(t, err)
		c.Threads, c.Grammar.Rules, c.Signatures = trace.ThreadTable{}, nil, nil
		require.NoError(t, c.Validate())
	})
}

// The dictionary counts as memory of the recorder, but does not make it generalize: a recovery may
// find it longer. Sites that its bound has cost are noted.
func TestMemoryOfTheDictionaryInTheRecorder(t *testing.T) {
	s := recordtest.NewShim(t)
	w := newDictionary(t)
	s.Init(0, 2)
	e := entry(rawlayout.EntryPath, make([]uint64, 63)...)
	w.write(bytes.Repeat(e, 2*record.MaxDictionary/len(e)))
	r := New(s.Process)
	r.Limits.Memory = 1 << 20
	before := r.Memory()
	r.Dictionary().Follow(w.file())
	require.Equal(t, before+r.Dictionary().Memory(), r.Memory())
	require.Greater(t, r.Memory(), 10*r.Limits.Memory)
	r.Consume(sourcesOf(s, r, true))
	r.limitMemory()
	require.Equal(t, key.KeepsEverything, r.keys.Generality())
	c, err := r.Content()
	require.NoError(t, err)
	require.Contains(t, c.Meta.Notes, "rank 0: more than 16 MiB of call paths, lines and allocations: calls with further ones have no call site, or no allocation")
}
