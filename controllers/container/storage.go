package container

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Names and places of what gives a container access to the storage.
const (
	CredentialsVolume = "cairn-credentials"
	CAVolume          = "cairn-ca"

	credentialsPath = "/etc/cairn/credentials"
	caPath          = "/etc/cairn/ca"
	caKey           = "ca.crt"

	// AccessKey and SecretKey are the keys of the credentials Secret.
	AccessKey = "accessKey"
	SecretKey = "secretKey"
)

// StorageEnv is how a container of Cairn's learns where the storage is.
func StorageEnv(s3 *v1alpha1.S3Storage) []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: "CAIRN_S3_CREDENTIALS_DIR", Value: credentialsPath}}
	if s3.Endpoint != "" {
		env = append(env, corev1.EnvVar{Name: "CAIRN_S3_ENDPOINT", Value: s3.Endpoint})
	}
	if s3.Region != "" {
		env = append(env, corev1.EnvVar{Name: "CAIRN_S3_REGION", Value: s3.Region})
	}
	if s3.PathStyle != nil {
		env = append(env, corev1.EnvVar{Name: "CAIRN_S3_PATH_STYLE", Value: strconv.FormatBool(*s3.PathStyle)})
	}
	if s3.CASecretName != "" {
		env = append(env, corev1.EnvVar{Name: "CAIRN_S3_CA_FILE", Value: path.Join(caPath, caKey)})
	}
	return env
}

// StorageMounts is where a container of Cairn's finds the credentials. They are a
// file and never in the environment, which crash reports and child processes see.
func StorageMounts(s3 *v1alpha1.S3Storage) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{{Name: CredentialsVolume, MountPath: credentialsPath, ReadOnly: true}}
	if s3.CASecretName != "" {
		mounts = append(mounts, corev1.VolumeMount{Name: CAVolume, MountPath: caPath, ReadOnly: true})
	}
	return mounts
}

// StorageVolumes are the volumes that StorageMounts mounts. A Secret that does not
// exist must not keep a pod from starting: the program says then what is missing.
func StorageVolumes(s3 *v1alpha1.S3Storage) []corev1.Volume {
	secret := func(volume, name string, keys ...string) corev1.Volume {
		source := &corev1.SecretVolumeSource{SecretName: name, Optional: ptr.To(true)}
		for _, key := range keys {
			source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: key})
		}
		return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: source}}
	}
	volumes := []corev1.Volume{secret(CredentialsVolume, s3.CredentialsSecretName, AccessKey, SecretKey)}
	if s3.CASecretName != "" {
		volumes = append(volumes, secret(CAVolume, s3.CASecretName, caKey))
	}
	return volumes
}
