package codec

import (
	"iter"
	"sort"
)

// Numbers is an append-only list of int64 stored as arithmetic progressions and literals. A run of
// equal or evenly spaced values takes constant space, so a column that is equal on all ranks, or
// grows with the rank, is small for any number of ranks. Other values take eight bytes each.
//
// The zero value is empty. Equal lists that were built by any of the methods are equal in memory. A
// copy shares memory with the original, so only one of them may grow.
type Numbers struct {
	n      int
	pieces []numbersPiece
	loose  []int64 // numbers in no progression, in order
}

// A numbersPiece is a progression or a range of loose numbers. It ends where the next one begins.
type numbersPiece struct {
	start int32 // index of its first number in the list
	loose bool
	first int64 // first number, or its index in loose
	step  int64
}

// numbersPieceBytes is the size of a piece in memory.
const numbersPieceBytes = 24

// NewNumbers returns a list of the values.
func NewNumbers(values ...int64) Numbers {
	var n Numbers
	for _, v := range values {
		n.Push(v)
	}
	return n
}

// Len is the number of values.
func (n *Numbers) Len() int { return n.n }

// Push appends a value.
func (n *Numbers) Push(v int64) {
	last := len(n.pieces) - 1
	if last >= 0 && !n.pieces[last].loose {
		p := &n.pieces[last]
		if v == p.first+p.step*int64(n.n-int(p.start)) {
			n.n++
			return
		}
		last = -1
	}
	if last < 0 {
		n.pieces = append(n.pieces, numbersPiece{start: int32(n.n), loose: true, first: int64(len(n.loose))})
	}
	n.loose = append(n.loose, v)
	n.n++
	n.tighten()
}

// tighten turns the last loose numbers into a progression if that saves space.
func (n *Numbers) tighten() {
	p := &n.pieces[len(n.pieces)-1]
	if len(n.loose)-int(p.first) < shortestRun {
		return
	}
	tail := n.loose[len(n.loose)-shortestRun:]
	step := tail[1] - tail[0]
	for i := 2; i < shortestRun; i++ {
		if tail[i]-tail[i-1] != step {
			return
		}
	}
	made := numbersPiece{start: int32(n.n - shortestRun), first: tail[0], step: step}
	n.loose = n.loose[:len(n.loose)-shortestRun]
	if p.start == made.start {
		*p = made
	} else {
		n.pieces = append(n.pieces, made)
	}
}

// PushRun appends the count values first, first + step, first + 2·step, ….
func (n *Numbers) PushRun(first, step int64, count int) {
	for ; count > 0; count-- {
		n.Push(first)
		first += step
		if p := &n.pieces[len(n.pieces)-1]; !p.loose && p.step == step {
			n.n += count - 1
			return
		}
	}
}

// piece returns the piece that contains index i.
func (n *Numbers) piece(i int) int {
	if len(n.pieces) == 1 {
		return 0
	}
	return sort.Search(len(n.pieces), func(k int) bool { return int(n.pieces[k].start) > i }) - 1
}

// end is the index after the last number of a piece.
func (n *Numbers) end(piece int) int {
	if piece+1 < len(n.pieces) {
		return int(n.pieces[piece+1].start)
	}
	return n.n
}

func (n *Numbers) in(piece, i int) int64 {
	p := &n.pieces[piece]
	if p.loose {
		return n.loose[int(p.first)+i-int(p.start)]
	}
	return p.first + p.step*int64(i-int(p.start))
}

// At returns the value at index i. It panics if i is out of range.
func (n *Numbers) At(i int) int64 {
	if i < 0 || i >= n.n {
		panic("trace: place of a number out of range")
	}
	return n.in(n.piece(i), i)
}

// A NumbersLookup is a cursor: it finds values at indices that are near to the previous one
// quickly.
type NumbersLookup struct {
	Of         *Numbers
	piece      int
	start, end int
}

// At returns the value at index i.
func (l *NumbersLookup) At(i int) int64 {
	if i < l.start || i >= l.end {
		if next := l.piece + 1; i == l.end && l.end > 0 && next < len(l.Of.pieces) {
			l.piece = next
		} else {
			l.piece = l.Of.piece(i)
		}
		l.start, l.end = int(l.Of.pieces[l.piece].start), l.Of.end(l.piece)
	}
	return l.Of.in(l.piece, i)
}

// Lookup returns a function that does what At does, but faster for indices that are near to each
// other. It is for one goroutine, and valid until the list grows.
func (n *Numbers) Lookup() func(i int) int64 {
	l := NumbersLookup{Of: n}
	return l.At
}

// All yields the indices and values in order.
func (n *Numbers) All() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for k := range n.pieces {
			for i := int(n.pieces[k].start); i < n.end(k); i++ {
				if !yield(i, n.in(k, i)) {
					return
				}
			}
		}
	}
}

// Values appends the values to dst.
func (n *Numbers) Values(dst []int64) []int64 {
	for k := range n.pieces {
		p := &n.pieces[k]
		count := n.end(k) - int(p.start)
		if p.loose {
			dst = append(dst, n.loose[p.first:int(p.first)+count]...)
			continue
		}
		for v := p.first; count > 0; count-- {
			dst = append(dst, v)
			v += p.step
		}
	}
	return dst
}

// Constant returns the value that all values equal; false if they differ.
func (n *Numbers) Constant() (int64, bool) {
	if n.n == 0 {
		return 0, false
	}
	v := n.in(0, 0)
	for k := range n.pieces {
		if p := &n.pieces[k]; p.loose {
			for _, x := range n.loose[p.first : int(p.first)+n.end(k)-int(p.start)] {
				if x != v {
					return 0, false
				}
			}
		} else if p.first != v || p.step != 0 {
			return 0, false
		}
	}
	return v, true
}

// Equal reports whether two lists have the same values.
func (n *Numbers) Equal(other *Numbers) bool {
	if n.n != other.n || len(n.pieces) != len(other.pieces) {
		return false
	}
	for k := range n.pieces {
		if n.pieces[k] != other.pieces[k] {
			return false
		}
	}
	for i, v := range n.loose {
		if other.loose[i] != v {
			return false
		}
	}
	return true
}

// Runs yields the list as progressions: first value, step, count.
func (n *Numbers) Runs() iter.Seq2[NumberRun, int] {
	return func(yield func(NumberRun, int) bool) {
		for k := range n.pieces {
			if !n.runs(k, int(n.pieces[k].start), n.end(k), yield) {
				return
			}
		}
	}
}

// A NumberRun is the progression First, First + Step, ….
type NumberRun struct{ First, Step int64 }

// runs yields a part of a piece; loose numbers are yielded one by one.
func (n *Numbers) runs(piece, from, to int, yield func(NumberRun, int) bool) bool {
	p := &n.pieces[piece]
	if !p.loose {
		return yield(NumberRun{n.in(piece, from), p.step}, to-from)
	}
	for i := from; i < to; i++ {
		if !yield(NumberRun{n.in(piece, i), 0}, 1) {
			return false
		}
	}
	return true
}

// RunsAt yields the values at the given indices as progressions. All indices must be in range (see
// Within).
func (n *Numbers) RunsAt(places *Numbers) iter.Seq2[NumberRun, int] {
	return func(yield func(NumberRun, int) bool) {
		l := NumbersLookup{Of: n}
		for where, count := range places.Runs() {
			at := int(where.First)
			if where.Step != 1 {
				for range count {
					if !yield(NumberRun{l.At(at), 0}, 1) {
						return
					}
					at += int(where.Step)
				}
				continue
			}
			for until := at + count; at < until; {
				l.At(at)
				to := min(until, l.end)
				if !n.runs(l.piece, at, to, yield) {
					return
				}
				at = to
			}
		}
	}
}

// Within reports whether all values are in [low, high).
func (n *Numbers) Within(low, high int64) bool {
	for run, count := range n.Runs() {
		if run.First < low || run.First >= high {
			return false
		}
		if steps := uint64(count - 1); steps > 0 && run.Step != 0 {
			room, by := uint64(high-1-run.First), uint64(run.Step)
			if run.Step < 0 {
				room, by = uint64(run.First-low), -by
			}
			if steps > room/by {
				return false
			}
		}
	}
	return true
}

// Increasing reports whether each value is greater than the one before it. All values must be in
// [0, 2^31).
func (n *Numbers) Increasing() bool {
	before := int64(-1)
	for run, count := range n.Runs() {
		if run.First <= before || count > 1 && run.Step <= 0 {
			return false
		}
		before = run.First + run.Step*int64(count-1)
	}
	return true
}

// Find returns the index of v in an increasing list and true, or the index of the first greater
// value and false.
func (n *Numbers) Find(v int64) (int, bool) {
	i := sort.Search(n.n, func(i int) bool { return n.At(i) >= v })
	return i, i < n.n && n.At(i) == v
}

// Numbers reads a sequence of n numbers. Their memory is taken from the budget.
func (d *Decoder) Numbers(n int) Numbers {
	var list Numbers
	if count := d.Uvarint(); count != uint64(n) {
		d.Fail(ErrSequence)
		return list
	}
	r := sequenceReader{d: *d, left: uint64(n)}
	var made [streamBuffer]int64
	held := int64(0)
	for r.left > 0 {
		if r.piece == 0 && !r.start() {
			d.Fail(r.d.Err)
			return Numbers{}
		}
		switch m := int(r.piece); r.kind {
		case pieceRun:
			list.PushRun(r.value, 0, m)
			r.left, r.piece = r.left-uint64(m), 0
		case pieceProgression:
			list.PushRun(r.value+r.step, r.step, m)
			r.value += r.step * int64(m)
			r.left, r.piece = r.left-uint64(m), 0
		default:
			k := r.read(made[:min(m, len(made))])
			if k == 0 {
				d.Fail(r.d.Err)
				return Numbers{}
			}
			for _, v := range made[:k] {
				list.Push(v)
			}
		}
		if now := list.Bytes(); now > held {
			if !d.Budget.Take(now - held) {
				d.Fail(ErrMemory)
				return Numbers{}
			}
			held = now
		}
	}
	d.follow(&r)
	return list
}

// Bytes is the size of the list in memory.
func (n *Numbers) Bytes() int64 { return int64(8*len(n.loose) + numbersPieceBytes*len(n.pieces)) }

// TextNumbers reads a column of texts: indices into the section's strings.
func (d *Decoder) TextNumbers(n int) Numbers {
	list := d.Numbers(n)
	if d.Err == nil && !list.Within(0, int64(len(d.Strings))) {
		d.Fail(ErrNumber)
		list = Numbers{}
	}
	return list
}
