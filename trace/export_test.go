package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/stretchr/testify/require"
)

// What tests outside of the package use.
var (
	CPUNS        = limits.CPUNS
	UpdateGolden = update
	AcrossBlocks = acrossBlocks
)

// FeaturesOf names what of the format a file uses.
func FeaturesOf(t testing.TB, b []byte) map[string]bool {
	features := map[string]bool{}
	note := func(format string, x any) { features[fmt.Sprintf(format, x)] = true }
	r := opened(t, b)
	entries, _ := blocksOf(t, b)
	for _, e := range entries {
		note("block %d", e.Kind)
	}
	entries, contents := wholeBlocksOf(t, b)
	for i, e := range entries {
		note("block %d", e.Kind)
		note("codec %d", b[e.Offset+1])
		if e.Kind != blockSections {
			continue
		}
		for d := newDecoder(contents[i], nil); len(d.Rest) > 0; {
			d.Byte()
			note("codec %d", d.Byte())
			d.Uvarint()
			d.Bytes(d.Uvarint())
		}
	}
	for i := range r.Sequences() {
		_, reading, err := r.sequenceBytes(i)
		require.NoError(t, err)
		note("readings %d", reading.form)
	}
	note("timing %s", r.Meta().Timing.Mode)
	var forms func(v Value)
	forms = func(v Value) {
		note("form %d", v.Form)
		if v.Form == Elastic {
			note("operator %d", v.Int)
		}
		for _, e := range v.List {
			forms(e)
		}
	}
	for _, s := range r.Signatures() {
		forms(s.Return)
		for _, v := range append(s.In, s.Out...) {
			forms(v)
		}
	}
	for _, s := range r.Sites() {
		if s.Caller > 0 {
			features["call path"] = true
		}
	}
	for _, thread := range r.Threads().All() {
		if thread.InShape > 0 {
			features["shared shape"] = true
		}
	}
	return features
}

// FuzzMemory is the limit that readers of fuzzed bytes have.
const FuzzMemory = fuzzMemory

// MemoryLeft is what a reader may still use.
func MemoryLeft(r *Reader) int64 { return r.budget.Left() }

// A BlockToSpoil is one block of a good file; With is the file with another content there.
type BlockToSpoil struct {
	Content []byte
	With    func(content []byte) []byte
}

// BlocksToSpoil are blocks of all types, and those of some more files that say what
// calls there are.
func BlocksToSpoil(t testing.TB, files ...[]byte) (blocks []BlockToSpoil) {
	list := blocksToSpoil(t)
	for _, file := range files {
		entries, contents := blocksOf(t, file)
		for at, e := range entries {
			switch e.Kind {
			case blockSignatures, blockStreams, blockSequences, blockGrammar, blockTiming, blockClustering, blockColumns:
				list = append(list, spoiledBlock{file, entries, contents, at})
			}
		}
	}
	for _, s := range list {
		blocks = append(blocks, BlockToSpoil{s.all[s.at], s.with})
	}
	return blocks
}

// SpoilBlockStart makes a thread's block of timing say that it begins at another tick.
func SpoilBlockStart(t testing.TB, file []byte, thread, part int64) []byte {
	entries, contents := blocksOf(t, file)
	for at, e := range entries {
		if e.Kind == blockTiming && e.Key == thread && e.Part == part {
			d := newDecoder(contents[at], nil)
			begin := d.Varint()
			s := spoiledBlock{file, entries, contents, at}
			return s.with(append(binary.AppendVarint(nil, begin+17), d.Rest...))
		}
	}
	t.Fatal("there is no such block")
	return nil
}

// SumsContent is the content of a part's first block.
func SumsContent(p *Part) []byte {
	content, err := PartBlock{p, 0}.content()
	if err != nil {
		panic(err)
	}
	return content
}

// PartOfSums is a part with one block of sums, whatever is in it.
func PartOfSums(content []byte, long bool) []byte {
	var b bytes.Buffer
	f := &fileWriter{w: &b, purpose: codec.Fastest, chain: &Chain{}}
	f.write(append([]byte(magic), FormatVersion))
	kind := blockShortSums
	if long {
		kind = blockLongSums
	}
	f.block(kind, 0, 0, content)
	f.finish()
	return b.Bytes()
}

// VisitDistinct goes through the distinct sends of a part of each thread.
func VisitDistinct(r *Reader, from, to uint64) error {
	all, err := r.DistinctCalls()
	if err != nil {
		return err
	}
	for i := range r.Threads().Len() {
		calls, err := all.Thread(i, from, to)
		if err != nil {
			return err
		}
		if calls.Ordered() {
			err = calls.InOrder(func(*Event, bool) {})
		} else {
			err = calls.All(func(f *semantics.Function, _ uint64) bool {
				return f.Operation == semantics.Send || f.Operation == semantics.SendReceive
			}, func(*Event, uint64) {})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WithoutTables is a call without the tables that it refers to.
func WithoutTables(e *Event) *Event {
	call := *e
	call.allocations, call.sites = nil, nil
	return &call
}
