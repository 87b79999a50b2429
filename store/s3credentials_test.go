package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// TestSessionToken: temporary keys are good with their token only, and a token that comes
// later counts at once.
func TestSessionToken(t *testing.T) {
	ctx := context.Background()
	m := minioForTest(t)
	url := "s3://" + m.bucket(t)
	role, err := credentials.NewSTSAssumeRole(m.endpoint, credentials.STSAssumeRoleOptions{AccessKey: rootUser, SecretKey: rootPassword})
	if err != nil {
		t.Fatal(err)
	}
	key, err := role.GetWithContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := m.options()
	o.CredentialsDir = t.TempDir()
	if err := writeKeys(o.CredentialsDir, key.AccessKeyID, key.SecretAccessKey); err != nil {
		t.Fatal(err)
	}
	s, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		err := Check(ctx, s)
		if ReasonOf(err) != AccessDenied || !strings.Contains(err.Error(), "session token") {
			t.Errorf("%s: %v", when, err)
		}
		for _, secret := range []string{key.SecretAccessKey, key.SessionToken} {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
				t.Errorf("%s: the error has a secret", when)
			}
		}
	}
	token := filepath.Join(o.CredentialsDir, "sessionToken")
	refused("without the token")
	if err := os.WriteFile(token, []byte(key.SessionToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(ctx, s); err != nil {
		t.Errorf("with the token: %v", err)
	}
	if err := os.WriteFile(token, []byte(key.SessionToken[:len(key.SessionToken)-4]), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("with another token")
}

// TestKeysOfOneVersion: the kubelet exchanges the files of a Secret all at once by a link,
// while they are read.
func TestKeysOfOneVersion(t *testing.T) {
	dir := t.TempDir()
	version := func(n int) {
		t.Helper()
		data := filepath.Join(dir, fmt.Sprintf("..%d", n))
		if err := os.MkdirAll(data, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"accessKey", "secretKey", "sessionToken"} {
			if err := os.WriteFile(filepath.Join(data, name), fmt.Append(nil, n), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(dir, "..new")
		if err := os.Symlink(filepath.Base(data), link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..%d", n-1)))
	}
	version(0)
	for _, name := range []string{"accessKey", "secretKey", "sessionToken"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; n < 500; n++ {
			version(n)
		}
	}()
	source := &keySource{directory: dir}
	for reads := 0; ; reads++ {
		value, err := source.Retrieve()
		if err != nil || value.AccessKeyID != value.SecretAccessKey || value.AccessKeyID != value.SessionToken {
			t.Fatalf("read %d: %+v, %v", reads, value, err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// A request whose deadline passes before the client asks for the key still reports that there is
// none.
func TestKeyIsMissingAtADeadline(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	s, err := Open("s3://bucket/job", S3Options{Endpoint: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(ctx, s); ReasonOf(err) != CredentialsMissing {
		t.Errorf("without a key: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	if err := Check(ctx, s); ReasonOf(err) != Unreachable {
		t.Errorf("with a key: %v", err)
	}
}
