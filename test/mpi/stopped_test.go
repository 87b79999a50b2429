//go:build mpi

package mpi

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	cairntrace "github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// stops builds stopped/stops.c.
func stops(t *testing.T, implementation string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stops")
	out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "stopped/stops.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// lineOf is where the program has a comment.
func lineOf(t *testing.T, comment string) string {
	t.Helper()
	text, err := os.ReadFile("stopped/stops.c")
	require.NoError(t, err)
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// "+comment) {
			return "stops.c:" + strconv.Itoa(i+1)
		}
	}
	t.Fatalf("no line of stops.c ends with %q", comment)
	return ""
}

func reportIn(t testing.TB, dir string) *analyzertest.Findings {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	found := new(analyzertest.Findings)
	require.NoError(t, json.Unmarshal(text, found))
	return found
}

// endSoon returns a command that runs stops under timeout(1) and lets its time be up 3 s after the
// program has said that it begins: how long a job takes to start depends on the machine.
func endSoon(signal string, command []string) []string {
	script := `exec timeout -s ` + signal + ` 120 "$@" > >(
		while IFS= read -r line; do
			echo "$line"
			if [ "$line" = begins ]; then { sleep 3; kill -ALRM $$; } >/dev/null 2>&1 & fi
		done
		kill $! 2>/dev/null
	)`
	return append([]string{"bash", "-c", script, "bash"}, command...)
}

// The first sentence on a job that does not complete names the ranks that waited and where, or the
// rank that died. Jobs that do not end by themselves are ended after some seconds: by SIGTERM to
// their launcher, and by SIGKILL, which it cannot forward.
func TestFirstSentenceOfStoppedJobs(t *testing.T) {
	t.Parallel()
	// step is a wrapper: calls in it are where it is called
	polled := func(function string) string {
		return `^This job hung for its last [2-9]\.\d s: rank 0 polled in vain with ` + function + ` at stops.c:\d+ \(from rank 1, tag 7, MPI_COMM_WORLD\), and rank 1 waited in MPI_Barrier at ` +
			lineOf(t, "others") + ` \(MPI_COMM_WORLD\): they waited for each other\. Rank 1 had sent to rank 0 with tag 8 on MPI_COMM_WORLD by MPI_Send at ` + lineOf(t, "stray") +
			`, which nobody received\. Meanwhile the other 2 ranks waited in MPI_Barrier at ` + lineOf(t, "others") + `\.$`
	}
	deadlock, ring := lineOf(t, "deadlock"), lineOf(t, "ring")
	for i, c := range []struct {
		how     string
		endless bool
		kind    verdict.Kind
		form    verdict.Form
		named   string
		text    string
	}{
		{"deadlock", true, verdict.Hang, verdict.Cycle, "0-1", `^This job hung for its last [2-9]\.\d s: rank 0 waited in MPI_Recv at ` + deadlock +
			` \(from rank 1, tag 7, MPI_COMM_WORLD\), and rank 1 waited in MPI_Recv at ` + deadlock + ` \(from rank 0, tag 7, MPI_COMM_WORLD\): they waited for each other\. Meanwhile the other 2 ranks waited in MPI_Barrier at stops.c:\d+\.$`},
		{"ring", true, verdict.Hang, verdict.Cycle, "0-3", `^This job hung for its last [2-9]\.\d s: 4 ranks waited for each other in a circle, all in MPI_Waitall at ` + ring +
			` \(rank 0: from rank 3, tag 3, MPI_COMM_WORLD\): rank 0 for rank 3, rank 3 for rank 2, rank 2 for rank 1, and rank 1 for rank 0\.$`},
		{"early", true, verdict.Hang, verdict.Mismatch, "2", `^This job hung in collective calls that do not match, for its last [2-9]\.\d s: as collective number 26 on MPI_COMM_WORLD, rank 2 called MPI_Barrier at ` +
			lineOf(t, "early") + `, but the other 3 ranks called MPI_Allreduce at ` + lineOf(t, "iterations") + `\.$`},
		{"root", true, verdict.Hang, verdict.Mismatch, "1", `^This job hung in collective calls that do not match, .* rank 1 called MPI_Bcast at ` + lineOf(t, "root") +
			` with root 1, but the other 3 ranks called MPI_Bcast at ` + lineOf(t, "root") + ` with root 0\.$`},
		{"reduce", true, verdict.Hang, verdict.Mismatch, "1", `^This job hung in collective calls that do not match, for its last [2-9]\.\d s: as collective number 21 on MPI_COMM_WORLD, rank 1 called MPI_Allreduce at ` +
			lineOf(t, "reduce") + `, but the other 3 ranks called MPI_Bcast at ` + lineOf(t, "broadcast") + `\.$`},
		{"test", true, verdict.Hang, verdict.Cycle, "0-1", polled("MPI_Test")},
		{"testall", true, verdict.Hang, verdict.Cycle, "0-1", polled("MPI_Testall")},
		{"iprobe", true, verdict.Hang, verdict.Cycle, "0-1", polled("MPI_Iprobe")},
		{"lock", true, verdict.Hang, verdict.Cycle, "1-2", `^This job hung for its last [2-9]\.\d s: rank 1 waited in MPI_Barrier at ` + lineOf(t, "kept") +
			` \(MPI_COMM_WORLD\), and rank 2 waited in MPI_Win_(un)?lock at (` + lineOf(t, "lock") + `|` + lineOf(t, "unlock") + `) \(for the lock of rank 0, MPI_COMM_WORLD\): they waited for each other\. Meanwhile `},
		{"two tags", true, verdict.Hang, verdict.Cycle, "0,2", `^This job hung for its last [2-9]\.\d s: rank 0 waited in MPI_Intercomm_create at ` + lineOf(t, "two tags") +
			` \(remote leader rank 2, tag 5, [^)]+\), and rank 2 waited in MPI_Intercomm_create at ` + lineOf(t, "two tags") +
			` \(remote leader rank 0, tag 6, [^)]+\): they waited for each other\. Meanwhile the other 2 ranks waited in MPI_Intercomm_create at ` + lineOf(t, "two tags") + `\.$`},
		{"poll", true, "", "", "", `^This job was stopped after \d+\.\d s( while it was making progress|; in its last \d\d\d ms .*)[.:;] `},
		{"missing", true, "", verdict.Missing, "1", `^The other 3 ranks waited for rank 1 for the last [2-9]\.\d s, in MPI_Allreduce at ` + lineOf(t, "missing") +
			` \(MPI_COMM_WORLD\): it made no MPI call after MPI_Allreduce at ` + lineOf(t, "steps") + `, and was running on a CPU\. This job was stopped after [2-9]\.\d s.*; whether it would have gone on is not known\.$`},
		{"segv", false, verdict.Crash, "", "1", `^Rank 1 crashed \(signal 11, SIGSEGV\) .* into the run, (at least \d\.\d s )?after MPI_Allreduce at ` + lineOf(t, "segv")},
		{"exit", false, verdict.Crash, "", "1", `^Rank 1 left without MPI_Finalize \(exit code 3\) .* into the run, .* after MPI_Allreduce at ` + lineOf(t, "exit")},
		{"abort", false, verdict.Crash, "", "1", `^Rank 1 ended the job with MPI_Abort \(error code 7\) at ` + lineOf(t, "abort") + `, .* into the run`},
		{"run", true, "", "", "", `^This job was stopped after \d+\.\d s( while it was making progress|: all its ranks were ended|: at a time limit)[.:;, ]`},
		{"killed", false, verdict.Crash, "", "1", `^Rank 1 was killed \(signal 9, SIGKILL\) .* into the run, .* after MPI_Allreduce at stops.c:\d+`},
		{"assert", false, verdict.Crash, "", "1", `^Rank 1 crashed \(signal 6, SIGABRT\) .* after MPI_Allreduce at stops.c:\d+`},
		{"_exit", false, verdict.Crash, "", "1", `^Rank 1 left without MPI_Finalize \(exit code 3, without exit handlers: .*\) .* after MPI_Allreduce at stops.c:\d+`},
		{"exec", false, verdict.Crash, "", "1", `^Rank 1 executed another program \(sleep\) without MPI_Finalize .* into the run, .*after MPI_Allreduce at stops.c:\d+`},
		{"truncated", false, verdict.Crash, "", "1", `^Rank 1 ended the job with an MPI error \(MPI_ERR_TRUNCATE[^)]*\) in MPI_Recv at ` + lineOf(t, "truncated") + ` \(from rank 0, tag 9, MPI_COMM_WORLD\)`},
		{"truncated wait", false, verdict.Crash, "", "1", `^Rank 1 ended the job with an MPI error \(MPI_ERR_TRUNCATE[^)]*\) in MPI_Wait at ` + lineOf(t, "truncated wait") + ` \(from rank 0, tag 9, MPI_COMM_WORLD\)`},
		{"no rank", false, verdict.Crash, "", "1", `^Rank 1 ended the job with an MPI error \(MPI_ERR_RANK[^)]*\) in MPI_Send at ` + lineOf(t, "no rank") + ` \(to rank 7, MPI_COMM_WORLD\)`},
		{"no tag", false, verdict.Crash, "", "1", `^Rank 1 ended the job with an MPI error \(MPI_ERR_TAG[^)]*\) in MPI_Send at ` + lineOf(t, "no tag") + ` \(tag -17, to rank 0, MPI_COMM_WORLD\)`},
		{"no root", false, verdict.Crash, "", "2", `^Rank 2 ended the job with an MPI error \(MPI_ERR_ROOT[^)]*\) in MPI_Reduce at ` + lineOf(t, "no root") + ` \(root -5, MPI_COMM_WORLD\)`},
		{"aborting thread", false, verdict.Crash, "", "1", `^Rank 1 ended the job with MPI_Abort \(error code 5\) at ` + lineOf(t, "aborting thread") + `, .* into the run`},
	} {
		signals := []string{"TERM", "KILL"}
		if !c.endless {
			signals = signals[:1]
		} else if testing.Short() {
			signals = signals[i%2 : i%2+1]
		}
		// with -short, too, each MPI has both signals
		for _, implementation := range shimtest.ImplementationsOf(i / 2) {
			for _, signal := range signals {
				t.Run(strings.Join([]string{c.how, implementation, signal}, " "), func(t *testing.T) {
					t.Parallel()
					command := launch(implementation, 4, "stops", c.how)
					command[len(command)-2] = stops(t, implementation)
					r := trace(t, nil, endSoon(signal, command)...)
					found := reportIn(t, filepath.Join(r.dir, "report"))
					assert.Regexp(t, regexp.MustCompile(c.text), found.Verdict.Text)
					require.NotNil(t, found.Stopped)
					assert.Equal(t, c.kind, found.Stopped.Kind)
					assert.Equal(t, c.form, found.Stopped.Form)
					assert.Equal(t, c.named, found.Stopped.Named)
					// on the terminal, too
					first, _, _ := strings.Cut(found.Verdict.Text, ":")
					assert.Contains(t, r.stdout, first, r.stderr)
					if c.form != "" {
						assert.Greater(t, found.RunSeconds, 2.0, "the time of the hang counts")
						assertInVain(t, found, c.form)
					}
				})
			}
		}
	}
}

// A fatal error that several ranks make at once is all of theirs, and so is a kill that is not the
// launcher's.
func TestRanksThatEndAlike(t *testing.T) {
	t.Parallel()
	for implementation, texts := range map[string]map[string]string{
		"openmpi": {"no operation": `^(All 4 ranks|Ranks? [0-3,-]+) ended`, "all killed": `^(All 4 ranks|Ranks [0-3,-]+) were killed \(signal 9, SIGKILL\) [^;]* into the run`},
		"mpich":   {"no operation": `^(All 4 ranks|Ranks? [0-3,-]+) ended`, "all killed": `^(Rank [0-3]|At least one of ranks [0-3,-]+) was killed \(signal 9, SIGKILL\) .* into the run`},
	} {
		for how, text := range texts {
			t.Run(how+" "+implementation, func(t *testing.T) {
				t.Parallel()
				command := launch(implementation, 4, "stops", how)
				command[len(command)-2] = stops(t, implementation)
				found := reportIn(t, filepath.Join(trace(t, nil, command...).dir, "report"))
				if how == "no operation" {
					text += ` the job with an MPI error \(MPI_ERR_OP[^)]*\) in MPI_Allreduce at ` + lineOf(t, how) + ` \(MPI_BAND on MPI_DOUBLE, MPI_COMM_WORLD\)`
				}
				assert.Regexp(t, text, found.Verdict.Text)
			})
		}
	}
}

// A call after MPI_Finalize is a fatal error of its rank. The launcher may end others in
// MPI_Finalize.
func TestCallAfterFinalize(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		command := launch(implementation, 4, "stops", "late call")
		command[len(command)-2] = stops(t, implementation)
		found := reportIn(t, filepath.Join(trace(t, nil, command...).dir, "report"))
		assert.Regexp(t, `^(All 4 ranks completed MPI_Finalize; then|After MPI_Finalize, .* into the run,) rank 1 called MPI_Barrier at `+lineOf(t, "late call")+
			`, in which it ended with exit code 1[.;]`, found.Verdict.Text, implementation)
	}
}

// assertInVain: nearly all time after the last progress is waiting for what never came. A rank that
// computes for ever does not wait.
func assertInVain(t *testing.T, found *analyzertest.Findings, form verdict.Form) {
	t.Helper()
	waiting := 4.0
	if form == verdict.Missing {
		waiting--
	}
	require.NotNil(t, found.Ledger)
	for _, row := range found.Ledger.Rows {
		if row.What == "never" {
			assert.InEpsilon(t, waiting*found.Stopped.WaitedSeconds, float64(row.NS)/1e9, 0.3)
		}
	}
}

// Whether anybody connects to a port is not in the trace. MPICH has no ports with every transport.
func TestAcceptMayGoOn(t *testing.T) {
	t.Parallel()
	command := launch("openmpi", 4, "stops", "accept")
	command[len(command)-2] = stops(t, "openmpi")
	r := trace(t, nil, endSoon("TERM", command)...)
	found := reportIn(t, filepath.Join(r.dir, "report"))
	assert.Regexp(t, `^This job was stopped after \d+\.\d s[^.]*(\.\d+)?[^.]*; in its last [2-9]\.\d s ranks 1-3 waited in MPI_Barrier at `+lineOf(t, "accepted")+
		`, and rank 0 waited in MPI_Comm_accept at `+lineOf(t, "accept")+`\. Whether it hung is not known: the trace does not show whether anybody connects \(rank 0\)\.`, found.Verdict.Text)
	assert.Empty(t, found.Stopped.Kind)
}

// A rank that SIGKILL ends leaves nothing. That it died first is known if the others live on. Both
// ranks of a pod at once are a lost pod, and what the others waited for then is not a hang.
func TestKilledRanksAreNoHang(t *testing.T) {
	t.Parallel()
	program := stops(t, "openmpi")
	run := func(how string) result {
		command := launch("openmpi", 4, "stops", how)
		command[len(command)-2] = program
		command = append([]string{command[0], "--enable-recovery"}, command[1:]...)
		return trace(t, nil, endSoon("TERM", command)...)
	}
	t.Run("rank", func(t *testing.T) {
		found := reportIn(t, filepath.Join(run("kill").dir, "report"))
		assert.Regexp(t, `^Rank 1 was killed \(signal 9, SIGKILL\) .* into the run`, found.Verdict.Text)
	})
	t.Run("pod", func(t *testing.T) {
		r := run("pod")
		file := filepath.Join(r.dir, "trace.cairn")
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		opened, err := cairntrace.Open(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		content, err := opened.Content()
		require.NoError(t, err)
		for row := range content.Ranks.Len() {
			content.Ranks.Change(row, func(r *cairntrace.Rank) { r.Pod = []string{"w-0", "w-1"}[r.Rank/2] })
		}
		var out bytes.Buffer
		require.NoError(t, cairntrace.Write(&out, content))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		again := cairn(t, "", "analyze", file, "-o", filepath.Join(r.dir, "again"))
		require.Equal(t, 0, again.code, again.stderr)
		found := reportIn(t, filepath.Join(r.dir, "again"))
		assert.Regexp(t, `^Pod w-1 was lost .* into the run, with ranks 2-3; then the other 2 ranks waited in MPI_Barrier at `+lineOf(t, "pod")+`; the rest of the job ended .* later\.$`, found.Verdict.Text)
		assert.Equal(t, verdict.Crash, found.Stopped.Kind)
	})
}

// The trace has the arguments of calls that never returned.
func TestUnfinishedCallsAreVerified(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		command := launch(implementation, 4, "stops", "deadlock")
		command[len(command)-2] = stops(t, implementation)
		r := trace(t, []string{"--verify"}, endSoon("TERM", command)...)
		assert.Contains(t, r.stdout+r.stderr, "verify", implementation)
		assert.NotContains(t, r.stdout+r.stderr, "in the reference log", implementation)
		dump := cairn(t, "", "dump", filepath.Join(r.dir, "trace.cairn"))
		assert.Contains(t, dump.stdout, "source=1, tag=7, comm=MPI_COMM_WORLD, status=-) = never returned", implementation)
	}
}
