package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// arenaSize is the number of values that an arena for many signatures makes at a time, 64 KiB.
const arenaSize = 1024

// An arena has copies of lists of values. Its zero value makes each of them on its own. With a size
// it makes memory for that many values at a time: a thread with 10⁵ different signatures is visited
// several times, and each visit would make as many small objects.
type arena struct {
	size int
	last []trace.Value // its length is what is in use
}

func (a *arena) clone(list []trace.Value) []trace.Value {
	if a.size == 0 || len(list) == 0 {
		return slices.Clone(list)
	}
	if cap(a.last)-len(a.last) < len(list) {
		a.last = make([]trace.Value, 0, max(a.size, len(list)))
	}
	n := len(a.last)
	a.last = append(a.last, list...)
	return a.last[n:len(a.last):len(a.last)]
}

// reset takes back the copies. Those that are still in use are overwritten.
func (a *arena) reset() { a.last = a.last[:0] }
