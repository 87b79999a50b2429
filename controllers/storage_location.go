package controllers

import (
	"cmp"
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// s3 is the storage of the job: the one it is pinned to, or else the one that is configured; nil if there is none.
func (p *pass) s3() *v1alpha1.S3Storage {
	if pinned := p.job.Status.Storage; pinned != nil {
		return pinned.DeepCopy()
	}
	return p.configuredStorage()
}

// configuredStorage is the job's own storage, or the installation's; nil if neither names one.
func (p *pass) configuredStorage() *v1alpha1.S3Storage {
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

// image is Cairn's image for this job: the one it is pinned to, or else the operator's present one.
func (p *pass) image() string { return cmp.Or(p.job.Status.Image, p.Image) }

// settings are those of the installation, with what the job is pinned to.
func (p *pass) settings() Settings {
	settings := p.Settings
	settings.Image = p.image()
	return settings
}

// pin notes what the job is injected with and processed by from now on, whatever is configured later: data lie where
// they were written, and are read by the image that wrote them.
func (p *pass) pin(s3 *v1alpha1.S3Storage) {
	status := &p.job.Status
	status.Storage, status.Image = s3, p.image()
	if status.MPIJobRef == nil || status.StorageURI == "" {
		status.StorageURI = storageURI(s3, p.job)
	}
}

// storageURI is where everything of the job lies: no other job's objects are below
// it, not even those of an earlier one of the same name.
func storageURI(s3 *v1alpha1.S3Storage, job *v1alpha1.TracedMPIJob) string {
	return namespaceURI(s3, job.Namespace) + "/" + path.Join(job.Name, string(job.UID))
}

// namespaceURI is where the jobs of a namespace write: what a key of that namespace must be good for.
func namespaceURI(s3 *v1alpha1.S3Storage, namespace string) string {
	return "s3://" + path.Join(s3.Bucket, strings.Trim(s3.Prefix, "/"), namespace)
}
