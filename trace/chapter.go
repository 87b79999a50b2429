package trace

import (
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// The grammar of a thread whose calls have no order grows with their number. So its first calls may
// be in parts, as chapters: each is a plain grammar of the signatures of the process, and goes into
// a shard unchanged. In their place, the thread's root begins with symbols that count the calls of
// each signature in the chapters. So everything that a shard's writer asks of a grammar is known,
// except the order of these calls. A reader of a shard inserts the chapters.

var errChapters = errors.New("trace: damaged chapters")

// A ChapterOf identifies a chapter.
type ChapterOf struct {
	Thread int
	Number uint64 // index among the chapters of the thread
	Calls  uint64
}

// A Chapter is the grammar of some calls of a thread, stored in a part.
type Chapter struct {
	of     ChapterOf
	part   *Part
	entry  codec.Entry
	counts []grammar.Occurrences
}

// Calls is the number of calls.
func (c *Chapter) Calls() uint64 { return c.of.Calls }

// Counts returns the number of calls of each signature of the process, sorted by terminal.
func (c *Chapter) Counts() []grammar.Occurrences { return c.counts }

// content returns the block as stored. Its memory is taken from the part's budget.
func (c *Chapter) content() ([]byte, error) { return c.part.file.block(c.entry) }

// Grammar decodes the chapter. Rule 0 is the sequence of its calls.
func (c *Chapter) Grammar() (grammar.Grammar, error) {
	content, err := c.content()
	if err != nil {
		return grammar.Grammar{}, err
	}
	defer c.part.file.budget.Give(int64(len(content)))
	g, lengths, err := decodeChapter(content, codec.NewBudget(64*int64(len(content))+4096))
	if err == nil && lengths[0] != c.of.Calls {
		err = errChapters
	}
	return g, err
}

// decodeChapter decodes a block. The memory of the rules stays booked on m.
func decodeChapter(content []byte, m *codec.Budget) (grammar.Grammar, []uint64, error) {
	d := newDecoder(content, m)
	g := d.Grammar()
	if d.Err != nil {
		return grammar.Grammar{}, nil, d.Err
	}
	if len(d.Rest) > 0 || len(g.Rules) == 0 {
		return grammar.Grammar{}, nil, errChapters
	}
	lengths, err := g.Lengths()
	if err == nil && lengths[0] == 0 {
		err = errChapters
	}
	return g, lengths, err
}

// Chapters are the first calls of a thread.
type Chapters struct {
	List []*Chapter
	// Terminals maps terminals of the process to terminals of the trace; -1 for one that no chapter
	// has.
	Terminals []int32
}

// Calls returns the number of calls in all chapters.
func (c *Chapters) Calls() (n uint64) {
	for _, one := range c.List {
		n += one.of.Calls
	}
	return n
}

// CountsOf returns the number of calls of each signature in some chapters, sorted by terminal.
func CountsOf(chapters []*Chapter) []grammar.Symbol {
	var all []grammar.Symbol
	for _, c := range chapters {
		merged := make([]grammar.Symbol, 0, len(all)+len(c.counts))
		for _, o := range c.counts {
			for len(all) > 0 && all[0].Value < o.Terminal {
				merged, all = append(merged, all[0]), all[1:]
			}
			n := o.Count
			if len(all) > 0 && all[0].Value == o.Terminal {
				n, all = n+all[0].Count, all[1:]
			}
			merged = append(merged, grammar.Symbol{Value: o.Terminal, Count: n})
		}
		all = append(merged, all...)
	}
	return all
}

// hasChapters reports whether any thread has chapters.
func hasChapters(c *Content) bool { return c.Threads.chapters != nil }

// appendChapters writes the chapters of each thread: row, number of chapters, number of calls, and
// the list of terminals + 1.
func appendChapters(c *Content) []byte {
	var rows, counts, calls []int64
	var terminals [][]int64
	for i, chapters := range c.Threads.chapters {
		if chapters == nil {
			continue
		}
		mine := make([]int64, len(chapters.Terminals))
		for k, terminal := range chapters.Terminals {
			mine[k] = int64(terminal) + 1
		}
		rows, counts = append(rows, int64(i)), append(counts, int64(len(chapters.List)))
		calls, terminals = append(calls, int64(chapters.Calls())), append(terminals, mine)
	}
	b := codec.AppendSequence(codec.AppendSequence(codec.AppendSequence(nil, rows), counts), calls)
	return codec.AppendLists(b, terminals)
}

// chapters writes the chapters that are not in the chain before the file.
func (f *fileWriter) chapters(c *Content) error {
	for i, chapters := range c.Threads.chapters {
		if chapters == nil {
			continue
		}
		for number, chapter := range chapters.List {
			if f.chained(chapter.part, chapter.entry, int64(i), int64(number)) {
				continue
			}
			content, err := chapter.content()
			if err != nil {
				return fmt.Errorf("trace: chapter %d of thread %d: %w", number, i, err)
			}
			f.block(blockChapter, int64(i), int64(number), content)
			chapter.part.file.budget.Give(int64(len(content)))
		}
	}
	return nil
}

// openChapters inserts the chapters of a shard into its grammar; lengths are those of the rules
// without them.
func (t *Reader) openChapters(d *decoder, lengths []uint64) {
	rows, counts, calls, terminals := d.Sequence(), d.Sequence(), d.Sequence(), d.Lists()
	if d.Err == nil && (len(counts) != len(rows) || len(calls) != len(rows) || len(terminals) != len(rows)) {
		d.Fail(errChapters)
	}
	if d.Err != nil {
		return
	}
	c := &t.shared
	// roots come first, since a rule refers only to later ones
	rules := make([][]grammar.Symbol, len(rows))
	which := map[int]int{}
	for i, row := range rows {
		if row < 0 || row >= int64(c.Threads.Len()) || i > 0 && row <= rows[i-1] || counts[i] < 1 {
			d.Fail(errChapters)
			return
		}
		which[int(row)] = i
		left := calls[i]
		for number := range counts[i] {
			g, n, err := t.readChapter(row, number, terminals[i])
			if err != nil {
				d.Fail(fmt.Errorf("chapter %d of thread %d: %w", number, row, err))
				return
			}
			left -= int64(n)
			rules[i] = append(rules[i], grammar.RuleSymbol(len(rules), 1))
			rules = append(rules, moved(g.Rules, len(rules))...)
		}
		if left != 0 {
			d.Fail(errChapters)
			return
		}
	}
	by := len(rules)
	var roots codec.Numbers
	for row, root := range c.Threads.root.All() {
		i, has := which[row]
		if !has {
			roots.Push(root + int64(by))
			continue
		}
		if uint64(calls[i]) > lengths[root] {
			d.Fail(errChapters)
			return
		}
		rest := [][]grammar.Symbol{c.Grammar.Between(int(root), uint64(calls[i]), lengths[root], lengths)}
		rules[i] = append(rules[i], moved(rest, by)[0]...)
		roots.Push(int64(i))
	}
	c.Grammar = grammar.Grammar{Rules: append(rules, moved(c.Grammar.Rules, by)...)}
	c.Threads.root = roots
}

// readChapter returns a chapter of a thread, with the signatures of the trace, and its number of
// calls.
func (t *Reader) readChapter(row, number int64, terminals []int64) (grammar.Grammar, uint64, error) {
	e, there := t.chapterBlocks.Find(row, number)
	if !there {
		return grammar.Grammar{}, 0, errors.New("missing")
	}
	content, err := t.block(e)
	if err != nil {
		return grammar.Grammar{}, 0, err
	}
	defer t.budget.Give(int64(len(content)))
	g, lengths, err := decodeChapter(content, t.budget)
	if err != nil {
		return grammar.Grammar{}, 0, err
	}
	for _, body := range g.Rules {
		for k := range body {
			if body[k].IsRule() {
				continue
			}
			terminal := int64(body[k].Value)
			if terminal >= int64(len(terminals)) || terminals[terminal] < 1 || terminals[terminal] > int64(len(t.shared.Signatures)) {
				return grammar.Grammar{}, 0, errChapters
			}
			body[k].Value = int32(terminals[terminal] - 1)
		}
	}
	return g, lengths[0], nil
}

// moved renumbers the rules of a grammar, in place, so that they can follow by other rules.
func moved(rules [][]grammar.Symbol, by int) [][]grammar.Symbol {
	for _, body := range rules {
		for i, s := range body {
			if s.IsRule() {
				body[i] = grammar.RuleSymbol(s.Rule()+by, s.Count)
			}
		}
	}
	return rules
}

// Chapters in parts.

// Chapter writes a chapter: a plain grammar of of.Calls calls, with the signatures of the process.
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

// CopyChapter writes a chapter of another part unchanged.
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

// appendChapterList writes the list of chapters: thread, number and calls of each, then the
// terminals that it calls and how often.
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

// openChapters reads the list of chapters of a part.
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

// Chapters returns the chapters of the part in the order of the file.
func (p *Part) Chapters() []*Chapter { return p.chapters }

// OrderChapters sorts the chapters of parts by thread and number, without duplicates, up to the
// first missing one.
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
