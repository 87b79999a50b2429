package analyze_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses/clusters"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// A testJob is a job's directory, with the termination messages of its commands.
type testJob struct {
	*testing.T
	store string
	log   string
}

// newTestJob returns a job with the given number of runs in one launcher, one after the other, each
// with a slow rank 1. Later runs are longer.
func newTestJob(t *testing.T, runs int) testJob {
	t.Helper()
	dir := t.TempDir()
	j := testJob{t, filepath.Join(dir, "team", "stencil", "uid"), filepath.Join(dir, "termination-log")}
	require.NoError(t, os.WriteFile(j.log, nil, 0o644))
	s, err := store.Open(j.store, store.S3Options{})
	require.NoError(t, err)
	pod := shard.Pod{Pod: "worker-0", PodUID: "uid-0", Role: "worker", Sequence: 1, Final: true}
	for run := range runs {
		config := simulate.Config{Pattern: "ring", Ranks: 3, Iterations: 4 + run%3, Bytes: 64, Compute: time.Millisecond, RanksPerNode: 3}
		config.Imbalance.SlowRank, config.Imbalance.SlowPercent = 1, 300
		sim, err := simulate.New(config)
		require.NoError(t, err)
		c, err := shards.Pod(sim, 0)
		require.NoError(t, err)
		c.Meta.World = fmt.Sprintf("world-%d", run)
		for i := range c.Ranks.Len() {
			c.Ranks.Change(i, func(r *trace.Rank) { r.StartRealtimeNS += int64(run) * 1e9 })
		}
		j.upload(s, c)
		pod.Worlds = append(pod.Worlds, c.Meta.World)
	}
	require.NoError(t, shard.Write(t.Context(), s, shard.Root+pod.PodUID+"/"+shard.PodFile, &pod))
	return j
}

func (j testJob) upload(s store.Store, c *trace.Content) {
	j.Helper()
	var file bytes.Buffer
	require.NoError(j, trace.Write(&file, c))
	sum := sha256.Sum256(file.Bytes())
	m := shard.Manifest{World: c.Meta.World, LaunchID: c.Meta.World, Size: c.Meta.WorldSize, Final: true,
		Shard: hex.EncodeToString(sum[:]) + shard.Extension, Pod: "worker-0", PodUID: "uid-0"}
	for _, r := range c.Ranks.All() {
		m.Ranks = append(m.Ranks, shard.Rank{Rank: r.Rank, Host: r.Host, PID: r.PID, StartRealtimeNS: r.StartRealtimeNS, Final: true})
	}
	directory := shard.Directory(m.PodUID, m.World)
	require.NoError(j, storage.PutBytes(j.Context(), s, directory+m.Shard, file.Bytes()))
	require.NoError(j, shard.Write(j.Context(), s, directory+shard.ManifestFile, &m))
}

// run runs a command as a pod does, and returns its termination message and exit code.
func run[M any](j testJob, arguments ...string) (message M, code int) {
	j.Helper()
	_, err := cairntest.Run(j.T, append(arguments, "--store", j.store, "--termination-log", j.log)...)
	if err != nil {
		code, _ = cli.ExitCode(err)
	}
	raw, readErr := os.ReadFile(j.log)
	require.NoError(j, readErr)
	require.LessOrEqual(j, len(raw), messages.MaxBytes)
	require.NoError(j, json.Unmarshal(raw, &message), "%s", raw)
	return message, code
}

func (j testJob) merge() messages.Merge {
	j.Helper()
	m, code := run[messages.Merge](j, "merge", "--job", "--pods", "1")
	require.Zero(j, code, m.Message)
	return m
}

func (j testJob) index() messages.Index {
	j.Helper()
	var index messages.Index
	require.NoError(j, json.Unmarshal(j.read(messages.IndexFile), &index))
	return index
}

func (j testJob) path(key string) string { return filepath.Join(j.store, filepath.FromSlash(key)) }

func (j testJob) read(key string) []byte {
	j.Helper()
	raw, err := os.ReadFile(j.path(key))
	require.NoError(j, err)
	return raw
}

// damage makes the trace of a run unreadable.
func (j testJob) damage(id string) {
	j.Helper()
	require.NoError(j, os.WriteFile(j.path(id+"/trace.cairn"), []byte("CAIRN, but not any more"), 0o644))
}

func (j testJob) report(key string) *report.Report {
	j.Helper()
	r, err := analyzer.ReadReport(j.read(key + "/report/report.json"))
	require.NoError(j, err)
	return r
}

// Every run of a launcher has its report, however many there are. Messages list the worst runs,
// with the same ids.
func TestEveryRunHasAReport(t *testing.T) {
	for _, runs := range []int{messages.MaxRuns + 1, 200} {
		if testing.Short() && runs == 200 {
			continue
		}
		t.Run(fmt.Sprint(runs), func(t *testing.T) {
			j := newTestJob(t, runs)
			merged := j.merge()
			require.Equal(t, runs, merged.RunCount)
			require.Len(t, merged.Runs, messages.MaxRuns)
			require.Len(t, j.index().Runs, runs)
			for index := range 4 {
				for _, name := range []string{"critical-path", "clustering"} {
					a, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", name, "--index", fmt.Sprint(index), "--of", "4")
					require.Zero(t, code, a.Message)
					require.True(t, a.OK)
				}
			}
			r, code := run[messages.Report](j, "report", "--job", "--analyses", "critical-path,clustering")
			require.Zero(t, code, r.Message)
			require.Equal(t, runs, r.RunCount)
			require.Len(t, r.Runs, messages.MaxRuns)
			require.Empty(t, r.Message)
			require.Regexp(t, fmt.Sprintf(`^Run 0/\d+ \(\d+ of %d\): Rank 1 `, runs), r.Verdict)
			index := j.index()
			require.Len(t, index.Runs, runs)
			page := string(j.read(messages.PageFile))
			for i, one := range index.Runs {
				require.Equal(t, messages.RunID(0, i), one.ID)
				require.NotZero(t, one.Calls)
				require.NotZero(t, one.TraceBytes)
				require.NotEmpty(t, one.ReportURI)
				require.NotNil(t, one.ParallelEfficiencyPercent)
				require.Equal(t, 1, *j.report(one.ID).Verdict().Rank)
				require.Contains(t, page, fmt.Sprintf(`<a href="%s/report/index.html">%s</a>`, one.ID, one.ID))
			}
			for _, one := range r.Runs {
				full := index.Runs[one.Run]
				require.Equal(t, full.Calls, one.Calls)
				require.Equal(t, full.ParallelEfficiencyPercent, one.ParallelEfficiencyPercent)
			}
			require.Contains(t, string(j.read(messages.SummaryFile)), "0/16")
		})
	}
}

// Runs that were copied below the store, as by an earlier release, without a list of runs.
func TestRunsWithoutAList(t *testing.T) {
	j := newTestJob(t, 1)
	j.merge()
	for i := 1; i < 20; i++ {
		require.NoError(t, os.CopyFS(j.path(messages.RunID(0, i)), os.DirFS(j.path("0/0"))))
	}
	require.NoError(t, os.Remove(j.path(messages.IndexFile)))
	for i := range 16 {
		a, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", "critical-path", "--index", fmt.Sprint(i))
		require.Zero(t, code, a.Message)
	}
	r, code := run[messages.Report](j, "report", "--job")
	require.Zero(t, code, r.Message)
	require.Equal(t, 20, r.RunCount)
	require.NotEmpty(t, r.Verdict)
	require.Equal(t, verdictWithout, j.report("0/17").Verdict().Text)
	require.Len(t, j.index().Runs, 20)
}

const verdictWithout = "There is no verdict on this run: its critical path was not analyzed, because it left no findings."

// A job without the critical path has reports, too, which make no claims about it.
func TestReportWithoutACriticalPath(t *testing.T) {
	for _, asked := range []string{"clustering", ""} {
		t.Run(asked, func(t *testing.T) {
			j := newTestJob(t, 1)
			merged := j.merge()
			if asked != "" {
				a, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", asked, "--index", "0")
				require.Zero(t, code, a.Message)
			}
			r, code := run[messages.Report](j, "report", "--job", "--wait", "--analyses", asked)
			require.Zero(t, code, r.Message)
			require.Equal(t, "There is no verdict on this run: no analysis of its critical path was requested (spec.analyses).", r.Verdict)
			require.Equal(t, merged.Runs[0].ParallelEfficiencyPercent, r.Runs[0].ParallelEfficiencyPercent)
			require.Empty(t, r.Runs[0].Failed)
			full := j.report("0/0")
			require.Equal(t, asked == "clustering", len(report.Of[clusters.Findings](full).Clusters) > 0)
			require.Nil(t, full.Verdict().GainSeconds)
			require.EqualValues(t, "unknown", full.Verdict().Blames)
			require.NotZero(t, full.RunSeconds())
			all := report.Of[ranks.Findings](full).Ranks
			require.Len(t, all, 3)
			require.Greater(t, all[1].Computation, 2*all[0].Computation, "rank 1 computes four times as long")
			require.InDelta(t, 0.016, all[1].Computation, 0.002, "in each of four iterations 4 ms")
			require.Contains(t, string(j.read("0/0/report/index.html")), ">Ranks</h2>")
			page := string(j.read("0/0/report/index.html"))
			require.Contains(t, page, "There is no verdict")
			require.Contains(t, page, ">Provenance</h2>")
			require.NotContains(t, page, "evenly spread")
			summary := string(j.read("0/0/report/summary.txt"))
			require.Contains(t, summary, "Add critical-path to spec.analyses")
			require.NotContains(t, summary, "times of single calls, which were not kept")
		})
	}
}

// A run with an unreadable trace does not affect the others.
func TestOneDamagedRun(t *testing.T) {
	j := newTestJob(t, 3)
	j.merge()
	j.damage("0/1")
	for _, name := range []string{"critical-path", "clustering"} {
		a, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", name, "--index", "0", "--of", "1")
		require.Equal(t, messages.ExitBadData, code)
		require.False(t, a.OK)
		require.Regexp(t, `^0/1: .*trace\.cairn`, a.Failed)
		require.Nil(t, a.Storage)
	}
	r, code := run[messages.Report](j, "report", "--job", "--wait", "--analyses", "critical-path,clustering")
	require.Zero(t, code)
	require.Equal(t, 3, r.RunCount)
	require.Contains(t, r.Runs[1].Failed, "the trace cannot be read")
	require.Empty(t, r.Runs[1].ReportURI)
	require.Contains(t, r.Message, "1 of 3 runs have no report: 0/1: the trace cannot be read")
	require.Equal(t, 1, *j.report("0/0").Verdict().Rank)
	require.Equal(t, 1, *j.report("0/2").Verdict().Rank)
	require.NoFileExists(t, j.path("0/1/report/index.html"))
	require.Contains(t, string(j.read(messages.PageFile)), "the trace cannot be read")
	require.Regexp(t, `^Run 0/2 \(3 of 3\): Rank 1`, r.Verdict, "the longest of those that can be read")

	j.damage("0/0")
	j.damage("0/2")
	r, code = run[messages.Report](j, "report", "--job")
	require.Equal(t, messages.ExitBadData, code, "nothing at all can be reported")
	require.Empty(t, r.Verdict)
	require.Contains(t, r.Message, "3 of 3 runs have no report")
}

// A failed analysis records its reason for the run, and the report has the other findings.
func TestOneFailedAnalysis(t *testing.T) {
	j := newTestJob(t, 2)
	j.merge()
	_, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", "clustering", "--index", "0", "--of", "1")
	require.Zero(t, code)
	good := j.read("0/0/trace.cairn")
	j.damage("0/0")
	_, code = run[messages.Analysis](j, "analyze", "--job", "--analysis", "critical-path", "--index", "0", "--of", "1")
	require.Equal(t, messages.ExitBadData, code)
	var failure messages.Failure
	require.NoError(t, json.Unmarshal(j.read("0/0/findings/critical-path.failed.json"), &failure))
	require.Contains(t, failure.Message, "trace.cairn")
	require.FileExists(t, j.path("0/1/findings/critical-path.json"))
	require.NoError(t, os.WriteFile(j.path("0/0/trace.cairn"), good, 0o644))

	r, code := run[messages.Report](j, "report", "--job", "--analyses", "critical-path,clustering")
	require.Zero(t, code, r.Message)
	require.Contains(t, r.Runs[0].Failed, "critical-path: ")
	require.NotEmpty(t, r.Runs[0].ReportURI)
	require.Empty(t, r.Runs[1].Failed)
	require.Contains(t, r.Verdict, "Run 0/1 (2 of 2): Rank 1", "the one that has a verdict")
	full := j.report("0/0")
	require.NotEmpty(t, report.Of[clusters.Findings](full).Clusters)
	require.Contains(t, full.Verdict().Text, "its critical path was not analyzed, because it failed: ")

	_, code = run[messages.Analysis](j, "analyze", "--job", "--analysis", "critical-path", "--index", "0", "--of", "1")
	require.Zero(t, code)
	require.NoFileExists(t, j.path("0/0/findings/critical-path.failed.json"), "success removes the old reason")
	_, _ = run[messages.Report](j, "report", "--job", "--analyses", "critical-path,clustering")
	require.Equal(t, 1, *j.report("0/0").Verdict().Rank)
}

// Shards that are all unreadable are bad data: another attempt would read the same.
func TestMergeOfDamagedShards(t *testing.T) {
	j := newTestJob(t, 1)
	found, err := filepath.Glob(j.path("shards/*/*/*" + shard.Extension))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, os.WriteFile(found[0], []byte("nothing"), 0o644))
	m, code := run[messages.Merge](j, "merge", "--job", "--pods", "1")
	require.Equal(t, messages.ExitBadData, code)
	require.Contains(t, m.Message, "none of the shards can be read")
	require.Nil(t, m.Storage)
}

// A repeated merge removes the findings, clock maps and reports of the previous trace.
func TestFindingsBelongToTheirTrace(t *testing.T) {
	j := newTestJob(t, 2)
	j.merge()
	_, code := run[messages.Analysis](j, "analyze", "--job", "--analysis", "critical-path", "--index", "0", "--of", "1")
	require.Zero(t, code)
	_, code = run[messages.Report](j, "report", "--job")
	require.Zero(t, code)
	j.merge()
	for _, key := range []string{"0/0/findings/critical-path.json", "0/1/clock.json", "0/1/report/index.html"} {
		require.NoFileExists(t, j.path(key))
	}
	require.FileExists(t, j.path("0/0/manifest.json"))
	require.Empty(t, j.index().Runs[0].ReportURI)
}

// The report waits until each run has findings or a reason why not, and no longer.
func TestReportWaitsForFindings(t *testing.T) {
	t.Parallel()
	j := newTestJob(t, 3)
	j.merge()
	var done sync.WaitGroup
	begin := time.Now()
	done.Go(func() {
		time.Sleep(1500 * time.Millisecond)
		for _, name := range []string{"critical-path", "clustering"} {
			_, err := cairntest.Run(t, "analyze", "--job", "--store", j.store, "--analysis", name, "--index", "0", "--of", "1")
			if err != nil {
				t.Error(err)
			}
		}
	})
	r, code := run[messages.Report](j, "report", "--job", "--wait", "--analyses", "critical-path,clustering")
	require.Zero(t, code, r.Message)
	require.GreaterOrEqual(t, time.Since(begin), 1500*time.Millisecond)
	done.Wait()
	for i := range 3 {
		full := j.report(messages.RunID(0, i))
		require.Empty(t, full.Missing)
		require.NotEmpty(t, report.Of[clusters.Findings](full).Clusters)
	}
}

// A job that used no MPI has no runs. This is not a failure of the report that waits for them.
func TestReportOfNothing(t *testing.T) {
	j := newTestJob(t, 0)
	m := j.merge()
	require.Zero(t, m.RunCount)
	require.Contains(t, m.Message, "no rank was traced")
	begin := time.Now()
	r, code := run[messages.Report](j, "report", "--job", "--wait", "--analyses", "critical-path")
	require.Zero(t, code)
	require.Zero(t, r.RunCount)
	require.Less(t, time.Since(begin), 5*time.Second)
	_, code = run[messages.Report](j, "report", "--job")
	require.Equal(t, messages.ExitBadData, code)
}

// A merge in levels lists the runs after the last level, also if that is repeated.
func TestListOfRunsAfterLevels(t *testing.T) {
	dir := t.TempDir()
	j := testJob{t, filepath.Join(dir, "job"), filepath.Join(dir, "log")}
	require.NoError(t, os.WriteFile(j.log, nil, 0o644))
	_, err := cairntest.Run(t, "simulate", "--ranks", "12", "--ranks-per-node", "2", "--store", j.store)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(j.path(messages.IndexFile), []byte(`{"runs":[{"id":"7/7"}]}`), 0o644))
	m, code := run[messages.Merge](j, "merge", "--job", "--fan-in", "3")
	require.Zero(t, code, m.Message)
	require.NotEmpty(t, m.Levels)
	require.NoFileExists(t, j.path(messages.IndexFile))
	r, code := run[messages.Report](j, "report", "--job", "--wait", "--analyses", "critical-path")
	require.Zero(t, code, "the runs are still to come")
	require.Zero(t, r.RunCount)
	levels := m.Levels
	for level, parts := range levels {
		for index := range parts {
			m, code = run[messages.Merge](j, "merge", "--job", "--fan-in", "3", "--level", fmt.Sprint(level+1), "--index", fmt.Sprint(index))
			require.Zero(t, code, m.Message)
		}
	}
	require.Equal(t, m.Runs, j.index().Runs)
	require.NoError(t, os.Remove(j.path(messages.IndexFile)))
	m, code = run[messages.Merge](j, "merge", "--job", "--fan-in", "3", "--level", fmt.Sprint(len(levels)), "--index", "0")
	require.Zero(t, code, m.Message)
	require.Equal(t, m.Runs, j.index().Runs)
}

// Every message reports a storage that does not respond, or that refuses, with the exit code for
// it.
func TestStorageThatFailsIsNamed(t *testing.T) {
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	require.NoError(t, os.Mkdir(keys, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "accessKey"), []byte("a"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "secretKey"), []byte("b"), 0o600))
	for reason, c := range map[messages.StorageReason]struct {
		code int
		keys string
	}{
		messages.StorageUnreachable:        {messages.ExitUnavailable, keys},
		messages.StorageCredentialsMissing: {messages.ExitRefused, filepath.Join(dir, "none")},
	} {
		for _, command := range [][]string{
			{"merge", "--job", "--collect-timeout", "0"}, {"analyze", "--job", "--analysis", "clustering", "--index", "0"}, {"report", "--job"},
		} {
			t.Run(fmt.Sprint(reason, " ", command[0]), func(t *testing.T) {
				t.Parallel()
				log := filepath.Join(t.TempDir(), "log")
				require.NoError(t, os.WriteFile(log, nil, 0o644))
				begin := time.Now()
				_, err := cairntest.Run(t, append(command, "--store", "s3://bucket/job", "--s3-endpoint", "http://127.0.0.1:1", "--s3-credentials-dir", c.keys,
					"--patience", "1", "--termination-log", log)...)
				code, _ := cli.ExitCode(err)
				require.Equal(t, c.code, code, "%v", err)
				require.GreaterOrEqual(t, time.Since(begin), time.Second)
				var message struct{ Storage *messages.StorageTrouble }
				raw, err := os.ReadFile(log)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(raw, &message))
				require.NotNil(t, message.Storage, "%s", raw)
				require.Equal(t, reason, message.Storage.Reason)
				require.False(t, strings.Contains(message.Storage.Message, "\n"))
			})
		}
	}
}
