package timing

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// BlockCalls is the number of calls per block of timing.
const BlockCalls = 1 << 16

// An Encoder writes a block of timing.
type Encoder struct {
	coder ransEncoder
	model *contexts
}

// NewEncoder starts a block.
func NewEncoder(p *Plan) *Encoder {
	return &Encoder{coder: ransEncoder{shares: (*sharesPool.Get().(*[]share))[:0]}, model: newContexts(p)}
}

// sharesPool reuses the buffers for the shares of a block, a megabyte or two each.
var sharesPool = sync.Pool{New: func() any { return new([]share) }}

// Call writes the gap and the duration, in ticks, of the next call.
func (e *Encoder) Call(terminal int32, gap, duration int64) {
	c := e.model.call(terminal)
	e.interval(c, c.gap, gap)
	e.interval(c, c.duration, duration)
}

func (e *Encoder) interval(c *callContext, m *intervalModel, x int64) {
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
		e.coder.bits(rest, n)
		return
	}
	rest = uint64(x)<<1 ^ uint64(x>>63)
	n = bits.Len64(rest)
	e.coder.bits(uint64(n), 7)
	e.coder.bits(rest, n)
}

// Restart marks a gap: the block lacks the calls before the next one, which is coded like a first
// one.
func (e *Encoder) Restart() { e.model.restart() }

// Finish appends the block.
func (e *Encoder) Finish(to []byte) []byte {
	to = e.coder.finish(to)
	shares := e.coder.shares
	e.coder.shares = nil
	sharesPool.Put(&shares)
	e.model.release()
	return to
}

// ErrDamaged is the error of a block that is damaged.
var ErrDamaged = errors.New("damaged timing")

// A Decoder reads a block of timing. After the last call of Call, Release must be called.
type Decoder struct {
	coder  ransDecoder
	model  *contexts
	budget *codec.Budget // nil: unlimited
	booked int           // bytes taken from the budget
	left   uint64        // calls left
	Err    error
	// Steps of the grid at the latest gap and duration (Grid.StepAt), if there is a grid.
	GapStep, DurationStep int64
}

// NewDecoder returns a decoder of a block with the given number of calls. Its memory is taken from
// m.
func NewDecoder(p *Plan, block []byte, calls uint64, m *codec.Budget) *Decoder {
	return &Decoder{coder: newRansDecoder(block), model: newContexts(p), budget: m, left: calls}
}

// Release returns the memory. The decoder must not be used after it.
func (d *Decoder) Release() {
	d.budget.Give(int64(d.booked))
	d.model.release()
	d.model, d.Err = nil, ErrDamaged
}

// Restart marks a gap: the block lacks the calls before the next one, which is coded like a first
// one.
func (d *Decoder) Restart() {
	if d.model != nil {
		d.model.restart()
	}
}

// The contexts of a block are taken from the reader's budget only once there are many of them.
const (
	freeModelBytes   = 1 << 20
	bookedModelBytes = 1 << 19
)

// Call reads the gap and the duration, in ticks, of the next call.
func (d *Decoder) Call(terminal int32) (gap, duration int64) {
	c := d.model.call(terminal)
	gap, d.GapStep = d.interval(c, c.gap)
	duration, d.DurationStep = d.interval(c, c.duration)
	for d.model.models.bytes() > freeModelBytes+d.booked {
		if !d.budget.Take(bookedModelBytes) {
			d.Err = codec.ErrMemory
			break
		}
		d.booked += bookedModelBytes
	}
	if d.left--; d.coder.over || d.left == 0 && !d.coder.ended() {
		d.Err = ErrDamaged
	}
	return gap, duration
}

func (d *Decoder) interval(c *callContext, m *intervalModel) (x, step int64) {
	s := m.decode(&d.coder)
	coarse := s
	for s == coarseMore {
		m = d.model.models.follow(m, coarseMore, c.fine)
		s = m.decode(&d.coder)
		if coarse += s; coarse > coarseEnd {
			d.Err = ErrDamaged
			return 0, 0
		}
	}
	if coarse == 0 {
		n := int(d.coder.bits(7))
		if n > 64 {
			d.Err = ErrDamaged
			return 0, 0
		}
		bits := d.coder.bits(n)
		x = int64(bits>>1) ^ -int64(bits&1)
		if c.grid != nil {
			step = c.grid.StepAt(x)
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
			d.Err = ErrDamaged
			return 0, 0
		}
		on := &c.grid.steps[number]
		if on.bits > 0 {
			x = d.mark(on)
			return x, c.grid.StepAt(x)
		}
		return on.value, on.step
	}
	least, n, ok := losslessInterval(number)
	if !ok {
		d.Err = ErrDamaged
		return 0, 0
	}
	return least | int64(d.coder.bits(n)), 0
}

// mark reads the number of the mark in a divided step.
func (d *Decoder) mark(on *gridStep) int64 {
	beyond := int64(d.coder.bits(on.bits)) * markTicks
	if beyond >= on.next-on.value {
		d.Err = ErrDamaged
		return 0
	}
	return on.value + beyond
}
