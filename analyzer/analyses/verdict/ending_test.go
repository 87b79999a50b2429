package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Missing parts of a trace, and that a run hung, are at the beginning of the first sentence. The
// run lasts until the end of the hang, but efficiencies are those of the time before.
func TestWhatIsMissingComesFirst(t *testing.T) {
	job := func(hangs bool) *tracetest.Builder {
		return tracetest.New(4).Ranks(func(i int, r *tracetest.Rank) {
			r.At("a.c:1").Call("MPI_Init", 0, 1, nil)
			for k := range 20 {
				r.At("a.c:2").Call("MPI_Barrier", float64(10*k+9), float64(10*k+10), nil)
			}
			switch {
			case hangs && i < 2:
				r.At("a.c:3").Unfinished("MPI_Recv", 210, 1210, tracetest.Args{"count": 1, "datatype": "MPI_INT", "source": 1 - i, "tag": 0})
			case hangs:
				r.At("a.c:4").Unfinished("MPI_Finalize", 210, 1210, nil)
			default:
				r.At("a.c:4").Call("MPI_Finalize", 210, 211, nil)
			}
		})
	}
	f := analyzertest.Built(t, job(false))
	require.Nil(t, f.Stopped)
	require.NotContains(t, f.Verdict.Text, "recorded")

	missing := job(false).Without(3)
	missing.Rank(1).Info().Dropped = 7
	f = analyzertest.Built(t, missing)
	require.Regexp(t, `^Rank 3 of 4 left no trace, and .* of the other ranks .* not recorded, because the tracer had no room for them, or was interrupted by a signal handler \(rank 1\); what follows is about the rest\. Collectives make`, f.Verdict.Text)

	f = analyzertest.Built(t, job(true))
	require.Equal(t, verdict.Hang, f.Verdict.Blames)
	require.Equal(t, verdict.Cycle, f.Stopped.Form)
	require.Equal(t, "This job hung for its last 1.0 s: rank 0 waited in MPI_Recv at a.c:3 (from rank 1, tag 0, MPI_COMM_WORLD), and rank 1 waited in MPI_Recv at a.c:3 (from rank 0, tag 0, MPI_COMM_WORLD): they waited for each other. Meanwhile the other 2 ranks waited in MPI_Finalize at a.c:4.", f.Verdict.Text)
	require.InDelta(t, 1.21, f.RunSeconds, 1e-9)
	require.InDelta(t, 189.0/210, *f.Efficiency.Parallel, 1e-9, "of the time before")
}

// A rank that others waited for until the job was stopped is the verdict if they waited for most of
// the run, and precedes it otherwise. It is no hang. A command that fails later has the last word.
func TestWaitingForARankOutsideMPI(t *testing.T) {
	job := func(until float64) *tracetest.Builder {
		return tracetest.New(4).Ranks(func(i int, r *tracetest.Rank) {
			r.At("a.c:1").Call("MPI_Init", 0, 1, nil)
			for k := range 200 {
				r.At("a.c:2").Call("MPI_Barrier", float64(10*k+9), float64(10*k+10), nil)
			}
			switch {
			case until == 0:
				r.At("a.c:4").Call("MPI_Finalize", 2010, 2011, nil)
			case i == 3:
				r.Ended("after MPI_Barrier", until)
			default:
				r.At("a.c:3").Unfinished("MPI_Barrier", 2010, until, nil)
			}
		})
	}
	const waited = `^The other 3 ranks waited for rank 3 for the last \S+ m?s, in MPI_Barrier at a\.c:3 \(MPI_COMM_WORLD\): it made no MPI call after MPI_Barrier at a\.c:2\. This job was stopped after \S+ s; whether it would have gone on is not known\.`
	f := analyzertest.Built(t, job(9010))
	require.Equal(t, verdict.Nobody, f.Verdict.Blames)
	require.Empty(t, f.Stopped.Kind)
	require.Equal(t, 3, *f.Verdict.Rank)
	require.Regexp(t, waited+"$", f.Verdict.Text)

	f = analyzertest.Built(t, job(2610))
	require.Regexp(t, waited+" .", f.Verdict.Text)

	b := job(0)
	b.Meta().Launcher = &trace.Launcher{ExitCode: 3}
	f = analyzertest.Built(t, b)
	require.Nil(t, f.Stopped)
	require.Regexp(t, ` All ranks completed MPI_Finalize, but the exit code of the command was 3\.$`, f.Verdict.Text)
}
