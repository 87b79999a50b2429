package storage

import (
	"cmp"
	"fmt"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// identityAdvice returns what an administrator of the store must allow if keys are issued for the
// pods' service accounts. It is "" if keys come from a Secret, or if something else is wrong.
func identityAdvice(trouble messages.StorageTrouble, namespace string, s3 *v1alpha1.S3Storage) string {
	identity := s3.WebIdentity
	if identity == nil || trouble.Reason != v1alpha1.ReasonCredentialsMissing && trouble.Reason != v1alpha1.ReasonAccessDenied {
		return ""
	}
	role := ""
	if identity.RoleARN != "" {
		role = " to assume " + identity.RoleARN + ", and that role"
	}
	return fmt.Sprintf("the service accounts of namespace %s have no access to bucket %s: allow subjects "+
		"system:serviceaccount:%s:* with audience %s%s to read, write, list and delete below %s (%s)",
		namespace, s3.Bucket, namespace, cmp.Or(identity.Audience, v1alpha1.DefaultTokenAudience), role,
		storagePrefix(s3, namespace), trouble.Message)
}

// storagePrefix returns the prefix of all objects of a namespace.
func storagePrefix(s3 *v1alpha1.S3Storage, namespace string) string {
	job := &v1alpha1.TracedMPIJob{}
	job.Namespace = namespace
	return JobURI(s3, job)
}
