package store

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/minioadmin"
)

// userWithout creates a user of the server who has the permissions that a job needs in the bucket,
// except for some actions.
func (m minioServer) userWithout(t *testing.T, name, bucket string, actions ...string) S3Options {
	t.Helper()
	type statement struct {
		Effect           string
		Action, Resource []string
	}
	statements := []statement{{"Allow", []string{"s3:*"}, []string{"arn:aws:s3:::" + bucket, "arn:aws:s3:::" + bucket + "/*"}}}
	if len(actions) > 0 {
		statements = append(statements, statement{"Deny", actions, statements[0].Resource})
	}
	policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	require.NoError(t, err)
	admin := minioadmin.Server{Endpoint: m.endpoint, AccessKey: rootUser, SecretKey: rootPassword}
	const secret = "a-secret-of-a-user"
	require.NoError(t, admin.EnsureUser(context.Background(), minioadmin.User{AccessKey: name, SecretKey: secret, Policy: policy}))
	o := m.options()
	o.CredentialsDir = filepath.Join(t.TempDir(), "credentials")
	require.NoError(t, writeKeys(o.CredentialsDir, name, secret))
	return o
}

// A key that lacks one right is refused before the job runs, not when the merge needs it.
func TestCheckFindsEveryRightThatIsMissing(t *testing.T) {
	m := minioForTest(t)
	bucket := m.bucket(t)
	url := "s3://" + bucket + "/jobs"
	all, err := Open(url, m.userWithout(t, "may-all", bucket))
	require.NoError(t, err)
	require.NoError(t, Check(t.Context(), all))
	for action, word := range map[string]string{
		"s3:ListBucket": "list", "s3:DeleteObject": "delete", "s3:GetObject": "read", "s3:PutObject": "write",
	} {
		t.Run(action, func(t *testing.T) {
			expect(t, url, m.userWithout(t, "may-not-"+word, bucket, action), AccessDenied, "cannot "+word, "allow this key to", "list")
		})
	}
	s, err := Open(url, m.options())
	require.NoError(t, err)
	left, err := s.List(t.Context(), "")
	require.NoError(t, err)
	for _, object := range left {
		require.Contains(t, object.Key, ".cairn-check-")
	}
	require.LessOrEqual(t, len(left), 1, "only the user who may not delete leaves anything")
}

// A store that answers 403 for a missing object cannot be used, even if it lets the key list.
func TestCheckReadsAMissingObject(t *testing.T) {
	s := &refusesMissing{Store: newDirectory(t.TempDir())}
	err := Check(t.Context(), s)
	require.Equal(t, AccessDenied, ReasonOf(err))
	require.ErrorContains(t, err, "allow this key to list")
	left, err := s.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, left)
}

type refusesMissing struct{ Store }

func (s *refusesMissing) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := s.Store.Get(ctx, key)
	if IsNotFound(err) {
		return nil, &Error{Op: "read", URL: s.URL(key), Reason: AccessDenied, Message: "403"}
	}
	return body, err
}
