package key

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
)

// Distinct signatures and call sites make a recorder grow. Before it reaches its memory limit it
// generalizes in steps. No step loses a call, or anything of a call whose signature is already
// known: the repetitive part of a program is recorded as before.
//
//   - From half of the limit on, new signatures are wide at once (families.go). This loses nothing.
//   - From three quarters on, new signatures have no call site, no texts and no allocations of
//     pointers, which no stream can represent, and no new call site is added.
//   - At the limit, new signatures have no arguments: there is one for each function and outcome.
//     Of new calls only their number, their times and the requests that they create are kept. New
//     communicators are not described: the trace does not know their members.
//
// A generalized signature is flagged (trace.Signature.Generalized), and a note of the trace
// mentions them. Objects that the program never frees still take memory for each handle; the MPI
// library needs more for each of them.

// A Generality is the extent to which new signatures are generalized.
type Generality uint8

const (
	KeepsEverything Generality = iota
	WidensEarly
	DropsTexts
	DropsArguments
)

// Generality returns the extent to which new signatures are generalized.
func (t *Table) Generality() Generality { return t.generality }

// Generalize sets it. It must not go down, since the entries remain.
func (t *Table) Generalize(to Generality) {
	t.generality = to
	t.sites.Closed = to >= DropsTexts
}

// generalize returns the key to use instead of a new one, and replaces the call's stream values
// accordingly.
func (t *Table) generalize(key []byte, c *Call) []byte {
	g := &t.generalizing
	if g.signature(key, c.layout) || t.sites.Missed {
		key = g.to
	}
	if t.generality < DropsArguments || t.knows(key, c.creates) {
		return key
	}
	return t.bare(key, c)
}

// bare returns a key without arguments, except for the created request and the communicator.
func (t *Table) bare(key []byte, c *Call) []byte {
	g, s := &t.generalizing, &c.Values
	k := keyScanner{key: textOf(key)}
	g.bare = binary.AppendUvarint(g.bare[:0], k.uvarint()|flagGeneralized)
	g.bare = append(g.bare, 0) // no site
	g.bare = binary.AppendVarint(g.bare, none)
	for range 2 { // site, own rank
		k.uvarint()
	}
	returned := k.next()
	g.bare = append(g.bare, key[k.begin:k.at]...)
	for i := range c.fields {
		if c.creates && i == c.newRequest {
			g.bare = append(g.bare, formNewRequest)
		} else {
			g.bare = appendForm(g.bare, trace.Absent)
		}
	}
	communicator := key[len(key)-1]
	g.bare = append(g.bare, communicator)
	before := *s
	s.Reset()
	if returned == trace.Stream {
		s.Push(before.Values[0])
	}
	if communicator != 0 {
		s.Push(before.Values[len(before.Values)-1]) // its instance
	}
	return g.bare
}

// A generalizing copies a key without the values that no stream can represent.
type generalizing struct {
	keyCopy
	bare []byte
}

// signature generalizes a key, and reports whether anything was left out.
func (g *generalizing) signature(key []byte, l *layout) (changed bool) {
	g.start(textOf(key))
	g.to = binary.AppendUvarint(g.to, g.uvarint()|flagGeneralized)
	changed = g.uvarint() != 0
	g.to = append(g.to, 0) // no site
	g.copied = g.at
	g.uvarint() // own rank
	for parts := 1 + len(l.fields); parts > 0 && !g.bad; parts-- {
		switch g.next() {
		case trace.List:
			parts += int(g.number)
		case trace.Text:
			g.replace(g.begin, trace.Absent)
			changed = true
		case trace.Code, formLocated:
			g.replace(g.begin, trace.Pointer)
			changed = true
		}
	}
	g.end()
	return changed
}
