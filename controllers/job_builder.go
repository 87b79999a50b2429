package controllers

import (
	"cmp"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
)

// Exit codes of the cairn command that a Job must know.
const (
	// exitBadData: another attempt would read the same bytes.
	exitBadData = 65
	// exitKilled is what a container leaves that ran out of memory.
	exitKilled = 137
)

const (
	cairnContainer = "cairn"
	scratchVolume  = "scratch"
	scratchPath    = "/tmp"

	// mostAtOnce bounds how many runs are analysed at the same time, mergesAtOnce how many
	// parts of a level are merged.
	mostAtOnce   = 8
	mergesAtOnce = 64
)

// task is a cairn command to run as a Job.
type task struct {
	step string
	name string
	args []string
	// indexes is how many pods there are, each with an index; 0 is a plain Job.
	indexes int32
	// atOnce is how many of them may run at the same time; 0 is mostAtOnce.
	atOnce int32
	// retries of one pod.
	retries int32
	// deadlineSeconds of the whole Job; 0 is none.
	deadlineSeconds int64
	template        v1alpha1.ProcessingPodTemplate
	// memoryFactor multiplies the memory.
	memoryFactor int64
}

// newJob is the Job that runs a task. Its pod has what the Pod Security level
// "restricted" asks for, and no token of its service account.
func newJob(owner *v1alpha1.TracedMPIJob, settings Settings, s3 *v1alpha1.S3Storage, t task) *batchv1.Job {
	labels := jobLabels(owner)
	labels[StepLabel] = t.step
	resources := taskResources(t)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: t.name, Namespace: owner.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)},
				Spec: corev1.PodSpec{
					RestartPolicy:                corev1.RestartPolicyNever,
					AutomountServiceAccountToken: ptr.To(false),
					EnableServiceLinks:           ptr.To(false),
					ServiceAccountName:           t.template.ServiceAccountName,
					NodeSelector:                 t.template.NodeSelector,
					Tolerations:                  t.template.Tolerations,
					ImagePullSecrets:             pullSecrets(owner, t.template),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot:   ptr.To(true),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Name:            cairnContainer,
						Image:           settings.Image,
						ImagePullPolicy: settings.PullPolicy,
						Args:            t.args,
						Env:             append(container.StorageEnv(s3), container.MemoryEnv(resources)...),
						Resources:       resources,
						VolumeMounts: append(container.StorageMounts(s3),
							corev1.VolumeMount{Name: scratchVolume, MountPath: scratchPath}),
						SecurityContext:          container.Restricted(),
						TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
					}},
					Volumes: append(container.StorageVolumes(s3), corev1.Volume{
						Name:         scratchVolume,
						VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
					}),
				},
			},
		},
	}
	badData := batchv1.PodFailurePolicyActionFailJob
	if t.indexes > 0 {
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		job.Spec.Completions = ptr.To(t.indexes)
		job.Spec.Parallelism = ptr.To(min(t.indexes, cmp.Or(t.atOnce, mostAtOnce)))
		job.Spec.BackoffLimitPerIndex = ptr.To(t.retries)
		// One run's bad data are no reason to give up the other runs.
		badData = batchv1.PodFailurePolicyActionFailIndex
	} else {
		job.Spec.BackoffLimit = ptr.To(t.retries)
	}
	if t.deadlineSeconds > 0 {
		job.Spec.ActiveDeadlineSeconds = ptr.To(t.deadlineSeconds)
	}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		},
		{
			// More memory needs another Job: no use to try again with the same.
			Action:      badData,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitBadData, exitKilled}},
		},
	}}
	return job
}

// pullSecrets are those of the job's launcher, and those named for the task.
func pullSecrets(owner *v1alpha1.TracedMPIJob, template v1alpha1.ProcessingPodTemplate) []corev1.LocalObjectReference {
	secrets := slices.Clone(template.ImagePullSecrets)
	if launcher := owner.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeLauncher]; launcher != nil {
		for _, secret := range launcher.Template.Spec.ImagePullSecrets {
			if !slices.Contains(secrets, secret) {
				secrets = append(secrets, secret)
			}
		}
	}
	return secrets
}

// taskResources are those of the template with defaults for what it leaves open.
func taskResources(t task) corev1.ResourceRequirements {
	resources := *t.template.Resources.DeepCopy()
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	if resources.Limits == nil {
		resources.Limits = corev1.ResourceList{}
	}
	for _, d := range []struct {
		name           corev1.ResourceName
		request, limit string
	}{
		{corev1.ResourceCPU, "100m", "2"},
		{corev1.ResourceMemory, "128Mi", "1Gi"},
	} {
		request, requested := resources.Requests[d.name]
		limit, limited := resources.Limits[d.name]
		if !limited {
			if limit = resource.MustParse(d.limit); requested && request.Cmp(limit) > 0 {
				limit = request
			}
		}
		if !requested {
			if request = resource.MustParse(d.request); request.Cmp(limit) > 0 {
				request = limit
			}
		}
		if d.name == corev1.ResourceMemory && t.memoryFactor > 1 {
			request.Mul(t.memoryFactor)
			limit.Mul(t.memoryFactor)
		}
		resources.Requests[d.name], resources.Limits[d.name] = request, limit
	}
	return resources
}
