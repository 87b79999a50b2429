package refusal

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestWhatIsARefusal(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	for _, test := range []struct {
		name            string
		err             error
		refusal, schema bool
	}{
		{"forbidden", apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota: few")), true, false},
		{"bad request", apierrors.NewBadRequest("no"), true, false},
		{"too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), true, false},
		{"a webhook's own code", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 418, Message: `admission webhook "x" denied the request: tea only`}}, true, false},
		{"webhook away", apierrors.NewInternalError(errors.New(`failed calling webhook "x": connection refused`)), true, false},
		{"quota away", apierrors.NewInternalError(errors.New("resource quota evaluation timed out")), true, false},
		{"etcd away", apierrors.NewInternalError(errors.New("etcdserver: request timed out")), false, false},
		{"schema", apierrors.NewInvalid(schema.GroupKind{Kind: "MPIJob"}, "x", field.ErrorList{field.Required(field.NewPath("spec"), "")}), true, true},
		{"policy that says Invalid", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
			Message: `ValidatingAdmissionPolicy 'x' with binding 'x' denied request: no`,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "no"}}}}}, true, false},
		{"webhook that names a field", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
			Message: `admission webhook "x" denied the request: spec: no`,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "spec", Message: "no"}}}}}, true, false},
		{"conflict", apierrors.NewConflict(jobs, "x", errors.New("changed")), false, false},
		{"exists", apierrors.NewAlreadyExists(jobs, "x"), false, false},
		{"gone", apierrors.NewNotFound(jobs, "x"), false, false},
		{"busy", apierrors.NewTooManyRequests("later", 1), false, false},
		{"token", apierrors.NewUnauthorized("expired"), false, false},
		{"network", errors.New("connection refused"), false, false},
		{"nothing", nil, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.refusal, Is(test.err))
			require.Equal(t, test.schema, BySchema(test.err))
		})
	}
	require.Equal(t, "exceeded quota: few", Words(apierrors.NewForbidden(jobs, "x", errors.New("exceeded\n quota: few"))))
}
