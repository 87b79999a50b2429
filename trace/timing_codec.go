package trace

import (
	"errors"
	"math/bits"
)

// A timingEncoder writes a block of timing.
type timingEncoder struct {
	coder rangeEncoder
	model *timingModel
}

func newTimingEncoder(p *timingPlan, to []byte) *timingEncoder {
	return &timingEncoder{coder: newRangeEncoder(to), model: newTimingModel(p)}
}

// call writes the gap and the duration of a call; before is the terminal of the call before in the block.
func (e *timingEncoder) call(terminal, before int32, gap, duration int64) {
	g := e.model.plan.grids[terminal]
	e.interval(e.model.gap(terminal, before), g, gap)
	e.interval(e.model.duration(terminal), g, duration)
}

func (e *timingEncoder) interval(m *intervalModel, g *TimingGrid, x int64) {
	symbol, rest, n := 0, uint64(0), 0
	if g == nil {
		symbol, rest, n = losslessSymbol(x)
	} else {
		symbol = 1 + g.index(x)
	}
	m.encode(&e.coder, symbol)
	if symbol == symbolExact {
		rest = uint64(x)<<1 ^ uint64(x>>63)
		n = bits.Len64(rest)
		e.coder.bits(uint32(n), 7)
	}
	for n > 0 {
		k := min(n, 16)
		n -= k
		e.coder.bits(uint32(rest>>n)&(1<<k-1), k)
	}
}

// finish returns the block.
func (e *timingEncoder) finish() []byte { return e.coder.finish() }

var errTiming = errors.New("damaged timing")

// A timingDecoder reads a block of timing.
type timingDecoder struct {
	coder  rangeDecoder
	model  *timingModel
	budget *budget // nil: no end
	booked int     // bytes of the budget
	err    error
}

func newTimingDecoder(p *timingPlan, block []byte, m *budget) *timingDecoder {
	return &timingDecoder{coder: newRangeDecoder(block), model: newTimingModel(p), budget: m}
}

// Contexts of a block are not booked on the reader's budget before they are many.
const (
	cellBytes   = 8
	freeCells   = 1 << 17
	bookedCells = 1 << 16
)

// call reads the gap and the duration of a call.
func (d *timingDecoder) call(terminal, before int32) (gap, duration int64) {
	g := d.model.plan.grids[terminal]
	gap = d.interval(d.model.gap(terminal, before), g)
	duration = d.interval(d.model.duration(terminal), g)
	for d.model.cells > freeCells+d.booked/cellBytes {
		if !d.budget.take(bookedCells * cellBytes) {
			d.err = errMemory
			break
		}
		d.booked += bookedCells * cellBytes
	}
	if d.coder.exhausted() {
		d.err = errTiming
	}
	return gap, duration
}

func (d *timingDecoder) interval(m *intervalModel, g *TimingGrid) int64 {
	symbol := m.decode(&d.coder)
	switch {
	case symbol == symbolExact:
		n := int(d.coder.bits(7))
		if n > 64 {
			d.err = errTiming
			return 0
		}
		x := d.rest(n)
		return int64(x>>1) ^ -int64(x&1)
	case g == nil:
		least, n, ok := losslessInterval(symbol)
		if !ok {
			d.err = errTiming
			return 0
		}
		if n == 0 {
			return least
		}
		return least | int64(d.rest(n))
	case symbol > len(g.values):
		d.err = errTiming
		return 0
	}
	return g.values[symbol-1]
}

func (d *timingDecoder) rest(n int) (x uint64) {
	for n > 0 {
		k := min(n, 16)
		n -= k
		x = x<<k | uint64(d.coder.bits(k))
	}
	return x
}
