package timing

import (
	"math/bits"
	"sync"
)

// A Plan says how the intervals of each terminal are written: on the grid of its function's error, or as they are.
type Plan struct {
	Functions []int32 // by terminal
	Grids     []*Grid // by terminal; nil elements for lossless timing
}

// A contexts is the contexts of one block. A duration is expected by its signature, a gap by its signature and that
// of the call before; what is new there comes from its function or pair of functions, these from all intervals of the
// same kind and grid.
type contexts struct {
	plan   *Plan
	models intervalModels
	// contexts are found by a key; those of calls in pairs, since a call mostly comes after the one it came after before
	byKey    map[contextKey]*intervalModel
	calls    map[callKey]*callContext
	contexts int          // by signature
	start    callContext  // before the first call of the block
	last     *callContext // of the call before
}

type contextKey struct {
	kind contextKind
	of   uint32 // what it is the context of
	at   uint32
}

type contextKind uint8

const (
	allGaps contextKind = iota
	allDurations
	functionGaps
	functionDurations
	signatureDurations
)

type callKey struct{ terminal, before int32 }

// A callContext is what a call with one terminal after one with another is expected by.
type callContext struct {
	terminal      int32
	gap, duration *intervalModel
	grid          *Grid         // nil: lossless
	fine          *[8][16]lanes // moves of fine models
	next          *callContext  // the call that came after it the last time
}

// maxContexts bounds the contexts by signature in a block; the intervals of others are expected by function.
const maxContexts = 4096

var timingModels = sync.Pool{New: func() any {
	return &contexts{byKey: map[contextKey]*intervalModel{}, calls: map[callKey]*callContext{}}
}}

// newContexts gives a model for a block; release must follow.
func newContexts(p *Plan) *contexts {
	t := timingModels.Get().(*contexts)
	t.plan, t.contexts = p, 0
	t.models.used, t.models.coarse = 0, 0
	t.start = callContext{terminal: noCall}
	t.last = &t.start
	return t
}

// release gives back a model, but for one that has grown large.
func (t *contexts) release() {
	if t.models.bytes() > freeModelBytes {
		return
	}
	clear(t.byKey)
	clear(t.calls)
	t.plan, t.last = nil, nil
	timingModels.Put(t)
}

// noCall stands before the first call of a block.
const noCall = -1

// restart is for calls that the block does not have: the next one counts as its first.
func (t *contexts) restart() { t.last = &t.start }

// call is the context of the next call.
func (t *contexts) call(terminal int32) *callContext {
	c := t.last.next
	if c == nil || c.terminal != terminal {
		c = t.find(terminal, t.last.terminal)
		t.last.next = c
	}
	t.last = c
	return c
}

func (t *contexts) find(terminal, before int32) *callContext {
	key := callKey{terminal, before}
	if c := t.calls[key]; c != nil {
		return c
	}
	c := &callContext{terminal: terminal, grid: t.plan.Grids[terminal], fine: losslessMoves}
	every := uint32(0)
	if c.grid != nil {
		c.fine, every = fineMoves, uint32(c.grid.percent)
	}
	function, functionBefore := t.plan.Functions[terminal], int32(noCall)
	if before != noCall {
		functionBefore = t.plan.Functions[before]
	}
	pair := t.above(contextKey{functionGaps, uint32(function), uint32(functionBefore)},
		t.above(contextKey{kind: allGaps, of: every}, nil))
	c.gap = t.bySignature(pair)
	c.duration = t.byKey[contextKey{kind: signatureDurations, of: uint32(terminal)}]
	if c.duration == nil {
		own := t.above(contextKey{kind: functionDurations, of: uint32(function)},
			t.above(contextKey{kind: allDurations, of: every}, nil))
		c.duration = t.bySignature(own)
		if c.duration != own {
			t.byKey[contextKey{kind: signatureDurations, of: uint32(terminal)}] = c.duration
		}
	}
	if len(t.calls) < maxContexts {
		t.calls[key] = c
	}
	return c
}

// above finds or makes a context that is not by signature.
func (t *contexts) above(key contextKey, parent *intervalModel) *intervalModel {
	m := t.byKey[key]
	if m == nil {
		m = t.models.new(parent, nil)
		t.byKey[key] = m
	}
	return m
}

// bySignature makes a context, or takes its parent where there are too many.
func (t *contexts) bySignature(parent *intervalModel) *intervalModel {
	if t.contexts == maxContexts {
		return parent
	}
	t.contexts++
	return t.models.new(parent, nil)
}

// Lossless intervals of 32 ticks and more share a number with those that have the same length and the same four bits
// after the leading one; the other bits follow as they are.
const (
	losslessBits  = 4
	losslessFirst = 1 << (losslessBits + 1)
)

// losslessNumber takes an interval x ≥ 0 apart.
func losslessNumber(x int64) (number int, rest uint64, n int) {
	if x < losslessFirst {
		return int(x), 0, 0
	}
	n = bits.Len64(uint64(x)) - 1 - losslessBits
	return losslessFirst + (n-1)<<losslessBits + int(x>>n)&(1<<losslessBits-1), uint64(x) & (1<<n - 1), n
}

// losslessInterval is the least interval of a number, and how many bits follow.
func losslessInterval(number int) (least int64, n int, ok bool) {
	if number < losslessFirst {
		return int64(number), 0, true
	}
	number -= losslessFirst
	n = number>>losslessBits + 1
	return int64(number&(1<<losslessBits-1)|1<<losslessBits) << n, n, n+losslessBits < 63
}
