package naming

import (
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// queueDomains are those of the labels and annotations by which queues and schedulers know an MPIJob. Those of a
// TracedMPIJob are passed on to its MPIJob, so that they may stay where they were before the job was traced.
var queueDomains = []string{
	"kueue.x-k8s.io", "scheduling.x-k8s.io", "scheduling.k8s.io", "scheduling.volcano.sh", "volcano.sh", "yunikorn.apache.org", "kai.scheduler",
}

// forQueues are the labels or annotations that are meant for a queue, a subdomain's too.
func forQueues(of map[string]string) map[string]string {
	found := map[string]string{}
	for key, value := range of {
		domain, _, qualified := strings.Cut(key, "/")
		for _, queue := range queueDomains {
			if qualified && (domain == queue || strings.HasSuffix(domain, "."+queue)) {
				found[key] = value
			}
		}
	}
	return found
}

// MPIJobMetadata are the labels and annotations of the MPIJob: what the job has for queues, what the template has, which
// counts more, and our own labels, by which we find it again.
func MPIJobMetadata(job *v1alpha1.TracedMPIJob) (labels, annotations map[string]string) {
	labels, annotations = forQueues(job.Labels), forQueues(job.Annotations)
	maps.Copy(labels, job.Spec.MPIJobTemplate.Metadata.Labels)
	maps.Copy(annotations, job.Spec.MPIJobTemplate.Metadata.Annotations)
	maps.Copy(labels, Labels(job))
	return labels, annotations
}

// queueNames are the labels and annotations that name a queue.
var queueNames = []string{"kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name", "volcano.sh/queue-name", "kai.scheduler/queue"}

// QueueOf says, in brackets, which queue an object is in; "" if none is named.
func QueueOf(object client.Object) string {
	for _, key := range queueNames {
		for _, of := range []map[string]string{object.GetLabels(), object.GetAnnotations()} {
			if name := of[key]; name != "" {
				return fmt.Sprintf(" (%s is %s)", key, name)
			}
		}
	}
	return ""
}
