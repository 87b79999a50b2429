package identity

// A Table maps words of records (raw handles, which are ints or pointers, or addresses) to small
// numbers. It is a flat open-addressing table, because the most frequent operation of the recorder
// is to look up the datatype and communicator of a call.
type Table struct {
	keys   []uint64
	values []int32
	filled int // slots that are not vacant, removed ones included
}

// Values from vacant up to removed are never ids or constants.
const (
	vacant  = -1 << 31
	removed = vacant + 1
)

const minTable = 16 // slots

// NewTable returns an empty table.
func NewTable() *Table {
	t := &Table{}
	t.resize(minTable)
	return t
}

func (t *Table) resize(n int) {
	t.keys = make([]uint64, n)
	t.values = make([]int32, n)
	for i := range t.values {
		t.values[i] = vacant
	}
	t.filled = 0
}

func hashOf(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// Get returns the value of key; false if there is none.
func (t *Table) Get(key uint64) (int32, bool) {
	mask := uint64(len(t.keys) - 1)
	for i := hashOf(key) & mask; ; i = (i + 1) & mask {
		v := t.values[i]
		if v == vacant {
			return 0, false
		}
		if t.keys[i] == key {
			return v, v != removed
		}
	}
}

// Put sets the value of key.
func (t *Table) Put(key uint64, value int32) {
	mask := uint64(len(t.keys) - 1)
	for i := hashOf(key) & mask; ; i = (i + 1) & mask {
		v := t.values[i]
		if v == vacant {
			if (t.filled+1)*2 > len(t.keys) {
				t.grow()
				t.Put(key, value)
				return
			}
			t.keys[i], t.values[i] = key, value
			t.filled++
			return
		}
		if t.keys[i] == key {
			t.values[i] = value
			return
		}
	}
}

// remove forgets key. The slot stays assigned to the key, which MPI is likely to reuse.
func (t *Table) remove(key uint64) {
	if _, ok := t.Get(key); ok {
		t.Put(key, removed)
	}
}

// grow makes room for one more entry; if possible by dropping removed slots.
func (t *Table) grow() {
	keys, values := t.keys, t.values
	live := 0
	for _, v := range values {
		if v > removed {
			live++
		}
	}
	n := minTable
	for n < 4*(live+1) {
		n *= 2
	}
	t.resize(n)
	for i, v := range values {
		if v > removed {
			t.Put(keys[i], v)
		}
	}
}

// each calls f for every entry.
func (t *Table) each(f func(key uint64, value int32)) {
	for i, v := range t.values {
		if v > removed {
			f(t.keys[i], v)
		}
	}
}
