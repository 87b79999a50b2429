package recorder

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// Content is the trace of what was recorded so far: one rank. The recorder can go on afterwards.
func (r *Recorder) Content() (*trace.Content, error) {
	p := r.process
	r.sites.loadSegments()
	c := &trace.Content{
		Meta: trace.Meta{
			World: p.LaunchID, WorldSize: r.worldSize,
			Implementation: p.implementation(), Version: p.version(), ABI: p.ABI,
			CallSites: p.CallSites, Timing: r.grids.settings,
		},
		Sites:         slices.Clone(r.sites.list),
		Segments:      slices.Clone(r.sites.segments),
		Communicators: slices.Clone(r.communicators.instances),
	}
	if r.clustering != nil {
		c.Meta.Clustering = &trace.Clustering{Votes: slices.Clone(r.clustering.votes)}
	}
	if p.Excluded != "" {
		c.Meta.Excluded = strings.Split(p.Excluded, ",")
		slices.Sort(c.Meta.Excluded)
	}
	rank := trace.Rank{
		Rank: r.rank, Host: p.Hostname, BootID: p.BootID, PID: p.PID, Executable: p.Executable,
		StartRealtimeNS: p.StartRealtimeNS,
		Clock:           trace.Clock{Kind: p.Clock.Kind, Samples: slices.Clone(r.samples)},
		Dropped:         r.lost.Dropped + r.lost.Malformed,
	}
	environmentRank, environmentSize := p.rankFromEnvironment()
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
	if err := r.addThreads(c, rank.Rank); err != nil {
		return nil, err
	}
	c.Ranks = trace.NewRankTable([]trace.Rank{rank}...)
	return c, nil
}

// addSignatures decodes the call signature table and lists the functions that it uses.
func (r *Recorder) addSignatures(c *trace.Content) error {
	var used []uint16
	c.Signatures = make([]trace.Signature, len(r.signatures.terminals))
	for i, t := range r.signatures.terminals {
		s, err := t.decode(r.process.Constants)
		if err != nil {
			return fmt.Errorf("signature %d: %w", i, err)
		}
		keepKnownSegments(s.In, len(c.Segments))
		keepKnownSegments(s.Out, len(c.Segments))
		c.Signatures[i] = s
		used = append(used, s.Function)
	}
	slices.Sort(used)
	for _, id := range slices.Compact(used) {
		c.Functions = append(c.Functions, functionOf(mpi.ByID(id)))
	}
	return nil
}

// addThreads joins the threads' grammars into one and lists their value sequences, equal ones once.
func (r *Recorder) addThreads(c *trace.Content, rank int) error {
	sequences := map[string]int32{}
	threads := slices.Clone(r.threads)
	sort.Slice(threads, func(i, j int) bool { return threads[i].number < threads[j].number })
	for _, t := range threads {
		ct := trace.Thread{
			Rank: rank, Thread: int(t.number), Calls: t.calls,
			Root:      len(c.Grammar.Rules),
			FirstTick: t.firstTick,
		}
		if err := t.addTiming(&ct, r.times); err != nil {
			return err
		}
		c.Grammar.Rules = append(c.Grammar.Rules, shifted(t.grammar.Grammar(), ct.Root)...)
		for number := range t.results {
			t.results[number].settle()
			for k := range t.results[number].streams {
				s := &t.results[number].streams[k]
				encoded, err := s.all(r.times)
				if err != nil {
					return err
				}
				sequence, ok := sequences[string(encoded)]
				if !ok {
					values, err := s.values(encoded)
					if err != nil {
						return err
					}
					sequence = int32(len(c.Sequences))
					sequences[string(encoded)] = sequence
					c.Sequences = append(c.Sequences, values)
				}
				ct.Streams = append(ct.Streams, trace.StreamRef{
					Terminal: int32(number), Number: int32(k), Sequence: sequence,
				})
			}
		}
		c.Threads.Append(ct)
	}
	return nil
}

// shifted renames the rules of a grammar so that they can follow others.
func shifted(g trace.Grammar, by int) [][]trace.Symbol {
	if by == 0 {
		return g.Rules
	}
	for _, body := range g.Rules {
		for i, s := range body {
			if s.IsRule() {
				body[i] = trace.RuleSymbol(s.Rule()+by, s.Count)
			}
		}
	}
	return g.Rules
}

func (r *Recorder) contentNotes(rank int) []string {
	notes := slices.Clone(r.notes)
	add := func(n uint64, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("rank %d: "+format, rank, n))
		}
	}
	if r.off {
		notes = append(notes, fmt.Sprintf("rank %d: tracing was off at its end", rank))
	}
	add(r.lost.Malformed, "%d damaged records were skipped")
	add(r.lost.Truncated, "%d calls have no arguments: they did not fit into a record")
	add(r.lost.Abandoned, "%d calls were left by longjmp or an exception and are missing")
	return notes
}

// keepKnownSegments makes pointers to what the dictionary does not say (its file was lost) plain pointers.
func keepKnownSegments(values []trace.Value, known int) {
	for i := range values {
		if v := &values[i]; v.Form == trace.Pointer && v.Int > int64(known) {
			v.Int, v.Offset = 0, 0
		}
	}
}
