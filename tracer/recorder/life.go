package recorder

import "encoding/binary"

// A life is what a process left of its end (life.c has the format): times in ticks, 0 for what is not known.
type life struct {
	alive            int64 // the process lived then
	signal, signalAt int64 // the last signal of a crash that came to a handler
	exit, exitAt     int64 // 1 + the code that exit was called with
	lost             int64 // calls that no segment has, as when tracing has stopped
	finalized        int64 // 1: MPI_Finalize was among them
	counted          bool  // the tracer notes these two
}

const (
	lifeMagic = "CAIRNLF1"
	lifeBytes = 8 + 5*8
)

// decodeLife reads what the file has of it; of something else nothing is known.
func decodeLife(b []byte) life {
	var l life
	if len(b) < lifeBytes || string(b[:len(lifeMagic)]) != lifeMagic {
		return l
	}
	for i, field := range []*int64{&l.alive, &l.signal, &l.signalAt, &l.exit, &l.exitAt} {
		*field = int64(binary.NativeEndian.Uint64(b[8+8*i:]))
	}
	if len(b) >= lifeBytes+2*8 { // an earlier tracer did not count
		l.lost = max(0, int64(binary.NativeEndian.Uint64(b[lifeBytes:])))
		l.finalized = int64(binary.NativeEndian.Uint64(b[lifeBytes+8:]))
		l.counted = true
	}
	return l
}

// last is the latest moment at which the process is known to have lived, and not before a call that it has entered.
func (l *life) last(entered int64) int64 { return max(l.alive, l.signalAt, l.exitAt, entered) }
