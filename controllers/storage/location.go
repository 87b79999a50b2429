package storage

import (
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// JobURI returns the URI below which all objects of the job are. No other job has objects there,
// not even an earlier one with the same name.
func JobURI(s3 *v1alpha1.S3Storage, job *v1alpha1.TracedMPIJob) string {
	return NamespaceURI(s3, job.Namespace) + "/" + path.Join(job.Name, string(job.UID))
}

// NamespaceURI returns the URI below which the jobs of a namespace write. A key of that namespace
// must give access to it.
func NamespaceURI(s3 *v1alpha1.S3Storage, namespace string) string {
	return "s3://" + path.Join(s3.Bucket, strings.Trim(s3.Prefix, "/"), namespace)
}
