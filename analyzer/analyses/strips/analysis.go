package strips

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// Analysis shows how each rank spent equal intervals of the run.
var Analysis = analysis.New("strips", analysis.About{Title: "how each rank spent its time", Version: 1, Sections: Sections}, find, accounts.Pass, run.Analysis)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return Findings{}, nil
	}
	return Findings{Strips: new(stripsOf(a))}, nil
}

// maxStrips is the maximum number of strips in the findings, more than a screen can show.
const maxStrips = 2048

// stripsOf returns the strips of all ranks.
func stripsOf(a *accounts.Accounts) Strips {
	s := Strips{Tile: max(1, (len(a.Ranks)+maxStrips-1)/maxStrips), MPI: [][]byte{}, Wait: [][]byte{}}
	for from := 0; from < len(a.Ranks); from += s.Tile {
		var mpi, wait [][]byte
		for row := from; row < min(from+s.Tile, len(a.Ranks)); row++ {
			i := a.MainOf[row]
			if i < 0 || a.Extents[i].Empty {
				continue
			}
			s.Bins = len(a.Each[i].Strip.MPI.Ns)
			m, w := shares(&a.Each[i].Strip, a.Extents[i])
			mpi, wait = append(mpi, m), append(wait, w)
		}
		m, w := meanStrip(mpi, wait)
		s.MPI, s.Wait = append(s.MPI, m), append(s.Wait, w)
	}
	return s
}

// meanStrip returns the mean of the shares of several ranks, in each interval over the ranks that
// were running.
func meanStrip(mpi, wait [][]byte) (meanMPI, meanWait []byte) {
	switch len(mpi) {
	case 0:
		return []byte{}, []byte{}
	case 1:
		return mpi[0], wait[0]
	}
	meanMPI, meanWait = make([]byte, len(mpi[0])), make([]byte, len(mpi[0]))
	for bin := range meanMPI {
		inMPI, waiting, there := 0, 0, 0
		for i := range mpi {
			if wait[i][bin] <= mpi[i][bin] {
				inMPI, waiting, there = inMPI+int(mpi[i][bin]), waiting+int(wait[i][bin]), there+1
			}
		}
		if there == 0 {
			meanMPI[bin], meanWait[bin] = absentMPI, absentWait
			continue
		}
		meanMPI[bin], meanWait[bin] = byte(inMPI/there), byte(waiting/there)
	}
	return meanMPI, meanWait
}

// absentMPI and absentWait are the shares for an interval in which the rank was not running: before
// MPI_Init, or after its end.
const absentMPI, absentWait = 0, 255

// shares returns the bins scaled to 0 … 255. In a bin in which the location was running only for a
// part, the rest of the bin counts as MPI.
func shares(s *accounts.Strip, x matching.Extent) (mpi, wait []byte) {
	mpi, wait = make([]byte, len(s.MPI.Ns)), make([]byte, len(s.Wait.Ns))
	for i := range mpi {
		from, width := s.MPI.Start+int64(i)*s.MPI.Width, s.MPI.Width
		lived := max(0, min(x.End, from+width)-max(x.Start, from))
		if lived == 0 {
			mpi[i], wait[i] = absentMPI, absentWait
			continue
		}
		mpi[i] = partOf(s.MPI.Ns[i]+width-lived, width)
		wait[i] = min(mpi[i], partOf(s.Wait.Ns[i], width))
	}
	return mpi, wait
}

func partOf(ns, width int64) byte { return byte(min(255, (ns*255+width/2)/width)) }
