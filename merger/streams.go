package merger

import (
	"github.com/cairn-mpi/cairn/trace"
)

// renameStreams returns the streams of t under the new names of signatures.
//
// Two signatures of one thread may become one, when a handle was used again
// for a communicator in which the thread has another rank. Their streams are
// then put together in the order of the calls.
func (p *pool) renameStreams(t *thread, renamed map[int32]int32) []stream {
	streams := make([]stream, 0, len(t.streams))
	owner := map[int32]int32{} // new signature -> the one old signature with its streams, −1 for several
	for _, s := range t.streams {
		name := renamed[s.signature]
		if before, ok := owner[name]; ok && before != s.signature {
			owner[name] = -1
		} else if !ok {
			owner[name] = s.signature
		}
	}
	joined := map[int32]*joinedStreams{}
	left := 0 // values that are still to be put in order
	for _, s := range t.streams {
		name := renamed[s.signature]
		if owner[name] != -1 {
			streams = append(streams, stream{name, s.number, s.sequence})
			continue
		}
		j := joined[name]
		if j == nil {
			j = &joinedStreams{out: map[int32][]int64{}, lists: listStreams(&p.signatures[name])}
			joined[name] = j
		}
		j.sources = append(j.sources, source{s.signature, s.number, p.sequences[s.sequence]})
		left += len(p.sequences[s.sequence])
	}
	if len(joined) == 0 {
		return streams
	}
	// the signatures concerned, by their old names
	sources := map[int32][]*source{}
	target := map[int32]*joinedStreams{}
	for name, j := range joined {
		for i := range j.sources {
			s := &j.sources[i]
			sources[s.signature] = append(sources[s.signature], s)
			target[s.signature] = joined[name]
		}
	}
	for terminal := range p.grammar().All(int(t.root)) {
		j := target[terminal]
		if j == nil {
			continue
		}
		for _, s := range sources[terminal] {
			n := min(valuesOfCall(s.values, j.lists[s.number]), len(s.values))
			j.out[s.number] = append(j.out[s.number], s.values[:n]...)
			s.values = s.values[n:]
			left -= n
		}
		if left == 0 {
			break // also what keeps a damaged grammar from being expanded for ever
		}
	}
	for name, j := range joined {
		for number, values := range j.out {
			streams = append(streams, stream{name, number, p.addSequence(values)})
		}
	}
	return streams
}

// joinedStreams are the streams of several old signatures that became one.
type joinedStreams struct {
	sources []source
	lists   map[int32]bool
	out     map[int32][]int64
}

// A source is what is left of one stream of an old signature.
type source struct {
	signature, number int32
	values            []int64
}

// valuesOfCall is the number of values that one call has in a stream.
func valuesOfCall(values []int64, list bool) int {
	if list && len(values) > 0 && values[0] > 0 {
		return 1 + int(min(values[0], int64(len(values))))
	}
	return 1
}

// listStreams tells which streams of a signature are lists.
func listStreams(s *trace.Signature) map[int32]bool {
	lists := map[int32]bool{}
	var visit func(values []trace.Value)
	visit = func(values []trace.Value) {
		for i := range values {
			if values[i].Form == trace.ListStream {
				lists[int32(values[i].Int)] = true
			}
			visit(values[i].List)
		}
	}
	visit(s.In)
	visit(s.Out)
	visit([]trace.Value{s.Return, s.Communicator})
	return lists
}
