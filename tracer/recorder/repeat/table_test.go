package repeat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/tracer/recorder/callsite"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// However many calls recur, their repeats take limited memory, and each has the terminal of its
// key.
func TestManyRepeats(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	p := s.Process
	objects := identity.New(p.Constants)
	keys := key.New(p.Constants, objects, callsite.New(p))
	table := New(keys, objects)
	thread := table.Thread(0, grammar.NewSequitur(), &values.Streams{})
	terminals := map[uint64]int32{} // by call site
	matched, most := 0, 0
	random := rand.New(rand.NewPCG(1, 1))
	var composer record.Composer
	for range 30_000 {
		site := 0x401000 + uint64(random.IntN(3*maxRepeats/2))
		s.Thread(0).Words = recordtest.NewBuffer(0, 0)
		s.CallAt(0, site, "MPI_Barrier", 0, recordtest.CommWorld)
		rec, _ := (&record.Buffer{Words: s.Thread(0).Words}).At(record.BufferHeaderWords, &composer)
		if m := thread.Match(rec.Words, false); m != nil {
			matched++
			terminal := thread.Repeat(m, rec.Words)
			require.Equal(t, terminals[site], terminal)
			thread.After(m, terminal, rec, false)
			continue
		}
		thread.Interrupt()
		c := keys.Read(0, rec, false)
		keys.Number(c)
		terminals[site] = c.Terminal
		thread.Remember(c)
		most = max(most, table.Memory())
	}
	require.Greater(t, len(terminals), maxRepeats)
	require.Greater(t, matched, 5000)
	require.Greater(t, most, maxRepeats/2*memory)
	require.LessOrEqual(t, most, maxRepeats*memory)
}
