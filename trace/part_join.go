package trace

import (
	"bytes"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// JoinParts gives the end of a file that is some parts, one after the other as they are, and then this end, which says what
// is in all of them: so that of many parts that are stored elsewhere one index is left. OpenPart reads the file; it asks for
// no more of the parts than their blocks.
func JoinParts(parts []*Part) ([]byte, error) {
	all := &codec.Index{}
	at, skipped := int64(headerSize), int64(0)
	add := func(e codec.Entry) {
		e.Offset = at
		at += e.Size
		all.Add(e)
	}
	var chunks []partChunk
	var chapters []*Chapter
	for i, p := range parts {
		if i > 0 {
			skipped += int64(headerSize)
		}
		t := &p.file
		for row := range t.index.Len() {
			e := t.index.At(row)
			if e.Offset >= p.end {
				break // what says what is in it
			}
			if e.Kind == blockSkipped {
				skipped += e.Size
				continue
			}
			if skipped > 0 {
				add(codec.Entry{Kind: blockSkipped, Size: skipped})
				skipped = 0
			}
			add(e)
		}
		skipped += t.size - p.end
		chunks, chapters = append(chunks, p.chunks...), append(chapters, p.chapters...)
	}
	if skipped > 0 {
		add(codec.Entry{Kind: blockSkipped, Size: skipped})
	}
	var b bytes.Buffer
	w := PartWriter{file: &fileWriter{w: &b, purpose: codec.Fastest, chain: &Chain{}, index: *all, written: at}, chunks: chunks, chapters: chapters}
	err := w.Close()
	return b.Bytes(), err
}
