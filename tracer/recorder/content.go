package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Content returns the trace of all records so far, with one rank. The recorder can
// continue after it.
func (r *Recorder) Content() (*trace.Content, error) {
	p := r.process
	c := &trace.Content{
		Meta: trace.Meta{
			World: p.LaunchID, WorldSize: r.worldSize,
			Implementation: p.Implementation(), Version: p.Version(), ABI: p.ABI,
			CallSites: p.CallSites, Timing: r.grids.settings,
		},
		Sites:         slices.Clone(r.sites.List()),
		Allocations:   slices.Clone(r.sites.Allocations()),
		Communicators: r.objects.Instances(),
	}
	if r.clustering != nil {
		c.Meta.Clustering = &trace.Clustering{Votes: r.clustering.Votes()}
	}
	if p.Excluded != "" {
		c.Meta.Excluded = strings.Split(p.Excluded, ",")
		slices.Sort(c.Meta.Excluded)
	}
	rank := trace.Rank{
		Rank: r.rank, Host: p.Hostname, BootID: p.BootID, PID: p.PID, Executable: p.Executable,
		StartRealtimeNS: p.StartRealtimeNS,
		Clock:           timing.Clock{Kind: p.Clock.Kind, Samples: slices.Clone(r.samples)},
		Dropped:         r.LostCalls(),
	}
	environmentRank, environmentSize := p.RankFromEnvironment()
	if rank.Rank < 0 {
		rank.Rank = max(environmentRank, 0)
	}
	if c.Meta.WorldSize < 0 {
		c.Meta.WorldSize = max(environmentSize, rank.Rank+1)
	}
	for i := range c.Communicators {
		rank.CommunicatorsOwn = append(rank.CommunicatorsOwn, uint32(i))
	}
	c.Meta.Notes = r.contentNotes(rank.Rank)
	if err := r.addSignatures(c); err != nil {
		return nil, err
	}
	if err := r.threads.addTo(c, rank.Rank); err != nil {
		return nil, err
	}
	c.Ranks = trace.NewRankTable([]trace.Rank{rank}...)
	return c, nil
}

// addSignatures adds the call signatures and their functions.
func (r *Recorder) addSignatures(c *trace.Content) (err error) {
	if c.Signatures, c.Functions, err = r.keys.Signatures(); err != nil {
		return err
	}
	for i := range c.Signatures {
		keepKnownAllocations(c.Signatures[i].In, len(c.Allocations))
		keepKnownAllocations(c.Signatures[i].Out, len(c.Allocations))
	}
	return nil
}

// Outline returns the calls so far without their times and values: what is needed to code the times
// of the wanted calls of each thread.
func (r *Recorder) Outline(wanted func(thread uint32) CallRange) (*trace.Content, []trace.Thread, error) {
	c := &trace.Content{Meta: trace.Meta{Timing: r.grids.settings}}
	if err := r.addSignatures(c); err != nil {
		return nil, nil, err
	}
	threads, err := r.threads.addGrammars(c, 0, wanted)
	return c, threads, err
}

// addGrammars joins the threads' grammars into one. The threads are ordered by number.
func (list threads) addGrammars(c *trace.Content, rank int, wanted func(thread uint32) CallRange) ([]trace.Thread, error) {
	threads := make([]trace.Thread, len(list))
	for i, t := range list.byNumber() {
		threads[i] = trace.Thread{
			Rank: rank, Thread: int(t.number), Calls: t.calls,
			Root:      len(c.Grammar.Rules),
			FirstTick: t.firstTick,
		}
		if err := t.addGrammar(&c.Grammar, wanted(t.number)); err != nil {
			return nil, err
		}
		if separate, _ := t.separateChapters(); len(separate) > 0 {
			threads[i].Chapters = &trace.Chapters{List: separate, Terminals: numbersUpTo(len(c.Signatures))}
		}
	}
	return threads, nil
}

// addTo adds the threads with their grammars, times and value sequences. Equal sequences
// are stored once.
func (list threads) addTo(c *trace.Content, rank int) error {
	var sequences codec.SequenceTable
	threads, err := list.addGrammars(c, rank, allCalls)
	if err != nil {
		return err
	}
	for i, t := range list.byNumber() {
		ct := threads[i]
		if err := t.addTiming(&ct, c); err != nil {
			return err
		}
		for of, s := range t.streams.All() {
			values, err := t.recorder.sequenceOf(BlockOf{t.number, of.Terminal, of.Number}, s)
			if err != nil {
				return err
			}
			ct.Streams = append(ct.Streams, trace.StreamRef{
				Terminal: of.Terminal, Number: of.Number, Sequence: sequences.Add(values),
			})
		}
		c.Threads.Append(ct)
	}
	c.Sequences = sequences.List
	return nil
}

// numbersUpTo returns the numbers from 0 to n−1.
func numbersUpTo(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// shifted renumbers the rules of a grammar so that they can follow others.
func shifted(g grammar.Grammar, by int) [][]grammar.Symbol {
	if by == 0 {
		return g.Rules
	}
	for _, body := range g.Rules {
		for i, s := range body {
			if s.IsRule() {
				body[i] = grammar.RuleSymbol(s.Rule()+by, s.Count)
			}
		}
	}
	return g.Rules
}

// contentNotes returns the notes of the trace, with what the recorder lost.
func (r *Recorder) contentNotes(rank int) []string {
	notes := slices.Clone(r.notes)
	add := func(applies bool, format string, args ...any) {
		if applies {
			notes = append(notes, fmt.Sprintf("rank %d: ", rank)+fmt.Sprintf(format, args...))
		}
	}
	limit := r.Limits.Memory >> 20
	add(r.off, "tracing was off at its end")
	add(r.keys.Generality() == key.DropsTexts, "the recorder came near its limit of %d MiB: some calls have no call site and no texts (generalized)", limit)
	add(r.keys.Generality() == key.DropsArguments, "the recorder reached its limit of %d MiB: some calls have no arguments (generalized)", limit)
	add(r.sites.Dictionary.Full, "more than %d MiB of call paths, lines and allocations: calls with further ones have no call site, or no allocation", record.MaxDictionary>>20)
	add(r.lost.Malformed > 0, "%d damaged records were skipped", r.lost.Malformed)
	add(r.lost.Truncated > 0, "%d calls have no arguments: they did not fit into a record", r.lost.Truncated)
	add(r.lost.Abandoned > 0, "%d calls whose end is not known are missing", r.lost.Abandoned)
	add(r.left > 0, "%d calls never returned: the program left them (longjmp, an exception, the end of a thread). They last until that was seen, at most until the thread's next call", r.left)
	add(r.began > 0, "%d threads made their first call after another one had ended, and share its row. The time between two threads of a row counts as computation", r.began)
	return notes
}

// keepKnownAllocations turns pointers into plain ones if their allocation is not in the dictionary,
// whose file was lost.
func keepKnownAllocations(values []trace.Value, known int) {
	for i := range values {
		if v := &values[i]; v.Form == trace.Pointer && v.Int > int64(known) {
			v.Int, v.Offset = 0, 0
		}
	}
}
