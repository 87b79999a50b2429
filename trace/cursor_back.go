package trace

// window is how many calls are decoded at a time on the way back.
const window = 1024

// behindCalls are calls that have been decoded on the way back: consecutive, the last to be given first.
type behindCalls struct {
	events []Event
	booked int64
}

func (b *behindCalls) forget(m *budget) {
	m.give(b.booked)
	*b = behindCalls{}
}

// Previous goes to the call before the current one, or to the last call after Next has returned false at the end; false
// at the beginning or on an error. Calls are decoded forwards, some at a time.
func (c *Cursor) Previous() bool {
	if c.err != nil {
		return false
	}
	at := c.next // the call after the current one
	if c.back {
		at = c.event.Index + 1
	}
	if at > 0 && (c.back || c.current) {
		at--
	}
	if at == 0 {
		return false
	}
	at-- // the one to go to
	b := &c.behind
	n := len(b.events)
	if n > 0 && b.events[n-1].Index > at {
		b.events = b.events[:n-1]
		n--
	}
	if n == 0 || b.events[n-1].Index != at {
		if !c.decodeBehind(at) {
			return false
		}
		n = len(b.events)
	}
	c.event, c.back = b.events[n-1], true
	return true
}

// decodeBehind decodes the calls up to one, as many as the window and the memory allow.
func (c *Cursor) decodeBehind(last uint64) bool {
	c.back = false
	first := last - min(last, window-1)
	if !c.Seek(first) {
		return false
	}
	b := &c.behind
	for i := first; i <= last; i++ {
		if !c.Next() {
			return false
		}
		e := c.event
		e.In, e.Out = cloneValues(e.In), cloneValues(e.Out)
		e.Return.List = cloneValues(e.Return.List)
		size := eventBytes + valuesBytes(e.In) + valuesBytes(e.Out) + valuesBytes(e.Return.List)
		if m := c.source.memory(); !m.take(size) {
			// those that come last on the way back are decoded again
			b.forget(m)
			if !m.take(size) {
				c.err = errMemory
				return false
			}
		}
		b.booked += size
		b.events = append(b.events, e)
	}
	return true
}

const eventBytes = 256

func valuesBytes(values []Value) int64 {
	n := int64(len(values)) * valueBytes
	for i := range values {
		n += valuesBytes(values[i].List)
	}
	return n
}
