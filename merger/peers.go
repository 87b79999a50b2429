package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// How the final merge writes peers: the one rule, in this one file.
//
// A peer slot is a value of form Int that belongs to a parameter of kind
// "rank", in a call with a communicator (OwnRank ≥ 0). Signatures that are
// equal but for their peers and for the caller's rank are a family, whatever
// ranks they come from. Within a family every slot is written in one way:
//
//	constant  c      as the program gave it
//	offset    r + b  trace.RankOffset, r the caller's rank in the call's communicator
//
// The way that leaves fewer different values in the family wins, a tie goes to
// the constant. So a worker's destination 0 stays 0 on any number of workers,
// and the neighbours of a stencil become a handful of offsets. Ways to come,
// in the order in which a tie is decided (DESIGN §4): (r+b) mod n, Cartesian
// offset, a+b·(r div c), a+b·(r mod c), a table.
//
// A reader finds r from the communicator that a handle stands for, following
// the calls of one thread. A process with several threads may create it on one
// and use it on another, so a family with a call on a communicator's handle
// from such a process keeps constants.
//
// The choice sees the content of all ranks, never the order in which they
// came, so it is the same whatever was merged with what before.

// peerKind is the kind of the parameters that hold peers.
const peerKind = "rank"

// makeRelative rewrites the signatures of the processes, whose own ranks are
// dropped, and everything that names them.
func (p *pool) makeRelative(processes []process) {
	var roots []int32
	for i := range processes {
		for k := range processes[i].threads {
			roots = append(roots, processes[i].threads[k].root)
		}
	}
	used := p.number(roots)
	renamed := p.relativeSignatures(used.signatures, p.usedByThreads(processes))
	rules := p.renameTerminals(used.rules, renamed)
	for i := range processes {
		threads := slices.Clone(processes[i].threads)
		for k := range threads {
			t := &threads[k]
			t.streams = p.renameStreams(t, renamed)
			t.root = rules[t.root]
		}
		processes[i].threads = threads
	}
}

// usedByThreads are the signatures that occur in processes with several threads.
func (p *pool) usedByThreads(processes []process) map[int32]bool {
	used := map[int32]bool{}
	for i := range processes {
		threads := processes[i].threads
		if len(threads) < 2 {
			continue
		}
		for k := range threads {
			for _, id := range p.number([]int32{threads[k].root}).signatures {
				used[id] = true
			}
		}
	}
	return used
}

// relativeSignatures maps each pooled signature to the one that replaces it.
func (p *pool) relativeSignatures(signatures []int32, threaded map[int32]bool) map[int32]int32 {
	families := map[string]*family{}
	familyOf := make([]*family, len(signatures))
	for i, id := range signatures {
		s := &p.signatures[id]
		if s.OwnRank < 0 {
			continue
		}
		parameters := p.functions[s.Function].Parameters
		// the key is the signature with its peers taken out
		masked, peers := withoutPeers(s, parameters)
		key := string(trace.AppendSignature(nil, &masked))
		f := families[key]
		if f == nil {
			f = &family{slots: make([]slot, len(peers))}
			for k := range f.slots {
				f.slots[k] = slot{constants: map[int64]bool{}, offsets: map[int64]bool{}}
			}
			families[key] = f
		}
		familyOf[i] = f
		f.constant = f.constant || threaded[id] && onHandle(s, parameters)
		for k, peer := range peers {
			f.slots[k].constants[peer] = true
			f.slots[k].offsets[peer-int64(s.OwnRank)] = true
		}
	}
	renamed := make(map[int32]int32, len(signatures))
	for i, id := range signatures {
		s := p.signatures[id]
		if f := familyOf[i]; f != nil {
			s = f.rewrite(s, p.functions[s.Function].Parameters)
		}
		s.OwnRank = -1
		renamed[id] = p.addSignature(s)
	}
	return renamed
}

// A family is all signatures that differ only in peers and own rank.
type family struct {
	slots    []slot
	constant bool // a reader could not tell r
}

type slot struct {
	constants, offsets map[int64]bool
}

// relative tells whether the slot is written as an offset.
func (s *slot) relative() bool { return len(s.offsets) < len(s.constants) }

// onHandle tells whether a call names a communicator that the program created.
func onHandle(s *trace.Signature, parameters []trace.Parameter) bool {
	in := 0
	for i := range parameters {
		if parameters[i].Direction == trace.Out {
			continue
		}
		if parameters[i].Kind == "comm" && in < len(s.In) && s.In[in].Form != trace.Name {
			return true
		}
		in++
	}
	return false
}

func (f *family) rewrite(s trace.Signature, parameters []trace.Parameter) trace.Signature {
	next := 0
	own := int64(s.OwnRank)
	return mapPeers(s, parameters, func(v trace.Value) trace.Value {
		k := next
		next++
		if !f.constant && f.slots[k].relative() {
			return trace.Value{Form: trace.RankOffset, Int: v.Int - own}
		}
		return v
	})
}

// withoutPeers returns the signature with all peers 0 and no own rank, and the
// peers in their order.
func withoutPeers(s *trace.Signature, parameters []trace.Parameter) (trace.Signature, []int64) {
	var peers []int64
	masked := mapPeers(*s, parameters, func(v trace.Value) trace.Value {
		peers = append(peers, v.Int)
		return trace.Value{Form: trace.RankOffset}
	})
	masked.OwnRank = -1
	return masked, peers
}

// mapPeers returns the signature with every peer slot replaced, in a fixed order.
func mapPeers(s trace.Signature, parameters []trace.Parameter, replace func(trace.Value) trace.Value) trace.Signature {
	in, out := 0, 0
	s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
	for i := range parameters {
		peer := parameters[i].Kind == peerKind
		if d := parameters[i].Direction; d == trace.In || d == trace.InOut {
			if peer && in < len(s.In) {
				s.In[in] = mapPeer(s.In[in], replace)
			}
			in++
		}
		if d := parameters[i].Direction; d == trace.Out || d == trace.InOut {
			if peer && out < len(s.Out) {
				s.Out[out] = mapPeer(s.Out[out], replace)
			}
			out++
		}
	}
	return s
}

func mapPeer(v trace.Value, replace func(trace.Value) trace.Value) trace.Value {
	switch v.Form {
	case trace.Int:
		return replace(v)
	case trace.List:
		list := slices.Clone(v.List)
		for i := range list {
			list[i] = mapPeer(list[i], replace)
		}
		v.List = list
	}
	return v
}

// renameTerminals pools the rules again with other terminals. The rules come
// with every rule before those that it refers to.
func (p *pool) renameTerminals(rules []int32, renamed map[int32]int32) map[int32]int32 {
	place := make(map[int32]int32, len(rules))
	for i := len(rules) - 1; i >= 0; i-- {
		old := p.rules[rules[i]]
		body := make([]trace.Symbol, 0, len(old))
		for _, s := range old {
			if s.IsRule() {
				s = trace.RuleSymbol(int(place[int32(s.Rule())]), s.Count)
			} else {
				s.Value = renamed[s.Value]
			}
			// two terminals that became one make one run
			if n := len(body); n > 0 && body[n-1].Value == s.Value {
				body[n-1].Count += s.Count
				continue
			}
			body = append(body, s)
		}
		place[rules[i]] = p.addRule(body)
	}
	return place
}
