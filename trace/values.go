package trace

import (
	"errors"
	"math"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// What a number stands for depends on the kind of its parameter. It is decided here, for numbers in
// streams and their lists, for numbers that are computed for a rank, and for numbers in signatures
// (earlier merges wrote a request that is the same in all calls as an integer). So readers see each
// value in one form, wherever it comes from.

// A meaning is what the numbers of a kind stand for.
type meaning uint8

const (
	plainNumber      meaning = iota // Int
	plainOrUndefined                // Int, or MPI_UNDEFINED
	floatingPoint                   // Float, from the bits of a float64
	opaqueHandle                    // Handle
	requestOrNull                   // Handle, or MPI_REQUEST_NULL
	numberOfMeanings
)

// Kinds of parameters with special decoding.
const (
	requestKind = "request"
	rankKind    = "rank"
	sourceKind  = "source" // of a status; no parameter has it
	statusKind  = "status"
	doubleKind  = "double"
)

// meanings are those of all kinds whose numbers are not just numbers.
var meanings = func() map[string]meaning {
	of := map[string]meaning{doubleKind: floatingPoint}
	for _, kind := range mpi.Kinds() {
		if kind.IsHandle() {
			of[kind.String()] = opaqueHandle
		}
	}
	of[requestKind] = requestOrNull
	// MPI 4.0 §A.1.1
	for _, kind := range []string{rankKind, "index", "count", "bytes", "extent", "int"} {
		of[kind] = plainOrUndefined
	}
	return of
}()

const (
	// NullRequest is MPI_REQUEST_NULL in streams of requests.
	NullRequest = -1
	// undefined is MPI_UNDEFINED, the same number in all known implementations.
	undefined = -32766

	nullRequestName = "MPI_REQUEST_NULL"
	undefinedName   = "MPI_UNDEFINED"
)

func (m meaning) value(x int64) Value {
	switch m {
	case plainOrUndefined:
		if x == undefined {
			return Value{Form: Name, Text: undefinedName}
		}
	case floatingPoint:
		return Value{Form: Float, Int: x}
	case requestOrNull:
		if x < 0 {
			return Value{Form: Name, Text: nullRequestName}
		}
		return Value{Form: Handle, Int: x}
	case opaqueHandle:
		return Value{Form: Handle, Int: x}
	}
	return Value{Form: Int, Int: x}
}

// ValueOf returns what a number stands for that is the value of a parameter or result of a kind.
func ValueOf(kind string, x int64) Value { return meanings[kind].value(x) }

// IsHandle reports whether values of a kind are opaque handles of MPI, of form Handle or Name.
func IsHandle(kind string) bool { return meanings[kind] >= opaqueHandle }

// normalized returns a value of a signature with what its numbers stand for.
func (m meaning) normalized(v Value) Value {
	switch v.Form {
	case Int:
		if m != floatingPoint { // these have a form of their own in signatures
			return m.value(v.Int)
		}
	case List:
		for i := range v.List {
			if x := m.normalized(v.List[i]); x.Form != v.List[i].Form {
				v.List[i] = x
			}
		}
	}
	return v
}

// normalize sets what the numbers in a signature of f stand for.
func (f *Function) normalize(s *Signature) {
	in, out := s.In, s.Out
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction != Out && len(in) > 0 {
			if form := in[0].Form; form == Int || form == List {
				in[0] = meanings[p.Kind].normalized(in[0])
			}
			in = in[1:]
		}
		if p.Direction != In && len(out) > 0 {
			if form := out[0].Form; form == Int || form == List {
				out[0] = meanings[p.Kind].normalized(out[0])
			}
			out = out[1:]
		}
	}
}

// A filling decodes the values of a slot from its stream, call after call. There are three kinds,
// and exactly one of the functions is set:
//
//   - number: a call has one number, which determines the value.
//   - list: a call has a count and that many numbers (a negative count is NULL, without numbers),
//     which determine the value.
//   - change: the same numbers, but they are the difference to the signature's last call.
//
// The boundaries between calls in a stream are found in one function, slot.take, both for values
// that are wanted and for values that are skipped. The fillings get the numbers, not the stream, so
// that decoding cannot consume more or fewer of them than skipping. Only change gets state that
// outlives the call, and it is decoded even if the value is not wanted. So a list cannot depend on
// calls that a seek has skipped.
type filling struct {
	number func(to *Value, x int64)
	// list and change get the numbers, valid during the call, and the value of the call before,
	// whose list may be reused.
	list   func(to *Value, numbers []int64, m account) error
	change func(state *requestList, to *Value, numbers []int64, m account) error
}

// The fillings (docs/format-sections.md, "Signatures": stream and list stream).
var (
	fillNumber = [numberOfMeanings]filling{
		plainNumber:      {number: func(to *Value, x int64) { *to = plainNumber.value(x) }},
		plainOrUndefined: {number: func(to *Value, x int64) { *to = plainOrUndefined.value(x) }},
		floatingPoint:    {number: func(to *Value, x int64) { *to = floatingPoint.value(x) }},
		opaqueHandle:     {number: func(to *Value, x int64) { *to = opaqueHandle.value(x) }},
		requestOrNull:    {number: func(to *Value, x int64) { *to = requestOrNull.value(x) }},
	}
	fillList = [numberOfMeanings]filling{
		plainNumber:      {list: plainNumber.list},
		plainOrUndefined: {list: plainOrUndefined.list},
		floatingPoint:    {list: floatingPoint.list},
		opaqueHandle:     {list: opaqueHandle.list},
		requestOrNull:    {change: (*requestList).change},
	}
	fillStatus   = filling{list: statusOf}
	fillStatuses = filling{list: statusesOf}
)

// fillingOf returns the filling of a stream for a parameter of a kind.
func fillingOf(kind string) *filling { return &fillNumber[meanings[kind]] }

// listFillingOf returns the filling of a list stream for a parameter of a kind, which is a list or
// a single value.
func listFillingOf(kind string, list bool) *filling {
	switch {
	case kind == statusKind && list:
		return &fillStatuses
	case kind == statusKind:
		return &fillStatus
	}
	return &fillList[meanings[kind]]
}

var (
	errStatusList  = errors.New("a list of statuses is no multiple of five numbers")
	errRequestList = errors.New("a list of requests is damaged")
)

// An account takes memory from a budget and remembers the total.
type account struct {
	budget *codec.Budget
	booked *int64
}

func (a account) take(bytes int64) bool {
	if !a.budget.Take(bytes) {
		return false
	}
	*a.booked += bytes
	return true
}

// list makes a list of what numbers stand for.
func (m meaning) list(to *Value, numbers []int64, a account) error {
	return m.elements(to, numbers, List, a)
}

func (m meaning) elements(to *Value, numbers []int64, form Form, a account) error {
	list, err := resize(to.List, len(numbers), a)
	if err != nil {
		return err
	}
	for i, x := range numbers {
		list[i] = m.value(x)
	}
	*to = Value{Form: form, List: list}
	return nil
}

const statusLen = len(statusFields)

// statusOf makes a status from five numbers, or Absent from none.
func statusOf(to *Value, numbers []int64, m account) error {
	switch len(numbers) {
	case 0:
		*to = Value{Form: Absent, List: to.List[:0]}
		return nil
	case statusLen:
		return plainNumber.elements(to, numbers, Status, m)
	}
	return errStatusList
}

// statusesOf makes a list of statuses from five numbers each.
func statusesOf(to *Value, numbers []int64, m account) error {
	if len(numbers)%statusLen != 0 {
		return errStatusList
	}
	list, err := resize(to.List, len(numbers)/statusLen, m)
	if err != nil {
		return err
	}
	for i := range list {
		if err := plainNumber.elements(&list[i], numbers[i*statusLen:][:statusLen], Status, m); err != nil {
			return err
		}
	}
	*to = Value{Form: List, List: list}
	return nil
}

// resize sets the length of a list. Memory beyond its capacity is taken from m.
func resize(list []Value, n int, m account) ([]Value, error) {
	if n <= cap(list) {
		return list[:n], nil
	}
	if !m.take(int64(n-cap(list)) * valueBytes) {
		return nil, codec.ErrMemory
	}
	grown := make([]Value, n)
	copy(grown, list[:cap(list)])
	return grown, nil
}

// A requestList is a list of requests after the calls of a signature so far. It is as long as the
// longest of them, and each position has its latest value.
type requestList struct{ requests []Value }

// change makes the list of the next call. The numbers are the length of the list, then pairs of a
// position and its new request.
func (l *requestList) change(to *Value, numbers []int64, m account) error {
	if len(numbers)%2 == 0 {
		return errRequestList
	}
	n, changes := numbers[0], numbers[1:]
	if n < 0 || n > math.MaxInt32 {
		return errRequestList
	}
	for len(l.requests) < int(n) {
		if len(l.requests) == cap(l.requests) && !m.take(valueBytes*int64(max(len(l.requests), 8))) {
			return codec.ErrMemory
		}
		l.requests = append(l.requests, requestOrNull.value(NullRequest))
	}
	for ; len(changes) > 0; changes = changes[2:] {
		at, x := changes[0], changes[1]
		if at < 0 || at >= n {
			return errRequestList
		}
		l.requests[at] = requestOrNull.value(x)
	}
	*to = Value{Form: List, List: l.requests[:n]}
	return nil
}

// Elastic values: one signature for many ranks whose calls differ only in numbers (ScalaTrace II,
// Wu and Mueller, ICS '13, §3.1, on Pilgrim's grammar). r is the caller's rank in the communicator
// of the call, or in the world if the call has none. A value of form Elastic has an Operator in Int
// and its operands in List.

// An Operator is the function that computes an elastic value from the calling thread. The numbers
// are part of the file format: append only.
type Operator int64

// Operators. Operands are values of form Int unless said otherwise.
const (
	_      Operator = iota
	Modulo          // b, n: (r + b) mod n
	// k, k extents, k displacements: the rank at r's coordinates (row-major) +
	// displacements, all periodic
	Cartesian
	Stride // a, b, c, d: a + b · ((r div c) mod d); without the mod where d = 0
	// k, then values (Int, Name, Column, RankOffset or Elastic), indexed by the thread's
	// number in Columns[k]
	Cases
	Constant       // k, value: stream k, all of whose values on the thread equal this one; only in shards
	RelativeStream // k: r + the next value of stream k
)

var errElastic = errors.New("an elastic value is damaged")

// environment is what an elastic value depends on: the thread, the communicator of the call, and
// the caller's rank in it.
type environment struct {
	columns []codec.Numbers
	index   int // of the thread within its shape
	rank    int64
	known   bool // rank is known
	// of a thread with a lead: the distance to move the lead's peers by, and the size of the
	// communicator
	moved, members int64
}

// evaluate returns the value of v on a thread: Int, Handle or Name, or v itself if it is not
// elastic. Streams are returned unchanged.
func (p *environment) evaluate(v Value) (Value, error) {
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

// number returns a value that was computed from the rank.
func (p *environment) number(x int64) (Value, error) {
	if !p.known {
		return Value{}, errOwnRank
	}
	return Value{Form: Int, Int: x}, nil
}

func (p *environment) column(k int64) (int64, error) {
	if k < 0 || k >= int64(len(p.columns)) || p.index >= p.columns[k].Len() {
		return 0, errElastic
	}
	return p.columns[k].At(p.index), nil
}

func (p *environment) elastic(v Value) (Value, error) {
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

// shifted returns the rank at a displacement in a periodic Cartesian grid.
func (p *environment) shifted(operands []Value) (Value, error) {
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

// floorMod returns x mod n, never negative.
func floorMod(x, n int64) int64 {
	if x %= n; x < 0 {
		x += n
	}
	return x
}
