package minioadmin

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/miniotest"
	"github.com/cairn-mpi/cairn/store"
)

// startMinIO starts a real server with a bucket "traces", for one test.
func startMinIO(t *testing.T) Server {
	t.Helper()
	endpoint, stop, err := miniotest.Start()
	require.NoError(t, err)
	t.Cleanup(stop)
	server := Server{Endpoint: endpoint, AccessKey: miniotest.RootUser, SecretKey: miniotest.RootPassword}
	keys := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(keys, "accessKey"), []byte(server.AccessKey), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "secretKey"), []byte(server.SecretKey), 0o600))
	require.NoError(t, store.MakeBucket(context.Background(), "s3://traces", store.S3Options{Endpoint: endpoint, CredentialsDir: keys}))
	return server
}

// as opens a prefix of the bucket with a user's key.
func (s Server) as(t *testing.T, u User, prefix string) store.Store {
	t.Helper()
	return s.asSession(t, credentials.Value{AccessKeyID: u.AccessKey, SecretAccessKey: u.SecretKey}, prefix)
}

// asSession opens a prefix of the bucket with a key that may have a session token.
func (s Server) asSession(t *testing.T, key credentials.Value, prefix string) store.Store {
	t.Helper()
	keys := t.TempDir()
	for name, content := range map[string]string{
		"accessKey": key.AccessKeyID, "secretKey": key.SecretAccessKey, "sessionToken": key.SessionToken,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(keys, name), []byte(content), 0o600))
	}
	opened, err := store.Open("s3://traces/"+prefix, store.S3Options{Endpoint: s.Endpoint, CredentialsDir: keys})
	require.NoError(t, err)
	return opened
}

func TestUsersAreLimitedToTheirPrefix(t *testing.T) {
	ctx := context.Background()
	server := startMinIO(t)
	users := map[string]User{}
	for _, namespace := range []string{"team-a", "team-b", "team"} {
		policy, err := PrefixPolicy("traces", "lab/"+namespace)
		require.NoError(t, err)
		user := User{AccessKey: "cairn-" + namespace, SecretKey: "secret-of-" + namespace, Policy: policy}
		require.Eventually(t, func() bool { err = server.EnsureUser(ctx, user); return err == nil },
			20*time.Second, 50*time.Millisecond, "%v", err)
		require.NoError(t, server.EnsureUser(ctx, user), "a second time changes nothing")
		users[namespace] = user
	}

	for _, namespace := range []string{"team-a", "team-b", "team"} {
		mine := server.as(t, users[namespace], "lab/"+namespace+"/job/uid")
		require.NoError(t, store.Check(ctx, mine))
		_, err := mine.Get(ctx, "missing")
		require.True(t, store.IsNotFound(err), "what is missing is told from what is forbidden: %v", err)
		content := []byte("trace")
		require.NoError(t, mine.Put(ctx, "a/b", bytes.NewReader(content), int64(len(content))))
		objects, err := mine.List(ctx, "")
		require.NoError(t, err)
		require.Len(t, objects, 1)
	}
	for mine, other := range map[string]string{"team-a": "team-b", "team": "team-a", "team-b": "team"} {
		theirs := server.as(t, users[mine], "lab/"+other+"/job/uid")
		for operation, err := range map[string]error{
			"write": store.Check(ctx, theirs),
			"read": func() error {
				body, err := theirs.Get(ctx, "a/b")
				if err == nil {
					body.Close()
				}
				return err
			}(),
			"list":   func() error { _, err := theirs.List(ctx, ""); return err }(),
			"delete": theirs.Delete(ctx, "a/b"),
			"list everything": func() error {
				_, err := server.as(t, users[mine], "").List(ctx, "")
				return err
			}(),
		} {
			require.Equal(t, store.AccessDenied, store.ReasonOf(err), "%s of %s by %s: %v", operation, other, mine, err)
		}
	}

	// A new key replaces the old one.
	old := users["team-a"]
	changed := old
	changed.SecretKey = "another-secret"
	require.NoError(t, server.EnsureUser(ctx, changed))
	require.NoError(t, store.Check(ctx, server.as(t, changed, "lab/team-a")))
	require.Error(t, store.Check(ctx, server.as(t, old, "lab/team-a")))
}

func TestWrongPassword(t *testing.T) {
	server := startMinIO(t)
	server.SecretKey = "guessed-it"
	policy, err := PrefixPolicy("traces", "x")
	require.NoError(t, err)
	user := User{AccessKey: "user", SecretKey: "password", Policy: policy}
	require.Eventually(t, func() bool {
		err = server.EnsureUser(context.Background(), user)
		return !strings.Contains(err.Error(), "not initialized")
	}, 20*time.Second, 50*time.Millisecond)
	require.ErrorContains(t, err, "403")
}

func TestSealRefusesLongRequests(t *testing.T) {
	_, err := seal("password", make([]byte, fragmentSize+1))
	require.Error(t, err)
}
