package program

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Ranks are one program if they have the same lines: the same calls at the same call sites in the
// same loops, whatever arguments and trip counts. A rank also belongs to a program of which it
// skips calls to neighbors that it lacks, their completions, and receives from anyone: "the North
// neighbor does not exist for the top row" (Logicalization of MPI communication traces, §4.3). That
// is checked: the neighbor of a skipped call is outside of the communicator, or the two exchange no
// messages, or the topology has none in this direction (Options.Lacks).

// A setOfNodes is a set of nodes of a program, by number.
type setOfNodes []uint64

func (s setOfNodes) add(i int) { s[i/64] |= 1 << (i % 64) }

// without returns the nodes that another set lacks.
func (s setOfNodes) without(other setOfNodes) setOfNodes {
	rest := make(setOfNodes, len(s))
	for i := range s {
		rest[i] = s[i] &^ other[i]
	}
	return rest
}

func (s setOfNodes) each(f func(i int) bool) bool {
	for k, word := range s {
		for ; word != 0; word &= word - 1 {
			if !f(64*k + bits.TrailingZeros64(word)) {
				return false
			}
		}
	}
	return true
}

// A kindOfProgram is some classes that are one program, with the nodes of all of them.
type kindOfProgram struct {
	classes []int
	nodes   setOfNodes
	size    int // nodes of the largest class
}

// A sorter groups classes into programs.
type sorter struct {
	*writer
	nodes []*node
	skips setOfNodes // nodes that some rank may skip because it lacks a neighbor
	peers map[int][]peer
	pairs map[[2]int]bool // ranks that exchange messages; nil: not yet known
}

// programs returns the programs of a thread number, that of most ranks first.
func (w *writer) programs(list []*node) []Program {
	o := sorter{writer: w, peers: map[int][]peer{}}
	o.number(list)
	o.skips = make(setOfNodes, (len(o.nodes)+63)/64)
	for i, n := range o.nodes {
		if len(n.body) > 0 || o.completes(n) || len(o.peerParameters(n)) > 0 {
			o.skips.add(i)
		}
	}
	kinds := o.join(o.kinds())
	slices.SortStableFunc(kinds, func(a, b kindOfProgram) int { return cmp.Compare(o.threadsIn(b.classes), o.threadsIn(a.classes)) })
	programs := make([]Program, len(kinds))
	for i, k := range kinds {
		programs[i].Ranks = w.ranks(k.classes)
		if i > 0 {
			programs[i].Without = o.calls(kinds[0].nodes.without(k.nodes))
			programs[i].With = o.calls(k.nodes.without(kinds[0].nodes))
		}
	}
	return programs
}

func (o *sorter) threadsIn(classes []int) (n int) {
	for _, c := range classes {
		n += len(o.classes[c].threads)
	}
	return n
}

// number numbers nodes in the order of the text.
func (o *sorter) number(list []*node) {
	for _, n := range list {
		o.nodes = append(o.nodes, n)
		o.number(n.body)
	}
}

// kinds groups classes with the same nodes, those with most nodes first.
func (o *sorter) kinds() []kindOfProgram {
	hash, size := make([]uint64, len(o.classes)), make([]int, len(o.classes))
	for i, n := range o.nodes {
		for _, c := range n.classes {
			hash[c] = mixed(hash[c], uint64(i))
			size[c]++
		}
		o.search.step(len(n.classes))
	}
	at := map[uint64]int{}
	of := make([]int, len(o.classes))
	var kinds []kindOfProgram
	for c := range o.classes {
		k, known := at[hash[c]]
		if !known {
			k = len(kinds)
			at[hash[c]] = k
			kinds = append(kinds, kindOfProgram{nodes: make(setOfNodes, len(o.skips)), size: size[c]})
		}
		of[c] = k
		kinds[k].classes = append(kinds[k].classes, c)
	}
	for i, n := range o.nodes {
		for _, c := range n.classes {
			if kinds[of[c]].classes[0] == c {
				kinds[of[c]].nodes.add(i)
			}
		}
	}
	slices.SortStableFunc(kinds, func(a, b kindOfProgram) int { return cmp.Compare(b.size, a.size) })
	return kinds
}

// join joins kinds if one of them skips nodes of the other because it lacks neighbors.
func (o *sorter) join(kinds []kindOfProgram) []kindOfProgram {
	var joined []kindOfProgram
next:
	for _, k := range kinds {
		for i := range joined {
			p := &joined[i]
			if !o.search.step(len(p.nodes)) {
				return kinds
			}
			if o.lack(p.nodes.without(k.nodes), k.classes) && o.lack(k.nodes.without(p.nodes), p.classes) {
				p.classes = merge(p.classes, k.classes)
				for w := range p.nodes {
					p.nodes[w] |= k.nodes[w]
				}
				continue next
			}
		}
		joined = append(joined, k)
	}
	return joined
}

// lack reports whether classes lack the neighbors of nodes that they do not have.
func (o *sorter) lack(nodes setOfNodes, classes []int) bool {
	if !nodes.without(o.skips).each(func(int) bool { return false }) {
		return false
	}
	skipped, beside := false, false // calls to neighbors; calls that accompany them
	all := nodes.each(func(i int) bool {
		n := o.nodes[i]
		switch {
		case len(n.body) > 0:
			return true
		case len(o.peerParameters(n)) == 0:
			beside = true
			return true
		case slices.Equal(o.peersAt(i), []peer{{direction: anySource}}):
			beside = true
			return true
		}
		skipped = true
		return o.lackPeers(i, classes)
	})
	return all && (skipped || !beside)
}

// peersAt is peersOf for a node by its number.
func (o *sorter) peersAt(i int) []peer {
	peers, known := o.peers[i]
	if !known {
		peers = o.peersOf(o.nodes[i])
		o.peers[i] = peers
	}
	return peers
}

func (o *sorter) lackPeers(i int, classes []int) bool {
	peers := o.peersAt(i)
	if len(peers) == 0 {
		return false
	}
	for _, c := range classes {
		for _, thread := range o.classes[c].threads {
			if !o.search.step(len(peers)) || slices.ContainsFunc(peers, func(p peer) bool { return !o.lacks(p, thread) }) {
				return false
			}
		}
	}
	return true
}

// A peer is the other side of a call: a direction in the topology, or a function of the rank in the
// communicator of a signature.
type peer struct {
	direction string
	function  *Function
	terminal  int32
}

// lacks reports whether a thread has no such peer.
func (o *sorter) lacks(p peer, thread int) bool {
	rank := o.rank(thread)
	if p.direction != "" {
		return p.direction != anySource && o.options.Lacks != nil && o.options.Lacks(rank, p.direction)
	}
	by, world := o.callerOf(p.terminal, thread), o.trace.Meta().WorldSize
	if p.function.Of == worldRank {
		by = caller{rank, world, true}
	}
	x, there := p.function.At(int64(by.rank))
	switch {
	case !by.known || !there:
		return false
	case x < 0 || x >= int64(by.size):
		return true
	case by.rank != rank || by.size != world:
		return false // the peer is unknown here
	}
	return !o.exchange(rank, int(x))
}

// exchange reports whether two ranks exchange messages.
func (o *sorter) exchange(a, b int) bool {
	if o.pairs == nil {
		o.pairs = map[[2]int]bool{}
		traffic, _ := o.trace.Matrix() // an unreadable matrix is unknown
		for _, t := range traffic {
			o.pairs[[2]int{min(t.Source, t.Dest), max(t.Source, t.Dest)}] = true
		}
	}
	return o.pairs[[2]int{min(a, b), max(a, b)}]
}

// peersOf returns all peers of a call; none: they are neither directions nor functions that depend
// on the rank.
func (o *sorter) peersOf(n *node) []peer {
	var peers []peer
	f := o.trace.Function(o.function(n))
	for _, at := range o.peerParameters(n) {
		rows := o.rows(n, &f.Parameters[at.parameter], at.in, at.parameter, false)
		for i := 0; ; i++ {
			var samples []sample
			var by []caller
			directions := map[string]bool{}
			for _, r := range rows {
				if i >= len(r.atoms) {
					continue
				}
				switch a := &r.atoms[i]; {
				case a.isNumber && a.varies == nil:
					samples, by = append(samples, sample{r.rank, r.rank, a.number}), append(by, r.by)
				case a.text == procNull:
				default:
					directions[a.text] = true
				}
			}
			if len(samples) == 0 && len(directions) == 0 {
				break
			}
			terminal := n.calls[0].cycle[0]
			for _, d := range slices.Sorted(maps.Keys(directions)) {
				if d != anySource && !o.isDirection(d) {
					return nil
				}
				peers = append(peers, peer{direction: d})
			}
			if len(samples) == 0 {
				continue
			}
			for _, g := range functionsOf(samples, by, o.trace.Meta().WorldSize, nil) {
				if g.function == nil || g.function.Kind == ByValue {
					return nil
				}
				if _, constant := g.function.constant(); constant {
					return nil
				}
				peers = append(peers, peer{function: g.function, terminal: terminal})
			}
		}
	}
	return peers
}

// Names of MPI in place of a peer.
const (
	procNull  = "MPI_PROC_NULL"
	anySource = "MPI_ANY_SOURCE"
)

// isDirection reports whether a word for a peer is a direction of Options.Peer.
func (o *sorter) isDirection(word string) bool {
	return o.options.IsDirection != nil && o.options.IsDirection(word)
}

func (w *writer) function(n *node) uint16 {
	if len(n.calls) == 0 {
		return 0
	}
	return w.signatures[n.calls[0].cycle[0]].Function
}

// completes reports whether a node is a call that completes others.
func (o *sorter) completes(n *node) bool {
	if len(n.calls) == 0 {
		return false
	}
	f := o.trace.Semantics(o.function(n))
	if f == nil {
		return false
	}
	switch f.Operation {
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		return true
	}
	return false
}

// A position of a parameter: in the function's list, and among the inputs.
type position struct{ parameter, in int }

// peerParameters returns the parameters that name a peer.
func (o *sorter) peerParameters(n *node) []position {
	if len(n.calls) == 0 {
		return nil
	}
	f, meaning := o.trace.Function(o.function(n)), o.trace.Semantics(o.function(n))
	if f == nil || meaning == nil {
		return nil
	}
	var list []position
	in := 0
	for i := range f.Parameters {
		if f.Parameters[i].Direction == trace.Out {
			continue
		}
		if role := meaning.Roles[i]; role == semantics.Destination || role == semantics.Source {
			list = append(list, position{i, in})
		}
		in++
	}
	return list
}

// calls returns the calls among nodes, by function and call site, without duplicates.
func (o *sorter) calls(nodes setOfNodes) []CallAt {
	seen := map[CallAt]int{}
	nodes.each(func(i int) bool {
		if n := o.nodes[i]; len(n.calls) > 0 {
			c := o.callAt(n)
			if _, known := seen[c]; !known {
				seen[c] = i
			}
		}
		return true
	})
	return slices.SortedFunc(maps.Keys(seen), func(a, b CallAt) int { return cmp.Compare(seen[a], seen[b]) })
}
