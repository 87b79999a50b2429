package repeat

import (
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// Most calls are repeats: the same function, call site and inputs as an earlier call. A repeat is
// that earlier call: the pattern of its key, which has its terminal. The terminal of a record that
// matches is appended to the grammar at once; its key is neither written nor looked up.
//
// A record is compared with the repeat that followed the previous one last time, and only then
// looked up by its hash.

// A Table is all repeats of a process.
type Table struct {
	Off bool // nothing is remembered; only tests set it

	keys    *key.Table
	objects *identity.Objects
	heads   []*Repeat // by hash, chained
	keysEra int       // era of the keys for which the repeats are valid
	era     uint64    // counts the times at which all were dropped
	count   int
	credit  int // for making repeats: calls that never repeat soon use it up
}

const (
	buckets    = 1 << 12
	maxRepeats = 1 << 12 // above this all are dropped
	maxChain   = 16      // repeats with one hash
	cost       = 16      // matches that pay for making one repeat
	maxCredit  = 2 * maxRepeats * cost
)

// New returns a table without repeats.
func New(keys *key.Table, objects *identity.Objects) *Table {
	return &Table{keys: keys, objects: objects, credit: maxCredit}
}

// drop drops all repeats. Threads and other repeats may still refer to one.
func (t *Table) drop() {
	t.heads, t.count = nil, 0
	t.era++
}

// refresh drops all repeats if equal calls may have other keys now.
func (t *Table) refresh() {
	if era := t.keys.Era(); era != t.keysEra {
		t.keysEra = era
		t.drop()
	}
}

// memory is the average memory of a repeat with its lists.
const memory = 768

// Memory estimates the memory of the table in bytes.
func (t *Table) Memory() int {
	t.refresh()
	return t.count * memory
}

// A Repeat is a call that may recur.
type Repeat struct {
	key.Pattern
	era   uint64
	next  *Repeat // the repeat that followed last time
	chain *Repeat // next one with the same hash
}

// A Thread is what is known of a thread's last calls.
type Thread struct {
	table   *Table
	number  uint32
	grammar *grammar.Sequitur
	values  *values.Streams
	latest  *Repeat // repeat of the previous call; nil: it was none
	before  *Repeat // repeat of the call before the one whose key is being written
	loop    loop
}

// Thread returns the state of the thread with this number, whose calls are in the grammar and whose
// results are in the streams.
func (t *Table) Thread(number uint32, g *grammar.Sequitur, v *values.Streams) *Thread {
	return &Thread{table: t, number: number, grammar: g, values: v}
}

// Match returns the repeat that a committed record matches, nil if there is none. untraced reports
// whether tracing was off before the call.
func (t *Thread) Match(words []uint64, untraced bool) *Repeat {
	rs := t.table
	rs.refresh()
	first := words[record.LengthWord]
	if t.latest != nil {
		if m := t.latest.next; m != nil && m.First == first && t.matches(m, words, untraced) {
			return m
		}
	}
	if rs.heads == nil {
		return nil
	}
	for m := rs.heads[key.Hash(words)%buckets]; m != nil; m = m.chain {
		if m.First == first && t.matches(m, words, untraced) {
			if t.latest != nil {
				t.latest.next = m
			}
			return m
		}
	}
	return nil
}

func (t *Thread) matches(m *Repeat, words []uint64, untraced bool) bool {
	return m.era == t.table.era && t.table.keys.Matches(&m.Pattern, t.number, words, untraced)
}

// Repeat ends and creates the requests of a call that matches, and returns its terminal. After must
// follow, when the call is in the grammar and its results are in the streams.
func (t *Thread) Repeat(m *Repeat, words []uint64) (terminal int32) {
	if t.table.credit < maxCredit {
		t.table.credit++
	}
	return t.table.keys.Repeat(&m.Pattern, t.number, words)
}

// Interrupt begins a call that is no repeat.
func (t *Thread) Interrupt() {
	t.before, t.latest = t.latest, nil
	t.loop.forget()
}

// Remember makes a repeat of the call after Interrupt, whose key was written.
func (t *Thread) Remember(c *key.Call) {
	rs := t.table
	if rs.Off || rs.credit < cost {
		return
	}
	p := rs.keys.Pattern(c)
	if p == nil {
		return
	}
	rs.credit -= cost
	m := &Repeat{Pattern: *p}
	rs.add(m, key.Hash(c.Words())%buckets)
	if t.before != nil {
		t.before.next = m
	}
	t.latest = m
}

// add inserts a repeat at the head of its hash chain and truncates a chain that is too long.
func (t *Table) add(m *Repeat, hash uint32) {
	t.refresh()
	if t.count == maxRepeats {
		t.drop()
	}
	if t.heads == nil {
		t.heads = make([]*Repeat, buckets)
	}
	m.era = t.era
	m.chain = t.heads[hash]
	t.heads[hash] = m
	t.count++
	n := 1
	for last := m; last.chain != nil; last = last.chain {
		if n++; n > maxChain {
			last.chain = nil
			t.count--
			return
		}
	}
}
