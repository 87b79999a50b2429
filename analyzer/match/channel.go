package match

// A channelKey names a sequence of messages that cannot overtake each other.
type channelKey struct {
	comm   int32
	source int32 // rank in the communicator
	dest   int32 // row
	tag    int64
}

// A channel holds what waits for its partner, in order of posting.
type channel struct {
	sends, receives fifo
}

// fifo is a queue of ends.
type fifo struct {
	ends []*End
	head int
}

func (f *fifo) push(e *End) { f.ends = append(f.ends, e) }

func (f *fifo) peek() *End {
	for f.head < len(f.ends) {
		if e := f.ends[f.head]; !e.dead {
			return e
		}
		f.drop()
	}
	return nil
}

func (f *fifo) drop() {
	f.ends[f.head] = nil
	f.head++
	if f.head == len(f.ends) {
		f.ends, f.head = f.ends[:0], 0
	} else if f.head >= 64 && 2*f.head >= len(f.ends) {
		n := copy(f.ends, f.ends[f.head:])
		clear(f.ends[n:])
		f.ends, f.head = f.ends[:n], 0
	}
}

func (f *fifo) empty() bool { return f.peek() == nil }

// Posting order of receives. MPI matches an arriving message with the first posted receive that accepts it. A
// specific receive has its place in its channel from the start. A wildcard's envelope is known only when it is
// completed, and any later receive of the same rank and communicator might be for a message that the wildcard took
// first; so from the first open wildcard on, receives stand in line here and go to their channels in posting order,
// as far as the line's front is known.
type inboxKey struct {
	comm int32
	dest int32 // row
}

// inbox is the line behind open wildcards.
type inbox struct {
	line fifo
}

// ready gives the next receive that may go to its channel, nil if there is none.
func (b *inbox) ready() *End {
	e := b.line.peek()
	if e == nil || e.wildcard {
		return nil
	}
	b.line.drop()
	return e
}
