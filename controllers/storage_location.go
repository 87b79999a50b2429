package controllers

import (
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// s3 is the storage of the job: its own, or the installation's; nil if neither
// names one.
func (p *pass) s3() *v1alpha1.S3Storage {
	s3 := p.job.Spec.Storage.S3
	if s3 == nil {
		s3 = p.Settings.Storage
	}
	if s3 == nil || s3.Bucket == "" {
		return nil
	}
	s3 = s3.DeepCopy()
	if s3.CredentialsSecretName == "" {
		s3.CredentialsSecretName = v1alpha1.DefaultCredentialsSecretName
	}
	return s3
}

// storageURI is where everything of the job lies: no other job's objects are below
// it, not even those of an earlier one of the same name.
func storageURI(s3 *v1alpha1.S3Storage, job *v1alpha1.TracedMPIJob) string {
	return "s3://" + path.Join(s3.Bucket, strings.Trim(s3.Prefix, "/"), job.Namespace, job.Name, string(job.UID))
}
