package collect

import (
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// processes are the ranks of a manifest, by column: an inventory has those of all shards of a job.
type processes struct {
	numbers, pids, starts, hosts codec.Numbers
	names                        []string // of hosts
	final                        bool     // all have ended
}

// A process identifies the process of a rank.
type process struct {
	rank, pid int64
	host      string
	start     int64
}

// locate splits a manifest into its ranks and the rest.
func locate(m shard.Manifest, directory string) located {
	l := located{directory: directory, ranks: processes{final: true}}
	p := &l.ranks
	for i := range m.Ranks {
		r := &m.Ranks[i]
		p.numbers.Push(int64(r.Rank))
		p.pids.Push(int64(r.PID))
		p.starts.Push(r.StartRealtimeNS)
		host := slices.Index(p.names, r.Host)
		if host < 0 {
			host = len(p.names)
			p.names = append(p.names, r.Host)
		}
		p.hosts.Push(int64(host))
		p.final = p.final && r.Final
	}
	m.Ranks = nil
	l.Manifest = m
	return l
}

func (p *processes) at(i int) process {
	return process{p.numbers.At(i), p.pids.At(i), p.names[p.hosts.At(i)], p.starts.At(i)}
}

// list returns the ranks as text.
func (p *processes) list() string {
	var list []int
	for _, rank := range p.numbers.All() {
		list = append(list, int(rank))
	}
	return rankList(list)
}

// rankList returns ranks as text, in order.
func rankList(ranks []int) string {
	slices.Sort(ranks)
	return trace.NewRankList(ranks).String()
}

// A rankSet is a set of ranks, one bit each.
type rankSet map[int64]uint64

// add adds a rank and reports whether it is new.
func (s rankSet) add(rank int64) bool {
	before := s[rank>>6]
	s[rank>>6] = before | 1<<(rank&63)
	return before != s[rank>>6]
}

func (s rankSet) has(rank int64) bool { return s[rank>>6]>>(rank&63)&1 == 1 }

func (s rankSet) len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}
