package controllers

import (
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// storageURI is where everything of the job lies: no other job's objects are below
// it, not even those of an earlier one of the same name.
func storageURI(s3 *v1alpha1.S3Storage, job *v1alpha1.TracedMPIJob) string {
	return namespaceURI(s3, job.Namespace) + "/" + path.Join(job.Name, string(job.UID))
}

// namespaceURI is where the jobs of a namespace write: what a key of that namespace must be good for.
func namespaceURI(s3 *v1alpha1.S3Storage, namespace string) string {
	return "s3://" + path.Join(s3.Bucket, strings.Trim(s3.Prefix, "/"), namespace)
}
