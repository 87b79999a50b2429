package trace

import (
	"errors"
	"github.com/cairn-mpi/cairn/trace/codec"
	"math/bits"
	"sync"
)

// A timingEncoder writes a block of timing.
type timingEncoder struct {
	coder codec.RansEncoder
	model *timingModel
}

func newTimingEncoder(p *timingPlan) *timingEncoder {
	return &timingEncoder{coder: codec.RansEncoder{Shares: (*sharesPool.Get().(*[]codec.Share))[:0]}, model: newTimingModel(p)}
}

// sharesPool keeps the room for the shares of a block, a megabyte or two, for the next one.
var sharesPool = sync.Pool{New: func() any { return new([]codec.Share) }}

// call writes the gap and the duration of the next call.
func (e *timingEncoder) call(terminal int32, gap, duration int64) {
	c := e.model.call(terminal)
	e.interval(c, c.gap, gap)
	e.interval(c, c.duration, duration)
}

func (e *timingEncoder) interval(c *callContext, m *intervalModel, x int64) {
	number, rest, n := -1, uint64(0), 0
	switch {
	case c.grid != nil:
		var mark int64
		if number, mark = c.grid.index(x); number >= 0 {
			rest, n = uint64(mark), c.grid.steps[number].bits
		}
	case x >= 0:
		number, rest, n = losslessNumber(x)
	}
	coarse := number>>4 + 1
	for ; coarse >= coarseMore; coarse -= coarseMore {
		m.encode(&e.coder, coarseMore)
		m = e.model.models.follow(m, coarseMore, c.fine)
	}
	m.encode(&e.coder, coarse)
	if number >= 0 {
		e.model.models.follow(m, coarse, c.fine).encode(&e.coder, number&15)
		e.coder.Bits(rest, n)
		return
	}
	rest = uint64(x)<<1 ^ uint64(x>>63)
	n = bits.Len64(rest)
	e.coder.Bits(uint64(n), 7)
	e.coder.Bits(rest, n)
}

// finish appends the block.
func (e *timingEncoder) finish(to []byte) []byte {
	to = e.coder.Finish(to)
	shares := e.coder.Shares
	e.coder.Shares = nil
	sharesPool.Put(&shares)
	e.model.release()
	return to
}

var errTiming = errors.New("damaged timing")

// A timingDecoder reads a block of timing.
type timingDecoder struct {
	coder  codec.RansDecoder
	model  *timingModel
	budget *codec.Budget // nil: no end
	booked int           // bytes of the budget
	left   uint64        // calls
	err    error
	// steps of the grid at the latest gap and duration (TimingGrid.stepAt), where there is one
	gapStep, durationStep int64
}

func newTimingDecoder(p *timingPlan, block []byte, calls uint64, m *codec.Budget) *timingDecoder {
	return &timingDecoder{coder: codec.NewRansDecoder(block), model: newTimingModel(p), budget: m, left: calls}
}

// release gives back the memory; nothing can be read after it.
func (d *timingDecoder) release() {
	d.budget.Give(int64(d.booked))
	d.model.release()
	d.model, d.err = nil, errTiming
}

// Contexts of a block are not booked on the reader's budget before they are many.
const (
	freeModelBytes   = 1 << 20
	bookedModelBytes = 1 << 19
)

// call reads the gap and the duration of the next call.
func (d *timingDecoder) call(terminal int32) (gap, duration int64) {
	c := d.model.call(terminal)
	gap, d.gapStep = d.interval(c, c.gap)
	duration, d.durationStep = d.interval(c, c.duration)
	for d.model.models.bytes() > freeModelBytes+d.booked {
		if !d.budget.Take(bookedModelBytes) {
			d.err = codec.ErrMemory
			break
		}
		d.booked += bookedModelBytes
	}
	if d.left--; d.coder.Over || d.left == 0 && !d.coder.Ended() {
		d.err = errTiming
	}
	return gap, duration
}

func (d *timingDecoder) interval(c *callContext, m *intervalModel) (x, step int64) {
	s := m.decode(&d.coder)
	coarse := s
	for s == coarseMore {
		m = d.model.models.follow(m, coarseMore, c.fine)
		s = m.decode(&d.coder)
		if coarse += s; coarse > coarseEnd {
			d.err = errTiming
			return 0, 0
		}
	}
	if coarse == 0 {
		n := int(d.coder.Bits(7))
		if n > 64 {
			d.err = errTiming
			return 0, 0
		}
		bits := d.coder.Bits(n)
		x = int64(bits>>1) ^ -int64(bits&1)
		if c.grid != nil {
			step = c.grid.stepAt(x)
		}
		return x, step
	}
	fine := m.next[s&15]
	if fine == nil {
		fine = d.model.models.follow(m, s, c.fine)
	}
	number := (coarse-1)<<4 | fine.decode(&d.coder)
	if c.grid != nil {
		if number >= len(c.grid.steps) {
			d.err = errTiming
			return 0, 0
		}
		on := &c.grid.steps[number]
		if on.bits > 0 {
			x = d.mark(on)
			return x, c.grid.stepAt(x)
		}
		return on.value, on.step
	}
	least, n, ok := losslessInterval(number)
	if !ok {
		d.err = errTiming
		return 0, 0
	}
	return least | int64(d.coder.Bits(n)), 0
}

// mark reads which mark of a divided step an interval is.
func (d *timingDecoder) mark(on *gridStep) int64 {
	beyond := int64(d.coder.Bits(on.bits)) * markTicks
	if beyond >= on.next-on.value {
		d.err = errTiming
		return 0
	}
	return on.value + beyond
}
