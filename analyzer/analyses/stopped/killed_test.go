package stopped

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// A launcher ends the other ranks at once: all were seen alive until the same time, and only the
// order of deaths and how each ended say what happened.
func TestEndsSeenFromOutside(t *testing.T) {
	killed := func(order int) trace.End { return trace.End{Signal: 9, ExitCode: -1, Order: order} }
	sentTo := func(order int) trace.End { return trace.End{Signal: 2, ExitCode: -1, Order: order} }
	exited := func(order, code int) trace.End { return trace.End{ExitCode: code, Order: order} }
	oom := killed(1)
	oom.OutOfMemory = true
	for name, c := range map[string]struct {
		in       bool // rank 1 is in MPI_Recv
		hydra    bool // of MPICH, not Open MPI
		ends     [3]trace.End
		launcher *trace.Launcher
		kind     verdict.Kind
		text     string
	}{
		"killed, by the launcher's word":              {false, true, [3]trace.End{killed(2), killed(1), killed(3)}, &trace.Launcher{ExitCode: 9}, verdict.Crash, `^Rank 1 was killed \(signal 9, SIGKILL\)`},
		"killed, and still ending":                    {false, true, [3]trace.End{killed(1), killed(2), killed(3)}, &trace.Launcher{ExitCode: 9}, verdict.Crash, `^Rank 1 was killed \(signal 9, SIGKILL\)`},
		"all killed by somebody":                      {false, true, [3]trace.End{killed(2), killed(1), killed(3)}, &trace.Launcher{ExitCode: 137, Signal: 9}, "", `^This job was stopped after .*: its launcher was ended \(signal 9, SIGKILL\)\.$`},
		"two of three, as they wait":                  {true, true, [3]trace.End{killed(2), killed(1), killed(3)}, &trace.Launcher{ExitCode: 9}, verdict.Crash, `^At least one of ranks 0-2 was killed \(signal 9, SIGKILL\) 0\.1 s into the run; the launcher ends the others at once, in the same way; then `},
		"all killed, but not by the launcher":         {false, false, [3]trace.End{killed(2), killed(1), killed(3)}, &trace.Launcher{ExitCode: 137}, verdict.Crash, `^All 3 ranks were killed \(signal 9, SIGKILL\) 0\.1 s into the run\.$`},
		"all killed, nothing known of the launcher":   {false, false, [3]trace.End{killed(2), killed(1), killed(3)}, nil, verdict.Crash, `^All 3 ranks were killed \(signal 9, SIGKILL\) 0\.1 s into the run\.$`},
		"two killed, and the launcher ends the other": {false, false, [3]trace.End{killed(1), killed(2), {Signal: 15, ExitCode: -1, Order: 3}}, &trace.Launcher{ExitCode: 137}, verdict.Crash, `^Ranks 0-1 were killed \(signal 9, SIGKILL\) 0\.1 s into the run; then rank 2 waited in MPI_Allreduce at main.c:20 \(MPI_COMM_WORLD\)\.$`},
		"killed first, others differ":                 {false, false, [3]trace.End{{Signal: 15, ExitCode: -1, Order: 2}, killed(1), {Signal: 15, ExitCode: -1, Order: 3}}, nil, verdict.Crash, `^Rank 1 was killed \(signal 9`},
		"out of memory":                               {false, true, [3]trace.End{killed(2), oom, killed(3)}, nil, verdict.Crash, `^Rank 1 was killed for lack of memory .* into the run, after`},
		"an MPI error":                                {true, false, [3]trace.End{killed(2), exited(1, 15), killed(3)}, nil, verdict.Crash, `^Rank 1 ended the job with an MPI error \(MPI_ERR_TRUNCATE\) in MPI_Recv at a.c:1 \(from rank 0, tag 9, MPI_COMM_WORLD\)`},
		"a limit of time":                             {true, false, [3]trace.End{killed(2), exited(1, 17), killed(3)}, &trace.Launcher{ExitCode: 124}, "", `^This job was stopped after .*: at a time limit, by the exit code of the command \(124, as of timeout\)\.$`},
		"a handler that fails":                        {true, false, [3]trace.End{killed(2), {Signal: 11, ExitCode: -1, Order: 1}, killed(3)}, &trace.Launcher{ExitCode: 143}, "", `^This job was stopped after .*; the exit code of the command was 143`},
		"a code of many meanings":                     {true, false, [3]trace.End{killed(2), exited(1, 1), killed(3)}, nil, verdict.Crash, `^Rank 1 ended the job with exit code 1 in MPI_Recv`},
		"_exit, and still ending":                     {false, false, [3]trace.End{killed(1), exited(3, 3), killed(2)}, nil, verdict.Crash, `^Rank 1 left without MPI_Finalize \(exit code 3, without exit handlers: by _exit, quick_exit, or as another program\)`},
		"an abort among kills":                        {false, false, [3]trace.End{killed(1), {Signal: 6, ExitCode: -1, Order: 2}, killed(3)}, nil, verdict.Crash, `^Rank 1 crashed \(signal 6, SIGABRT\)`},
		"SIGINT, which the launcher passed on":        {false, false, [3]trace.End{sentTo(2), sentTo(1), sentTo(3)}, &trace.Launcher{ExitCode: 2}, "", `^This job was stopped after .*: all its ranks were ended \(signal 2, SIGINT\), by whom is not known; the exit code of the command was 2\.$`},
		"SIGINT for one rank":                         {false, false, [3]trace.End{killed(2), sentTo(1), killed(3)}, &trace.Launcher{ExitCode: 2}, verdict.Crash, `^Rank 1 was ended by a signal \(signal 2, SIGINT\) 0\.1 s into the run`},
		"all crash, and the launcher does not end":    {false, false, [3]trace.End{{Signal: 11, ExitCode: -1, Order: 2}, {Signal: 11, ExitCode: -1, Order: 1}, {Signal: 11, ExitCode: -1, Order: 3}}, &trace.Launcher{ExitCode: 124}, verdict.Crash, `^Rank 1 crashed \(signal 11, SIGSEGV\) .*; the job was stopped: at a time limit, by the exit code`},
		"asked to end":                                {false, true, [3]trace.End{killed(2), killed(1), killed(3)}, &trace.Launcher{ExitCode: 9, Asked: 15}, "", `^This job was stopped after .*: cairn run was asked to end it \(signal 15, SIGTERM\)\.$`},
	} {
		t.Run(name, func(t *testing.T) {
			b := begun(3)
			for i := range 3 {
				r := b.Rank(i)
				switch {
				case i == 1 && c.in:
					r.At("a.c:1").Unfinished("MPI_Recv", 120, 130, receive(0, 9))
				case i == 1:
					r.Ended("after MPI_Allreduce", 130)
				default:
					r.At("main.c:20").Unfinished("MPI_Allreduce", 121, 130, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
				}
				e := r.Info().End
				c.ends[i].Ticks = e.Ticks
				*e = c.ends[i]
			}
			if b.Meta().Launcher = c.launcher; c.hydra {
				b.Meta().ABI = "mpich"
			}
			f := endOf(t, b)
			require.NotNil(t, f)
			assert.Regexp(t, c.text, f.Text)
			assert.Equal(t, c.kind, f.Kind)
		})
	}
}

// A rank that does not die of SIGTERM is killed by the launcher a second later.
func TestKillsByTheLauncher(t *testing.T) {
	b := begun(4)
	for i, at := range []float64{300, 300, 310, 1400} {
		e := b.Rank(i).At("main.c:20").Unfinished("MPI_Barrier", 119, at, nil).Info().End
		e.Signal, e.Order = []int{9, 9, 15, 9}[i], i+1
	}
	f := endOf(t, b)
	require.Equal(t, "Ranks 0-1 were killed (signal 9, SIGKILL) 0.3 s into the run, in MPI_Barrier at main.c:20; then the other 2 ranks waited in MPI_Barrier at main.c:20; the rest of the job ended 1.1 s later.", f.Text)
}
