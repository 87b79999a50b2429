package trace

import (
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A SignatureTable is the call signature table (CST; Pilgrim §2.1): it maps encoded signatures to terminals, dense
// from 0 in order of first sight. The keys lie one after another in a single array, found by an open-addressing table
// over their xxhash64; nothing in it is a pointer that the garbage collector follows.
type SignatureTable struct {
	keys  []byte
	ends  []uint64 // of each terminal's key in keys
	slots []signatureSlot
}

type signatureSlot struct {
	hash     uint32
	terminal int32 // plus 1; 0: free
}

// NewSignatureTable returns an empty table.
func NewSignatureTable() *SignatureTable {
	return &SignatureTable{slots: make([]signatureSlot, 64)}
}

// Terminal is the terminal of key (as of AppendSignature), a new one at first sight; key is copied.
func (t *SignatureTable) Terminal(key []byte) int32 {
	hash := uint32(xxhash.Sum64(key))
	slot, terminal := t.find(hash, key)
	if terminal >= 0 {
		return terminal
	}
	if len(t.ends) == math.MaxInt32-1 {
		panic("trace: 2^31 signatures")
	}
	t.keys = append(t.keys, key...)
	t.ends = append(t.ends, uint64(len(t.keys)))
	t.slots[slot] = signatureSlot{hash, int32(len(t.ends))}
	if len(t.ends)*4 > len(t.slots)*3 {
		t.grow()
	}
	return int32(len(t.ends) - 1)
}

// find returns the terminal of key, else −1 and the free slot for it.
func (t *SignatureTable) find(hash uint32, key []byte) (slot uint32, terminal int32) {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.terminal == 0 {
			return i, -1
		}
		if s.hash == hash && string(t.Key(s.terminal-1)) == string(key) {
			return i, s.terminal - 1
		}
	}
}

func (t *SignatureTable) grow() {
	old := t.slots
	t.slots = make([]signatureSlot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.terminal == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].terminal != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// Len is the number of terminals.
func (t *SignatureTable) Len() int { return len(t.ends) }

// Key is the encoded signature of a terminal; it must not be changed.
func (t *SignatureTable) Key(terminal int32) []byte {
	var start uint64
	if terminal > 0 {
		start = t.ends[terminal-1]
	}
	return t.keys[start:t.ends[terminal]:t.ends[terminal]]
}

// Signatures decodes the whole table. It panics when a key was not made by AppendSignature.
func (t *SignatureTable) Signatures() []Signature {
	list := make([]Signature, t.Len())
	for i := range list {
		s, rest, err := DecodeSignature(t.Key(int32(i)))
		if err != nil || len(rest) > 0 {
			panic(fmt.Sprintf("trace: key of terminal %d is no signature", i))
		}
		list[i] = s
	}
	return list
}
