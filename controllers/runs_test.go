package controllers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
)

// message is a termination message as a command writes it.
func message[T interface{ Fit() T }](t *testing.T, m T) string {
	t.Helper()
	raw, err := messages.Encode(m.Fit())
	require.NoError(t, err)
	return string(raw)
}

func TestCallsThatWereNotRecorded(t *testing.T) {
	t.Parallel()
	whole := messages.Run{ID: "0/0", Ranks: 4, Calls: 100}
	cut := messages.Run{ID: "0/1", Run: 1, Ranks: 4, Calls: 809254, CallsLost: 11214754, LostWhy: "the spool of the pod was full (ranks 0-3)"}
	missing := messages.Run{ID: "0/2", Run: 2, Ranks: 4, Calls: 7, MissingRanks: "3"}
	coarse := messages.Run{ID: "0/3", Run: 3, Ranks: 4, Calls: 1_000_000, CallsCoarse: 131_072, CoarseRanks: "0-1"}
	for _, test := range []struct {
		name, reason, want string
		answer             messages.Merge
	}{
		{"times were given up", "TimesCoarse", "run 0/3: 131072 of 1000000 calls have only sums of times (ranks 0-1): the spool approached its limit or the compressor could not follow",
			messages.Merge{Runs: []messages.Run{whole, coarse}}},
		{"a limit was reached", "CallsLost", "run 0/1: 11214754 of 12024008 calls were not recorded: the spool of the pod was full (ranks 0-3)",
			messages.Merge{Runs: []messages.Run{whole, cut}, IncompleteRuns: 1}},
		{"ranks are missing, too", "RanksMissing", "run 0/2: no trace of ranks 3 of 4; run 0/1: 11214754 of 12024008 calls were not recorded: the spool of the pod was full (ranks 0-3)",
			messages.Merge{Runs: []messages.Run{cut, missing}, IncompleteRuns: 2}},
		{"runs that are not listed", "CallsLost", "3 more runs lack ranks or calls", messages.Merge{Runs: []messages.Run{whole}, IncompleteRuns: 3, RunCount: 40}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			s.apply()
			s.runToMerge(0)
			s.ends("stencil-cairn-merge-l0", pod{message: message(t, test.answer)})
			s.settle()
			require.Equal(t, test.want, s.expect("TraceCollected", isFalse, test.reason))
			s.expect("TraceMerged", isTrue, "Merged")
			s.expectEvents("Warning " + test.reason)
			for _, run := range s.job().Status.Runs {
				if run.ID == "0/1" {
					require.EqualValues(t, 11214754, run.CallsLost)
				}
			}
		})
	}
}

// For many runs the status has the sixteen that are worst according to the report, each with
// everything that is known.
func TestRunsOfTheReport(t *testing.T) {
	var runs []messages.Run
	for i := range 200 {
		runs = append(runs, messages.Run{ID: messages.RunID(0, i), Run: i, Ranks: 4, Calls: 1234, TraceBytes: 2345})
	}
	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	s.ends("stencil-cairn-merge-l0", pod{message: message(t, messages.Merge{Runs: runs})})
	s.settle()
	require.Len(t, s.job().Status.Runs, 16)
	require.EqualValues(t, 200, s.job().Status.RunCount)
	require.EqualValues(t, 16, *s.batchJob("stencil-cairn-clustering").Spec.Completions)
	require.Contains(t, strings.Join(s.batchJob("stencil-cairn-clustering").Spec.Template.Spec.Containers[0].Args, " "), "--index $(JOB_COMPLETION_INDEX) --of 16")
	for _, name := range []string{"critical-path", "clustering"} {
		var pods []pod
		for i := range 16 {
			pods = append(pods, pod{index: i})
		}
		s.ends("stencil-cairn-"+name, pods...)
	}
	s.settle()
	for i := range runs {
		runs[i].ParallelEfficiencyPercent, runs[i].Clusters, runs[i].Topology = ptr.To(90), 3, "2 x 2 grid"
		runs[i].ReportURI = "s3://traces/" + strings.Repeat("long/", 40) + runs[i].ID
	}
	runs[3].ParallelEfficiencyPercent = ptr.To(20)
	runs[5].Failed = "critical-path: bad data"
	s.ends("stencil-cairn-report", pod{message: message(t, messages.Report{Runs: runs, Verdict: "Rank 3 is slow", Message: "the report of 0/5 lacks findings"})})
	s.settle()
	require.Equal(t, "launcher exited with code 0; Rank 3 is slow; the report of 0/5 lacks findings", s.expect("Ready", isTrue, "ReportReady"))
	status := s.job().Status
	require.EqualValues(t, 200, status.RunCount)
	byID := map[string]int{}
	for i, run := range status.Runs {
		byID[run.ID] = i
		require.EqualValues(t, 4, run.Ranks)
		require.Equal(t, status.StorageURI+"/"+run.ID+"/trace.cairn", run.TraceURI)
		require.Equal(t, status.StorageURI+"/"+run.ID+"/report/", run.ReportURI, "the message had no room for URIs")
	}
	require.Contains(t, byID, "0/3")
	require.EqualValues(t, 20, *status.Runs[byID["0/3"]].ParallelEfficiencyPercent)
	require.Contains(t, byID, "0/5")
	require.Equal(t, "critical-path: bad data", status.Runs[byID["0/5"]].Failed)
	raw, err := json.Marshal(status)
	require.NoError(t, err)
	require.Less(t, len(raw), 32<<10)
}
