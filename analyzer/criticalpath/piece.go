package criticalpath

import "sort"

// A piece is a part of the path in which one location does one thing, or several short ones that were put together;
// then what stands for the longest of them.
type piece struct {
	start, end int64
	location   int
	kind       Kind
	what       activity
	longest    int64
	merged     int // how many pieces this one stands for, beyond the first
}

// piece appends to the location's share of the path. Pieces come in order of time. Short neighbours are put together
// at once, so that no more is kept than can be shown.
func (a *account) piece(p piece) {
	p.longest = p.end - p.start
	if n := len(a.pieces); n > 0 && a.pieces[n-1].end == p.start && a.pieces[n-1].absorb(p, a.limit) {
		return
	}
	a.pieces = append(a.pieces, p)
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

// onePath sorts the pieces of all locations into the path and puts short neighbours together, so that at most about
// twice T/limit are left.
func onePath(accounts []account, limit int64) []piece {
	var all []piece
	for i := range accounts {
		all = append(all, accounts[i].pieces...)
		accounts[i].pieces = nil
	}
	sort.Slice(all, func(i, j int) bool { return all[i].start < all[j].start })
	kept := all[:0]
	for _, p := range all {
		if n := len(kept); n > 0 && kept[n-1].end == p.start && kept[n-1].absorb(p, limit) {
			continue
		}
		kept = append(kept, p)
	}
	return kept
}
