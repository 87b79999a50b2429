package trace

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// Chapters in parts.

// Chapter writes a chapter: a plain grammar of so many calls, with the signatures of the process.
func (p *PartWriter) Chapter(of ChapterOf, grammar []byte) error {
	g, lengths, err := decodeChapter(grammar, codec.NewBudget(64*int64(len(grammar))+4096))
	if err == nil && lengths[0] != of.Calls {
		err = errChapters
	}
	if err != nil {
		return err
	}
	p.file.block(blockChapter, 0, int64(len(p.chapters)), grammar)
	p.chapters = append(p.chapters, &Chapter{of: of, counts: g.Counts(0)})
	return p.file.err
}

// CopyChapter writes a chapter of another part as it is.
func (p *PartWriter) CopyChapter(c *Chapter) error {
	content, err := c.content()
	if err != nil {
		return err
	}
	p.file.block(blockChapter, 0, int64(len(p.chapters)), content)
	c.part.file.budget.Give(int64(len(content)))
	p.chapters = append(p.chapters, c)
	return p.file.err
}

// appendChapterList says what chapters are: thread, number, calls of each, then lists of the terminals that it calls and how
// often.
func appendChapterList(chapters []*Chapter) (b []byte) {
	var columns [3][]int64
	var terminals, counts [][]int64
	for _, c := range chapters {
		for k, x := range []int64{int64(c.of.Thread), int64(c.of.Number), int64(c.of.Calls)} {
			columns[k] = append(columns[k], x)
		}
		var which, often []int64
		for _, o := range c.counts {
			which, often = append(which, int64(o.Terminal)), append(often, int64(o.Count))
		}
		terminals, counts = append(terminals, which), append(counts, often)
	}
	for _, column := range columns {
		b = codec.AppendSequence(b, column)
	}
	return codec.AppendLists(codec.AppendLists(b, terminals), counts)
}

// openChapters reads what the chapters of a part are.
func (p *Part) openChapters(list *codec.Entry) error {
	t := &p.file
	var entries []codec.Entry
	for i := range t.index.Len() {
		if e := t.index.At(i); e.Kind == blockChapter {
			entries = append(entries, e)
		}
	}
	if list == nil {
		if len(entries) > 0 {
			return errChapters
		}
		return nil
	}
	content, err := t.block(*list)
	if err != nil {
		return fmt.Errorf("chapters: %w", err)
	}
	d := newDecoder(content, t.budget)
	threads, numbers, calls := d.Column(len(entries)), d.Column(len(entries)), d.Column(len(entries))
	terminals, counts := d.Lists(), d.Lists()
	d.Release()
	t.budget.Give(int64(len(content)))
	if d.Err == nil && (len(d.Rest) > 0 || len(terminals) != len(entries) || len(counts) != len(entries)) {
		d.Fail(errChapters)
	}
	if d.Err != nil {
		return d.Err
	}
	for i, e := range entries {
		c := &Chapter{of: ChapterOf{int(threads[i]), uint64(numbers[i]), uint64(calls[i])}, part: p, entry: e}
		ok := threads[i] >= 0 && threads[i] < 1<<31 && numbers[i] >= 0 && calls[i] > 0 && len(terminals[i]) == len(counts[i])
		left := calls[i]
		for k := 0; ok && k < len(terminals[i]); k++ {
			terminal, n := terminals[i][k], counts[i][k]
			ok = terminal >= 0 && terminal < 1<<31 && (k == 0 || terminal > terminals[i][k-1]) && n > 0 && n <= left
			left -= n
			c.counts = append(c.counts, grammar.Occurrences{Terminal: int32(terminal), Count: uint64(n)})
		}
		if !ok || left != 0 || !t.budget.Take(int64(len(c.counts))*16+codec.ChunkBytes) {
			return errChapters
		}
		p.chapters = append(p.chapters, c)
	}
	return nil
}

// Chapters are those of the part, in the order of the file.
func (p *Part) Chapters() []*Chapter { return p.chapters }

// OrderChapters sorts chapters of parts by thread and number, each once, up to the first that is missing.
func OrderChapters(parts []*Part) map[int][]*Chapter {
	type key struct {
		thread int
		number uint64
	}
	found := map[key]*Chapter{}
	for _, p := range parts {
		for _, c := range p.chapters {
			if k := (key{c.of.Thread, c.of.Number}); found[k] == nil {
				found[k] = c
			}
		}
	}
	ordered := map[int][]*Chapter{}
	for k := range found {
		if k.number > 0 {
			continue
		}
		for next := k; found[next] != nil; next.number++ {
			ordered[k.thread] = append(ordered[k.thread], found[next])
		}
	}
	return ordered
}
