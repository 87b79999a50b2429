package v1alpha1

// DeletionPolicy is what happens to traces and reports when the TracedMPIJob is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionPolicyRetain keeps them in the bucket.
	DeletionPolicyRetain DeletionPolicy = "Retain"
	// DeletionPolicyDelete deletes them.
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// DefaultCredentialsSecretName is the default name of the Secret in the job's namespace.
const DefaultCredentialsSecretName = "cairn-storage"

// DefaultTokenAudience is the audience that AWS requires. Other stores can be configured to use it.
const DefaultTokenAudience = "sts.amazonaws.com"

// Storage is where traces and reports are stored. It names at most one kind of storage. Without
// one, the default of this installation is used.
type Storage struct {
	// S3 is a bucket of an S3-compatible object store.
	// +optional
	S3 *S3Storage `json:"s3,omitempty"`

	// DeletionPolicy: Retain keeps traces and reports in the bucket when this object is deleted;
	// Delete deletes them first.
	// +optional
	// +kubebuilder:default:=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// S3Storage is a bucket of an S3-compatible object store. A job writes below
// <bucket>/<prefix>/<namespace>/<name>/<uid>/.
//
// +kubebuilder:validation:XValidation:rule="!has(self.webIdentity) || has(self.endpoint) || has(self.webIdentity.roleARN)",message="AWS issues keys only for a role: set webIdentity.roleARN, or endpoint for another store"
type S3Storage struct {
	// Endpoint is the address of the store, such as https://s3.example.org or
	// http://minio.storage:9000. The default is AWS.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[^/\s]+/?$`
	Endpoint string `json:"endpoint,omitempty"`

	// Bucket must exist.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`
	Bucket string `json:"bucket"`

	// Prefix of all objects in the bucket, such as team-a/traces. A leading or trailing slash is
	// ignored.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^/?([A-Za-z0-9!_.*'()=@:+,~-]+(/[A-Za-z0-9!_.*'()=@:+,~-]+)*/?)?$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.][.]?(/|$)')",message="prefix may not have . or .. between slashes"
	Prefix string `json:"prefix,omitempty"`

	// Region of the bucket, if the store has regions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region,omitempty"`

	// PathStyle puts the bucket into the path of requests (true) or into the host name (false). By
	// default it depends on the endpoint.
	// +optional
	PathStyle *bool `json:"pathStyle,omitempty"`

	// CASecretName is a Secret in the job's namespace. Its key ca.crt contains the certificate
	// authorities of the endpoint, in PEM.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CASecretName string `json:"caSecretName,omitempty"`

	// CredentialsSecretName is a Secret in the job's namespace with the keys accessKey and
	// secretKey and, for temporary keys, sessionToken. Only Cairn's own containers mount it, and
	// with webIdentity nothing does.
	// +optional
	// +kubebuilder:default:="cairn-storage"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// WebIdentity makes the store issue temporary keys for the pods' service accounts, instead of
	// the keys in a Secret.
	// +optional
	WebIdentity *WebIdentity `json:"webIdentity,omitempty"`
}

// WebIdentity configures how the store's security token service (STS) identifies those who request
// keys. Cairn's own containers get a projected token of their pod's service account, and exchange
// it there (AssumeRoleWithWebIdentity). The service accounts of the launcher, the workers, the
// merge and the analyses must be allowed to do so.
type WebIdentity struct {
	// Audience of the token, as the STS expects it.
	// +optional
	// +kubebuilder:default:="sts.amazonaws.com"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Audience string `json:"audience,omitempty"`

	// RoleARN is the role for which keys are requested. AWS requires one. MinIO can decide by the
	// token's claims.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^\S+$`
	RoleARN string `json:"roleARN,omitempty"`

	// STSEndpoint is the address of the STS. The default is AWS's for AWS, and the store's own
	// address for other stores, as with MinIO.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[^/\s]+/?$`
	STSEndpoint string `json:"stsEndpoint,omitempty"`
}
