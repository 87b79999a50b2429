package match

// A channelKey names a sequence of messages that cannot overtake each other.
type channelKey struct {
	comm   int32
	source int32  // rank in the communicator
	dest   int32  // row
	object uint32 // window, of signals between epochs (epoch.go); there source is a row; 0: messages
	tag    int64
}

// A channel holds what waits for its partner, in order of posting.
type channel struct {
	key             channelKey
	used            bool
	sends, receives fifo
}

func (c *channel) empty() bool { return c.sends.empty() && c.receives.empty() }

// channels find a channel by its key: a hash table with open addressing whose slots are the channels themselves, of a
// cache line each, since every message comes here twice.
type channels struct {
	slots []channel // a power of two
	used  int
	keep  int // up to how many channels stay when they are empty
}

func newChannels(locations int) channels { return channels{keep: 8*locations + 1024} }

// at is the channel of a key, made if there is none; valid until the next call.
func (t *channels) at(k channelKey) *channel {
	if 4*(t.used+1) > 3*len(t.slots) {
		t.grow()
	}
	for i := k.hash(); ; i++ {
		c := &t.slots[i&uint64(len(t.slots)-1)]
		if !c.used {
			t.used++
			c.key, c.used = k, true
			return c
		}
		if c.key == k {
			return c
		}
	}
}

// grow makes room, where there are many channels by forgetting those that are empty.
func (t *channels) grow() {
	old, all := t.slots, t.used <= t.keep
	n := 0
	for i := range old {
		if c := &old[i]; c.used && (all || !c.empty()) {
			n++
		}
	}
	size := 64
	for size < 2*n {
		size *= 2
	}
	if all {
		size *= 2
	}
	t.slots, t.used = make([]channel, max(size, len(old)/2)), 0
	for i := range old {
		if c := &old[i]; c.used && (all || !c.empty()) {
			*t.at(c.key) = *c
		}
	}
}

func (k channelKey) hash() uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 / golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 6.4)
	h := (uint64(uint32(k.source))<<32 | uint64(uint32(k.dest))) * odd
	h = (h>>32 ^ h ^ uint64(k.tag) ^ uint64(uint32(k.comm))<<40 ^ uint64(k.object)<<20) * odd
	return h >> 24
}

// fifo is a queue of ends, each of which is in one at most.
type fifo struct{ first, last *End }

func (f *fifo) push(e *End) {
	if f.first == nil {
		f.first = e
	} else {
		f.last.next = e
	}
	f.last = e
}

func (f *fifo) peek() *End {
	for f.first != nil && f.first.dead {
		f.drop()
	}
	return f.first
}

func (f *fifo) drop() {
	e := f.first
	f.first, e.next = e.next, nil
	if f.first == nil {
		f.last = nil
	}
}

func (f *fifo) empty() bool { return f.peek() == nil }

// Posting order of receives. MPI matches an arriving message with the first posted receive that accepts it. A
// specific receive has its place in its channel from the start. A wildcard's envelope is known only when it is
// completed, and any later receive of the same rank and communicator might be for a message that the wildcard took
// first; so from the first open wildcard on, receives stand in line here and go to their channels in posting order,
// as far as the line's front is known.
type receiverKey struct {
	comm int32
	dest int32 // row
}

// A postedQueue is the posted receives of a rank behind open wildcards, in the order of posting.
type postedQueue struct {
	line fifo
}

// ready gives the next receive that may go to its channel, nil if there is none.
func (b *postedQueue) ready() *End {
	e := b.line.peek()
	if e == nil || e.wildcard {
		return nil
	}
	b.line.drop()
	return e
}
