package trace

// A range coder as in LZMA (Martin, Range encoding, 1979; Subbotin's carry by Pavlov): whole numbers only, so that every
// implementation gives the same bytes. Totals are at most 2^16.

const rangeTop = 1 << 24

type rangeEncoder struct {
	out   []byte
	low   uint64 // 33 bits: the highest is a carry
	width uint32
	cache byte
	held  int // bytes that a carry may still change: cache, then 0xff
}

func newRangeEncoder(out []byte) rangeEncoder { return rangeEncoder{out: out, width: 1<<32 - 1} }

// encode narrows the interval to [start, start+size) of total.
func (e *rangeEncoder) encode(start, size, total uint32) {
	r := e.width / total
	e.low += uint64(r) * uint64(start)
	e.width = r * size
	for e.width < rangeTop {
		e.shift()
	}
}

// bits writes the n ≤ 16 lowest bits of v.
func (e *rangeEncoder) bits(v uint32, n int) {
	e.width >>= n
	e.low += uint64(e.width) * uint64(v)
	for e.width < rangeTop {
		e.shift()
	}
}

// shift moves the highest byte of low out.
func (e *rangeEncoder) shift() {
	if e.low < 0xff<<24 || e.low >= 1<<32 {
		carry := byte(e.low >> 32)
		if e.held > 0 {
			e.out = append(e.out, e.cache+carry)
			for ; e.held > 1; e.held-- {
				e.out = append(e.out, 0xff+carry)
			}
		}
		e.cache, e.held = byte(e.low>>24), 0
	}
	e.held++
	e.low = e.low << 8 & (1<<32 - 1)
	e.width <<= 8
}

// finish writes what is left, without zero bytes at the end: a decoder reads zeros there.
func (e *rangeEncoder) finish() []byte {
	// of all numbers in the interval, the one with the most zeros at its end
	for n := 32; n >= 0; n -= 8 {
		if v := (e.low + 1<<n - 1) >> n << n; v-e.low < uint64(e.width) {
			e.low = v
			break
		}
	}
	before := len(e.out)
	for range 5 {
		e.shift()
	}
	for len(e.out) > before && e.out[len(e.out)-1] == 0 {
		e.out = e.out[:len(e.out)-1]
	}
	return e.out
}

type rangeDecoder struct {
	in    []byte
	at    int
	code  uint32
	width uint32
}

func newRangeDecoder(in []byte) rangeDecoder {
	d := rangeDecoder{in: in, width: 1<<32 - 1}
	for range 4 {
		d.code = d.code<<8 | d.next()
	}
	return d
}

func (d *rangeDecoder) next() uint32 {
	var b uint32
	if d.at < len(d.in) {
		b = uint32(d.in[d.at])
	}
	d.at++
	return b
}

// exhausted tells whether more was read than an encoder can have meant.
func (d *rangeDecoder) exhausted() bool { return d.at > len(d.in)+8 }

// where is the place in total that the code points to; narrow must follow. Any code gives a place.
func (d *rangeDecoder) where(total uint32) (place, unit uint32) {
	unit = d.width / total
	return min(d.code/unit, total-1), unit
}

func (d *rangeDecoder) narrow(start, size, unit uint32) {
	d.code -= start * unit
	d.width = unit * size
	for d.width < rangeTop {
		d.code = d.code<<8 | d.next()
		d.width <<= 8
	}
}

// bits reads n ≤ 16 bits.
func (d *rangeDecoder) bits(n int) uint32 {
	unit := d.width >> n
	v := min(d.code/unit, 1<<n-1)
	d.narrow(v, 1, unit)
	return v
}
