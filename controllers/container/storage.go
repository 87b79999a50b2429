package container

import (
	"cmp"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Names and paths of what gives a container access to the storage.
const (
	CredentialsVolume = "cairn-credentials"
	CAVolume          = "cairn-ca"
	TokenVolume       = "cairn-token"

	credentialsPath = "/etc/cairn/credentials"
	caPath          = "/etc/cairn/ca"
	caKey           = "ca.crt"
	tokenPath       = "/etc/cairn/token"
	tokenKey        = "token"

	// tokenSeconds is the lifetime of an identity token. The kubelet renews it after four fifths of
	// that.
	tokenSeconds = 3600

	// AccessKey, SecretKey and SessionToken are the keys of the credentials Secret.
	AccessKey    = "accessKey"
	SecretKey    = "secretKey"
	SessionToken = "sessionToken"
)

// Volumes are the names of all volumes that StorageVolumes can return. No other container may mount
// them.
var Volumes = []string{CredentialsVolume, CAVolume, TokenVolume}

// StorageEnv returns the environment variables that tell Cairn's containers where the storage is.
func StorageEnv(s3 *v1alpha1.S3Storage) []corev1.EnvVar {
	var env []corev1.EnvVar
	set := func(name, value string) {
		if value != "" {
			env = append(env, corev1.EnvVar{Name: name, Value: value})
		}
	}
	if identity := s3.WebIdentity; identity != nil {
		set("CAIRN_S3_WEB_IDENTITY_TOKEN_FILE", path.Join(tokenPath, tokenKey))
		set("CAIRN_S3_ROLE_ARN", identity.RoleARN)
		set("CAIRN_S3_STS_ENDPOINT", identity.STSEndpoint)
	} else {
		set("CAIRN_S3_CREDENTIALS_DIR", credentialsPath)
	}
	set("CAIRN_S3_ENDPOINT", s3.Endpoint)
	set("CAIRN_S3_REGION", s3.Region)
	if s3.PathStyle != nil {
		set("CAIRN_S3_PATH_STYLE", strconv.FormatBool(*s3.PathStyle))
	}
	if s3.CASecretName != "" {
		set("CAIRN_S3_CA_FILE", path.Join(caPath, caKey))
	}
	return env
}

// StorageMounts returns the mounts of the credentials for Cairn's containers. Credentials are
// files, never environment variables, which crash reports and child processes see.
func StorageMounts(s3 *v1alpha1.S3Storage) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{{Name: CredentialsVolume, MountPath: credentialsPath, ReadOnly: true}}
	if s3.WebIdentity != nil {
		mounts = []corev1.VolumeMount{{Name: TokenVolume, MountPath: tokenPath, ReadOnly: true}}
	}
	if s3.CASecretName != "" {
		mounts = append(mounts, corev1.VolumeMount{Name: CAVolume, MountPath: caPath, ReadOnly: true})
	}
	return mounts
}

// StorageVolumes returns the volumes that StorageMounts mounts.
func StorageVolumes(s3 *v1alpha1.S3Storage) []corev1.Volume {
	volumes := []corev1.Volume{secretVolume(CredentialsVolume, s3.CredentialsSecretName, AccessKey, SecretKey, SessionToken)}
	if s3.WebIdentity != nil {
		volumes = []corev1.Volume{tokenVolume(s3.WebIdentity)}
	}
	if s3.CASecretName != "" {
		volumes = append(volumes, secretVolume(CAVolume, s3.CASecretName, caKey))
	}
	return volumes
}

// secretVolume returns a volume with some keys of a Secret. The Secret is optional, since a missing
// one must not keep a pod from starting: the program then reports what is missing.
func secretVolume(volume, name string, keys ...string) corev1.Volume {
	source := &corev1.SecretVolumeSource{SecretName: name, Optional: ptr.To(true)}
	for _, key := range keys {
		source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: key})
	}
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: source}}
}

// tokenVolume returns a volume with a token of the pod's service account for the STS. The token is
// not valid for the API server, and only containers that mount this volume have it.
func tokenVolume(identity *v1alpha1.WebIdentity) corev1.Volume {
	return corev1.Volume{Name: TokenVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Audience:          cmp.Or(identity.Audience, v1alpha1.DefaultTokenAudience),
			ExpirationSeconds: ptr.To[int64](tokenSeconds),
			Path:              tokenKey,
		}}},
	}}}
}
