package eventlog

// outstanding is the calls of one location that others may still come to depend on, by ordinal.
type outstanding struct {
	first uint32 // ordinal of calls[head]
	calls []posted
	head  int
}

// A posted call has open ends of messages that are not reported yet, and uses dependents so far.
type posted struct {
	open uint32
	uses uint16
}

// kept is the count of calls with an unknown number of dependents.
const kept = 0xff

// maxOutstanding bounds the memory. Older calls get the count kept.
const maxOutstanding = 4096

func (o *outstanding) push() {
	if o.empty() {
		o.calls, o.head = o.calls[:0], 0
	}
	if o.first == 0 {
		o.first = 1
	}
	o.calls = append(o.calls, posted{})
}

func (o *outstanding) at(ordinal uint32) *posted {
	if ordinal < o.first || int(ordinal-o.first)+o.head >= len(o.calls) {
		return nil
	}
	return &o.calls[int(ordinal-o.first)+o.head]
}

func (o *outstanding) open(ordinal uint32) {
	if p := o.at(ordinal); p != nil {
		p.open++
	}
}

func (o *outstanding) close(ordinal uint32) {
	if p := o.at(ordinal); p != nil {
		p.open--
	}
}

func (o *outstanding) use(ordinal uint32) {
	if p := o.at(ordinal); p != nil {
		p.uses = min(kept, p.uses+1)
	}
}

func (o *outstanding) empty() bool { return o.head == len(o.calls) }

// closed reports whether all dependents of the first call are known.
func (o *outstanding) closed() bool { return o.calls[o.head].open == 0 }

func (o *outstanding) isOverLimit() bool { return len(o.calls)-o.head > maxOutstanding }

// pop removes the first call and returns the number of its dependents.
func (o *outstanding) pop() byte {
	p := o.calls[o.head]
	o.first++
	if o.head++; o.head > 64 && 2*o.head > len(o.calls) {
		o.calls = o.calls[:copy(o.calls, o.calls[o.head:])]
		o.head = 0
	}
	if p.open > 0 {
		return kept
	}
	return byte(p.uses)
}
