package placement

import (
	"cmp"
	"fmt"
	"io"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// host is what a launcher calls the place of a rank: the pod's host name, else the host.
func host(r *trace.Rank) string { return cmp.Or(r.Host, nodeName(r)) }

// place is where a rank should run: where another one runs now.
func (f *Findings) place(t timeline.Trace, rank int) trace.Rank {
	if len(f.Order) > 0 {
		i := t.Ranks().Find(rank)
		return t.Ranks().At(t.Ranks().Find(f.Order[i]))
	}
	return t.Ranks().At(t.Ranks().Find(rank))
}

// WriteRankfile writes the order as Open MPI's mpirun --rankfile takes it.
func (f *Findings) WriteRankfile(w io.Writer, t timeline.Trace) error {
	slots := map[string]int{}
	for _, r := range t.Ranks().All() {
		to := f.place(t, r.Rank)
		name := host(&to)
		if _, err := fmt.Fprintf(w, "rank %d=%s slot=%d\n", r.Rank, name, slots[name]); err != nil {
			return err
		}
		slots[name]++
	}
	return nil
}

// WriteHosts writes the order as a host for each rank, one a line: what MPICH's mpiexec -f takes.
func (f *Findings) WriteHosts(w io.Writer, t timeline.Trace) error {
	last, n := "", 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		_, err := fmt.Fprintf(w, "%s:%d\n", last, n)
		return err
	}
	for _, r := range t.Ranks().All() {
		to := f.place(t, r.Rank)
		if name := host(&to); name != last {
			if err := flush(); err != nil {
				return err
			}
			last, n = name, 0
		}
		n++
	}
	return flush()
}
