package trace

import (
	"errors"
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Elastic values: one signature for many ranks whose calls differ only in numbers (ScalaTrace II, Wu and Mueller,
// ICS '13, §3.1, on Pilgrim's grammar). r is the caller's rank in the communicator of the call, or in the world where
// the call has none. A value of form Elastic has an Operator in Int and its operands in List.

// An Operator says how an elastic value follows from the thread that makes the call. The number is part of the file
// format: append only.
type Operator int64

// Operators. Operands are values of form Int unless said otherwise.
const (
	_              Operator = iota
	Modulo                  // b, n: (r + b) mod n
	Cartesian               // k, k extents, k displacements: the rank at r's coordinates (row-major) + displacements, all periodic
	Stride                  // a, b, c, d: a + b · ((r div c) mod d); without the mod where d = 0
	Cases                   // k, then values (Int, Name, Column, RankOffset or Elastic): that whose number Columns[k] has for the thread
	Constant                // k, value: stream k, which has nothing but this value on the thread; only in shards
	RelativeStream          // k: r + the next value of stream k
)

var errElastic = errors.New("an elastic value is damaged")

// place is what an elastic value depends on: the thread, and the communicator of the call with the caller's rank in it.
type place struct {
	columns []codec.Numbers
	index   int // of the thread within its shape
	rank    int64
	known   bool // rank is
	// of a thread that a lead stands for: how far the lead's peers are to be moved, and in a communicator of how many
	moved, members int64
}

// evaluate gives the value that v has for a thread: Int or Name; v itself if it is not elastic. Streams are left.
func (p *place) evaluate(v Value) (Value, error) {
	switch v.Form {
	case RankOffset:
		return p.number(v.Int + p.rank)
	case Column:
		x, err := p.column(v.Int)
		return Value{Form: Int, Int: x}, err
	case Elastic:
		return p.elastic(v)
	}
	return v, nil
}

// number is a value that was computed from the rank.
func (p *place) number(x int64) (Value, error) {
	if !p.known {
		return Value{}, errOwnRank
	}
	return Value{Form: Int, Int: x}, nil
}

func (p *place) column(k int64) (int64, error) {
	if k < 0 || k >= int64(len(p.columns)) || p.index >= p.columns[k].Len() {
		return 0, errElastic
	}
	return p.columns[k].At(p.index), nil
}

func (p *place) elastic(v Value) (Value, error) {
	operand := func(i int) int64 {
		if i >= len(v.List) || v.List[i].Form != Int {
			return math.MinInt64
		}
		return v.List[i].Int
	}
	switch Operator(v.Int) {
	case Modulo:
		b, n := operand(0), operand(1)
		if n < 1 || n > math.MaxInt32 {
			return v, errElastic
		}
		return p.number(floorMod(p.rank+b, n))
	case Cartesian:
		return p.shifted(v.List)
	case Stride:
		a, b, c, d := operand(0), operand(1), operand(2), operand(3)
		if c < 1 || d < 0 {
			return v, errElastic
		}
		q := p.rank / c
		if d > 0 {
			q %= d
		}
		return p.number(a + b*q)
	case Cases:
		x, err := p.column(operand(0))
		if err != nil || x < 0 || x >= int64(len(v.List)-1) {
			return v, errElastic
		}
		if which := v.List[1+x]; which.Form != Elastic || Operator(which.Int) != Cases {
			return p.evaluate(which)
		}
	case Constant:
		if len(v.List) == 2 && v.List[1].Form != Elastic || len(v.List) == 2 && Operator(v.List[1].Int) != Constant {
			return p.evaluate(v.List[1])
		}
	}
	return v, errElastic
}

// shifted is the rank at some distance in a periodic Cartesian grid.
func (p *place) shifted(operands []Value) (Value, error) {
	if len(operands) < 3 || len(operands)%2 != 1 || operands[0].Int != int64(len(operands)/2) {
		return Value{}, errElastic
	}
	k := len(operands) / 2
	extents, displacements := operands[1:1+k], operands[1+k:]
	rest, rank, size := p.rank, int64(0), int64(1)
	for i := k - 1; i >= 0; i-- {
		n := extents[i].Int
		if n < 1 || size > math.MaxInt32/n {
			return Value{}, errElastic
		}
		rank += size * floorMod(rest%n+displacements[i].Int, n)
		rest /= n
		size *= n
	}
	return p.number(rank)
}

// floorMod is x mod n, never negative.
func floorMod(x, n int64) int64 {
	if x %= n; x < 0 {
		x += n
	}
	return x
}
