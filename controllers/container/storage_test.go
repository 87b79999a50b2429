package container

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/store"
)

// optionsIn returns the options of a command in a container with this storage.
func optionsIn(t *testing.T, s3 *v1alpha1.S3Storage) store.S3Options {
	t.Helper()
	env := map[string]string{}
	for _, variable := range StorageEnv(s3) {
		env[variable.Name] = variable.Value
	}
	o, err := store.OptionsFromEnv(func(name string) string { return env[name] })
	require.NoError(t, err)
	return o
}

// fileIn checks that a file in a command's options is in a volume that the container mounts, and
// returns the volume.
func fileIn(t *testing.T, s3 *v1alpha1.S3Storage, file string) corev1.Volume {
	t.Helper()
	for _, mount := range StorageMounts(s3) {
		require.True(t, mount.ReadOnly)
		if mount.MountPath != path.Dir(file) {
			continue
		}
		for _, volume := range StorageVolumes(s3) {
			require.Contains(t, Volumes, volume.Name, "nobody else may mount it")
			if volume.Name == mount.Name {
				return volume
			}
		}
	}
	t.Fatalf("no mounted volume has %s", file)
	return corev1.Volume{}
}

func TestKeysOfASecret(t *testing.T) {
	s3 := &v1alpha1.S3Storage{Bucket: "traces", Endpoint: "https://minio:9000", CredentialsSecretName: "keys", CASecretName: "authorities"}
	o := optionsIn(t, s3)
	require.Empty(t, o.WebIdentity)
	secret := fileIn(t, s3, path.Join(o.CredentialsDir, "accessKey")).Secret
	require.Equal(t, "keys", secret.SecretName)
	require.True(t, *secret.Optional)
	var files []string
	for _, item := range secret.Items {
		require.Equal(t, item.Key, item.Path)
		files = append(files, item.Path)
	}
	require.Equal(t, []string{"accessKey", "secretKey", "sessionToken"}, files)
	require.Equal(t, "authorities", fileIn(t, s3, o.CAFile).Secret.SecretName)
}

func TestKeysForAToken(t *testing.T) {
	s3 := &v1alpha1.S3Storage{Bucket: "traces", CredentialsSecretName: "keys", WebIdentity: &v1alpha1.WebIdentity{
		Audience: "minio", RoleARN: "arn:aws:iam::1:role/traces", STSEndpoint: "https://sts.example.org",
	}}
	o := optionsIn(t, s3)
	require.Empty(t, o.CredentialsDir)
	require.Equal(t, "arn:aws:iam::1:role/traces", o.WebIdentity.RoleARN)
	require.Equal(t, "https://sts.example.org", o.WebIdentity.STSEndpoint)
	token := fileIn(t, s3, o.WebIdentity.TokenFile).Projected.Sources[0].ServiceAccountToken
	require.Equal(t, "minio", token.Audience)
	require.Equal(t, path.Base(o.WebIdentity.TokenFile), token.Path)
	require.EqualValues(t, 3600, *token.ExpirationSeconds)
	for _, volume := range StorageVolumes(s3) {
		require.Nil(t, volume.Secret, "no Secret is needed")
	}
}
