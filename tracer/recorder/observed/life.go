package observed

import "github.com/cairn-mpi/cairn/tracer/rawlayout"

// A Life is what is known of the lifetime of a process (format: life.c). Times are in
// ticks, 0 if unknown.
type Life struct {
	Alive            int64 // the process was last known to be alive
	Signal, SignalAt int64 // the last crash signal that reached a handler
	Exit, exitAt     int64 // 1 + the argument of exit
	Lost             int64 // calls that are in no buffer, for example after tracing stopped
	Finalized        int64 // 1: MPI_Finalize was among them
	Counted          bool  // these two are known
}

// decodeLife decodes the life in the file; the zero value if the format is unknown.
func decodeLife(b []byte) Life {
	word := words(b, rawlayout.LifeMagic, rawlayout.LifeBytes)
	if word == nil {
		return Life{}
	}
	return Life{
		Alive: word(rawlayout.LifeAliveAt), Signal: word(rawlayout.LifeSignalAt), SignalAt: word(rawlayout.LifeSignalTicksAt),
		Exit: word(rawlayout.LifeExitAt), exitAt: word(rawlayout.LifeExitTicksAt),
		Lost: max(0, word(rawlayout.LifeLostAt)), Finalized: word(rawlayout.LifeFinalizedAt), Counted: true,
	}
}

// Last returns the latest time at which the process is known to have been alive, and
// at least entered.
func (l *Life) Last(entered int64) int64 { return max(l.Alive, l.SignalAt, l.exitAt, entered) }
