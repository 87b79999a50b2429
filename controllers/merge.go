package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// mergeAnswer is the termination message of "cairn merge --job".
type mergeAnswer struct {
	Runs []struct {
		ID                        string `json:"id"`
		Attempt                   int32  `json:"attempt"`
		Ranks                     int32  `json:"ranks"`
		MissingRanks              string `json:"missing_ranks"`
		EndedEarly                string `json:"ended_early"`
		Calls                     int64  `json:"calls"`
		TraceBytes                int64  `json:"trace_bytes"`
		ParallelEfficiencyPercent *int32 `json:"parallel_efficiency_percent"`
		TraceURI                  string `json:"trace_uri"`
	} `json:"runs"`
	RunCount int32 `json:"run_count"`
	// Levels are the parts of the levels that are to follow before there are runs.
	Levels  []int32 `json:"levels"`
	Lost    string  `json:"lost"`
	Message string  `json:"message"`
}

// mergeTraces makes one trace per run of what the pods sent. It also waits for
// what they have yet to send, because it sees the bucket.
func (p *pass) mergeTraces(ctx context.Context) (next, error) {
	switch {
	case p.completed(), p.isTrue(v1alpha1.ConditionTraceMerged):
		return proceed, nil
	case !p.tracingEnabled():
		p.giveUp(v1alpha1.ReasonDisabled, "tracing is disabled; "+p.condition(v1alpha1.ConditionJobFinished).Message)
		return proceed, nil
	case p.condition(v1alpha1.ConditionTraced).Reason == v1alpha1.ReasonInjectionFailed, p.mustStop():
		p.noTrace(v1alpha1.ReasonNotTraced, "the job was not traced: "+p.condition(v1alpha1.ConditionTraced).Message)
		return proceed, nil
	}

	attempts, err := attemptsArgument(p.job.Status.Attempts)
	if err != nil {
		return await, err
	}
	o, answer, err := p.mergeTree(ctx, attempts)
	if err != nil {
		return await, err
	}
	if !o.finished {
		message := "collecting and merging traces"
		if trouble := p.podTrouble(ctx, stepMerge); trouble != "" {
			message += ": " + trouble
		}
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionUnknown, v1alpha1.ReasonCollecting, message)
		p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionUnknown, v1alpha1.ReasonCollecting, message)
		p.hold(v1alpha1.ReasonCollecting, message)
		return await, nil
	}
	if !o.succeeded || answer == nil {
		message := "the merge did not say what it found"
		if !o.succeeded {
			message = "the merge failed: " + o.String()
		}
		p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionFalse, v1alpha1.ReasonMergeFailed, message)
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionUnknown, v1alpha1.ReasonMergeFailed, message)
		p.giveUp(v1alpha1.ReasonMergeFailed, fmt.Sprintf("%s; what was collected is kept in %s/shards", message, p.job.Status.StorageURI))
		return proceed, nil
	}
	p.takeRuns(*answer)
	return proceed, nil
}

// mergeTree runs the merge level by level, each a Job. Level 0 waits for the shards. If
// they are few enough for one step it merges them, else it plans the levels that follow,
// each of which merges what the one before has made; the last one gives the answer.
func (p *pass) mergeTree(ctx context.Context, attempts string) (outcome, *mergeAnswer, error) {
	o, plan, err := p.runMerge(ctx, p.mergeTask(attempts))
	if err != nil || plan == nil || len(plan.Levels) == 0 {
		return o, plan, err
	}
	for i, parts := range plan.Levels[:len(plan.Levels)-1] {
		o, err := p.runTask(ctx, p.levelTask(i+1, parts), func(outcome) bool { return true })
		if err != nil || !o.finished || !o.succeeded {
			return o, nil, err
		}
	}
	return p.runMerge(ctx, p.levelTask(len(plan.Levels), 1))
}

// runMerge runs a task that answers. There is no answer unless it has succeeded.
func (p *pass) runMerge(ctx context.Context, t task) (outcome, *mergeAnswer, error) {
	read := func(o outcome) *mergeAnswer {
		var answer mergeAnswer
		if json.Unmarshal([]byte(o.messages[0]), &answer) != nil {
			return nil
		}
		return &answer
	}
	o, err := p.runTask(ctx, t, func(o outcome) bool { return read(o) != nil })
	if err != nil || !o.finished || !o.succeeded {
		return o, nil, err
	}
	return o, read(o), nil
}

// levelTask is a level of the tree after the first.
func (p *pass) levelTask(level int, parts int32) task {
	return task{
		step: stepMerge, name: childName(p.job, stepMerge, "l"+strconv.Itoa(level)), indexes: parts, atOnce: mergesAtOnce, retries: 3,
		// The index of the pod is the number of the part; Kubernetes fills it in.
		args:     []string{"merge", "--job", "--store", p.job.Status.StorageURI, "--level", strconv.Itoa(level), "--index", "$(JOB_COMPLETION_INDEX)"},
		template: p.job.Spec.Merge.PodTemplate,
	}
}

// mergeTask waits until every pod of the job was heard of, or the time is up.
func (p *pass) mergeTask(attempts string) task {
	pods := 1
	if workers := p.job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker]; workers != nil {
		pods += int(ptr.Deref(workers.Replicas, 0))
	}
	return task{
		step: stepMerge, name: childName(p.job, stepMerge, "l0"), indexes: 1, retries: 3,
		args: []string{"merge", "--job", "--store", p.job.Status.StorageURI,
			"--collect-timeout", strconv.Itoa(int(ptr.Deref(p.job.Spec.Tracing.CollectTimeoutSeconds, defaultCollectTimeoutSeconds))),
			"--pods", strconv.Itoa(pods), "--fan-in", strconv.Itoa(int(ptr.Deref(p.job.Spec.Merge.FanIn, defaultFanIn))),
			"--attempts", attempts},
		template: p.job.Spec.Merge.PodTemplate,
	}
}

// takeRuns copies what the merge found into the status.
func (p *pass) takeRuns(answer mergeAnswer) {
	var missing, early []string
	status := &p.job.Status
	status.Runs, status.RunCount = nil, max(answer.RunCount, int32(len(answer.Runs)))
	for _, run := range answer.Runs {
		if run.MissingRanks != "" {
			missing = append(missing, fmt.Sprintf("run %s: no trace of ranks %s of %d", run.ID, run.MissingRanks, run.Ranks))
		}
		if run.EndedEarly != "" {
			early = append(early, fmt.Sprintf("run %s: ranks %s ended before MPI_Finalize", run.ID, run.EndedEarly))
		}
		if len(status.Runs) < v1alpha1.MaxRuns {
			status.Runs = append(status.Runs, v1alpha1.Run{
				ID: run.ID, Attempt: run.Attempt, Ranks: run.Ranks, MissingRanks: run.MissingRanks, Calls: run.Calls,
				TraceBytes: run.TraceBytes, TraceURI: run.TraceURI, ParallelEfficiencyPercent: run.ParallelEfficiencyPercent,
			})
		}
	}
	if answer.Lost != "" {
		missing = append(missing, "lost: "+answer.Lost)
	}
	if len(status.Runs) == 0 {
		p.takeNoRuns(append(missing, answer.Message))
		return
	}
	if len(missing) > 0 {
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionFalse, v1alpha1.ReasonRanksMissing, strings.Join(append(missing, early...), "; "))
	} else {
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionTrue, v1alpha1.ReasonAllRanks,
			strings.Join(append([]string{"the traces of all ranks arrived"}, early...), "; "))
	}
	message := fmt.Sprintf("%d runs", status.RunCount)
	if status.RunCount == 1 {
		message = "one run"
	}
	p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionTrue, v1alpha1.ReasonMerged,
		strings.TrimSuffix(message+"; "+answer.Message, "; "))
}

// takeNoRuns says why there is nothing: the probe's answer if it had one.
func (p *pass) takeNoRuns(missing []string) {
	if traced := p.condition(v1alpha1.ConditionTraced); traced.Status == metav1.ConditionFalse {
		p.noTrace(v1alpha1.ReasonNotTraced, "the job was not traced: "+traced.Message)
		return
	}
	message := "no MPI rank left a trace"
	for _, m := range missing {
		if m != "" {
			message += "; " + m
		}
	}
	p.noTrace(v1alpha1.ReasonNoTrace, message)
}

// noTrace ends a job of which there is no trace.
func (p *pass) noTrace(reason, message string) {
	for _, kind := range []string{v1alpha1.ConditionTraceCollected, v1alpha1.ConditionTraceMerged, v1alpha1.ConditionAnalyzed} {
		p.set(kind, metav1.ConditionFalse, reason, message)
	}
	p.giveUp(reason, message)
}
