package recorder

import (
	"math"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The grammar of a program that repeats itself is small. The grammar of an irregular program grows
// with its calls, and with it every checkpoint and the memory of the process. So a large grammar is
// closed: it becomes a chapter, which is a block like any other, and the thread begins a new
// grammar. The calls of a thread are its chapters in order.
//
// Repetition is found only within a chapter. The merge stores what chapters have in common once.

// maxGrammarBytes is the memory above which a grammar becomes a chapter at a checkpoint:
// about 70,000 symbols. Repetitions shorter than that are found. An irregular call takes 0.6 µs
// with 1 MiB, 0.85 µs with 4 MiB, and 1.5 µs with 16 MiB, which does not fit in any cache
// (BenchmarkIrregular). Without a limit it takes 2.8 µs after ten million calls, and still rises.
const maxGrammarBytes = 4 << 20

// minGrammarBytes is what each grammar may take in any case. All threads together may take a
// quarter of the memory limit.
const minGrammarBytes = 128 << 10

// chapterTerminal is BlockOf.Terminal of chapters.
const chapterTerminal = none - 1

func chaptersOf(thread uint32) BlockOf { return BlockOf{Thread: thread, Terminal: chapterTerminal} }

// closeChapter turns the thread's grammar into a block if it needs more than limit bytes. It must
// not be called within a record.
func (t *thread) closeChapter(limit int) {
	if t.grammar.Needs() <= limit {
		return
	}
	r, n := t.recorder, t.grammar.Len()
	r.full = append(r.full, &Block{
		Of: chaptersOf(t.number), First: t.inChapters, N: n,
		Data: [2][]byte{codec.AppendGrammar(nil, t.grammar.Grammar())},
	})
	t.inChapters += n
	t.grammar.Reset()
	t.repeats.ForgetLoop() // it has a position in the grammar
}

// allCalls selects all calls of every thread.
func allCalls(uint32) CallRange { return CallRange{0, math.MaxUint64} }

// addGrammar adds the rules of a thread, its root rule first. A chapter without any of the wanted
// calls is replaced by as many calls of terminal 0.
func (t *thread) addGrammar(to *grammar.Grammar, wanted CallRange) error {
	r := t.recorder
	own := t.grammar.Grammar()
	if t.inChapters == 0 {
		to.Rules = append(to.Rules, shifted(own, len(to.Rules))...)
		return nil
	}
	root := len(to.Rules)
	to.Rules = append(to.Rules, nil)
	var body []grammar.Symbol
	add := func(g grammar.Grammar) {
		if len(g.Rules[0]) == 0 {
			return // nothing was called since the last chapter
		}
		body = append(body, grammar.RuleSymbol(len(to.Rules), 1))
		to.Rules = append(to.Rules, shifted(g, len(to.Rules))...)
	}
	chapter := func(first, n uint64, read func() (grammar.Grammar, error)) error {
		if first >= wanted.To || first+n <= wanted.From {
			body = append(body, grammar.Symbol{Value: 0, Count: n})
			return nil
		}
		g, err := read()
		if err != nil {
			return err
		}
		if lengths, err := g.Lengths(); err != nil || lengths[0] != n {
			return ErrBlocks
		}
		add(g)
		return nil
	}
	coded, from := t.codedChapters()
	separate, first := t.separateChapters()
	if len(separate) > 0 {
		body = append(body, grammar.RuleSymbol(len(to.Rules), 1))
		to.Rules = append(to.Rules, trace.CountsOf(separate))
		coded = coded[len(separate):]
	}
	for _, c := range coded {
		if err := chapter(first, c.Calls(), c.Grammar); err != nil {
			return err
		}
		first += c.Calls()
	}
	stored, err := r.blocksOf(chaptersOf(t.number), from, &Block{First: t.inChapters})
	if err != nil {
		return err
	}
	for i := range stored {
		b := &stored[i]
		if err := chapter(b.First, b.N, func() (grammar.Grammar, error) { return r.Blocks.chapter(b) }); err != nil {
			return err
		}
	}
	add(own)
	to.Rules[root] = body
	return nil
}

// codedChapters returns the chapters of a thread that are in parts, and their number of calls.
func (t *thread) codedChapters() ([]*trace.Chapter, uint64) {
	return chaptersUpTo(t.inChapters, t.recorder.Blocks.Chapters[int(t.number)]) // the rest is later than the checkpoint
}

// chaptersUpTo returns the first chapters, as far as they have no more than most calls together,
// and the number of these calls.
func chaptersUpTo(most uint64, chapters []*trace.Chapter) ([]*trace.Chapter, uint64) {
	calls := uint64(0)
	for i, c := range chapters {
		if calls+c.Calls() > most {
			return chapters[:i], calls
		}
		calls += c.Calls()
	}
	return chapters, calls
}

// separateChapters returns the chapters that Content stores separately, and their number of calls:
// those with coded times. The other chapters are coded together with their signatures.
func (t *thread) separateChapters() ([]*trace.Chapter, uint64) {
	if !t.recorder.ChaptersApart {
		return nil, 0
	}
	coded, calls := t.codedChapters()
	if len(t.aggregates) > 0 { // no times of single calls
		return coded, calls
	}
	return chaptersUpTo(uint64(len(t.codedTimes()))*timing.BlockCalls, coded)
}

// chapter reads the chapter in a block.
func (x *BlockIndex) chapter(b *StoredBlock) (grammar.Grammar, error) {
	whole, err := x.Open(b)
	if err != nil {
		return grammar.Grammar{}, err
	}
	g, rest, err := codec.DecodeGrammar(whole.Data[0])
	if err != nil || len(rest) > 0 || len(g.Rules) == 0 {
		return grammar.Grammar{}, ErrBlocks
	}
	return g, nil
}

// A ThreadChapters counts the calls of a thread that are in chapters.
type ThreadChapters struct {
	Thread     uint32
	Calls      uint64 // in chapters
	Timed      bool   // its calls have times of their own
	Coded      int    // number of chapters in parts
	CodedCalls uint64 // calls in those
}

// ClosedChapters returns the chapters of all threads.
func (r *Recorder) ClosedChapters() []ThreadChapters {
	list := make([]ThreadChapters, len(r.threads))
	for i, t := range r.threads {
		coded, calls := t.codedChapters()
		list[i] = ThreadChapters{Thread: t.number, Calls: t.inChapters, Timed: len(t.aggregates) == 0, Coded: len(coded), CodedCalls: calls}
	}
	return list
}
