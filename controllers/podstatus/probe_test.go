package podstatus

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// If the volume has no room for the probe, its command is true(1), which has no message: then the
// message of the installation counts. A message of the probe takes precedence.
func TestInstallationThatFailed(t *testing.T) {
	verdict := setup.Install(setup.InstallOptions{To: "/proc/nowhere", Binary: "/bin/true", Libraries: "/nowhere"})
	require.Equal(t, messages.ProbeInternalError, verdict.Reason)
	raw, err := json.Marshal(verdict)
	require.NoError(t, err)
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w-0"}}
	for _, test := range []struct {
		name, install, probe string
		reason, message      string
	}{
		{"the probe says nothing", string(raw), "", "InternalError", "pod w-0: cannot install the tracer: "},
		{"the probe says something", string(raw), `{"reason":"NoMPI","message":"none"}`, "NoMPI", "pod w-0: none"},
		{"neither does", "", "", v1alpha1.ReasonProbeFailed, "without a result"},
		{"a good installation", `{"traceable":true}`, "", v1alpha1.ReasonProbeFailed, "without a result"},
		{"a forged reason", `{"reason":"no reason","message":"x"}`, "", v1alpha1.ReasonProbeFailed, "without a result"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{endedContainer(inject.InstallContainer, test.install, 0), endedContainer(inject.ProbeContainer, test.probe, 0)}
			status, reason, message := ProbeVerdict([]corev1.Pod{pod})
			require.Equal(t, metav1.ConditionFalse, status)
			require.Equal(t, test.reason, reason)
			require.Contains(t, message, test.message)
		})
	}
}
