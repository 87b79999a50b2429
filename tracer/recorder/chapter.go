package recorder

import (
	"math"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The grammar of a program that repeats itself is small. That of one that does not grows with its calls, and so would
// what a checkpoint writes and a process holds. So where a grammar has become large it is closed: it is a chapter, a block
// as others are, and the thread begins another one. What the thread called is its chapters, one after the other.
//
// Repetition is found within a chapter only. What chapters have in common a merge keeps once.

// mostGrammarBytes is the memory that a grammar may have at a checkpoint before it becomes a chapter: some 70,000 symbols.
// A program may repeat what is shorter than that. With 1 MiB an irregular call takes 0.6 µs, with 4 MiB 0.85, with 16 MiB,
// which no cache holds, 1.5 (BenchmarkIrregular); without a limit 2.8 after ten million, and more with each.
const mostGrammarBytes = 4 << 20

// leastGrammarBytes is what a grammar may have in any case: all threads together have a quarter of the recorder's memory.
const leastGrammarBytes = 128 << 10

// aChapter stands in the place of a terminal in blockOf.
const aChapter = none - 1

func chaptersOf(thread uint32) blockOf { return blockOf{thread: thread, terminal: aChapter} }

// closeChapters makes blocks of the grammars that have become large. It must not be called within a record.
func (r *Recorder) closeChapters() {
	most := min(r.grammarBytes, max(r.memoryLimit/4/max(len(r.threads), 1), leastGrammarBytes))
	for _, t := range r.threads {
		if t.grammar.Needs() <= most {
			continue
		}
		n := t.grammar.Len()
		r.full = append(r.full, &block{
			of: chaptersOf(t.number), first: t.inChapters, n: n,
			data: [2][]byte{codec.AppendGrammar(nil, t.grammar.Grammar())},
		})
		t.inChapters += n
		t.grammar.Reset()
		t.loop.forget() // it knows its place in the grammar
	}
}

// allCalls wants them of each thread.
func allCalls(uint32) callRange { return callRange{0, math.MaxUint64} }

// addGrammar adds the rules of a thread, of which the first is its root. Chapters without any of the wanted calls are as
// many calls with the terminal 0.
func (r *Recorder) addGrammar(to *grammar.Grammar, t *thread, wanted callRange) error {
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
		if first >= wanted.to || first+n <= wanted.from {
			body = append(body, grammar.Symbol{Value: 0, Count: n})
			return nil
		}
		g, err := read()
		if err != nil {
			return err
		}
		if lengths, err := g.Lengths(); err != nil || lengths[0] != n {
			return errBlocks
		}
		add(g)
		return nil
	}
	coded, from := r.codedChapters(t)
	first := uint64(0)
	if apart := r.apart(t); len(apart) > 0 {
		body = append(body, grammar.RuleSymbol(len(to.Rules), 1))
		to.Rules = append(to.Rules, trace.CountsOf(apart))
		coded, first = coded[len(apart):], (&trace.Chapters{List: apart}).Calls()
	}
	for _, c := range coded {
		if err := chapter(first, c.Calls(), c.Grammar); err != nil {
			return err
		}
		first += c.Calls()
	}
	logged, full, err := r.blocksOf(chaptersOf(t.number), from, t.inChapters)
	if err != nil {
		return err
	}
	for i := range logged {
		b := &logged[i]
		err := chapter(b.first, b.n, func() (grammar.Grammar, error) {
			whole, err := r.blocks.open(b)
			if err != nil {
				return grammar.Grammar{}, err
			}
			return decodeChapter(whole.data[0])
		})
		if err != nil {
			return err
		}
	}
	for _, b := range full {
		if err := chapter(b.first, b.n, func() (grammar.Grammar, error) { return decodeChapter(b.data[0]) }); err != nil {
			return err
		}
	}
	add(own)
	to.Rules[root] = body
	return nil
}

// codedChapters are the chapters of a thread that are in parts, and how many calls they have.
func (r *Recorder) codedChapters(t *thread) (coded []*trace.Chapter, calls uint64) {
	if r.blocks == nil {
		return nil, 0
	}
	coded = r.blocks.chapters[int(t.number)]
	for i, c := range coded {
		if calls+c.Calls() > t.inChapters {
			return coded[:i], calls // of what is to come: the checkpoint is older
		}
		calls += c.Calls()
	}
	return coded, calls
}

// apart are the chapters of a thread that Content has by themselves: of calls whose times are coded, too. Those of the others
// are coded with their signatures.
func (r *Recorder) apart(t *thread) []*trace.Chapter {
	if !r.chaptersApart {
		return nil
	}
	coded, _ := r.codedChapters(t)
	if len(coded) == 0 || len(t.aggregates) > 0 { // there are no times of single calls
		return coded
	}
	times := min(uint64(len(r.blocks.coded[int(t.number)])), t.blockTimes/timing.BlockCalls) * timing.BlockCalls
	calls := uint64(0)
	for i, c := range coded {
		if calls += c.Calls(); calls > times {
			return coded[:i]
		}
	}
	return coded
}

func decodeChapter(text []byte) (grammar.Grammar, error) {
	g, rest, err := codec.DecodeGrammar(text)
	if err != nil || len(rest) > 0 || len(g.Rules) == 0 {
		return grammar.Grammar{}, errBlocks
	}
	return g, nil
}
