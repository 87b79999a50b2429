package logical

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A Program is the common program of all ranks.
type Program struct {
	Maximal int // the maximal rank, whose calls these are
	// Derived are the ranks that do what the maximal one does, as far as they have the neighbors.
	// Kept are the others.
	Derived, Kept []int
	// Alike are the ranks that are one program with the maximal one, including the derived ones:
	// they make the same calls at the same call sites in the same loops, as far as they have the
	// neighbors. Differing are the parameters that differ between them (the count of a send, for
	// example), and Trips reports that trip counts differ.
	Alike     []int
	Differing []Differing
	Trips     bool
	// Inside and Outside count calls with a peer, along the topology and outside it, on all ranks.
	Inside, Outside uint64

	shape     *topology.Topology
	rankAt    map[[2]int]int // by copy and vertex
	calls     []call         // dictionary
	numbers   map[string]int32
	sequences []grammar.Grammar // 0 is that of the maximal rank
	of        []rankProgram
	around    map[int]map[string]int // cache of neighbors
	// directions of peers, if a parameter of a signature has the same one in all calls of a rank
	directions map[argument]string
}

// A call is an entry of the dictionary: text with a slot for each peer.
type call struct {
	kind  kind
	text  string
	peers []string // directions, or ranks as numbers
}

// A kind is a call without its arguments.
type kind struct {
	function  uint16
	site      uint32
	completes bool // a call that completes others: MPI_Wait
}

// rankProgram describes a rank's calls: sequence 0, with calls to missing neighbors omitted or made
// to MPI_PROC_NULL, or another sequence as it is.
type rankProgram struct {
	sequence int
	null     bool
}

// An argument is a parameter of a signature on one thread.
type argument struct {
	thread    int
	terminal  int32
	parameter int
	output    bool
}

const null = "MPI_PROC_NULL"

// New returns the program of the ranks' main threads. It reads all calls.
func New(ctx context.Context, t timeline.Trace, shape *topology.Topology) (*Program, error) {
	if shape.Pattern == nil {
		return nil, fmt.Errorf("the ranks' messages form no topology (%s): peers have no directions", shape.Name())
	}
	p := &Program{shape: shape, rankAt: map[[2]int]int{}, numbers: map[string]int32{}, directions: map[argument]string{}, around: map[int]map[string]int{}, of: make([]rankProgram, len(shape.Vertex))}
	most := -1
	for rank, v := range shape.Vertex {
		if v < 0 {
			continue
		}
		p.rankAt[[2]int{shape.Copy[rank], v}] = rank
		if n := len(shape.Pattern.Directions(v)); n > most && t.Ranks().Find(rank) >= 0 {
			p.Maximal, most = rank, n
		}
	}
	if most < 0 {
		return nil, fmt.Errorf("the trace has no rank that sends a message")
	}
	maximal, err := p.read(ctx, t, p.Maximal)
	if err != nil {
		return nil, err
	}
	p.sequences = []grammar.Grammar{grammarOf(maximal)}
	known := map[string]int{}
	like := newLikeness(p)
	_, pass, end := passes.Begin(ctx, "comparing ranks", "ranks", uint64(t.Ranks().Len()))
	defer end()
	for _, r := range t.Ranks().All() {
		pass.Add(1)
		if r.Rank >= len(p.of) {
			continue
		}
		calls := maximal
		if r.Rank != p.Maximal {
			if calls, err = p.read(ctx, t, r.Rank); err != nil {
				return nil, err
			}
		}
		own := rankProgram{sequence: -1}
		partial, whole := p.derive(r.Rank, false, maximal), p.derive(r.Rank, true, maximal)
		switch {
		case slices.Equal(calls, partial):
			own = rankProgram{0, false}
		case slices.Equal(calls, whole):
			own = rankProgram{0, true}
		}
		if own.sequence == 0 || like.is(calls, whole, partial) {
			p.Alike = append(p.Alike, r.Rank)
		}
		if own.sequence == 0 {
			p.Derived = append(p.Derived, r.Rank)
		} else {
			p.Kept = append(p.Kept, r.Rank)
			key := string(codec.AppendSequence(nil, wide(calls)))
			n, there := known[key]
			if !there {
				n = len(p.sequences)
				known[key] = n
				p.sequences = append(p.sequences, grammarOf(calls))
			}
			own.sequence = n
		}
		p.of[r.Rank] = own
	}
	p.Differing, p.Trips = like.differing(), like.trips
	return p, nil
}

func grammarOf(calls []int32) grammar.Grammar {
	s := grammar.NewSequitur()
	for _, c := range calls {
		s.Append(c)
	}
	return s.Grammar()
}

func wide(calls []int32) []int64 {
	list := make([]int64, len(calls))
	for i, c := range calls {
		list[i] = int64(c)
	}
	return list
}

// derive returns the maximal rank's calls on another rank.
func (p *Program) derive(rank int, asNull bool, maximal []int32) []int32 {
	there := p.neighbors(rank)
	on := map[int32]int32{} // −1: omitted
	var list []int32
	for _, number := range maximal {
		to, known := on[number]
		if !known {
			c := p.calls[number]
			peers := slices.Clone(c.peers)
			missing := false
			for i, peer := range peers {
				if _, exists := there[peer]; !exists && isDirection(peer) {
					peers[i], missing = null, true
				}
			}
			to = number
			if missing && asNull {
				to = p.number(call{c.kind, c.text, peers})
			} else if missing {
				to = -1
			}
			on[number] = to
		}
		if to >= 0 {
			list = append(list, to)
		}
	}
	return list
}

// neighbors returns the vertices around a rank by direction. If two directions lead to the same
// vertex, only the first by name is included. In a hypercube there is one direction per dimension,
// on both sides.
func (p *Program) neighbors(rank int) map[string]int {
	v := p.shape.Vertex[rank]
	if v < 0 {
		return nil
	}
	if known, there := p.around[v]; there {
		return known
	}
	first := map[int]string{}
	for d, w := range p.shape.Pattern.Directions(v) {
		if had, there := first[w]; !there || d < had {
			first[w] = d
		}
	}
	around := map[string]int{}
	for w, d := range first {
		if p.shape.Pattern.Family == topology.Hypercube {
			d = strings.TrimLeft(d, "+-")
		}
		around[d] = w
	}
	p.around[v] = around
	return around
}

// isDirection reports whether peer is a direction, not a rank or a name of MPI.
func isDirection(peer string) bool {
	return peer != "" && !strings.HasPrefix(peer, "rank ") && !strings.HasPrefix(peer, "MPI_")
}

func (p *Program) number(c call) int32 {
	key := c.text + "\x00" + strings.Join(c.peers, "\x00")
	n, known := p.numbers[key]
	if !known {
		n = int32(len(p.calls))
		p.numbers[key] = n
		p.calls = append(p.calls, c)
	}
	return n
}

// Expand returns the calls of a rank, with peers as ranks of MPI_COMM_WORLD.
func (p *Program) Expand(rank int) []string {
	of := p.of[rank]
	calls := p.sequences[of.sequence].Expand(0)
	if of.sequence == 0 {
		calls = p.derive(rank, of.null, calls)
	}
	list := make([]string, len(calls))
	for i, number := range calls {
		c := p.calls[number]
		peers := make([]any, len(c.peers))
		for k, peer := range c.peers {
			peers[k] = peer
			if isDirection(peer) {
				w := p.neighbors(rank)[peer]
				peers[k] = fmt.Sprintf("rank %d", p.rankAt[[2]int{p.shape.Copy[rank], w}])
			}
		}
		list[i] = fmt.Sprintf(c.text, peers...)
	}
	return list
}

// Peer returns the name of a peer for package program: the direction, if it is the same in all
// calls of the signature on this thread.
func (p *Program) Peer(thread int, terminal int32, parameter int, output bool) string {
	if d := p.directions[argument{thread, terminal, parameter, output}]; isDirection(d) {
		return Compass(d, len(p.shape.Pattern.Dimensions))
	}
	return ""
}

// IsDirection reports whether a word was returned by Peer.
func (p *Program) IsDirection(word string) bool { return isDirection(word) }

// Lacks reports whether a rank has no neighbor in a direction as returned by Peer.
func (p *Program) Lacks(rank int, direction string) bool {
	if rank >= len(p.shape.Vertex) {
		return true
	}
	for d := range p.neighbors(rank) {
		if Compass(d, len(p.shape.Pattern.Dimensions)) == direction {
			return false
		}
	}
	return true
}

// Coordinates returns the positions of ranks in the topology, one list for each dimension; none if
// it has no dimensions. With several copies, positions are those in the rank's copy.
func (p *Program) Coordinates() []program.Coordinate {
	dimensions := len(p.shape.Pattern.Dimensions)
	list := make([]program.Coordinate, dimensions)
	for i := range list {
		list[i] = program.Coordinate{Name: coordinateName(i, dimensions), Of: make([]int, len(p.shape.Vertex))}
	}
	for rank, v := range p.shape.Vertex {
		at := []int(nil)
		if v >= 0 {
			at = p.shape.Pattern.Coordinates(v)
		}
		for i := range list {
			list[i].Of[rank] = -1
			if len(at) == dimensions {
				list[i].Of[rank] = at[i]
			}
		}
	}
	return list
}

// coordinateName returns the usual name of a dimension. The slowest dimension comes first.
func coordinateName(i, dimensions int) string {
	switch {
	case dimensions == 1:
		return "position"
	case dimensions == 2:
		return []string{"row", "column"}[i]
	case dimensions == 3:
		return []string{"z", "y", "x"}[i]
	}
	return fmt.Sprintf("dimension %d", i)
}

// Compass returns the usual name of a direction in two dimensions.
func Compass(direction string, dimensions int) string {
	names := map[string]string{"-y": "NORTH", "+y": "SOUTH", "+x": "EAST", "-x": "WEST",
		"+x-y": "NORTHEAST", "-x-y": "NORTHWEST", "+x+y": "SOUTHEAST", "-x+y": "SOUTHWEST"}
	if name, known := names[direction]; known && dimensions == 2 {
		return name
	}
	return direction
}

// Bytes returns the contents of the program for a file: the dictionary, the sequences, and the
// sequence and position of each rank; compressed like the blocks of a trace.
func (p *Program) Bytes() ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return e.EncodeAll(p.unpacked(), nil), nil
}

func (p *Program) unpacked() []byte {
	var b []byte
	for _, c := range p.calls {
		b = append(append(b, c.text...), 0)
		for _, peer := range c.peers {
			b = append(append(b, peer...), 0)
		}
	}
	for _, g := range p.sequences {
		var symbols []int64
		for _, rule := range g.Rules {
			symbols = append(symbols, int64(len(rule)))
			for _, s := range rule {
				symbols = append(symbols, int64(s.Value), int64(s.Count))
			}
		}
		b = codec.AppendSequence(b, symbols)
	}
	var own, null, vertex, part []int64
	for rank, of := range p.of {
		own, vertex, part = append(own, int64(of.sequence)), append(vertex, int64(p.shape.Vertex[rank])), append(part, int64(p.shape.Copy[rank]))
		asNull := int64(0)
		if of.null {
			asNull = 1
		}
		null = append(null, asNull)
	}
	b = append(append(b, p.shape.Pattern.Name...), 0)
	for _, list := range [][]int64{own, null, vertex, part} {
		b = codec.AppendSequence(b, list)
	}
	return b
}
