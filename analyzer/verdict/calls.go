package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// calls is what kinds have in common that are about the time that calls themselves take.
type calls struct{ *Cause }

// costly describes that such calls take the time. what names them, parts what they complete if they
// complete what others have started.
func (c calls) costly(what, parts string) string {
	at := fmt.Sprintf("%s (%s, %s", c.Before.At(), count(int(c.Calls), "call"), wording.Duration(c.EachSeconds))
	if c.Calls != 1 {
		at += " each"
	}
	if c.Bytes > 0 {
		of := ""
		if c.Completes {
			of = parts + " of "
		}
		at += fmt.Sprintf(", %s%s on average", of, humanize.IBytes(uint64(c.Bytes)))
	}
	if c.PieceBytes > 0 {
		at += fmt.Sprintf(", in pieces of %s", humanize.IBytes(uint64(c.PieceBytes)))
	}
	most := "most of their time goes to "
	if c.Regions < 2 {
		most = "their time goes to "
	}
	if c.Form == NoOverlap {
		most = fmt.Sprintf("they are started %s before the wait for them, and yet %s", wording.Duration(c.AheadSeconds), most)
	}
	return what + " make this job slow: " + most + at + ")" + c.retransmitted()
}

// mostOfAll names such calls and the costliest of them.
func (c calls) mostOfAll(what string) string {
	if c.Regions < 2 {
		return what + ", all in " + c.Before.At()
	}
	return what + ", most of all " + c.Before.At()
}

// overlap returns how a transfer can overlap with computation.
func (c calls) overlap() string {
	if c.Completes {
		return fmt.Sprintf("Start it earlier (now it is started %s before the wait for it), and compute meanwhile what does not need it.", wording.Duration(c.AheadSeconds))
	}
	return "Overlap the transfer with computation: start it early with a non-blocking call, and complete it late."
}

// contiguous returns what to do about data that lies in many small pieces.
func (c calls) contiguous() string {
	return fmt.Sprintf("The datatype of %s describes pieces of %s, which MPI probably packs one by one. Keep what is sent in a contiguous buffer, or describe larger pieces (longer blocks, the contiguous dimension first in MPI_Type_create_subarray).",
		c.Before.At(), humanize.IBytes(uint64(c.PieceBytes)))
}

// progress returns how what was started early proceeds before the wait for it.
func (c calls) progress() string {
	return fmt.Sprintf("What %s completes was started %s before, but with most libraries it proceeds only while its ranks are inside MPI: call MPI_Test on it now and then during the computation, or turn on the library's progress thread. Persistent requests save a part of each start.",
		c.Before.At(), wording.Duration(c.AheadSeconds))
}

// timeline returns what to do about few calls that move little data, or nobody knows how much.
func (c calls) timeline() string {
	step := fmt.Sprintf("Look at the calls of %s in the timeline: they take %s each without waiting for another rank", c.Before.At(), wording.Duration(c.EachSeconds))
	if c.Bytes > 0 {
		step += ", which neither their number nor their size explains"
	}
	return step + "."
}
