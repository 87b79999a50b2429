package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // of the error
	}{
		{"no image", nil, "--image is missing"},
		{"pull policy", []string{"--image=i", "--image-pull-policy=Sometimes"}, `"Sometimes"`},
		{"endpoint without bucket", []string{"--image=i", "--s3-endpoint=http://x"}, "--s3-bucket"},
		{"path style", []string{"--image=i", "--s3-bucket=b", "--s3-path-style=maybe"}, `"maybe"`},
		{"retry", []string{"--image=i", "--retry=0s"}, "--retry"},
		{"log level", []string{"--image=i", "--log-level=loud"}, `"loud"`},
		{"unknown flag", []string{"--imgae=i"}, "unknown flag"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := newCommand()
			command.SetArgs(test.args)
			err := command.ExecuteContext(t.Context())
			require.ErrorContains(t, err, test.want)
			require.Equal(t, exitUsage, exitCode(err))
		})
	}

	o := defaults()
	o.image, o.s3.Bucket, o.s3PathStyle = "i", "traces", "true"
	settings, err := o.settings()
	require.NoError(t, err)
	require.Equal(t, corev1.PullIfNotPresent, settings.PullPolicy)
	require.True(t, *settings.Storage.PathStyle)
	require.Equal(t, "cairn-storage", settings.Storage.CredentialsSecretName)

	o.s3.Bucket = ""
	settings, err = o.settings()
	require.NoError(t, err)
	require.Nil(t, settings.Storage)
}

func TestMinIOUsersNeedsItsFiles(t *testing.T) {
	o := minioUsers{endpoint: "http://127.0.0.1:1", admin: t.TempDir(), users: t.TempDir()}
	_, err := o.ensure(t.Context())
	require.ErrorContains(t, err, "accessKey")
}
