package stopped

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Error classes of MPICH's that are exit codes of Hydra.
const (
	errCount    = 2
	errType     = 3
	errTag      = 4
	errComm     = 5
	errRank     = 6
	errRoot     = 7
	errOp       = 9
	errArg      = 12
	errTruncate = 14
	errIntern   = 16
	errInStatus = 17
	errRMASync  = 50
)

// reduces lets ranks come to the next reduction.
func reduces(b *tracetest.Builder, ranks ...int) {
	for _, i := range ranks {
		b.Rank(i).At("main.c:20").Unfinished("MPI_Allreduce", 119, 130, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	}
}

// with returns the arguments with one of them changed.
func with(in args, name string, value any) args {
	in[name] = value
	return in
}

// bcast lets a rank come to a broadcast.
func bcast(b *tracetest.Builder, rank int, enter float64, count, root int) {
	b.Rank(rank).At("a.c:2").Unfinished("MPI_Bcast", enter, 130, args{"count": count, "datatype": "MPI_INT", "root": root})
}

const by = ", by the exit code of the launcher"

// launcherErrors are jobs of three ranks that Hydra killed after an MPI error, with its exit code.
var launcherErrors = map[string]struct {
	code  int
	job   func(b *tracetest.Builder)
	text  string
	named string
}{
	"a negative count, while nobody has received": {errCount, func(b *tracetest.Builder) {
		reduces(b, 0, 2)
		b.Rank(1).At("a.c:1").Unfinished("MPI_Send", 118, 130, with(send(0, 4), "count", -3))
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_COUNT" + by + ") in MPI_Send at a.c:1 (count -3, to rank 0, tag 4, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"no datatype": {errType, func(b *tracetest.Builder) {
		reduces(b, 0, 2)
		b.Rank(1).At("a.c:1").Unfinished("MPI_Send", 118, 130, with(send(0, 4), "datatype", "MPI_DATATYPE_NULL"))
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TYPE" + by + ") in MPI_Send at a.c:1 (datatype MPI_DATATYPE_NULL, to rank 0, tag 4, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"a negative tag; the others are in an earlier call": {errTag, func(b *tracetest.Builder) {
		b.Rank(0).At("main.c:20").Unfinished("MPI_Allreduce", 129, 130, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
		b.Rank(1).At("a.c:1").Unfinished("MPI_Send", 118, 130, send(0, -17))
		b.Rank(2).Ended("after MPI_Allreduce", 130)
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TAG" + by + ") in MPI_Send at a.c:1 (tag -17, to rank 0, MPI_COMM_WORLD), 0.1 s into the run; then rank 0 waited in MPI_Allreduce at main.c:20 (MPI_COMM_WORLD).", "1"},
	"no such rank": {errRank, func(b *tracetest.Builder) {
		reduces(b, 0, 2)
		b.Rank(1).At("a.c:1").Unfinished("MPI_Recv", 118, 130, receive(3, 4))
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_RANK" + by + ") in MPI_Recv at a.c:1 (from rank 3, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"no such root; the right root came last": {errRoot, func(b *tracetest.Builder) {
		bcast(b, 2, 118, 10, -5)
		bcast(b, 0, 125, 10, 0)
		bcast(b, 1, 119, 10, 0)
	}, "Rank 2 ended the job with an MPI error (MPI_ERR_ROOT" + by + ") in MPI_Bcast at a.c:2 (root -5, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Bcast at a.c:2.", "2"},
	"all pass no such root": {errRoot, func(b *tracetest.Builder) {
		bcast(b, 0, 118, 10, 3)
		bcast(b, 1, 119, 10, 3)
		b.Rank(2).At("main.c:20").Unfinished("MPI_Allreduce", 129, 130, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	}, "Ranks 0-1 ended the job with an MPI error (MPI_ERR_ROOT" + by + ") in MPI_Bcast at a.c:2 (root 3, MPI_COMM_WORLD), 0.1 s into the run; then rank 2 waited in MPI_Allreduce at main.c:20.", "0-1"},
	"no operation, and the code of a killed rank": {errOp, func(b *tracetest.Builder) {
		reduces(b, 0, 2)
		b.Rank(1).At("main.c:20").Unfinished("MPI_Allreduce", 119, 130, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_OP_NULL"})
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_OP" + by + ") in MPI_Allreduce at main.c:20 (operation MPI_OP_NULL, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"an operation that is not defined for the datatype, on all ranks that came so far": {errOp, func(b *tracetest.Builder) {
		for _, i := range []int{0, 2} {
			b.Rank(i).At("a.c:7").Unfinished("MPI_Reduce", 119, 130, args{"count": 1, "datatype": "MPI_DOUBLE", "op": "MPI_BAND", "root": 0})
		}
		b.Rank(1).Ended("after MPI_Allreduce", 130)
	}, "Ranks 0,2 ended the job with an MPI error (MPI_ERR_OP" + by + ") in MPI_Reduce at a.c:7 (MPI_BAND on MPI_DOUBLE, root 0, MPI_COMM_WORLD), 0.1 s into the run.", "0,2"},
	"no communicator, everywhere": {errComm, func(b *tracetest.Builder) {
		for i := range 3 {
			b.Rank(i).At("a.c:7").Unfinished("MPI_Barrier", 119, 130, args{"comm": "MPI_COMM_NULL"})
		}
	}, "All 3 ranks ended the job with an MPI error (MPI_ERR_COMM" + by + ") in MPI_Barrier at a.c:7 (communicator MPI_COMM_NULL), 0.1 s into the run.", "0-2"},
	"a message that was sent, and collectives that agree": {errTruncate, func(b *tracetest.Builder) {
		b.Rank(0).At("a.c:3").Call("MPI_Send", 111, 112, send(1, 9))
		b.Rank(1).At("a.c:1").Unfinished("MPI_Recv", 118, 130, receive(0, 9))
		reduces(b, 0, 2)
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Recv at a.c:1 (from rank 0, tag 9, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"the receive of an exchange": {errTruncate, func(b *tracetest.Builder) {
		b.Rank(0).At("a.c:3").Call("MPI_Send", 111, 112, send(1, 9))
		b.Rank(1).At("a.c:1").Unfinished("MPI_Sendrecv", 118, 130, args{
			"sendcount": 1, "sendtype": "MPI_INT", "dest": 2, "sendtag": 8, "recvcount": 1, "recvtype": "MPI_INT", "source": 0, "recvtag": 9,
		})
		reduces(b, 0, 2)
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Sendrecv at a.c:1 (from rank 0, tag 9, MPI_COMM_WORLD, and 1 more), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"a collective with different amounts": {errTruncate, func(b *tracetest.Builder) {
		bcast(b, 0, 118, 100, 0)
		bcast(b, 1, 118, 10, 0)
		bcast(b, 2, 125, 10, 0)
	}, "At least one of ranks 1-2 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Bcast at a.c:2 (root 0, MPI_COMM_WORLD, 400 bytes on rank 0 and 40 bytes on ranks 1-2), 0.1 s into the run; then rank 0 waited in MPI_Bcast at a.c:2.", "1-2"},
	"a nonblocking collective": {errTruncate, func(b *tracetest.Builder) {
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("a.c:5").Call("MPI_Igather", 111, 112, args{
				"sendcount": 1, "sendtype": "MPI_INT", "recvcount": 1, "recvtype": "MPI_INT", "root": 0, "request": tracetest.Request(0),
			})
			if r.At("a.c:6"); i > 0 {
				r.Call("MPI_Wait", 112, 113, args{"request": tracetest.Request(0)})
			}
		})
		b.Rank(0).Unfinished("MPI_Wait", 112, 130, args{"request": tracetest.Request(0)})
		reduces(b, 1, 2)
	}, "Rank 0 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Wait at a.c:6 (MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "0"},
	"a list of counts": {errCount, func(b *tracetest.Builder) {
		b.Ranks(func(i int, r *tracetest.Rank) {
			counts := []int{1, 1, 1}
			if i == 1 {
				counts = []int{1, -4, 1}
			}
			r.At("a.c:4").Unfinished("MPI_Alltoallv", 118, 130, args{
				"sendcounts": counts, "sdispls": []int{0, 1, 2}, "sendtype": "MPI_INT", "recvcounts": []int{1, 1, 1}, "rdispls": []int{0, 1, 2}, "recvtype": "MPI_INT",
			})
		})
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_COUNT" + by + ") in MPI_Alltoallv at a.c:4 (count 1 -4 1, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Alltoallv at a.c:4.", "1"},
	"more sent than there is room for": {errTruncate, func(b *tracetest.Builder) {
		b.Ranks(func(i int, r *tracetest.Rank) {
			count := 4
			if i == 1 {
				count = 9
			}
			r.At("a.c:4").Unfinished("MPI_Allgather", 118, 130, args{"sendcount": count, "sendtype": "MPI_INT", "recvcount": 4, "recvtype": "MPI_INT"})
		})
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Allgather at a.c:4 (it sends 36 bytes to each rank and has room for 16 from each, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allgather at a.c:4.", "1"},
	"a call that was never made before": {errArg, func(b *tracetest.Builder) {
		reduces(b, 0, 2)
		b.Rank(1).At("a.c:4").Unfinished("MPI_Comm_split", 118, 130, args{"color": -7, "key": 0})
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_ARG" + by + ") in MPI_Comm_split at a.c:4 (MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"the only call on a window": {errRMASync, func(b *tracetest.Builder) {
		for _, i := range []int{0, 2} {
			b.Rank(i).At("main.c:30").Unfinished("MPI_Barrier", 119, 130, nil)
		}
		b.Rank(1).At("a.c:4").Unfinished("MPI_Win_unlock", 118, 130, args{"rank": 0, "win": tracetest.Win(0)})
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_RMA_SYNC" + by + ") in MPI_Win_unlock at a.c:4, 0.1 s into the run; then the other 2 ranks waited in MPI_Barrier at main.c:30.", "1"},
	"a receive of another thread": {errTruncate, func(b *tracetest.Builder) {
		b.Rank(0).At("a.c:3").Call("MPI_Send", 111, 112, send(1, 9))
		reduces(b, 0, 1, 2)
		b.Rank(1).Thread().At("a.c:1").Unfinished("MPI_Recv", 112, 130, receive(0, 9))
	}, "Rank 1 ended the job with an MPI error (MPI_ERR_TRUNCATE" + by + ") in MPI_Recv at a.c:1 (from rank 0, tag 9, MPI_COMM_WORLD), 0.1 s into the run; then the other 2 ranks waited in MPI_Allreduce at main.c:20.", "1"},
	"one of several requests": {errInStatus, func(b *tracetest.Builder) {
		b.Rank(0).At("a.c:3").Call("MPI_Send", 111, 112, send(1, 9)).Call("MPI_Send", 112, 113, send(2, 9))
		for i := 1; i < 3; i++ {
			b.Rank(i).Call("MPI_Irecv", 111, 112, args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 9, "request": tracetest.Request(0)}).
				Call("MPI_Irecv", 112, 113, args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 8, "request": tracetest.Request(1)})
		}
		both := args{"count": 2, "incount": 2, "array_of_requests": tracetest.Requests{0, 1}}
		b.Rank(1).At("a.c:4").Unfinished("MPI_Waitall", 118, 130, both)
		b.Rank(2).At("a.c:5").Unfinished("MPI_Waitsome", 118, 130, both)
		reduces(b, 0)
	}, "Rank 2 ended the job with an MPI error (MPI_ERR_IN_STATUS" + by + ") in MPI_Waitsome at a.c:5 (from rank 0, tag 9, MPI_COMM_WORLD, and 1 more), 0.1 s into the run; then rank 0 waited in MPI_Allreduce at main.c:20 (MPI_COMM_WORLD) and rank 1 waited in MPI_Waitall at a.c:4 (from rank 0, tag 8, MPI_COMM_WORLD).", "2"},
	"several that are in different calls": {errIntern, func(b *tracetest.Builder) {
		b.Rank(0).At("a.c:3").Call("MPI_Send", 111, 112, send(1, 9))
		b.Rank(1).At("a.c:1").Unfinished("MPI_Recv", 118, 130, receive(0, 9))
		b.Rank(2).At("a.c:4").Unfinished("MPI_Comm_rank", 118, 130, nil)
		b.Rank(0).Ended("after MPI_Send", 130)
	}, "At least one of ranks 1-2 ended the job with an MPI error (MPI_ERR_INTERN" + by + "), 0.1 s into the run; then rank 1 waited in MPI_Recv at a.c:1 and rank 2 waited in MPI_Comm_rank at a.c:4.", "1-2"},
}

// Hydra kills all ranks after an MPI error and exits with its class. The rank is the one whose
// arguments are such an error, otherwise those whose calls can fail so.
func TestErrorsByTheLaunchersExitCode(t *testing.T) {
	for name, c := range launcherErrors {
		t.Run(name, func(t *testing.T) {
			b := begun(3)
			b.Meta().ABI, b.Meta().Launcher = "mpich", &trace.Launcher{ExitCode: c.code}
			c.job(b)
			for i := range 3 {
				e := b.Rank(i).Info().End
				e.Signal, e.Order = 9, i+1
			}
			f := endOf(t, b)
			require.NotNil(t, f)
			assert.Equal(t, c.text, f.Text)
			assert.Equal(t, verdict.Crash, f.Kind)
			assert.Equal(t, c.named, f.Named)
		})
	}
}

// Open MPI ends other ranks by SIGTERM, also those that are about to report the same error.
func TestTheSameErrorOnAllRanks(t *testing.T) {
	b := begun(4)
	for i, op := range []string{"MPI_BAND", "MPI_BAND", "MPI_SUM", "MPI_BAND"} {
		e := b.Rank(i).At("a.c:7").Unfinished("MPI_Allreduce", 119, 130, args{"count": 1, "datatype": "MPI_DOUBLE", "op": op}).Info().End
		e.Signal, e.Order = 15, 4-i
	}
	e := b.Rank(1).Info().End
	e.Signal, e.ExitCode = 0, 10
	f := endOf(t, b)
	require.Equal(t, "Ranks 0-1,3 ended the job with an MPI error (MPI_ERR_OP) in MPI_Allreduce at a.c:7 (MPI_BAND on MPI_DOUBLE, MPI_COMM_WORLD), 0.1 s into the run; then rank 2 waited in MPI_Allreduce at a.c:7.", f.Text)
	require.Equal(t, "0-1,3", f.Named)
}

func TestOperations(t *testing.T) {
	for datatype, operations := range map[string]string{
		"MPI_DOUBLE": "MAX MIN SUM PROD LAND LOR LXOR", "MPI_INT": "MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR",
		"MPI_BYTE": "MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR", "MPI_C_DOUBLE_COMPLEX": "SUM PROD LAND LOR LXOR", "MPI_COMPLEX16": "SUM PROD LAND LOR LXOR",
		"MPI_DOUBLE_INT": "MINLOC MAXLOC", "MPI_LONG_LONG_INT": "MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR",
	} {
		for _, op := range strings.Fields("MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR MINLOC MAXLOC") {
			require.Equal(t, slices.Contains(strings.Fields(operations), op), defined("MPI_"+op, datatype), "%s of %s", op, datatype)
		}
	}
}

// A code that no call of the run can have failed with names nobody.
func TestExitCodeThatNoCallExplains(t *testing.T) {
	for _, code := range []int{errCount, errType, errTag, errComm, errRank, errRoot, errTruncate} {
		b := begun(3)
		b.Meta().ABI, b.Meta().Launcher = "mpich", &trace.Launcher{ExitCode: code}
		reduces(b, 0, 1, 2)
		for i := range 3 {
			e := b.Rank(i).Info().End
			e.Signal, e.Order = 9, i+1
		}
		f := endOf(t, b)
		require.NotNil(t, f)
		assert.Empty(t, f.Kind, code)
		assert.Empty(t, f.Named, code)
	}
}

// MPI libraries call exit if MPI_Init fails. Elsewhere exit in a call is another thread's, or a
// signal handler's.
func TestExitInACall(t *testing.T) {
	for function, want := range map[string]string{
		"MPI_Init":    `^Rank 1 ended the job with exit code 143 in MPI_Init at a.c:1 \(MPI_COMM_WORLD\), 130 ms into the run`,
		"MPI_Barrier": `^Rank 1 left without MPI_Finalize \(exit code 143\) 130 ms into the run, in MPI_Barrier at a.c:1`,
	} {
		b := tracetest.New(2)
		b.Rank(0).At("a.c:1").Unfinished(function, 0, 130, nil)
		e := b.Rank(1).At("a.c:1").Unfinished(function, 0, 130, nil).Info().End
		e.ExitCode, e.CalledExit, e.Order = 143, true, 1
		require.Regexp(t, want, endOf(t, b).Text)
	}
}

// MPI_Abort counts in any thread.
func TestAbortOfAThread(t *testing.T) {
	b := begun(2)
	b.Rank(0).At("main.c:20").Unfinished("MPI_Barrier", 119, 220, nil)
	b.Rank(1).Thread().At("main.c:66").Unfinished("MPI_Abort", 130, 220, args{"errorcode": 5})
	e := b.Rank(1).Ended("killed in MPI_Abort", 220).Info().End
	e.ExitCode, e.Order = 5, 1
	f := endOf(t, b)
	require.Equal(t, "Rank 1 ended the job with MPI_Abort (error code 5) at main.c:66, 130 ms into the run; then rank 0 waited in MPI_Barrier at main.c:20 (MPI_COMM_WORLD).", f.Text)
}

// MPI libraries end a process that makes a call after MPI_Finalize. Launchers may end the others,
// which are not all through it.
func TestCallsAfterFinalize(t *testing.T) {
	late := func(r *tracetest.Rank, code int) {
		e := r.At("main.c:99").Call("MPI_Finalize", 120, 130, nil).At("a.c:5").Unfinished("MPI_Barrier", 140, 150, nil).Info().End
		e.ExitCode, e.CalledExit, e.Order = code, true, 1
		r.Info().EndedEarly = ""
	}
	for text, job := range map[string]func(b *tracetest.Builder){
		"After MPI_Finalize, 140 ms into the run, rank 2 called MPI_Barrier at a.c:5, in which it ended with exit code 1; then the other 2 ranks waited in MPI_Finalize at main.c:99.": func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:99").Unfinished("MPI_Finalize", 120, 1150, nil).Info().End.Signal = 15
			}
			late(b.Rank(2), 1)
		},
		"All 3 ranks completed MPI_Finalize; then ranks 0,2 called MPI_Barrier at a.c:5, in which they ended with exit code 1.": func(b *tracetest.Builder) {
			late(b.Rank(0), 1)
			end(b.Rank(1), 120)
			late(b.Rank(2), 1)
		},
		"All 3 ranks completed MPI_Finalize; then rank 0 called MPI_Barrier at a.c:5, which never returned.": func(b *tracetest.Builder) {
			late(b.Rank(0), -1)
			b.Rank(0).Info().End.CalledExit = false
			end(b.Rank(1), 120)
			end(b.Rank(2), 120)
		},
	} {
		b := begun(3)
		job(b)
		f := endOf(t, b)
		require.NotNil(t, f, text)
		assert.Equal(t, text, f.Text)
		assert.NotEmpty(t, f.Advice)
	}
}

// A thread that was in a call when another one completed MPI_Finalize has made none after it.
func TestThreadsInCallsAfterFinalize(t *testing.T) {
	b := begun(2)
	b.Rank(0).Thread().At("a.c:5").Unfinished("MPI_Recv", 110, 150, receive(1, 4)).Info().EndedEarly = ""
	b.Ranks(func(_ int, r *tracetest.Rank) { end(r, 120) })
	require.Nil(t, endOf(t, b))
}
