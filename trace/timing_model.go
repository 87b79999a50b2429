package trace

import "math/bits"

// A timingPlan says how the intervals of each terminal are written: on the grid of its function's error, or as they are.
type timingPlan struct {
	functions []int32       // by terminal
	grids     []*TimingGrid // by terminal; nil elements for lossless timing
}

// planTiming is for the signatures of a trace.
func planTiming(signatures []Signature, m *Meta, functions []Function) (*timingPlan, error) {
	p := &timingPlan{functions: make([]int32, len(signatures)), grids: make([]*TimingGrid, len(signatures))}
	byFunction := map[uint16]*TimingGrid{}
	if m.Timing.Mode == TimingLossy {
		for i := range functions {
			g, err := GridOf(m.Timing.ErrorOf(functions[i].Name))
			if err != nil {
				return nil, err
			}
			byFunction[functions[i].ID] = g
		}
	}
	for i := range signatures {
		p.functions[i] = int32(signatures[i].Function)
		p.grids[i] = byFunction[signatures[i].Function]
	}
	return p, nil
}

// A timingModel is the contexts of one block. A duration is expected by its signature, a gap by its signature and that
// of the call before; what is new there borrows from its function or pair of functions, these from all intervals of
// the same kind and grid.
type timingModel struct {
	plan      *timingPlan
	durations []*intervalModel          // by terminal
	gaps      []gapContext              // by terminal, the last one used
	allGaps   map[uint64]*intervalModel // by terminal and the one before
	upper     map[uint64]*intervalModel
	contexts  int
	cells     int // of all contexts: their memory
}

type gapContext struct {
	before int32
	model  *intervalModel
}

// maxContexts bounds the contexts by signature in a block; the intervals of others are expected by function.
const maxContexts = 4096

const (
	upperAll = iota << 60
	upperDurations
	upperGaps
)

func newTimingModel(p *timingPlan) *timingModel {
	return &timingModel{
		plan: p, durations: make([]*intervalModel, len(p.functions)), gaps: make([]gapContext, len(p.functions)),
		allGaps: map[uint64]*intervalModel{}, upper: map[uint64]*intervalModel{},
	}
}

// noCall stands before the first call of a block.
const noCall = -1

func (t *timingModel) stride(terminal int32) int {
	if t.plan.grids[terminal] == nil {
		return 1
	}
	return 2 // every second value of a grid is rare
}

// above finds or makes a context that is not by signature.
func (t *timingModel) above(key uint64, terminal int32, parent *intervalModel) *intervalModel {
	m := t.upper[key]
	if m == nil {
		m = newIntervalModel(parent, t.stride(terminal), &t.cells)
		t.upper[key] = m
	}
	return m
}

// root is what all durations, or all gaps, of one grid have in common.
func (t *timingModel) root(terminal int32, gap uint64) *intervalModel {
	key := upperAll | gap
	if g := t.plan.grids[terminal]; g != nil {
		key |= uint64(g.percent) << 1
	}
	return t.above(key, terminal, nil)
}

func (t *timingModel) duration(terminal int32) *intervalModel {
	if m := t.durations[terminal]; m != nil {
		return m
	}
	m := t.above(upperDurations|uint64(t.plan.functions[terminal]), terminal, t.root(terminal, 0))
	if t.contexts < maxContexts {
		t.contexts++
		m = newIntervalModel(m, t.stride(terminal), &t.cells)
		t.durations[terminal] = m
	}
	return m
}

func (t *timingModel) gap(terminal, before int32) *intervalModel {
	last := &t.gaps[terminal]
	if last.model != nil && last.before == before {
		return last.model
	}
	key := uint64(terminal)<<32 | uint64(uint32(before))
	m := t.allGaps[key]
	if m == nil {
		function := int32(0xffff)
		if before != noCall {
			function = t.plan.functions[before]
		}
		m = t.above(upperGaps|uint64(t.plan.functions[terminal])<<32|uint64(function), terminal, t.root(terminal, 1))
		if t.contexts < maxContexts {
			t.contexts++
			m = newIntervalModel(m, t.stride(terminal), &t.cells)
		}
		t.allGaps[key] = m
	}
	*last = gapContext{before, m}
	return m
}

// Lossless intervals of 32 ticks and more share a symbol with those that have the same length and the same four bits
// after the leading one; the other bits follow as they are.
const (
	symbolExact   = 0 // the interval follows, in full
	losslessBits  = 4
	losslessFirst = 1 << (losslessBits + 1)
)

// losslessSymbol takes an interval apart.
func losslessSymbol(x int64) (symbol int, rest uint64, n int) {
	if x < 0 {
		return symbolExact, 0, 0
	}
	if x < losslessFirst {
		return 1 + int(x), 0, 0
	}
	n = bits.Len64(uint64(x)) - 1 - losslessBits
	return 1 + losslessFirst + (n-1)<<losslessBits + int(x>>n)&(1<<losslessBits-1), uint64(x) & (1<<n - 1), n
}

// losslessInterval is the least interval of a symbol, and how many bits follow.
func losslessInterval(symbol int) (least int64, n int, ok bool) {
	symbol--
	if symbol < losslessFirst {
		return int64(symbol), 0, true
	}
	symbol -= losslessFirst
	n = symbol>>losslessBits + 1
	return int64(symbol&(1<<losslessBits-1)|1<<losslessBits) << n, n, n+losslessBits < 63
}
