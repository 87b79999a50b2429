package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
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
		{"role without audience", []string{"--image=i", "--s3-bucket=b", "--s3-web-identity-role-arn=r"}, "--s3-web-identity-audience"},
		{"AWS without role", []string{"--image=i", "--s3-bucket=b", "--s3-web-identity-audience=a"}, "--s3-web-identity-role-arn"},
		{"user", []string{"--image=i", "--run-as-user=root"}, `"root"`},
		{"user root", []string{"--image=i", "--run-as-user=0"}, `"0"`},
		{"retry", []string{"--image=i", "--retry=0s"}, "--retry"},
		{"concurrency", []string{"--image=i", "--concurrency=0"}, "--concurrency"},
		{"prefix out of the bucket", []string{"--image=i", "--s3-bucket=b", "--s3-prefix=lab/../.."}, "--s3-prefix"},
		{"prefix with an empty part", []string{"--image=i", "--s3-bucket=b", "--s3-prefix=lab//a"}, "--s3-prefix"},
		{"storage wait", []string{"--image=i", "--storage-wait=0s"}, "--storage-wait"},
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
	o.image, o.s3.Bucket, o.s3PathStyle, o.s3.Prefix = "i", "traces", "true", "lab/"
	settings, err := o.settings()
	require.NoError(t, err)
	require.Equal(t, corev1.PullIfNotPresent, settings.PullPolicy)
	require.True(t, *settings.Storage.PathStyle)
	require.Equal(t, 4, settings.Concurrency)
	require.Equal(t, "cairn-storage", settings.Storage.CredentialsSecretName)
	require.Nil(t, settings.Storage.WebIdentity)

	o.s3.Endpoint, o.webIdentity.Audience = "http://minio:9000", "sts.amazonaws.com"
	settings, err = o.settings()
	require.NoError(t, err)
	require.Equal(t, "sts.amazonaws.com", settings.Storage.WebIdentity.Audience)

	o.s3 = v1alpha1.S3Storage{}
	require.EqualValues(t, 65532, *settings.RunAsUser)

	o.s3.Bucket, o.runAsUser, o.pullSecrets = "", "unset", []string{"pull"}
	settings, err = o.settings()
	require.Nil(t, settings.RunAsUser)
	require.Equal(t, []corev1.LocalObjectReference{{Name: "pull"}}, settings.PullSecrets)
	require.NoError(t, err)
	require.Nil(t, settings.Storage)
}

// TestMinIOUsersNeedsItsList: a list that cannot be read is not an empty one, for which all users
// would be removed.
func TestMinIOUsersNeedsItsList(t *testing.T) {
	o := minioUsers{endpoint: "http://127.0.0.1:1", admin: t.TempDir(), namespaces: "/nowhere"}
	_, err := o.round(t.Context())
	require.ErrorContains(t, err, "the list of namespaces cannot be read")
	o.namespaces = "/dev/null"
	_, err = o.round(t.Context())
	require.ErrorContains(t, err, "accessKey")
}

// The flag accepts what the CRD accepts: a job's status has the storage that it uses.
func TestPrefixPatternIsThatOfTheCRD(t *testing.T) {
	crd, err := os.ReadFile("../../config/crd/cairn.dev_tracedmpijobs.yaml")
	require.NoError(t, err)
	require.Contains(t, string(crd), "pattern: "+prefixPattern.String()+"\n")
}
