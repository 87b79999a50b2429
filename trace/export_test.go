package trace

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// What tests outside of the package use.
var (
	CPUNS        = cpuNS
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
		note("block %d", e.kind)
		note("codec %d", b[e.offset+1])
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
		if thread.Place > 0 {
			features["shared shape"] = true
		}
	}
	return features
}

// FuzzMemory is the limit that readers of fuzzed bytes have.
const FuzzMemory = fuzzMemory

// MemoryLeft is what a reader may still use.
func MemoryLeft(r *Reader) int64 { return r.budget.left.Load() }

// A BlockToSpoil is one block of a good file; With is the file with another content there.
type BlockToSpoil struct {
	Content []byte
	With    func(content []byte) []byte
}

// BlocksToSpoil are blocks of all types, and those of some more files that say what calls there are.
func BlocksToSpoil(t testing.TB, files ...[]byte) (blocks []BlockToSpoil) {
	list := blocksToSpoil(t)
	for _, file := range files {
		entries, _ := blocksOf(t, file)
		for at, e := range entries {
			switch e.kind {
			case blockSignatures, blockStreams, blockSequences, blockGrammar, blockTiming, blockClustering, blockColumns:
				list = append(list, spoiledBlock{file, entries, at})
			}
		}
	}
	for _, s := range list {
		_, contents := blocksOf(t, s.file)
		blocks = append(blocks, BlockToSpoil{contents[s.at], s.with})
	}
	return blocks
}

// SpoilBlockStart makes a thread's block of timing say that it begins at another tick.
func SpoilBlockStart(t testing.TB, file []byte, thread, part int64) []byte {
	entries, contents := blocksOf(t, file)
	for at, e := range entries {
		if e.kind == blockTiming && e.key == thread && e.part == part {
			d := decoder{b: contents[at]}
			begin := d.varint()
			s := spoiledBlock{file, entries, at}
			return s.with(append(binary.AppendVarint(nil, begin+17), d.b...))
		}
	}
	t.Fatal("there is no such block")
	return nil
}
