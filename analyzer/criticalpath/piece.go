package criticalpath

import (
	"container/heap"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// A piece is a part of the path in which one location does one thing, or several short ones that were put together;
// then what stands for the longest of them.
type piece struct {
	start, end int64
	location   int
	kind       accounts.Kind
	what       activity
	longest    int64
	merged     int // how many pieces this one stands for, beyond the first
}

// absorb puts q, which follows p, into p if both are the same or the whole stays short.
func (p *piece) absorb(q piece, limit int64) bool {
	same := p.kind == q.kind && p.what == q.what && p.location == q.location && p.merged == 0 && q.merged == 0
	if !same && q.end-p.start >= limit {
		return false
	}
	p.end = q.end
	if same {
		p.longest = p.end - p.start
		return true
	}
	if q.longest > p.longest {
		p.location, p.kind, p.what, p.longest = q.location, q.kind, q.what, q.longest
	}
	p.merged += 1 + q.merged
	return true
}

// onePath puts the pieces of all locations together in order of time, and short neighbours into one, so that at most about
// twice T/limit are left.
func onePath(accounts []account, limit int64) []piece {
	var next earliestPieces
	for i := range accounts {
		if r := accounts[i].pieces.read(i); r.next() {
			next = append(next, r)
		}
	}
	heap.Init(&next)
	var kept []piece
	for len(next) > 0 {
		p := next[0].piece
		if n := len(kept); n == 0 || kept[n-1].end != p.start || !kept[n-1].absorb(p, limit) {
			kept = append(kept, p)
		}
		if next[0].next() {
			heap.Fix(&next, 0)
		} else {
			heap.Pop(&next)
		}
	}
	return kept
}

// earliestPieces is a heap of locations by the begin of their next piece.
type earliestPieces []*pieceReader

func (h earliestPieces) Len() int           { return len(h) }
func (h earliestPieces) Less(i, j int) bool { return h[i].piece.start < h[j].piece.start }
func (h earliestPieces) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *earliestPieces) Push(x any)        { *h = append(*h, x.(*pieceReader)) }
func (h *earliestPieces) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
