package program

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// A FunctionKind is a family of functions of a rank.
type FunctionKind string

// The families; r is the number that the function is of.
const (
	Linear FunctionKind = "linear" // A + B·((r div C) mod D)
	Modulo FunctionKind = "modulo" // (A + B·r) mod D, not negative: around a ring
	XOR    FunctionKind = "xor"    // r XOR A
	Grid   FunctionKind = "grid"   // the rank at r's coordinates in Extents (row by row) + Shift, all periodic
	// D·((r div D mod C)·C + r div D div C) + r mod D: row and column exchanged, of
	// C x C groups of D
	Transposed FunctionKind = "transposed"
	ByValue    FunctionKind = "values" // Values[(r div C) mod D]
)

// A Function returns a number for each rank.
type Function struct {
	Kind FunctionKind `json:"kind"`
	// Of names r: "rank" is the caller's in the communicator of the call, "world rank" that in
	// MPI_COMM_WORLD, others are coordinates in the topology.
	Of string `json:"of"`
	// Numbering is the source of r: 0 for the rank in MPI_COMM_WORLD; else 1 + an index into
	// Findings.Numberings.
	Numbering int     `json:"numbering,omitempty"`
	A         int64   `json:"a,omitempty"`
	B         int64   `json:"b,omitempty"`
	C         int64   `json:"c,omitempty"` // omitted: 1
	D         int64   `json:"d,omitempty"` // omitted: without "mod D"
	Extents   []int64 `json:"extents,omitempty"`
	Shift     []int64 `json:"shift,omitempty"`
	Values    []int64 `json:"values,omitempty"`
}

func constantFunction(x int64) *Function { return &Function{Kind: Linear, A: x} }

// constant returns the number of a function that is the same for all.
func (f *Function) constant() (int64, bool) { return f.A, f.Kind == Linear && f.B == 0 }

// step is (r div C) mod D.
func (f *Function) step(r int64) int64 {
	if f.C > 1 {
		r /= f.C
	}
	if f.D > 0 {
		r %= f.D
	}
	return r
}

// At returns the function's value for r ≥ 0; false if it has none.
func (f *Function) At(r int64) (int64, bool) {
	switch f.Kind {
	case Linear:
		return f.A + f.B*f.step(r), true
	case Modulo:
		return floorMod(f.A+f.B*r, max(1, f.D)), true
	case XOR:
		return r ^ f.A, true
	case Grid:
		return shifted(r, f.Extents, f.Shift), true
	case Transposed:
		wide, q := f.D, f.C
		return wide*(r/wide%q*q+r/wide/q) + r%wide, true
	case ByValue:
		if k := f.step(r); k >= 0 && k < int64(len(f.Values)) {
			return f.Values[k], true
		}
	}
	return 0, false
}

// String describes the function: "rank+1", "(rank+1) mod 8", "3+2·rank", "by row: 480 (0-2), 360
// (3)".
func (f *Function) String() string {
	switch f.Kind {
	case Linear:
		switch {
		case f.B == 0:
			return fmt.Sprint(f.A)
		case f.B == 1 && f.C <= 1 && f.D == 0:
			return offsetOf(f.Of, f.A)
		}
		return linear(f.A, f.B, f.term())
	case Modulo:
		term := f.Of
		if f.B != 1 {
			term = fmt.Sprintf("%d·%s", f.B, f.Of)
		}
		return fmt.Sprintf("(%s) mod %d", offsetOf(term, f.A), f.D)
	case XOR:
		return fmt.Sprintf("%s XOR %d", f.Of, f.A)
	case Grid:
		return gridText(f.Extents, f.Shift, f.Of)
	case Transposed:
		if f.D == 1 {
			return fmt.Sprintf("%s transposed in %dx%d", f.Of, f.C, f.C)
		}
		return fmt.Sprintf("%s transposed in %dx%d pairs", f.Of, f.C, f.C)
	case ByValue:
		return fmt.Sprintf("by %s: %s", f.term(), valuesText(f.Values))
	}
	return "?"
}

// term describes (r div C) mod D.
func (f *Function) term() string {
	term := f.Of
	if f.C > 1 {
		term = fmt.Sprintf("(%s div %d)", term, f.C)
	}
	if f.D > 0 {
		term = fmt.Sprintf("(%s mod %d)", term, f.D)
	}
	return term
}

// valuesText lists the positions of each value: "480 (0-2), 360 (3)".
func valuesText(values []int64) string {
	var order []int64
	at := map[int64][]int{}
	for i, x := range values {
		if at[x] == nil {
			order = append(order, x)
		}
		at[x] = append(at[x], i)
	}
	words := make([]string, len(order))
	for i, x := range order {
		words[i] = fmt.Sprintf("%d (%s)", x, listText(trace.NewRankList(at[x])))
	}
	return strings.Join(words, ", ")
}

// linear describes a + b·term.
func linear(a, b int64, term string) string {
	switch {
	case b == -1:
		return fmt.Sprintf("%d-%s", a, term)
	case b != 1:
		term = fmt.Sprintf("%d·%s", b, term)
	}
	if a == 0 {
		return term
	}
	return fmt.Sprintf("%d+%s", a, term)
}

func gridText(extents, shift []int64, rank string) string {
	sizes, way := make([]string, len(extents)), make([]string, len(extents))
	for i := range extents {
		sizes[i], way[i] = fmt.Sprint(extents[i]), fmt.Sprintf("%+d", shift[i])
	}
	text := fmt.Sprintf("coordinates(%s) of %s", strings.Join(way, ", "), strings.Join(sizes, "x"))
	if rank != "rank" {
		return rank + ": " + text
	}
	return text
}

// offsetOf describes a rank at a distance.
func offsetOf(rank string, b int64) string {
	if b == 0 {
		return rank
	}
	return fmt.Sprintf("%s%+d", rank, b)
}

// byCoordinate returns a function of a coordinate of the rank in a grid of all ranks, numbered row
// by row: of (r div c) mod d. Each coordinate must be that of several ranks, and there must be at
// least three values, so that it is not by chance.
func byCoordinate(samples []sample, size int, rank string) (*Function, bool) {
	if len(samples) < 2*minValues || size < len(samples) || distinct(samples, minValues) < minValues {
		return nil, false
	}
	for d := minValues; 2*d <= len(samples); d++ { // the fewest coordinates first
		for c := 1; size%d == 0 && c <= size/d; c++ {
			if size/d%c != 0 {
				continue
			}
			f := &Function{Kind: ByValue, Of: rank, C: int64(c), D: int64(d)}
			if c*d == size {
				f.D = 0
			}
			if f.learn(samples, d) {
				return f, true
			}
		}
	}
	return nil, false
}

// ofCoordinate returns a function of one of the ranks' coordinates in a topology, each of which
// must be that of several ranks.
func ofCoordinate(samples []sample, coordinates []Coordinate) (*Function, bool) {
	for _, c := range coordinates {
		along, positions := make([]sample, len(samples)), 0
		for i, s := range samples {
			x := -1
			if s.world >= 0 && s.world < len(c.Of) {
				x = c.Of[s.world]
			}
			along[i] = sample{x, s.world, s.number}
			positions = max(positions, x+1)
		}
		f := &Function{Kind: ByValue, Of: c.Name}
		if positions < 2 || len(samples) < minEvidence+1 || 2*positions > len(samples) || !f.learn(along, positions) {
			continue
		}
		if step := f.Values[1] - f.Values[0]; positions >= minEvidence && isLinear(f.Values) {
			return &Function{Kind: Linear, Of: c.Name, A: f.Values[0], B: step}, true
		}
		return f, true
	}
	return nil, false
}

func isLinear(values []int64) bool {
	for i := 2; i < len(values); i++ {
		if values[i]-values[i-1] != values[1]-values[0] {
			return false
		}
	}
	return true
}

// minValues is the minimum number of values of a function of a coordinate that is not by chance.
const minValues = 3

// distinct counts distinct numbers, up to a limit.
func distinct(samples []sample, limit int) int {
	seen := map[int64]bool{}
	for _, s := range samples {
		if seen[s.number] = true; len(seen) >= limit {
			break
		}
	}
	return len(seen)
}

// learn takes the values from samples, each at one of the given number of positions; false: a
// position has several values, or none.
func (f *Function) learn(samples []sample, positions int) bool {
	values, known, left := make([]int64, positions), make([]bool, positions), positions
	for _, s := range samples {
		k := f.step(int64(s.rank))
		switch {
		case k < 0 || k >= int64(positions):
			return false
		case !known[k]:
			values[k], known[k] = s.number, true
			left--
		case values[k] != s.number:
			return false
		}
	}
	f.Values = values
	return left == 0
}
