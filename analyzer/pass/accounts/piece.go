package accounts

import (
	"container/heap"
)

// A Piece is a part of the path in which one location does one thing. It may also stand for several
// short pieces that were merged; then it describes the longest of them.
type Piece struct {
	Start, End int64
	Location   int
	Kind       Kind
	What       Activity
	longest    int64
	Merged     int // number of merged pieces beyond the first
}

// absorb merges q, which follows p, into p if both are the same or the result is shorter than
// limit.
func (p *Piece) absorb(q Piece, limit int64) bool {
	same := p.Kind == q.Kind && p.What == q.What && p.Location == q.Location && p.Merged == 0 && q.Merged == 0
	if !same && q.End-p.Start >= limit {
		return false
	}
	p.End = q.End
	if same {
		p.longest = p.End - p.Start
		return true
	}
	if q.longest > p.longest {
		p.Location, p.Kind, p.What, p.longest = q.Location, q.Kind, q.What, q.longest
	}
	p.Merged += 1 + q.Merged
	return true
}

// OnePath merges the pieces of all locations in order of time, and short neighbors into one. At
// most about twice T/limit pieces remain.
func OnePath(accounts []Account, limit int64) []Piece {
	var next earliestPieces
	for i := range accounts {
		if r := accounts[i].pieces.read(i); r.next() {
			next = append(next, r)
		}
	}
	heap.Init(&next)
	var kept []Piece
	for len(next) > 0 {
		p := next[0].piece
		if n := len(kept); n == 0 || kept[n-1].End != p.Start || !kept[n-1].absorb(p, limit) {
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

// earliestPieces is a heap of locations, ordered by the start of their next piece.
type earliestPieces []*pieceReader

func (h earliestPieces) Len() int           { return len(h) }
func (h earliestPieces) Less(i, j int) bool { return h[i].piece.Start < h[j].piece.Start }
func (h earliestPieces) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *earliestPieces) Push(x any)        { *h = append(*h, x.(*pieceReader)) }
func (h *earliestPieces) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
