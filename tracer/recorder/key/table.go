package key

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/callsite"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// none is the absence of a terminal, a creator, a rank or an offset.
const none = -1

// A Table is the call signatures of a process.
type Table struct {
	constants []record.Constant
	objects   *identity.Objects
	sites     *callsite.Table
	inStatus  uint64 // raw MPI_ERR_IN_STATUS, 0: unknown

	signatures   signatures
	families     families
	widening     widening
	generality   Generality
	generalizing generalizing

	call Call
}

// New returns the table of a process that starts.
func New(constants []record.Constant, objects *identity.Objects, sites *callsite.Table) *Table {
	t := &Table{
		constants: constants, objects: objects, sites: sites,
		signatures: signatures{byKey: map[string]int32{}}, families: families{keys: map[uint64]int32{}},
	}
	for _, c := range constants {
		if c.Name == "MPI_ERR_IN_STATUS" {
			t.inStatus = uint64(c.Value)
		}
	}
	return t
}

// Era counts the changes after which equal calls may have other keys than before: a family became
// wide, or addresses refer to other code. It does not count changes of objects.
func (t *Table) Era() int { return t.families.wide + t.sites.Moves() }

// A terminal is one entry of the call signature table.
type terminal struct {
	key     string
	request int32 // id of the request that the call creates, −1: none
}

// signatures are numbered in the order in which they were first seen.
type signatures struct {
	byKey     map[string]int32 // keys without a new request
	terminals []terminal
	keyBytes  int // approximate size of all keys
	written   int // number of terminals when they were last written
}

func (s *signatures) terminal(key []byte) int32 {
	if t, ok := s.byKey[string(key)]; ok {
		return t
	}
	k := string(key)
	t := s.add(k, none)
	s.byKey[k] = t
	s.keyBytes += len(k) + identity.TextBytes
	return t
}

func (s *signatures) add(key string, request int32) int32 {
	s.terminals = append(s.terminals, terminal{key: key, request: request})
	return int32(len(s.terminals) - 1)
}

// knows reports whether a call with this key was recorded before.
func (t *Table) knows(key []byte, creates bool) bool {
	if creates {
		return t.objects.Requests.HasCreator(key)
	}
	_, known := t.signatures.byKey[string(key)]
	return known
}

// created makes a request of a creating signature live and returns the terminal of the call.
func (t *Table) created(creator int32, raw uint64) int32 {
	request := t.objects.Requests.Create(creator, raw)
	if request.Terminal == none {
		request.Terminal = t.signatures.add(t.objects.Requests.Key(creator), request.ID)
	}
	return request.Terminal
}

// Len returns the number of signatures.
func (t *Table) Len() int { return len(t.signatures.terminals) }

// CallSite returns the function of a terminal, with the flags of its key, and the number of its
// call site.
func (t *Table) CallSite(terminal int32) (function, site uint64) {
	k := keyScanner{key: t.signatures.terminals[terminal].key}
	return k.uvarint(), k.uvarint()
}

// Signatures decodes all signatures and lists their functions.
func (t *Table) Signatures() (list []trace.Signature, functions []trace.Function, err error) {
	used := make([]uint16, len(t.signatures.terminals))
	list = make([]trace.Signature, len(used))
	for i := range list {
		if list[i], err = t.signatures.terminals[i].decode(t.constants); err != nil {
			return nil, nil, fmt.Errorf("signature %d: %w", i, err)
		}
		used[i] = list[i].Function
	}
	slices.Sort(used)
	for _, id := range slices.Compact(used) {
		functions = append(functions, functionOf(mpi.ByID(id)))
	}
	return list, functions, nil
}
