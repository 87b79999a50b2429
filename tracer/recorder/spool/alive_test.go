package spool

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// What the kernel says of an end replaces what the process could report of it.
func TestSightingCompletesEnd(t *testing.T) {
	const killed, exited = 1 + 9, 1 + 3<<8
	for _, c := range []struct {
		seen      sighting
		end, want trace.End
	}{
		{sighting{}, trace.End{Signal: 11, ExitCode: -1}, trace.End{Signal: 11, ExitCode: -1}},
		{sighting{Order: 2, Status: killed}, trace.End{ExitCode: -1}, trace.End{Signal: 9, ExitCode: -1, Order: 2}},
		{sighting{Order: 1, Status: exited}, trace.End{Signal: 6, ExitCode: -1}, trace.End{ExitCode: 3, Order: 1}},
		{
			sighting{Status: killed, OutOfMemory: 1, Limit: 4 << 20, Used: 3 << 20}, trace.End{ExitCode: -1},
			trace.End{Signal: 9, ExitCode: -1, OutOfMemory: true, MemoryLimit: 4 << 20, MemoryUsed: 3 << 20},
		},
		{
			sighting{Age: 1 << 20, Watched: 1 << 29, Ran: 3 << 20, State: 'S'}, trace.End{ExitCode: -1},
			trace.End{ExitCode: -1, Look: trace.Look{Age: 1 << 20, Watched: 1 << 29, Ran: 3 << 20, State: 'S'}},
		},
		{sighting{Limit: 4 << 20, Used: 3 << 20}, trace.End{ExitCode: -1}, trace.End{ExitCode: -1}},
	} {
		got := c.end
		c.seen.addTo(&got)
		require.Equal(t, c.want, got)
	}
}

// Each look counts, and those that see the process suspended.
func TestSuspensions(t *testing.T) {
	var w Watch
	for _, state := range "RSTStDR" {
		w.Saw(byte(state))
	}
	require.Equal(t, trace.Suspensions{Looks: 7, Suspended: 2}, w.seen.suspensions())
	require.Equal(t, trace.Suspensions{Looks: 2, Suspended: 2}, (&sighting{Looks: 2, Suspended: 1 << 63}).suspensions(), "a damaged file")
}

// The last program that a process executed counts, whole.
func TestReplaced(t *testing.T) {
	var w Watch
	for _, program := range []string{"python3.11", "sh"} {
		w.Replaced(program)
		require.Equal(t, program, w.seen.program())
	}
}

func FuzzDecodeSighting(f *testing.F) {
	s := sighting{Last: 1, Order: 2, Status: 10, OutOfMemory: 1, Limit: 1 << 30, Used: 1 << 29, Age: 3, Watched: 4, Ran: 5, State: 'R', Looks: 9, Suspended: 3}
	copy(s.Magic[:], aliveMagic)
	b, err := binary.Append(nil, binary.NativeEndian, &s)
	require.NoError(f, err)
	f.Add(b)
	f.Add(b[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		s := decodeSighting(b)
		var e trace.End
		s.addTo(&e)
		if e.Order < 0 || e.MemoryLimit < 0 || e.MemoryUsed < 0 || e.Signal < 0 || s.last() < 0 ||
			e.Look.Age < 0 || e.Look.Watched < 0 || e.Look.Ran < 0 {
			t.Errorf("%+v", e)
		}
	})
}
