package task

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

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
	"github.com/cairn-mpi/cairn/controllers/naming"
)

const (
	MainContainer = "cairn"
	scratchVolume = "scratch"
	scratchPath   = "/tmp"

	// maxAtOnce limits the runs that are analyzed concurrently, MergesAtOnce the parts of a level
	// that are merged concurrently.
	maxAtOnce    = 8
	MergesAtOnce = 64

	// StepDeadlineSeconds is the maximum duration of a step, including the time that it waits for
	// the storage: a day.
	StepDeadlineSeconds int64 = 24 * 60 * 60

	istioInject = "sidecar.istio.io/inject"
)

// Installation has the settings of Cairn's containers.
type Installation struct {
	// Image is Cairn's own, for init containers, sidecars and Jobs.
	Image string
	// PullPolicy is the pull policy of Image.
	PullPolicy corev1.PullPolicy
	// PullSecrets are the pull secrets for Image, in the namespaces of jobs.
	PullSecrets []corev1.LocalObjectReference
	// RunAsUser is the user and group of Cairn's containers; nil leaves it to the cluster.
	RunAsUser *int64
}

// Task is a cairn command to run as a Job.
type Task struct {
	Step string
	Name string
	Args []string
	// Merge are the arguments of an init container that merges first; nil: none.
	Merge []string
	// Indexes is the number of pods of an Indexed Job; 0 is a plain Job.
	Indexes int32
	// AtOnce is the number of pods that may run concurrently; 0 is maxAtOnce.
	AtOnce int32
	// Retries is the number of retries of one pod.
	Retries int32
	// DeadlineSeconds limits the whole Job; 0 is StepDeadlineSeconds.
	DeadlineSeconds int64
	// Impatient tasks fail if the storage does not respond; others wait.
	Impatient bool
	Template  v1alpha1.ProcessingPodTemplate
	// MemoryFactor multiplies the memory.
	MemoryFactor int64
}

// NewJob returns the Job that runs a task of a TracedMPIJob.
func NewJob(owner *v1alpha1.TracedMPIJob, with Installation, s3 *v1alpha1.S3Storage, t Task) *batchv1.Job {
	labels := naming.Labels(owner)
	labels[naming.StepLabel] = t.Step
	t.Template.ImagePullSecrets = PullSecrets(owner, with, t.Template)
	return Build(owner.Namespace, labels, with, s3, t)
}

// Build returns the Job that runs a task. Its pod meets the Pod Security level "restricted" and has
// no token of its service account. The labels are those by which the operator recognizes its
// objects: a template cannot change them.
func Build(namespace string, labels map[string]string, with Installation, s3 *v1alpha1.S3Storage, t Task) *batchv1.Job {
	metadata := taskMetadata(labels, t.Template.Metadata)
	metadata.Name, metadata.Namespace = t.Name, namespace
	job := &batchv1.Job{
		ObjectMeta: metadata,
		Spec: batchv1.JobSpec{
			ActiveDeadlineSeconds: ptr.To(cmp.Or(t.DeadlineSeconds, StepDeadlineSeconds)),
			PodFailurePolicy:      PodFailurePolicy(t),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: podMetadata(labels, t.Template.Metadata),
				Spec: corev1.PodSpec{
					RestartPolicy:                corev1.RestartPolicyNever,
					AutomountServiceAccountToken: ptr.To(false),
					EnableServiceLinks:           ptr.To(false),
					ServiceAccountName:           t.Template.ServiceAccountName,
					PriorityClassName:            t.Template.PriorityClassName,
					NodeSelector:                 t.Template.NodeSelector,
					Affinity:                     t.Template.Affinity,
					Tolerations:                  t.Template.Tolerations,
					ImagePullSecrets:             t.Template.ImagePullSecrets,
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot:   ptr.To(true),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{taskContainer(MainContainer, t.Args, with, s3, t)},
					Volumes: append(container.StorageVolumes(s3), corev1.Volume{
						Name:         scratchVolume,
						VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
					}),
				},
			},
		},
	}
	if t.Merge != nil {
		job.Spec.Template.Spec.InitContainers = []corev1.Container{taskContainer(MergeContainer, t.Merge, with, s3, t)}
	}
	if t.Indexes > 0 {
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		job.Spec.Completions = ptr.To(t.Indexes)
		job.Spec.Parallelism = ptr.To(min(t.Indexes, cmp.Or(t.AtOnce, maxAtOnce)))
		job.Spec.BackoffLimitPerIndex = ptr.To(t.Retries)
	} else {
		job.Spec.BackoffLimit = ptr.To(t.Retries)
	}
	return job
}

// taskContainer returns the container that runs a cairn command.
func taskContainer(name string, args []string, with Installation, s3 *v1alpha1.S3Storage, t Task) corev1.Container {
	resources := taskResources(t)
	return corev1.Container{
		Name:            name,
		Image:           with.Image,
		ImagePullPolicy: with.PullPolicy,
		Args:            args,
		Env:             append(container.StorageEnv(s3), container.MemoryEnv(resources)...),
		Resources:       resources,
		VolumeMounts: append(container.StorageMounts(s3),
			corev1.VolumeMount{Name: scratchVolume, MountPath: scratchPath}),
		SecurityContext:          container.RestrictedAs(with.RunAsUser),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// PodFailurePolicy maps the exit codes of a pod to actions. The first matching rule applies.
func PodFailurePolicy(t Task) *batchv1.PodFailurePolicy {
	exit := func(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
		}}
	}
	rules := []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
		},
	}}
	if !t.Impatient {
		// The next pod follows after 10 s, 20 s, …, 10 min: failures that are not counted make the
		// pause longer, too.
		rules = append(rules, exit(batchv1.PodFailurePolicyActionIgnore, messages.ExitUnavailable))
	}
	badData := batchv1.PodFailurePolicyActionFailJob
	if t.Indexes > 0 {
		// Bad data of one run must not stop the work on the other runs.
		badData = batchv1.PodFailurePolicyActionFailIndex
	}
	return &batchv1.PodFailurePolicy{Rules: append(rules,
		// What the storage refuses to one pod it refuses to all.
		exit(batchv1.PodFailurePolicyActionFailJob, messages.ExitRefused),
		// More memory needs another Job: a retry in the same one is useless.
		exit(badData, messages.ExitBadData, messages.ExitKilled))}
}

// noProxies keep service meshes from adding a proxy to Cairn's pods: a Job never ends if its pod
// has one.
var noProxies = map[string]string{istioInject: "false", "linkerd.io/inject": "disabled"}

// taskMetadata returns the metadata of a Job: the template's, overridden by Cairn's labels.
func taskMetadata(labels map[string]string, template v1alpha1.TemplateMetadata) metav1.ObjectMeta {
	metadata := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	maps.Copy(metadata.Labels, template.Labels)
	maps.Copy(metadata.Labels, labels)
	maps.Copy(metadata.Annotations, template.Annotations)
	return metadata
}

// podMetadata returns the metadata of a pod. The template may request a proxy nevertheless.
func podMetadata(labels map[string]string, template v1alpha1.TemplateMetadata) metav1.ObjectMeta {
	metadata := taskMetadata(labels, template)
	for name, value := range noProxies {
		_, label := template.Labels[name]
		_, annotation := template.Annotations[name]
		if label || annotation {
			continue
		}
		metadata.Annotations[name] = value
		if name == istioInject {
			// Istio reads the label since 1.10, and the annotation before
			metadata.Labels[name] = value
		}
	}
	return metadata
}

// PullSecrets returns those of the job's launcher, those of the installation, and those named for
// the task.
func PullSecrets(owner *v1alpha1.TracedMPIJob, with Installation, template v1alpha1.ProcessingPodTemplate) []corev1.LocalObjectReference {
	secrets := slices.Clone(template.ImagePullSecrets)
	for _, secret := range with.PullSecrets {
		if !slices.Contains(secrets, secret) {
			secrets = append(secrets, secret)
		}
	}
	if launcher := owner.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeLauncher]; launcher != nil {
		for _, secret := range launcher.Template.Spec.ImagePullSecrets {
			if !slices.Contains(secrets, secret) {
				secrets = append(secrets, secret)
			}
		}
	}
	return secrets
}

// taskResources returns those of the template with defaults for missing values.
func taskResources(t Task) corev1.ResourceRequirements {
	resources := *t.Template.Resources.DeepCopy()
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
		if d.name == corev1.ResourceMemory && t.MemoryFactor > 1 {
			request.Mul(t.MemoryFactor)
			limit.Mul(t.MemoryFactor)
		}
		resources.Requests[d.name], resources.Limits[d.name] = request, limit
	}
	return resources
}
