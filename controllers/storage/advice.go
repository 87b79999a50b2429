package storage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
	"github.com/cairn-mpi/cairn/controllers/naming"
)

// Reason converts the reason in a command's message to one of the condition StorageReady.
func Reason(reason messages.StorageReason) string {
	known := []string{v1alpha1.ReasonCredentialsMissing, v1alpha1.ReasonAccessDenied, v1alpha1.ReasonBucketMissing, v1alpha1.ReasonUnreachable}
	if slices.Contains(known, string(reason)) {
		return string(reason)
	}
	return v1alpha1.ReasonStorageCheckFailed
}

// Advice returns what is wrong and the command that repairs it.
func Advice(trouble messages.StorageTrouble, namespace string, s3 *v1alpha1.S3Storage) string {
	if advice := identityAdvice(trouble, namespace, s3); advice != "" {
		return advice
	}
	create := fmt.Sprintf("kubectl -n %s create secret generic %s --from-literal=%s=… --from-literal=%s=…",
		namespace, s3.CredentialsSecretName, container.AccessKey, container.SecretKey)
	endpoint := cmp.Or(s3.Endpoint, "AWS")
	switch trouble.Reason {
	case v1alpha1.ReasonCredentialsMissing:
		return fmt.Sprintf("namespace %s has no usable credentials for bucket %s at %s: %s", namespace, s3.Bucket, endpoint, create)
	case v1alpha1.ReasonAccessDenied:
		return fmt.Sprintf("the credentials in Secret %s of namespace %s are refused for bucket %s at %s; to replace them: %s --dry-run=client -o yaml | kubectl apply -f - (%s)",
			s3.CredentialsSecretName, namespace, s3.Bucket, endpoint, create, trouble.Message)
	case v1alpha1.ReasonBucketMissing:
		return fmt.Sprintf("there is no bucket %s at %s: create it with `cairn make-bucket --store s3://%s`, or name another in spec.storage.s3.bucket (%s)",
			s3.Bucket, endpoint, s3.Bucket, trouble.Message)
	case v1alpha1.ReasonUnreachable:
		return fmt.Sprintf("no response from %s for bucket %s in namespace %s: correct spec.storage.s3.endpoint, or the network policy (%s)",
			endpoint, s3.Bucket, namespace, trouble.Message)
	default:
		return fmt.Sprintf("bucket %s at %s cannot be used in namespace %s: %s; for details: kubectl -n %s describe jobs,pods -l %s=%s",
			s3.Bucket, endpoint, namespace, trouble.Message, namespace, naming.StepLabel, naming.StepStorage)
	}
}
