package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
)

const (
	// roundLabel counts the checks of one job.
	roundLabel = "cairn.dev/round"
	// checkDeadlineSeconds bounds one check, pulling the image included.
	checkDeadlineSeconds = 120
)

// storageAnswer is the termination message of "cairn check-storage".
type storageAnswer struct {
	OK      bool   `json:"ok"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// checkStorage lets a pod write to the storage with the job's own credentials
// before the job runs for hours in vain. It is repeated until it works.
func (p *pass) checkStorage(ctx context.Context) (next, error) {
	if !p.tracingEnabled() {
		p.set(v1alpha1.ConditionStorageReady, metav1.ConditionUnknown, v1alpha1.ReasonDisabled, "")
		return proceed, nil
	}
	if p.completed() {
		return proceed, nil
	}
	s3 := p.s3()
	if s3 == nil {
		p.storageTrouble(v1alpha1.ReasonStorageNotConfigured,
			"no storage: set spec.storage.s3, or storage.s3.bucket in the values of Cairn's chart")
		return await, nil
	}
	if p.isTrue(v1alpha1.ConditionStorageReady) {
		return proceed, nil
	}
	p.job.Status.StorageURI = storageURI(s3, p.job)
	return p.checkOnce(ctx, s3)
}

// checkOnce looks at the latest check: it waits for its end, takes its answer, or
// starts the next one when the last has failed long enough ago.
func (p *pass) checkOnce(ctx context.Context, s3 *v1alpha1.S3Storage) (next, error) {
	checks, err := p.jobsOf(ctx, stepStorage)
	if err != nil {
		return await, err
	}
	round := 0
	if len(checks) > 0 {
		last := checks[len(checks)-1]
		o, err := p.outcomeOf(ctx, &last)
		if err != nil {
			return await, err
		}
		if !o.finished {
			p.storageChecking(ctx)
			return await, nil
		}
		answer := readStorageAnswer(o)
		if answer.OK {
			p.set(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonStorageWritable,
				p.job.Status.StorageURI+" can be written to")
			return proceed, nil
		}
		p.storageTrouble(answer.Reason, storageAdvice(answer, p.job.Namespace, s3))
		if rest := p.Retry - p.Clock.Since(terminalCondition(&last).LastTransitionTime.Time); rest > 0 {
			return awaitFor(rest), nil
		}
		round = roundOf(last) + 1
	}
	check := newJob(p.job, p.Settings, s3, task{
		step: stepStorage, name: childName(p.job, stepStorage, strconv.Itoa(round)),
		args:            []string{"check-storage", "--store", p.job.Status.StorageURI},
		deadlineSeconds: checkDeadlineSeconds,
		template:        p.job.Spec.Merge.PodTemplate,
	})
	check.Labels[roundLabel] = strconv.Itoa(round)
	if _, err := ensure(ctx, p, check, &batchv1.Job{}); err != nil {
		return await, err
	}
	for _, old := range checks {
		if err := p.Delete(ctx, &old, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return await, err
		}
	}
	p.storageChecking(ctx)
	return await, nil
}

// storageChecking says that the first check is on its way. Later ones leave what
// the one before has found.
func (p *pass) storageChecking(ctx context.Context) {
	if p.condition(v1alpha1.ConditionStorageReady).Status != metav1.ConditionUnknown {
		return
	}
	message := "writing to " + p.job.Status.StorageURI
	if trouble := p.podTrouble(ctx, stepStorage); trouble != "" {
		message += ": " + trouble
	}
	p.set(v1alpha1.ConditionStorageReady, metav1.ConditionUnknown, v1alpha1.ReasonStorageChecking, message)
	p.notCreated()
	p.hold(v1alpha1.ReasonStorageChecking, "checking the storage before the MPIJob is created: "+message)
}

func (p *pass) storageTrouble(reason, message string) {
	p.set(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reason, message)
	if p.job.Status.MPIJobRef == nil {
		p.notCreated()
	}
	p.hold(v1alpha1.ReasonStorageNotReady, message)
}

func (p *pass) notCreated() {
	p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobNotCreated, "the MPIJob is created once the storage works")
}

// readStorageAnswer is what the check found, in any case something.
func readStorageAnswer(o outcome) storageAnswer {
	var answer storageAnswer
	if err := json.Unmarshal([]byte(o.messages[0]), &answer); err != nil {
		answer = storageAnswer{Message: shortened(o.String(), 512)}
		if o.succeeded {
			answer.Message = "the check did not say what it found"
		}
	}
	known := []string{v1alpha1.ReasonCredentialsMissing, v1alpha1.ReasonAccessDenied, v1alpha1.ReasonBucketMissing, v1alpha1.ReasonUnreachable}
	if !answer.OK && !slices.Contains(known, answer.Reason) {
		answer.Reason = v1alpha1.ReasonStorageCheckFailed
	}
	return answer
}

// storageAdvice says what is wrong and the command that mends it.
func storageAdvice(answer storageAnswer, namespace string, s3 *v1alpha1.S3Storage) string {
	create := fmt.Sprintf("kubectl -n %s create secret generic %s --from-literal=%s=… --from-literal=%s=…",
		namespace, s3.CredentialsSecretName, container.AccessKey, container.SecretKey)
	endpoint := s3.Endpoint
	if endpoint == "" {
		endpoint = "AWS"
	}
	switch answer.Reason {
	case v1alpha1.ReasonCredentialsMissing:
		return fmt.Sprintf("namespace %s has no usable credentials for bucket %s: %s", namespace, s3.Bucket, create)
	case v1alpha1.ReasonAccessDenied:
		return fmt.Sprintf("the credentials in Secret %s are refused for bucket %s at %s; to replace them: %s --dry-run=client -o yaml | kubectl apply -f - (%s)",
			s3.CredentialsSecretName, s3.Bucket, endpoint, create, answer.Message)
	case v1alpha1.ReasonBucketMissing:
		return fmt.Sprintf("there is no bucket %s at %s: create it with `cairn make-bucket --store s3://%s`, or name another in spec.storage.s3.bucket (%s)",
			s3.Bucket, endpoint, s3.Bucket, answer.Message)
	case v1alpha1.ReasonUnreachable:
		return fmt.Sprintf("no answer from %s in namespace %s: correct spec.storage.s3.endpoint, or the network policy (%s)",
			endpoint, namespace, answer.Message)
	default:
		return fmt.Sprintf("the storage check failed: %s; more: kubectl -n %s describe jobs,pods -l %s=%s", answer.Message, namespace, StepLabel, stepStorage)
	}
}

func roundOf(check batchv1.Job) int {
	round, err := strconv.Atoi(check.Labels[roundLabel])
	if err != nil {
		return 0
	}
	return round
}

// jobsOf are the Jobs of one step, in the order of their rounds.
func (p *pass) jobsOf(ctx context.Context, step string) ([]batchv1.Job, error) {
	var list batchv1.JobList
	labels := jobLabels(p.job)
	labels[StepLabel] = step
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	jobs := slices.DeleteFunc(list.Items, func(j batchv1.Job) bool { return !metav1.IsControlledBy(&j, p.job) || !j.DeletionTimestamp.IsZero() })
	slices.SortFunc(jobs, func(a, b batchv1.Job) int { return roundOf(a) - roundOf(b) })
	return jobs, nil
}

// defaultRetry is the pause before something is tried again.
const defaultRetry = 10 * time.Second
