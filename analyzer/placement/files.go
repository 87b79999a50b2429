package placement

import (
	"cmp"
	"fmt"
	"io"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// host returns the launcher's name of a rank's host: the pod's host name, otherwise the host.
func host(r *trace.Rank) string { return cmp.Or(r.Host, nodeName(r)) }

// slot returns the rank whose slot a rank should take.
func (f *Findings) slot(t timeline.Trace, rank int) trace.Rank {
	if len(f.Order) > 0 {
		i := t.Ranks().Find(rank)
		return t.Ranks().At(t.Ranks().Find(f.Order[i]))
	}
	return t.Ranks().At(t.Ranks().Find(rank))
}

// WriteRankfile writes the order in the format of Open MPI's mpirun --rankfile.
func (f *Findings) WriteRankfile(w io.Writer, t timeline.Trace) error {
	slots := map[string]int{}
	for _, r := range t.Ranks().All() {
		to := f.slot(t, r.Rank)
		name := host(&to)
		if _, err := fmt.Fprintf(w, "rank %d=%s slot=%d\n", r.Rank, name, slots[name]); err != nil {
			return err
		}
		slots[name]++
	}
	return nil
}

// WriteHosts writes the order as one host per line and rank, in the format of MPICH's mpiexec -f.
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
		to := f.slot(t, r.Rank)
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
