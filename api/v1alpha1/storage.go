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

	// Prefix of all objects in the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^\s?#]*$`
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
	// accessKey and secretKey. It is mounted into Cairn's own containers only.
	// +optional
	// +kubebuilder:default:="cairn-storage"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`
}
