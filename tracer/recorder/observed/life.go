package observed

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// A Life is what is known of the lifetime of a process (format: life.c). Times are in
// ticks, 0 if unknown.
type Life struct {
	Alive            int64 // the process was last known to be alive
	Signal, SignalAt int64 // the last crash signal that reached a handler
	Exit, exitAt     int64 // 1 + the argument of exit
	Lost             int64 // calls that are in no buffer, for example after tracing stopped
	Finalized        int64 // 1: MPI_Finalize was among them
	Counted          bool  // the tracer counts these two
}

const (
	lifeMagic = rawlayout.LifeMagic
	lifeBytes = rawlayout.LifeLostAt // of an earlier tracer, which did not count
)

// decodeLife decodes the life in the file; the zero value if the format is unknown.
func decodeLife(b []byte) Life {
	var l Life
	if len(b) < lifeBytes || string(b[:len(lifeMagic)]) != lifeMagic {
		return l
	}
	for i, field := range []*int64{&l.Alive, &l.Signal, &l.SignalAt, &l.Exit, &l.exitAt} {
		*field = int64(binary.NativeEndian.Uint64(b[rawlayout.LifeAliveAt+8*i:]))
	}
	if len(b) >= rawlayout.LifeBytes {
		l.Lost = max(0, int64(binary.NativeEndian.Uint64(b[rawlayout.LifeLostAt:])))
		l.Finalized = int64(binary.NativeEndian.Uint64(b[rawlayout.LifeFinalizedAt:]))
		l.Counted = true
	}
	return l
}

// Last returns the latest time at which the process is known to have been alive, and
// at least entered.
func (l *Life) Last(entered int64) int64 { return max(l.Alive, l.SignalAt, l.exitAt, entered) }
