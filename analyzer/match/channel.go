package match

// A channelKey names a sequence of messages that cannot overtake each other.
type channelKey struct {
	comm   int32
	source int32  // rank in the communicator
	dest   int32  // row
	object uint32 // window, for signals between epochs (epoch.go; source is then a row); 0: messages
	tag    int64
}

// A channel holds the unmatched sends and receives of its key, in posting order.
type channel struct {
	key             channelKey
	used            bool
	sends, receives fifo
}

func (c *channel) empty() bool { return c.sends.empty() && c.receives.empty() }

// channels is a hash table of channels by key, with open addressing. The slots are the channels
// themselves, one cache line each, because every message looks its channel up twice.
type channels struct {
	slots []channel // a power of two
	used  int
	keep  int // number of channels above which empty ones are dropped
}

func newChannels(locations int) channels { return channels{keep: 8*locations + 1024} }

// at returns the channel of a key and adds it if necessary. The pointer is valid until the next
// call.
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

// grow enlarges the table. If there are many channels it drops the empty ones.
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
	// 2^64 / golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 6.4)
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(uint32(k.source))<<32 | uint64(uint32(k.dest))) * odd
	h = (h>>32 ^ h ^ uint64(k.tag) ^ uint64(uint32(k.comm))<<40 ^ uint64(k.object)<<20) * odd
	return h >> 24
}

// fifo is a queue of ends. An end is in at most one queue.
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

// Posting order of receives. MPI matches an arriving message with the first posted receive that
// accepts it. A receive without wildcards enters its channel when it is posted. The envelope of a
// wildcard receive is known only when it is completed, and any later receive of the same rank and
// communicator might accept the message that the wildcard took. From the first open wildcard on,
// receives therefore queue up here. They enter their channels in posting order, up to the next open
// wildcard.
type receiverKey struct {
	comm int32
	dest int32 // row
}

// A postedQueue is the posted receives of a rank behind open wildcards, in posting order.
type postedQueue struct {
	receives fifo
}

// ready removes and returns the next receive that can enter its channel, nil if there is none.
func (b *postedQueue) ready() *End {
	e := b.receives.peek()
	if e == nil || e.wildcard {
		return nil
	}
	b.receives.drop()
	return e
}
