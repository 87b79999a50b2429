package naming

import (
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// queueDomains are the domains of labels and annotations that queues and schedulers use on an
// MPIJob. Those of a TracedMPIJob are copied to its MPIJob, so that users can leave them where they
// were before the job was traced.
var queueDomains = []string{
	"kueue.x-k8s.io", "scheduling.x-k8s.io", "scheduling.k8s.io", "scheduling.volcano.sh", "volcano.sh", "yunikorn.apache.org", "kai.scheduler",
}

// forQueues returns the labels or annotations in these domains or their subdomains.
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

// MPIJobMetadata returns the labels and annotations of the MPIJob: those of the job for queues,
// overridden by those of the template, and Cairn's own labels, by which the operator finds it.
func MPIJobMetadata(job *v1alpha1.TracedMPIJob) (labels, annotations map[string]string) {
	labels, annotations = forQueues(job.Labels), forQueues(job.Annotations)
	maps.Copy(labels, job.Spec.MPIJobTemplate.Metadata.Labels)
	maps.Copy(annotations, job.Spec.MPIJobTemplate.Metadata.Annotations)
	maps.Copy(labels, Labels(job))
	return labels, annotations
}

// queueNames are the labels and annotations that name a queue.
var queueNames = []string{"kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name", "volcano.sh/queue-name", "kai.scheduler/queue"}

// QueueOf returns the queue of an object, in parentheses, or "" if it names none.
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
