package observed

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// A Life is what a process left of its end (life.c has the format): times in ticks, 0 for what is not known.
type Life struct {
	Alive            int64 // the process lived then
	Signal, SignalAt int64 // the last signal of a crash that came to a handler
	Exit, exitAt     int64 // 1 + the code that exit was called with
	Lost             int64 // calls that no buffer has, as when tracing has stopped
	Finalized        int64 // 1: MPI_Finalize was among them
	Counted          bool  // the tracer notes these two
}

const (
	lifeMagic = rawlayout.LifeMagic
	lifeBytes = rawlayout.LifeLostAt // of an earlier tracer, which did not count
)

// decodeLife reads what the file has of it; of something else nothing is known.
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

// Last is the latest moment at which the process is known to have lived, and not before a call that it has entered.
func (l *Life) Last(entered int64) int64 { return max(l.Alive, l.SignalAt, l.exitAt, entered) }
