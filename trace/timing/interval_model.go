package timing

import (
	"encoding/binary"
)

// An intervalModel predicts the next of 16 symbols of one kind. It has the cumulative frequencies
// of the symbols in 2^-15, and moves them towards each symbol that comes (as in Fabian Giesen,
// Mixing discrete-valued adaptive models, 2015), fast at first; neighbors of the symbol gain, too.
// A young model is mixed with its parent. All arithmetic is on integers; docs/format-timing.md
// describes it in words. 16 numbers of 16 bits are in four words and are updated together.
type intervalModel struct {
	below  lanes // cumulative frequency below each symbol
	parent *intervalModel
	next   *[16]*intervalModel // the model that follows each symbol; nil: none
	moves  *[8][16]lanes       // targets to move to, by stage and symbol
	seen   uint8               // number of symbols, at most modelYoung
}

// lanes are 17 numbers of 16 bits, little endian. The last one is the total of all symbols; those
// before it are updated four at a time.
type lanes [40]byte

func (l *lanes) words() (a, b, c, d uint64) {
	return binary.LittleEndian.Uint64(l[:]), binary.LittleEndian.Uint64(l[8:]), binary.LittleEndian.Uint64(l[16:]),
		binary.LittleEndian.Uint64(l[24:])
}

func (l *lanes) setWords(a, b, c, d uint64) {
	binary.LittleEndian.PutUint64(l[:], a)
	binary.LittleEndian.PutUint64(l[8:], b)
	binary.LittleEndian.PutUint64(l[16:], c)
	binary.LittleEndian.PutUint64(l[24:], d)
}

func (l *lanes) set(s, n int) { binary.LittleEndian.PutUint16(l[2*s:], uint16(n)) }

// share returns the range of a symbol.
func (l *lanes) share(s int) (start, size uint32) {
	i := s & 15 * 2
	start = uint32(binary.LittleEndian.Uint16(l[i:]))
	return start, uint32(binary.LittleEndian.Uint16(l[i+2:])) - start
}

// symbol returns the symbol whose range contains place.
func (l *lanes) symbol(place uint32) int {
	p := uint64(place)*everyLane | highLanes
	a, b, c, d := l.words()
	n := (p-a)>>15&everyLane + (p-b)>>15&everyLane + (p-c)>>15&everyLane + (p-d)>>15&everyLane
	return int(n*everyLane>>48) - 1
}

const (
	everyLane = 0x0001_0001_0001_0001
	highLanes = 0x8000_8000_8000_8000

	modelYoung = 48 // a model that has seen fewer symbols is mixed with its parent
	modelTrust = 8  // weight of the parent, in symbols
	modelTeach = 32 // a model that has seen fewer symbols updates its parent, too
)

// The learning rate is 1/2 at first, and is halved after each of these numbers of symbols.
var modelSlower = [...]uint8{2, 5, 12, 30}

// By the number of symbols that a model has seen: the rate, as a shift, and the stage, which
// decides how much neighbors of a symbol gain.
var modelRate, modelStage = func() (rates, stages [256]uint8) {
	for n := range 256 {
		rates[n] = 1
		for _, from := range modelSlower {
			if n >= int(from) {
				rates[n]++
			}
		}
		for _, from := range [...]int{1, 3, 10, 30} {
			if n >= from {
				stages[n]++
			}
		}
	}
	return rates, stages
}()

// The weight of a symbol for itself and for those one, two and more steps away, by stage. A step is
// a symbol for coarse parts and for lossless timing. It is two symbols for the fine parts of lossy
// timing, where every second value of the grid is rare.
var (
	coarseSpread = [5][]int{{70, 15}, {80, 10}, {90, 5}, {97, 1}, {200, 1}}
	fineSpread   = [5][]int{{30, 19, 10, 5, 3, 1}, {40, 16, 8, 4, 2, 1}, {60, 11, 5, 3, 1}, {85, 4, 2, 1}, {190, 3, 1, 1}}

	coarseMoves   = newMoves(coarseSpread, 1)
	fineMoves     = newMoves(fineSpread, 2)
	losslessMoves = newMoves(fineSpread, 1)
)

// newMoves returns, for each stage and symbol, the cumulative frequencies that a model moves to:
// one for each symbol, the others distributed by spread.
func newMoves(spread [5][]int, step int) *[8][16]lanes {
	moves := new([8][16]lanes)
	for stage, weights := range spread {
		for symbol := range 16 {
			var weight [16]int
			sum := 0
			for i, w := range weights {
				for _, s := range []int{symbol - i*step, symbol + i*step} {
					if s >= 0 && s < 16 && weight[s] == 0 {
						weight[s] = w
						sum += w
					}
				}
			}
			at := 0
			for s, w := range weight {
				// the high bit keeps differences of lanes positive
				moves[stage][symbol].set(s, at|0x8000)
				at += 1 + (shareTotal-16)*w/sum
			}
		}
	}
	return moves
}

// uniform is the model of equal frequencies.
var uniform = func() (l lanes) {
	for s := range 17 {
		l.set(s, s*shareTotal/16)
	}
	return l
}()

// expected returns the frequencies that symbols are coded with, as words: a reader of short threads
// spends most of its time here.
func (m *intervalModel) expected() (a, b, c, d uint64) {
	a, b, c, d = m.below.words()
	if m.seen >= modelYoung || m.parent == nil {
		return a, b, c, d
	}
	theirs := modelTheirs[m.seen]
	e, f, g, h := m.parent.expected()
	return mixed(a, e, theirs), mixed(b, f, theirs), mixed(c, g, theirs), mixed(d, h, theirs)
}

// expectedLanes is expected, stored in memory.
func (m *intervalModel) expectedLanes() (l lanes) {
	l.setWords(m.expected())
	l.set(16, shareTotal)
	return l
}

// mixed mixes four lanes with those of the parent, which have a weight of theirs in 32.
func mixed(own, above, theirs uint64) uint64 {
	const even = 0x0000_ffff_0000_ffff
	mine := 32 - theirs
	x := own&even*mine + above&even*theirs
	y := own>>16&even*mine + above>>16&even*theirs
	return x>>5&even | y>>5&even<<16
}

// The weight in 32 of the parent, by the number of symbols that a model has seen.
var modelTheirs = func() (theirs [256]uint64) {
	for n := range theirs {
		theirs[n] = uint64(32 * modelTrust / (modelTrust + n))
	}
	return theirs
}()

// move updates the frequencies for a symbol: below += (to − below) >> rate for each number, rounded
// down.
func (m *intervalModel) move(s int) {
	seen := m.seen
	rate := modelRate[seen] & 15
	to := &m.moves[modelStage[seen]&7][s&15]
	// The highest bits of to make differences positive; they are removed after the shift.
	mask, half := rateMasks[rate], rateHalves[rate]
	a, b, c, d := m.below.words()
	e, f, g, h := to.words()
	m.below.setWords(a+(e-a)>>rate&mask-half, b+(f-b)>>rate&mask-half, c+(g-c)>>rate&mask-half, d+(h-d)>>rate&mask-half)
	if seen < modelYoung { // beyond that, it makes no difference
		m.seen = seen + 1
	}
}

// Masks of the lanes after a shift, and the shifted 2^15.
var rateMasks, rateHalves = func() (masks, halves [16]uint64) {
	for rate := range 16 {
		masks[rate] = 0xffff >> rate * everyLane
		halves[rate] = 0x8000 >> rate * everyLane
	}
	return masks, halves
}()

// learn updates the model for a symbol, and its parent while the model is young.
func (m *intervalModel) learn(s int) {
	for m.seen < modelTeach && m.parent != nil {
		m.move(s)
		m = m.parent
	}
	m.move(s)
}

func (m *intervalModel) encode(e *ransEncoder, s int) {
	if m.seen < modelYoung {
		l := m.expectedLanes()
		e.put(l.share(s))
	} else {
		e.put(m.below.share(s))
	}
	m.learn(s)
}

func (m *intervalModel) decode(d *ransDecoder) int {
	if m.seen < modelYoung {
		return m.decodeYoung(d)
	}
	// This is decodeYoung, with lanes.symbol, ransDecoder.take and learn inlined and without what
	// has no effect any more: readers of timing spend most of their time here.
	x := d.x
	p := uint64(x&(shareTotal-1))*everyLane | highLanes
	b0, b1, b2, b3 := m.below.words()
	n := (p-b0)>>15&everyLane + (p-b1)>>15&everyLane + (p-b2)>>15&everyLane + (p-b3)>>15&everyLane
	s := int(n*everyLane>>48-1) & 15
	start, size := m.below.share(s)
	x = size*(x>>shareBits) + x&(shareTotal-1) - start
	if at := d.at; at+2 <= len(d.in) {
		more, next := x<<16|uint32(binary.LittleEndian.Uint16(d.in[at:at+2])), at+2
		if x >= ransLow {
			next = at
		}
		if x < ransLow {
			x = more
		}
		d.x, d.at = x, next
	} else {
		d.advanceLast(x)
	}
	t0, t1, t2, t3 := m.moves[stageLast][s].words()
	m.below.setWords(b0+(t0-b0)>>rateLast&maskLast-halfLast, b1+(t1-b1)>>rateLast&maskLast-halfLast,
		b2+(t2-b2)>>rateLast&maskLast-halfLast, b3+(t3-b3)>>rateLast&maskLast-halfLast)
	return s
}

// decodeYoung is decode of a model that has seen few symbols.
func (m *intervalModel) decodeYoung(d *ransDecoder) int {
	l := m.expectedLanes()
	s := l.symbol(d.place())
	d.take(l.share(s))
	m.learn(s)
	return s
}

// Rate and stage of a model that is not young, and the masks for a shift by that rate.
const (
	rateLast  = 1 + len(modelSlower)
	stageLast = 4
	maskLast  = 0xffff >> rateLast * everyLane
	halfLast  = 0x8000 >> rateLast * everyLane
)

// The number k of an interval is coded in two parts. First k/16 + 1, as coarse symbols that add up
// to it; the first one below 15 is the last (0: the interval has no number and follows in full).
// Then k mod 16, the fine symbol. There is a fine model for each coarse part, and a coarse model
// for each number of coarse symbols before.
const coarseMore = 15

// coarseEnd bounds the coarse parts: the finest grid has 3,937 values, lossless timing has 976
// numbers.
const coarseEnd = 256

// intervalModels allocates models and reuses their memory.
type intervalModels struct {
	models []*[modelChunk]intervalModel
	nexts  []*[modelChunk][16]*intervalModel
	used   int // models
	coarse int // number of coarse models
}

const (
	modelChunk  = 16 // small: each rank has a decoder, and ranks may have few calls
	modelBytes  = 80
	coarseBytes = 128
)

// bytes is the memory of the models.
func (a *intervalModels) bytes() int { return a.used*modelBytes + a.coarse*coarseBytes }

// new makes a model. fine are the moves of a fine model, nil for a coarse one.
func (a *intervalModels) new(parent *intervalModel, fine *[8][16]lanes) *intervalModel {
	if a.used == len(a.models)*modelChunk {
		a.models = append(a.models, new([modelChunk]intervalModel))
	}
	m := &a.models[a.used/modelChunk][a.used%modelChunk]
	a.used++
	*m = intervalModel{below: uniform, parent: parent, moves: fine}
	if parent != nil {
		m.below = parent.expectedLanes()
	}
	if fine == nil {
		if a.coarse == len(a.nexts)*modelChunk {
			a.nexts = append(a.nexts, new([modelChunk][16]*intervalModel))
		}
		m.moves, m.next = coarseMoves, &a.nexts[a.coarse/modelChunk][a.coarse%modelChunk]
		*m.next = [16]*intervalModel{}
		a.coarse++
	}
	return m
}

// follow returns the model that follows symbol s of a coarse model.
func (a *intervalModels) follow(m *intervalModel, s int, fine *[8][16]lanes) *intervalModel {
	n := m.next[s&15]
	if n == nil {
		var parent *intervalModel
		if m.parent != nil {
			parent = a.follow(m.parent, s, fine)
		}
		if s == coarseMore {
			fine = nil
		}
		n = a.new(parent, fine)
		m.next[s&15] = n
	}
	return n
}
