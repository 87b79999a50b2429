package storage

import (
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// JobURI is where everything of the job lies: no other job's objects are below
// it, not even those of an earlier one of the same name.
func JobURI(s3 *v1alpha1.S3Storage, job *v1alpha1.TracedMPIJob) string {
	return NamespaceURI(s3, job.Namespace) + "/" + path.Join(job.Name, string(job.UID))
}

// NamespaceURI is where the jobs of a namespace write: what a key of that namespace must be good for.
func NamespaceURI(s3 *v1alpha1.S3Storage, namespace string) string {
	return "s3://" + path.Join(s3.Bucket, strings.Trim(s3.Prefix, "/"), namespace)
}
