package controllers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/test/built"
	"github.com/cairn-mpi/cairn/trace"
)

// kubelet runs the containers of Cairn's Jobs as processes of this machine, with a directory
// instead of a bucket.
type kubelet struct {
	*stage
	command, directory string
}

// start runs a container and returns a function that waits for its end.
func (k *kubelet) start(container corev1.Container, index int) (wait func() pod) {
	k.Helper()
	log := filepath.Join(k.TempDir(), "termination-log")
	require.NoError(k, os.WriteFile(log, nil, 0o644))
	args := []string{}
	for _, arg := range container.Args {
		arg = strings.ReplaceAll(arg, k.job().Status.StorageURI, k.directory)
		args = append(args, strings.ReplaceAll(arg, "$(JOB_COMPLETION_INDEX)", strconv.Itoa(index)))
	}
	process := exec.Command(k.command, append(args, "--termination-log", log)...)
	var output strings.Builder
	process.Stdout, process.Stderr = &output, &output
	require.NoError(k, process.Start())
	return func() pod {
		k.Helper()
		_ = process.Wait() // the exit code says it
		raw, err := os.ReadFile(log)
		require.NoError(k, err)
		k.Logf("%s: exit code %d: %s%s", args, process.ProcessState.ExitCode(), raw, output.String())
		return pod{index: index, exitCode: int32(process.ProcessState.ExitCode()), message: string(raw)}
	}
}

// runs runs all pods of an analysis.
func (k *kubelet) runs(name string) {
	k.Helper()
	job := k.batchJob(name)
	var pods []pod
	for i := range int(*job.Spec.Completions) {
		pods = append(pods, k.start(job.Spec.Template.Spec.Containers[0], i)())
	}
	k.ends(name, pods...)
}

// ship writes to the store what sidecars upload for a launcher that called mpirun the given number
// of times.
func (k *kubelet) ship(runs int) {
	k.Helper()
	s, err := store.Open(k.directory, store.S3Options{})
	require.NoError(k, err)
	config := simulate.Config{Pattern: "ring", Ranks: 3, Iterations: 4, Bytes: 64, Compute: time.Millisecond, RanksPerNode: 3}
	config.Imbalance.SlowRank, config.Imbalance.SlowPercent = 1, 300
	for p := range 3 {
		written := shard.Pod{Pod: fmt.Sprintf("pod-%d", p), PodUID: fmt.Sprintf("uid-%d", p), Role: "worker", Sequence: 1, Final: true}
		for run := 0; p == 0 && run < runs; run++ {
			simulated, err := simulate.New(config)
			require.NoError(k, err)
			content, err := shards.Pod(simulated, 0)
			require.NoError(k, err)
			content.Meta.World = fmt.Sprintf("world-%d", run)
			for i := range content.Ranks.Len() {
				content.Ranks.Change(i, func(r *trace.Rank) { r.StartRealtimeNS += int64(run) * 1e9 })
			}
			k.upload(s, written, content)
			written.Worlds = append(written.Worlds, content.Meta.World)
		}
		require.NoError(k, shard.Write(k.ctx, s, shard.Root+written.PodUID+"/"+shard.PodFile, &written))
	}
}

func (k *kubelet) upload(s store.Store, of shard.Pod, content *trace.Content) {
	k.Helper()
	var file bytes.Buffer
	require.NoError(k, trace.Write(&file, content))
	sum := sha256.Sum256(file.Bytes())
	m := shard.Manifest{World: content.Meta.World, LaunchID: content.Meta.World, Size: content.Meta.WorldSize, Final: true,
		Shard: hex.EncodeToString(sum[:]) + shard.Extension, Pod: of.Pod, PodUID: of.PodUID}
	for _, r := range content.Ranks.All() {
		m.Ranks = append(m.Ranks, shard.Rank{Rank: r.Rank, Host: r.Host, PID: r.PID, StartRealtimeNS: r.StartRealtimeNS, Final: true})
	}
	directory := shard.Directory(m.PodUID, m.World)
	require.NoError(k, s.Put(k.ctx, directory+m.Shard, bytes.NewReader(file.Bytes()), int64(file.Len())))
	require.NoError(k, shard.Write(k.ctx, s, directory+shard.ManifestFile, &m))
}

// From the launcher's end to the report with the real commands: the operator parses their messages,
// and they accept the operator's arguments.
func TestRealCommands(t *testing.T) {
	t.Parallel()
	command := built.Command(t, "cairn")
	many := 17
	if testing.Short() {
		many = 3 // TestRunsOfTheReport has 200, without commands
	}
	for _, test := range []struct {
		name     string
		runs     int
		analyses []string
		verdict  string
	}{
		{"many runs", many, []string{"critical-path", "clustering"}, "Run 0/"},
		{"clustering alone", 2, []string{"clustering"}, ""},
		{"no analyses", 1, nil, ""},
		{"no runs", 0, []string{"critical-path"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			if test.analyses == nil {
				s.applyWithoutAnalyses()
			} else {
				s.apply(func(j *v1alpha1.TracedMPIJob) {
					for _, name := range test.analyses {
						j.Spec.Analyses = append(j.Spec.Analyses, v1alpha1.Analysis{Name: v1alpha1.AnalysisName(name)})
					}
				})
			}
			k := &kubelet{s, command, t.TempDir()}
			k.ship(test.runs)
			s.runToMerge(0)
			job := s.batchJob("stencil-cairn-merge-l0")
			merged := k.start(job.Spec.Template.Spec.InitContainers[0], 0)()
			require.Zero(t, merged.exitCode)
			report := k.start(job.Spec.Template.Spec.Containers[0], 0)
			s.ends(job.Name, merged)
			s.settle()
			require.EqualValues(t, test.runs, s.job().Status.RunCount)
			if test.runs == 0 {
				s.expect("Ready", isFalse, "NoTrace")
				require.Zero(t, report().exitCode)
				return
			}
			for _, name := range test.analyses {
				k.runs("stencil-cairn-" + name)
			}
			s.settle()
			s.expect("Analyzed", isTrue, "AllSucceeded")
			s.ends("stencil-cairn-report", report())
			s.settle()
			s.expect("Ready", isTrue, "ReportReady")
			status := s.job().Status
			require.EqualValues(t, test.runs, status.RunCount)
			require.Len(t, status.Runs, min(test.runs, 16))
			require.Contains(t, status.Verdict, test.verdict)
			require.NotContains(t, s.jobNames(), "stencil-cairn-report")
			for _, run := range status.Runs {
				require.EqualValues(t, 3, run.Ranks, run.ID)
				require.NotZero(t, run.Calls, run.ID)
				require.NotNil(t, run.ParallelEfficiencyPercent, run.ID)
				require.Contains(t, run.ReportURI, run.ID+"/report", run.ID)
			}
			for _, name := range test.analyses {
				require.EqualValues(t, min(test.runs, 16), *s.batchJob("stencil-cairn-" + name).Spec.Completions)
			}
		})
	}
}
