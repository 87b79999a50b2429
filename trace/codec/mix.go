package codec

import (
	_ "embed"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"sync"
)

// The codec of small blocks (context mixing: Mahoney, "Adaptive weighing of context models for
// lossless data compression", Florida Tech. CS-2005-16):
//
//   - bytes are predicted bit by bit in several contexts;
//   - the predictions are mixed in the logistic domain with weights that adapt;
//   - the bits are written by a binary arithmetic coder.
//
// Most traces have a few thousand bytes of sections. zstd, which is made for larger inputs, makes
// them a fifth larger than this codec does (decision 0080). The model is primed with the words of
// names.txt. All arithmetic is on integers and described in docs/format-mixed.md.

const (
	// mixLimit is the longest content in bytes that is coded: the codec is slow.
	mixLimit    = 1 << 18
	mixContexts = 8
	mixSlotBits = 15
	mixSlots    = 1 << mixSlotBits
	mixInputs   = mixContexts + 2 // the contexts, the match, a constant
	// mixRate is the learning rate of the mixers.
	mixRate = 2
	// A slot adapts by 1/(n + 1.5) of the error after n bits. n is at most mixSlowest, and at most
	// mixPrimed after the priming, so that the content counts for more.
	mixSlowest = 60
	mixPrimed  = 1
)

var errMix = errors.New("a mixed block is damaged")

// primer is text that most traces contain: every model is primed with it. It is part of the format.
//
//go:embed names.txt
var primer []byte

// A mixSlot is a prediction: the probability of a 1 in 1/65536, and the number of bits that it is
// based on.
type mixSlot struct {
	p uint16
	n uint8
}

// A mixModel predicts the next bit of a sequence of bytes.
type mixModel struct {
	slots   [mixContexts][mixSlots]mixSlot
	weights [4][mixInputs]int32 // by the length of the match; 65536 is 1
	history []byte
	last    map[uint32]int // three bytes → where they were last followed by something

	hashes [mixContexts]uint32
	bits   uint32 // the bits of the current byte so far, after a leading 1
	match  int    // position in history of the byte that is expected, 0: none
	length int    // of the match

	line    [mixContexts]uint32 // base of the slots of the current four bits
	used    [mixContexts]uint32
	stretch *[4096]int16
	inputs  [mixInputs]int32
	p       int32 // in 1/4096

	keep    bool // changes are logged, so that release can undo them
	log     []mixChange
	matches []mixMatch
}

type mixChange struct {
	slot uint32 // context and slot
	old  mixSlot
}

type mixMatch struct {
	key uint32
	at  int
}

// stretchTable is ln(p/(1−p)) for p in 1/4096, in 1/256; the inverse of squash.
var stretchTable = sync.OnceValue(func() *[4096]int16 {
	t := new([4096]int16)
	next := 0
	for x := int32(-2047); x <= 2047; x++ {
		for p := int(squash(x)); next <= p; next++ {
			t[next] = int16(x)
		}
	}
	for ; next < len(t); next++ {
		t[next] = 2047
	}
	return t
})

// squashPoints are 4096/(1 + e^−x) at x = −8, −7.5, …, 8.
var squashPoints = [33]int32{1, 2, 4, 6, 10, 17, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2048, 2549, 2994,
	3348, 3607, 3785, 3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094}

// squash is 4096/(1 + e^(−x/256)), interpolated.
func squash(x int32) int32 {
	switch {
	case x > 2047:
		return 4095
	case x < -2047:
		return 1
	}
	w := x & 127
	i := (x >> 7) + 16
	return (squashPoints[i]*(128-w) + squashPoints[i+1]*w + 64) >> 7
}

func newMixModel() *mixModel {
	m := &mixModel{last: map[uint32]int{}, bits: 1, history: make([]byte, 1, 8192), stretch: stretchTable()}
	for k := range m.slots {
		for i := range m.slots[k] {
			m.slots[k][i].p = 1 << 15
		}
	}
	for i := range m.weights {
		for k := range m.weights[i] {
			m.weights[i][k] = 1 << 14
		}
	}
	m.contexts()
	m.predict()
	return m
}

// primedMix returns a primed model.
var primedMix = sync.OnceValue(func() *mixModel {
	m := newMixModel()
	for _, b := range primer {
		for i := 7; i >= 0; i-- {
			m.update(uint32(b >> i & 1))
		}
	}
	for k := range m.slots {
		for i := range m.slots[k] {
			m.slots[k][i].n = min(m.slots[k][i].n, mixPrimed)
		}
	}
	return m
})

// mixPool contains primed models that have seen nothing else.
var mixPool = sync.Pool{New: func() any {
	primed := primedMix()
	m := new(mixModel)
	*m = *primed
	m.history = append(make([]byte, 0, len(primed.history)+4096), primed.history...)
	m.last = maps.Clone(primed.last)
	m.predict()
	return m
}}

// mixJournalLimit is the longest content in bytes after which a model is restored and reused; after
// longer ones it is dropped.
const mixJournalLimit = 8 << 10

// startMix returns a primed model for a content of length bytes.
func startMix(length int) *mixModel {
	m := mixPool.Get().(*mixModel)
	m.keep = length <= mixJournalLimit
	return m
}

// release restores the model to its primed state.
func (m *mixModel) release() {
	if !m.keep {
		return
	}
	for _, c := range slices.Backward(m.log) {
		m.slots[c.slot>>mixSlotBits][c.slot&(mixSlots-1)] = c.old
	}
	for _, c := range slices.Backward(m.matches) {
		if c.at > 0 {
			m.last[c.key] = c.at
		} else {
			delete(m.last, c.key)
		}
	}
	primed := primedMix()
	m.weights, m.hashes, m.bits = primed.weights, primed.hashes, 1
	m.match, m.length = primed.match, primed.length
	m.history = m.history[:len(primed.history)]
	m.log, m.matches = m.log[:0], m.matches[:0]
	m.predict()
	mixPool.Put(m)
}

// back is the byte i positions ago, 0 before the beginning.
func (m *mixModel) back(i int) uint32 {
	if i > len(m.history) {
		return 0
	}
	return uint32(m.history[len(m.history)-i])
}

// contexts hashes what precedes the next byte.
func (m *mixModel) contexts() {
	a, b, c, d := m.back(1), m.back(2), m.back(3), m.back(4)
	h := [mixContexts]uint32{
		0, a, a | b<<8, a | b<<8 | c<<16, a | b<<8 | c<<16 | d<<24,
		b | 1<<8, b | c<<8, c | d<<8,
	}
	for k := range h {
		m.hashes[k] = (h[k] + uint32(k)*0x9e3779b9) * 0x2545f491
		m.hashes[k] ^= m.hashes[k] >> 15
	}
	m.hashes[4] = (m.hashes[4] + m.back(5)) * 0x2545f491
}

// lines finds the 16 slots of each context for the next four bits.
func (m *mixModel) lines() {
	for k, h := range m.hashes {
		h = (h + m.bits*0x9e3779b1) * 0x85ebca6b
		m.line[k] = h >> (32 - mixSlotBits) &^ 15
	}
}

// predict sets the probability of a 1.
func (m *mixModel) predict() {
	nibble := m.bits
	if nibble >= 16 {
		n := bits.Len32(m.bits) - 5 // known bits of the low nibble
		nibble = m.bits&(1<<n-1) | 1<<n
	}
	if nibble == 1 {
		m.lines()
	}
	for k := range m.used {
		i := m.line[k] + nibble
		m.used[k] = i
		m.inputs[k] = int32(m.stretch[m.slots[k][i].p>>4])
	}
	m.inputs[mixContexts] = 0
	if m.match > 0 {
		expected := uint32(m.history[m.match]) | 0x100
		// whether the bits so far agree with the expected byte
		n := 0
		for m.bits>>n > 1 {
			n++
		}
		if expected>>(8-n) == m.bits {
			x := int32(min(m.length, 15)) * 64
			if expected>>(7-n)&1 == 0 {
				x = -x
			}
			m.inputs[mixContexts] = x
		}
	}
	m.inputs[mixContexts+1] = 64
	sum := int64(0)
	w := &m.weights[m.set()]
	for k, x := range m.inputs {
		sum += int64(x) * int64(w[k])
	}
	m.p = squash(int32(max(-2047, min(2047, sum>>16))))
}

// update learns the actual bit and predicts the next one.
func (m *mixModel) update(bit uint32) {
	e := (int32(bit)<<12 - m.p) * mixRate
	w := &m.weights[m.set()]
	for k, x := range m.inputs {
		w[k] += (x*e + 1<<11) >> 12
	}
	for k, i := range m.used {
		s := &m.slots[k][i]
		if m.keep {
			m.log = append(m.log, mixChange{uint32(k)<<mixSlotBits | i, *s})
		}
		target := int32(bit) * 65535
		s.p = uint16(int32(s.p) + (target-int32(s.p))*2/(2*int32(s.n)+3))
		if s.n < mixSlowest {
			s.n++
		}
	}
	m.bits = m.bits<<1 | bit
	if m.bits >= 256 {
		m.endByte(byte(m.bits))
	}
	m.predict()
}

func (m *mixModel) endByte(b byte) {
	if m.match > 0 && m.history[m.match] == b {
		m.match++
		m.length++
	} else {
		m.match, m.length = 0, 0
	}
	m.history = append(m.history, b)
	m.bits = 1
	if n := len(m.history); n > 4 {
		key := m.back(1) | m.back(2)<<8 | m.back(3)<<16
		if m.match == 0 {
			if at := m.last[key]; at > 0 {
				m.match, m.length = at, 1
				for m.length < 15 && m.length < at && m.history[at-1-m.length] == m.history[n-1-m.length] {
					m.length++
				}
			}
		}
		if m.keep {
			m.matches = append(m.matches, mixMatch{key, m.last[key]})
		}
		m.last[key] = n
	}
	m.contexts()
}

// encodeMix returns the packed content.
func encodeMix(content []byte) []byte {
	var b []byte
	m := startMix(len(content))
	defer m.release()
	low, high := uint32(0), ^uint32(0)
	for _, c := range content {
		for i := 7; i >= 0; i-- {
			bit := uint32(c >> i & 1)
			middle := low + uint32(uint64(high-low)*uint64(m.p)>>12)
			if bit == 1 {
				high = middle
			} else {
				low = middle + 1
			}
			m.update(bit)
			for (low^high)>>24 == 0 {
				b = append(b, byte(high>>24))
				low <<= 8
				high = high<<8 | 255
			}
		}
	}
	// Write only as many bytes as needed: a reader takes missing ones as 0.
	if low > 0 {
		for n := 1; n <= 4; n++ {
			if x := high >> (32 - 8*n) << (32 - 8*n); x >= low {
				for i := range n {
					b = append(b, byte(x>>(24-8*i)))
				}
				break
			}
		}
	}
	return b
}

// decodeMix unpacks length bytes.
func decodeMix(b []byte, length int) ([]byte, error) {
	if length > mixLimit {
		return nil, errMix
	}
	m := startMix(length)
	defer m.release()
	low, high, x := uint32(0), ^uint32(0), uint32(0)
	next := func() {
		x <<= 8
		if len(b) > 0 {
			x |= uint32(b[0])
			b = b[1:]
		}
	}
	for range 4 {
		next()
	}
	content := make([]byte, length)
	for k := range content {
		c := uint32(0)
		for range 8 {
			middle := low + uint32(uint64(high-low)*uint64(m.p)>>12)
			bit := uint32(0)
			if x <= middle {
				bit = 1
				high = middle
			} else {
				low = middle + 1
			}
			c = c<<1 | bit
			m.update(bit)
			for (low^high)>>24 == 0 {
				low <<= 8
				high = high<<8 | 255
				next()
			}
		}
		content[k] = byte(c)
	}
	if len(b) > 0 {
		return nil, errMix
	}
	return content, nil
}

// set is the index of the weights in use, which depends on the length of the match.
func (m *mixModel) set() int { return min(m.length, 3) }
