package v1alpha1

// DeletionPolicy says what happens to traces and reports when the TracedMPIJob
// is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionPolicyRetain leaves them in the bucket.
	DeletionPolicyRetain DeletionPolicy = "Retain"
	// DeletionPolicyDelete deletes them.
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// DefaultCredentialsSecretName is the Secret looked for in the job's namespace.
const DefaultCredentialsSecretName = "cairn-storage"

// DefaultTokenAudience is the audience that AWS asks for, and that other stores can be told to.
const DefaultTokenAudience = "sts.amazonaws.com"

// Storage says where traces and reports go. It names at most one kind of
// storage; without one, the default of this installation is used.
type Storage struct {
	// S3 is a bucket of an S3-compatible object store.
	// +optional
	S3 *S3Storage `json:"s3,omitempty"`

	// DeletionPolicy: Retain leaves traces and reports in the bucket when this
	// object is deleted; Delete deletes them first.
	// +optional
	// +kubebuilder:default:=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// S3Storage is a bucket of an S3-compatible object store. A job writes below
// <bucket>/<prefix>/<namespace>/<name>/<uid>/.
//
// +kubebuilder:validation:XValidation:rule="!has(self.webIdentity) || has(self.endpoint) || has(self.webIdentity.roleARN)",message="AWS gives keys for a role only: set webIdentity.roleARN, or endpoint for another store"
type S3Storage struct {
	// Endpoint is the address of the store, such as https://s3.example.org or
	// http://minio.storage:9000. Without it, that of AWS.
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

	// Prefix of all objects in the bucket, such as team-a/traces. A slash before or after
	// it does not count.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^/?([A-Za-z0-9!_.*'()=@:+,~-]+(/[A-Za-z0-9!_.*'()=@:+,~-]+)*/?)?$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|/)[.][.]?(/|$)')",message="prefix may not have . or .. between slashes"
	Prefix string `json:"prefix,omitempty"`

	// Region of the bucket, if the store has regions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region,omitempty"`

	// PathStyle puts the bucket into the path of requests (true) or into the host
	// name (false). Without it, the client decides by the endpoint.
	// +optional
	PathStyle *bool `json:"pathStyle,omitempty"`

	// CASecretName is a Secret in the job's namespace whose key ca.crt holds the
	// certificate authorities of the endpoint, in PEM.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CASecretName string `json:"caSecretName,omitempty"`

	// CredentialsSecretName is a Secret in the job's namespace with the keys
	// accessKey and secretKey and, for temporary keys, sessionToken. It is mounted
	// into Cairn's own containers only, and not at all with webIdentity.
	// +optional
	// +kubebuilder:default:="cairn-storage"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`

	// WebIdentity has the store give temporary keys for the pods' service account,
	// instead of those of a Secret.
	// +optional
	WebIdentity *WebIdentity `json:"webIdentity,omitempty"`
}

// WebIdentity is how the store's security token service (STS) knows who asks for
// keys: Cairn's own containers get a projected token of their pod's service account,
// and exchange it there (AssumeRoleWithWebIdentity). The launcher's and the workers'
// service accounts must be allowed to, and those of merge and analyses.
type WebIdentity struct {
	// Audience of the token, as the STS expects it.
	// +optional
	// +kubebuilder:default:="sts.amazonaws.com"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Audience string `json:"audience,omitempty"`

	// RoleARN is the role to ask keys for. AWS needs one; MinIO can decide by the
	// token's claims.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^\S+$`
	RoleARN string `json:"roleARN,omitempty"`

	// STSEndpoint is the address of the STS. Without it, that of AWS for AWS, and
	// the store's own for others, as MinIO has it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[^/\s]+/?$`
	STSEndpoint string `json:"stsEndpoint,omitempty"`
}
