package grammar

// digramTable maps a digram (two neighbors in a rule's body, values and exponents) to the node
// where it occurs. It is an open-addressing table with linear probing over node indices; the keys
// are in the nodes. Deletion shifts the cluster back, so that there are no tombstones and the table
// never needs to be cleaned.
type digramTable struct {
	slots []digramSlot // length is a power of two
	used  int
	// the latest unsuccessful find, and the slot where the digram would be inserted
	missed     digramSlot
	missedSlot uint32
}

type digramSlot struct {
	hash uint32
	node int32 // the first node of the digram; 0: free
}

const minDigramSlots = 16

func (t *digramTable) reset() {
	t.slots = make([]digramSlot, minDigramSlots)
	t.used = 0
}

// needs is the number of slots of a table for the same number of digrams.
func (t *digramTable) needs() int {
	slots := minDigramSlots
	for t.used*4 > slots*3 {
		slots *= 2
	}
	return slots
}

// digramHash mixes the four numbers of a digram (Fibonacci hashing with a final fold).
func digramHash(a int32, i uint64, b int32, j uint64) uint32 {
	h := (uint64(uint32(a)) | uint64(uint32(b))<<32) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h += i*0xbf58476d1ce4e5b9 + j*0x94d049bb133111eb
	h *= 0xff51afd7ed558ccd
	return uint32(h >> 32)
}

// find returns the node whose digram equals that of n, 0 if there is none.
func (t *digramTable) find(nodes []node, n int32) int32 {
	a, b := &nodes[n], &nodes[nodes[n].next]
	h := digramHash(a.value, a.count, b.value, b.count)
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.node == 0 {
			t.missed, t.missedSlot = digramSlot{h, n}, i
			return 0
		}
		if s.hash != h {
			continue
		}
		c := &nodes[s.node]
		d := &nodes[c.next]
		if c.value == a.value && c.count == a.count && d.value == b.value && d.count == b.count {
			return s.node
		}
	}
}

// insertMissed adds the digram of n, which the latest find missed. Nothing may have been added or
// removed since.
func (t *digramTable) insertMissed(nodes []node, n int32) {
	if (t.used+1)*4 > len(t.slots)*3 {
		t.insert(nodes, n)
		return
	}
	t.slots[t.missedSlot] = t.missed
	t.used++
}

// insert adds the digram of n, which must not be in the table.
func (t *digramTable) insert(nodes []node, n int32) {
	if (t.used+1)*4 > len(t.slots)*3 {
		t.grow()
	}
	a, b := &nodes[n], &nodes[nodes[n].next]
	t.place(digramSlot{digramHash(a.value, a.count, b.value, b.count), n})
	t.used++
}

func (t *digramTable) place(s digramSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].node != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *digramTable) grow() {
	old := t.slots
	t.slots = make([]digramSlot, 2*len(old))
	for _, s := range old {
		if s.node != 0 {
			t.place(s)
		}
	}
}

// remove removes the digram of n if the table has it at n.
func (t *digramTable) remove(nodes []node, n int32) {
	a, b := &nodes[n], &nodes[nodes[n].next]
	h := digramHash(a.value, a.count, b.value, b.count)
	mask := uint32(len(t.slots) - 1)
	i := h & mask
	for t.slots[i].node != n {
		if t.slots[i].node == 0 {
			return
		}
		i = (i + 1) & mask
	}
	t.used--
	// Close the gap with the first later entry of the cluster that may be here, and so on.
	for j := i; ; {
		j = (j + 1) & mask
		s := t.slots[j]
		if s.node == 0 {
			break
		}
		if home := s.hash & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i] = s
			i = j
		}
	}
	t.slots[i] = digramSlot{}
}
