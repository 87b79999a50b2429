package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// stripsAnalysis shows how each rank spent equal parts of the run.
var stripsAnalysis = analysis.New("strips", analysis.About{Title: "how each rank spent its time", Version: 1}, findStrips, accountsPass)

func findStrips(ctx context.Context, r *pass.Run) (strips.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil || a.sums {
		return strips.Findings{}, err
	}
	return strips.Findings{Strips: new(stripsOf(a))}, nil
}

// maxStrips is how many strips are told, and more than a screen can show.
const maxStrips = 2048

// strips are those of all ranks.
func stripsOf(a *allAccounts) strips.Strips {
	s := strips.Strips{Tile: max(1, (len(a.ranks)+maxStrips-1)/maxStrips), MPI: [][]byte{}, Wait: [][]byte{}}
	for from := 0; from < len(a.ranks); from += s.Tile {
		var mpi, wait [][]byte
		for row := from; row < min(from+s.Tile, len(a.ranks)); row++ {
			i := a.mainOf[row]
			if i < 0 || a.extents[i].empty {
				continue
			}
			s.Bins = len(a.each[i].strip.mpi.ns)
			m, w := shares(&a.each[i].strip, a.extents[i])
			mpi, wait = append(mpi, m), append(wait, w)
		}
		m, w := meanStrip(mpi, wait)
		s.MPI, s.Wait = append(s.MPI, m), append(s.Wait, w)
	}
	return s
}

// meanStrip is the mean of several ranks' shares, over those that were there.
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

// absent is the pair of shares for a part of the run in which the rank was not there: not yet in MPI_Init, or gone.
const absentMPI, absentWait = 0, 255

// shares are the bins as 0 … 255. What lies outside of the location's life counts as MPI where the rank was there for a
// part of the bin only.
func shares(s *strip, x extent) (mpi, wait []byte) {
	mpi, wait = make([]byte, len(s.mpi.ns)), make([]byte, len(s.wait.ns))
	for i := range mpi {
		from, width := s.mpi.start+int64(i)*s.mpi.width, s.mpi.width
		lived := max(0, min(x.end, from+width)-max(x.start, from))
		if lived == 0 {
			mpi[i], wait[i] = absentMPI, absentWait
			continue
		}
		mpi[i] = partOf(s.mpi.ns[i]+width-lived, width)
		wait[i] = min(mpi[i], partOf(s.wait.ns[i], width))
	}
	return mpi, wait
}

func partOf(ns, width int64) byte { return byte(min(255, (ns*255+width/2)/width)) }
