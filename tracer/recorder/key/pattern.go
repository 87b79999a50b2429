package key

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A Pattern is what the key of a call depends on. A record that matches it has the same key, so its
// key needs not be written. Patterns are made of calls that were read.
//
// Invariant. The key of a call is a function of
//
//  1. the compared words,
//  2. the ids of its requests, which are looked up,
//  3. whether tracing was off before it,
//  4. the handle and communicator tables. If they have changed (identity.Objects.Generation), the
//     pattern is first compared with them again (sameObjects).
//
// So:
//
//   - a change of anything that keys depend on, other than the words of a record and what
//     sameObjects looks up again, must change Era;
//   - a call with effects other than ending or creating requests must have no pattern
//     (layout.repeatable);
//   - a word that is in the key must not be among those that are left out: scalars and arrays of
//     requests, results that go to streams, addresses of buffers that are no constants
//     (patternBuilder.parameter).
type Pattern struct {
	First  uint64         // the word with length, function, binding and flags
	Values values.Sources // for the streams of the terminal

	layout     *layout
	untraced   bool // tracing was off before the call
	exact      []exactWord
	addresses  []int32 // offsets of buffers that may be at any address
	requests   []int32 // offsets of requests
	ids        []int32 // what they are: constants or ids
	returned   int     // index of the first one that the call returned
	handles    []handleWord
	comm       communicatorUse // zero: the call has no communicator
	generation uint64          // of the objects for which handles and comm were last valid

	terminal  int32   // undefined if the call creates a request
	creator   int32   // creating signature; none: the call creates no request
	requestAt int32   // offset of the raw handle of that request
	at        []int32 // offsets of the fields
	roles     []role  // of the words of the record
}

// A role of a word says how it may differ from that of a call with the pattern: not at all, as a
// result, or as the address of a buffer.
type role uint8

const (
	roleNone role = iota // not assigned yet
	roleFixed
	roleResult
	roleAddress
)

type exactWord struct {
	at   int32
	want uint64
}

// A handleWord is a word whose value in a handle table is part of the key.
type handleWord struct {
	at    int32
	kind  mpi.Kind
	value int32
	found bool
}

// A communicatorUse is the part of a key that depends on the communicator of the call.
type communicatorUse struct {
	known bool
	own   int32
	inter bool
}

// Hash hashes what distinguishes most calls: the function, the call site and the first inputs.
func Hash(words []uint64) uint32 {
	h := words[record.LengthWord]*0x9e3779b97f4a7c15 ^ words[record.AddressWord]
	if l := layoutFor(record.FunctionIn(words[record.LengthWord])); l != nil {
		for _, at := range l.hashed {
			if int(at) >= len(words) {
				break
			}
			h = (h ^ words[at]) * 0xff51afd7ed558ccd
			h ^= h >> 32
		}
	}
	return uint32(h * 0x9e3779b97f4a7c15 >> 32)
}

// Matches reports whether a committed record of a thread, whose first word is that of the pattern,
// has its key. It changes no state except what Read resets anyway.
func (t *Table) Matches(p *Pattern, thread uint32, words []uint64, untraced bool) bool {
	if p.untraced != untraced {
		return false
	}
	for i := range p.exact {
		if e := &p.exact[i]; words[e.at] != e.want {
			return false
		}
	}
	for _, at := range p.addresses {
		if !t.objects.AnyAddress(words[at]) {
			return false
		}
	}
	if p.generation != t.objects.Generation() && !t.sameObjects(p, words) {
		return false
	}
	requests := &t.objects.Requests
	if len(p.requests) > 0 {
		requests.Begin(thread)
		for i, at := range p.requests {
			if i == p.returned {
				requests.Begin(thread)
			}
			if v, ok := requests.Known(words[at]); !ok || v != p.ids[i] {
				return false
			}
		}
	}
	if p.creator == none {
		return true
	}
	_, null := requests.Null(words[p.requestAt])
	return !null
}

// sameObjects reports whether the handles of a pattern still mean what they did.
func (t *Table) sameObjects(p *Pattern, words []uint64) bool {
	for i := range p.handles {
		h := &p.handles[i]
		if v, ok := t.objects.Known(h.kind, words[h.at]); ok != h.found || ok && v != h.value {
			return false
		}
	}
	if p.comm != useOfCommunicator(t.objects, &arguments{p.layout, words, p.at}) {
		return false
	}
	p.generation = t.objects.Generation()
	return true
}

// useOfCommunicator looks up the communicator of a call.
func useOfCommunicator(o *identity.Objects, a *arguments) (use communicatorUse) {
	if a.comm == none {
		return use
	}
	if c := o.Communicator(a.words[a.at[a.comm]]); c != nil {
		use = communicatorUse{known: true, own: c.Own, inter: c.Inter}
	}
	return use
}

// Repeat ends and creates the requests of a call that matches, and returns its terminal.
func (t *Table) Repeat(p *Pattern, thread uint32, words []uint64) int32 {
	t.end(&arguments{p.layout, words, p.at}, false, p.ids[:p.returned])
	if p.creator == none {
		return p.terminal
	}
	t.objects.Requests.Begin(thread)
	return t.created(p.creator, words[p.requestAt])
}

// Varies reports whether a record that may differ from another one, which matches the pattern,
// matches it all the same and changes the state in the same way: it has another address, or
// (results) results that nothing else depends on.
func (t *Table) Varies(p *Pattern, from, words []uint64) (ok, results bool) {
	for i := record.AddressWord; i < len(words); i++ {
		if words[i] == from[i] {
			continue
		}
		switch role := p.roles[i]; {
		case role == roleResult:
			results = true
		case role != roleAddress || !t.objects.AnyAddress(words[i]):
			return false, false
		}
	}
	return true, results
}
