package timing

import (
	"math/bits"
	"sync"
)

// A Plan defines how the intervals of each terminal are written: on the grid of its function's
// error, or exactly.
type Plan struct {
	Functions []int32 // by terminal
	Grids     []*Grid // by terminal; nil elements: lossless
}

// A contexts is the set of contexts of one block. The context of a duration is its signature; that
// of a gap is its signature and the signature of the call before. A new context starts from that of
// its function or pair of functions, and this from the context of all intervals of the same kind
// and grid.
type contexts struct {
	plan   *Plan
	models intervalModels
	// Contexts by key. Those of calls are chained as well, since a call mostly follows the same one
	// as the last time.
	byKey    map[contextKey]*intervalModel
	calls    map[callKey]*callContext
	contexts int          // by signature
	start    callContext  // before the first call of the block
	last     *callContext // of the call before
}

type contextKey struct {
	kind contextKind
	of   uint32 // the object of the context
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

// A callContext predicts a call with one terminal that follows a call with another terminal.
type callContext struct {
	terminal      int32
	gap, duration *intervalModel
	grid          *Grid         // nil: lossless
	fine          *[8][16]lanes // moves of fine models
	next          *callContext  // the call that followed the last time
}

// maxContexts bounds the contexts by signature in a block. Further intervals are predicted by
// function.
const maxContexts = 4096

var timingModels = sync.Pool{New: func() any {
	return &contexts{byKey: map[contextKey]*intervalModel{}, calls: map[callKey]*callContext{}}
}}

// newContexts returns the model of a block; the caller must call release.
func newContexts(p *Plan) *contexts {
	t := timingModels.Get().(*contexts)
	t.plan, t.contexts = p, 0
	t.models.used, t.models.coarse = 0, 0
	t.start = callContext{terminal: noCall}
	t.last = &t.start
	return t
}

// release returns a model to the pool unless it has grown large.
func (t *contexts) release() {
	if t.models.bytes() > freeModelBytes {
		return
	}
	clear(t.byKey)
	clear(t.calls)
	t.plan, t.last = nil, nil
	timingModels.Put(t)
}

// noCall is the terminal before the first call of a block.
const noCall = -1

// restart makes the next call count as the first one of the block.
func (t *contexts) restart() { t.last = &t.start }

// call returns the context of the next call.
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

// bySignature makes a context, or returns parent if there are too many.
func (t *contexts) bySignature(parent *intervalModel) *intervalModel {
	if t.contexts == maxContexts {
		return parent
	}
	t.contexts++
	return t.models.new(parent, nil)
}

// Lossless intervals of 32 ticks and more share a number with those of the same length in bits and
// the same four bits after the leading one. The other bits follow verbatim.
const (
	losslessBits  = 4
	losslessFirst = 1 << (losslessBits + 1)
)

// losslessNumber splits an interval x ≥ 0 into its number and the n remaining bits.
func losslessNumber(x int64) (number int, rest uint64, n int) {
	if x < losslessFirst {
		return int(x), 0, 0
	}
	n = bits.Len64(uint64(x)) - 1 - losslessBits
	return losslessFirst + (n-1)<<losslessBits + int(x>>n)&(1<<losslessBits-1), uint64(x) & (1<<n - 1), n
}

// losslessInterval is the inverse: the smallest interval of a number, and the number of bits that
// follow.
func losslessInterval(number int) (least int64, n int, ok bool) {
	if number < losslessFirst {
		return int64(number), 0, true
	}
	number -= losslessFirst
	n = number>>losslessBits + 1
	return int64(number&(1<<losslessBits-1)|1<<losslessBits) << n, n, n+losslessBits < 63
}
