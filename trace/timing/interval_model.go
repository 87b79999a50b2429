package timing

import (
	"encoding/binary"
)

// An intervalModel expects the next of 16 symbols of one kind: where the places of each begin, cumulative, in 2^-15. It
// moves towards what comes (as in Fabian Giesen, Mixing discrete-valued adaptive models, 2015), fast at first, and what
// comes counts for its neighbors too. A young model is mixed with the one that it comes from. All arithmetic is on
// whole numbers; docs/format-timing.md has the same in words. 16 numbers of 16 bits lie in four words and are moved at once.
type intervalModel struct {
	below  lanes // places below each symbol
	parent *intervalModel
	next   *[16]*intervalModel // what follows each symbol; nil: nothing does
	moves  *[8][16]lanes       // where to move, by stage and symbol
	seen   uint8               // symbols, at most modelYoung
}

// lanes are 17 numbers of 16 bits, little endian; the last is what all symbols have together. Those before it are moved
// four at a time.
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

// share is what a symbol has.
func (l *lanes) share(s int) (start, size uint32) {
	i := s & 15 * 2
	start = uint32(binary.LittleEndian.Uint16(l[i:]))
	return start, uint32(binary.LittleEndian.Uint16(l[i+2:])) - start
}

// symbol is the one that has a place.
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
	modelTrust = 8  // symbols that the parent is worth
	modelTeach = 32 // as long as it has seen fewer, its parent learns too
)

// The rate of learning is 1/2, from so many symbols on half of that, and so on.
var modelSlower = [...]uint8{2, 5, 12, 30}

// By how many symbols a model has seen: the rate, as a shift, and the stage, which says how much a symbol counts for its
// neighbors.
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

// What a symbol counts for itself and for those one, two and more steps away, by stage. A step is a symbol for coarse
// parts and for lossless timing, two for the fine parts of lossy timing, where every second value of the grid is rare.
var (
	coarseSpread = [5][]int{{70, 15}, {80, 10}, {90, 5}, {97, 1}, {200, 1}}
	fineSpread   = [5][]int{{30, 19, 10, 5, 3, 1}, {40, 16, 8, 4, 2, 1}, {60, 11, 5, 3, 1}, {85, 4, 2, 1}, {190, 3, 1, 1}}

	coarseMoves   = newMoves(coarseSpread, 1)
	fineMoves     = newMoves(fineSpread, 2)
	losslessMoves = newMoves(fineSpread, 1)
)

// newMoves says for each stage and symbol where the places would begin if it counted for everything: one place for each
// symbol, the others by spread.
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

// uniform are equal shares for all.
var uniform = func() (l lanes) {
	for s := range 17 {
		l.set(s, s*shareTotal/16)
	}
	return l
}()

// expected is what symbols are coded with, as words: a reader of short threads spends most of its time here.
func (m *intervalModel) expected() (a, b, c, d uint64) {
	a, b, c, d = m.below.words()
	if m.seen >= modelYoung || m.parent == nil {
		return a, b, c, d
	}
	theirs := modelTheirs[m.seen]
	e, f, g, h := m.parent.expected()
	return mixed(a, e, theirs), mixed(b, f, theirs), mixed(c, g, theirs), mixed(d, h, theirs)
}

// expectedLanes is expected in memory.
func (m *intervalModel) expectedLanes() (l lanes) {
	l.setWords(m.expected())
	l.set(16, shareTotal)
	return l
}

// mixed weighs four lanes with those of the parent, of which so many parts in 32 count.
func mixed(own, above, theirs uint64) uint64 {
	const even = 0x0000_ffff_0000_ffff
	mine := 32 - theirs
	x := own&even*mine + above&even*theirs
	y := own>>16&even*mine + above>>16&even*theirs
	return x>>5&even | y>>5&even<<16
}

// By how many symbols a model has seen: the parts in 32 that its parent counts.
var modelTheirs = func() (theirs [256]uint64) {
	for n := range theirs {
		theirs[n] = uint64(32 * modelTrust / (modelTrust + n))
	}
	return theirs
}()

// move takes a symbol into account: below += (to − below) >> rate for each number, rounded down.
func (m *intervalModel) move(s int) {
	seen := m.seen
	rate := modelRate[seen] & 15
	to := &m.moves[modelStage[seen]&7][s&15]
	// the highest bits of to make differences positive; they are taken away after the shift
	mask, half := rateMasks[rate], rateHalves[rate]
	a, b, c, d := m.below.words()
	e, f, g, h := to.words()
	m.below.setWords(a+(e-a)>>rate&mask-half, b+(f-b)>>rate&mask-half, c+(g-c)>>rate&mask-half, d+(h-d)>>rate&mask-half)
	if seen < modelYoung { // beyond that, it makes no difference
		m.seen = seen + 1
	}
}

// What a shift of lanes leaves of them, and of 2^15.
var rateMasks, rateHalves = func() (masks, halves [16]uint64) {
	for rate := range 16 {
		masks[rate] = 0xffff >> rate * everyLane
		halves[rate] = 0x8000 >> rate * everyLane
	}
	return masks, halves
}()

// learn takes a symbol into account, here and, while this is young, above.
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
	// What decodeYoung does, by lanes.symbol, ransDecoder.take and learn, in one piece and without what has no effect any
	// more: readers of timing spend most of their time here.
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

// Rate and stage of a model that is not young, and what a shift by that rate leaves of lanes and of 2^15.
const (
	rateLast  = 1 + len(modelSlower)
	stageLast = 4
	maskLast  = 0xffff >> rateLast * everyLane
	halfLast  = 0x8000 >> rateLast * everyLane
)

// An interval's number k is told as k/16 + 1 (0: the interval has no number and follows in full), in coarse symbols up to
// the first that is below 15, which add up to it; then k mod 16, the fine symbol. A fine model goes with the coarse part,
// a coarse one with how many have come before.
const coarseMore = 15

// coarseEnd bounds coarse parts: the finest grid has 3,937 values, lossless timing 976 numbers.
const coarseEnd = 256

// intervalModels makes models, and uses their memory again.
type intervalModels struct {
	models []*[modelChunk]intervalModel
	nexts  []*[modelChunk][16]*intervalModel
	used   int // models
	coarse int // of them
}

const (
	modelChunk  = 16 // few: of ranks with few calls each has a decoder
	modelBytes  = 80
	coarseBytes = 128
)

// bytes is the memory of the models.
func (a *intervalModels) bytes() int { return a.used*modelBytes + a.coarse*coarseBytes }

// new makes a model; fine are the moves of a fine one, nil for a coarse one.
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

// follow is the model for what comes after a symbol of a coarse one.
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
