package key

import (
	"unsafe"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
)

// Encode writes the signatures since its last call, or all of them.
func (t *Table) Encode(e *checkpoint.Encoder, everything bool) {
	s := &t.signatures
	if everything {
		s.written = 0
	}
	e.Uint(uint64(len(s.terminals) - s.written))
	for _, t := range s.terminals[s.written:] {
		e.Int(int64(t.request))
		if t.request == none {
			e.Text(t.key)
		}
	}
	s.written = len(s.terminals)
}

// Decode adds the signatures that Encode wrote. Complete must follow the last call.
func (t *Table) Decode(d *checkpoint.Decoder) {
	s := &t.signatures
	for range d.Count() {
		t := terminal{request: int32(d.Int())}
		if t.request == none {
			t.key = d.Text()
			s.byKey[t.key] = int32(len(s.terminals))
			s.keyBytes += len(t.key) + identity.TextBytes
		}
		s.terminals = append(s.terminals, t)
	}
}

// Complete derives what follows from the signatures and the objects. It returns false if they do
// not belong together.
func (t *Table) Complete() bool {
	for i := range t.signatures.terminals {
		term := &t.signatures.terminals[i]
		if term.request == none {
			continue
		}
		// the key of a creating signature is stored at its creator
		key, ok := t.objects.Requests.SetTerminal(term.request, int32(i))
		if !ok {
			return false
		}
		term.key = key
	}
	for key := range t.signatures.byKey {
		t.countKnown(key)
	}
	for key := range t.objects.Requests.Keys() {
		t.countKnown(key)
	}
	return true
}

// Memory estimates the memory of the table in bytes.
func (t *Table) Memory() int {
	s := &t.signatures
	return s.keyBytes + len(s.byKey)*identity.EntryBytes + cap(s.terminals)*int(unsafe.Sizeof(terminal{})) +
		len(t.families.keys)*identity.EntryBytes/2
}
