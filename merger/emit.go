package merger

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// emit writes processes, at most one per rank, as a trace. All orders in it
// come from the content: ranks and threads by number, terminals, rules,
// sequences and communicators by first use in that order, call sites and
// segments by what they are (places.go).
func (p *pool) emit(processes []process, final bool) *trace.Content {
	processes = slices.Clone(processes)
	slices.SortFunc(processes, func(a, b process) int { return cmp.Compare(a.rank.Rank, b.rank.Rank) })
	if final {
		p.makeRelative(processes)
	}

	c := &trace.Content{}
	var roots []int32
	for i := range processes {
		for k := range processes[i].threads {
			roots = append(roots, processes[i].threads[k].root)
		}
	}
	numbers := p.number(roots)
	communicators := p.emitCommunicators(c, processes)
	p.emitSignatures(c, numbers)
	for _, id := range numbers.rules {
		c.Grammar.Rules = append(c.Grammar.Rules, numbers.body(p.rules[id]))
	}

	sequences := sequenceTable{index: map[uint64][]int32{}}
	for i := range processes {
		process := &processes[i]
		rank := process.rank
		rank.CommunicatorsOwn = make([]uint32, len(process.rank.CommunicatorsOwn))
		for k, id := range process.rank.CommunicatorsOwn {
			rank.CommunicatorsOwn[k] = uint32(communicators[int32(id)])
		}
		c.Ranks = append(c.Ranks, rank)
		for k := range process.threads {
			t := &process.threads[k]
			streams := make([]trace.StreamRef, 0, len(t.streams))
			for _, s := range t.streams {
				terminal, used := numbers.terminal[s.signature]
				if !used {
					continue
				}
				values := p.sequences[s.sequence]
				if givesCommunicator(&p.signatures[s.signature], s.number) {
					values = renumber(values, communicators)
				}
				streams = append(streams, trace.StreamRef{Terminal: terminal, Number: s.number, Sequence: -1})
				// the sequence is entered below, once the order of the streams is known
				streams[len(streams)-1].Sequence = sequences.hold(values)
			}
			slices.SortFunc(streams, compareStreams)
			for i := range streams {
				streams[i].Sequence = sequences.add(streams[i].Sequence)
			}
			c.Threads = append(c.Threads, trace.Thread{
				Rank: rank.Rank, Thread: t.number,
				Root: int(numbers.rule[t.root]), Calls: t.calls, Streams: streams,
				FirstTick: t.firstTick, Gaps: t.gaps, Durations: t.durations,
			})
		}
	}
	c.Sequences = sequences.values
	return c
}

// renumber replaces pooled communicators by those of the trace.
func renumber(values []int64, communicators map[int32]int32) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = v
		if v >= 0 {
			out[i] = int64(communicators[int32(v)])
		}
	}
	return out
}

// A sequenceTable enters distinct sequences in order of first use.
type sequenceTable struct {
	values [][]int64
	index  map[uint64][]int32
	held   [][]int64 // waiting for add
}

func (t *sequenceTable) hold(values []int64) int32 {
	t.held = append(t.held, values)
	return int32(len(t.held) - 1)
}

func (t *sequenceTable) add(held int32) int32 {
	values := t.held[held]
	h := hashValues(values)
	for _, i := range t.index[h] {
		if slices.Equal(t.values[i], values) {
			return i
		}
	}
	i := int32(len(t.values))
	t.values = append(t.values, values)
	t.index[h] = append(t.index[h], i)
	return i
}

// emitSignatures writes the table of signatures with the functions, sites and segments that they use.
func (p *pool) emitSignatures(c *trace.Content, numbers numbering) {
	functionUsed := map[uint16]bool{}
	for _, id := range numbers.signatures {
		s := p.signatures[id]
		c.Signatures = append(c.Signatures, s)
		functionUsed[s.Function] = true
	}
	for id := range functionUsed {
		c.Functions = append(c.Functions, *p.functions[id])
	}
	slices.SortFunc(c.Functions, func(a, b trace.Function) int { return cmp.Compare(a.ID, b.ID) })
	p.emitPlaces(c)
}

// mapSites returns the signature with every site replaced: where the call was made, and the functions among its arguments.
func mapSites(s trace.Signature, replace func(uint32) uint32) trace.Signature {
	if s.Site > 0 {
		s.Site = replace(s.Site)
	}
	for _, values := range []*[]trace.Value{&s.In, &s.Out} {
		for i, v := range *values {
			if v.Form == trace.Code {
				mapped := slices.Clone(*values)
				mapped[i].Int = int64(replace(uint32(v.Int)))
				*values = mapped
			}
		}
	}
	return s
}

// emitCommunicators writes those communicators that the processes were in, in
// the order in which the lowest rank got them, and returns their new numbers.
func (p *pool) emitCommunicators(c *trace.Content, processes []process) map[int32]int32 {
	place := map[int32]int32{}
	enter := func(id int32) {
		if _, ok := place[id]; !ok {
			place[id] = int32(len(c.Communicators))
			c.Communicators = append(c.Communicators, p.communicators[id])
		}
	}
	for i := range processes {
		for _, id := range processes[i].rank.CommunicatorsOwn {
			enter(int32(id))
		}
	}
	// a recorder lists every communicator it names, but nothing in the format says so
	for i := range processes {
		for k := range processes[i].threads {
			t := &processes[i].threads[k]
			var extra []int32
			for _, s := range t.streams {
				if givesCommunicator(&p.signatures[s.signature], s.number) {
					for _, v := range p.sequences[s.sequence] {
						if v >= 0 {
							extra = append(extra, int32(v))
						}
					}
				}
			}
			slices.SortFunc(extra, func(a, b int32) int {
				return bytes.Compare(communicatorKey(&p.communicators[a]), communicatorKey(&p.communicators[b]))
			})
			for _, id := range extra {
				enter(id)
			}
		}
	}
	c.Meta.Notes = append(c.Meta.Notes, membershipConflicts(c.Communicators)...)
	return place
}

// membershipConflicts finds communicators that have the same name and
// different members: their names were not as global as they should be. The two
// sides of an intercommunicator see each other's groups exchanged; that is right.
func membershipConflicts(communicators []trace.Communicator) []string {
	var notes []string
	byName := map[string]int{}
	for i := range communicators {
		c := &communicators[i]
		if c.GlobalName == "MPI_COMM_SELF" {
			continue // one name, an instance for each rank
		}
		j, ok := byName[c.GlobalName]
		if !ok {
			byName[c.GlobalName] = i
			continue
		}
		other := &communicators[j]
		if len(c.Remote) > 0 && slices.Equal(c.Members, other.Remote) && slices.Equal(c.Remote, other.Members) {
			continue
		}
		notes = append(notes, "ranks disagree on the members of communicator "+c.GlobalName)
	}
	return notes
}
