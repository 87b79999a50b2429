package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// An End says how a process ended that did not get through MPI_Finalize.
type End struct {
	Ticks    int64 // the latest moment at which it is known to have lived, of the rank's clock
	Signal   int   // the signal by which it crashed, 0 where none is known: what kills a process unasked leaves no note
	ExitCode int   // what exit was called with, −1 where it was not or that is not known
}

// Running is the EndedEarly of a rank whose process still lived when what there is of it was taken: nobody has seen how it
// ended, as when its pod is lost.
const Running = "running"

const endColumns = 3

// appendEnds writes how ranks ended: how many rows each has (none or one), then the rows.
func appendEnds(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.ends.Counts())
	for k := range endColumns {
		s.Numbers(&t.ends.Columns[k])
	}
	return s.Body
}

// ends reads what appendEnds wrote.
func (d *decoder) ends(c *Content) {
	ends := d.Ragged(c.Ranks.Len(), endColumns)
	if d.Err == nil && (!ends.Columns[1].Within(0, math.MaxInt32+1) || !ends.Columns[2].Within(-1, math.MaxInt32+1)) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err == nil {
		c.Ranks.ends = ends
	}
}
