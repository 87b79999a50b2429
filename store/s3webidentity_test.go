package store

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-mpi/cairn/internal/minioadmin"
)

const audience = "sts.amazonaws.com"

// subject is how Kubernetes names a service account in its tokens.
func subject(namespace string) string { return "system:serviceaccount:" + namespace + ":default" }

// minioTrusting is a server that believes an identity provider.
func minioTrusting(t *testing.T, provider *identityProvider, environment ...string) minioServer {
	t.Helper()
	m, stop, err := runMinio(append(environment,
		"MINIO_IDENTITY_OPENID_CONFIG_URL="+provider.server.URL+"/.well-known/openid-configuration",
		"MINIO_IDENTITY_OPENID_CLIENT_ID="+audience)...)
	if stop != nil {
		t.Cleanup(stop)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := MakeBucket(context.Background(), "s3://traces", m.options()); err != nil {
		t.Fatal(err)
	}
	return m
}

// minioWithIdentities lets the service account of each namespace into the prefix of its namespace:
// there is a policy of the subject's name, as the documentation says.
func minioWithIdentities(t *testing.T, provider *identityProvider, namespaces ...string) minioServer {
	t.Helper()
	m := minioTrusting(t, provider, "MINIO_IDENTITY_OPENID_CLAIM_NAME=sub")
	admin := minioadmin.Server{Endpoint: m.endpoint, AccessKey: rootUser, SecretKey: rootPassword}
	for _, namespace := range namespaces {
		policy, err := minioadmin.PrefixPolicy("traces", namespace)
		if err == nil {
			err = admin.EnsurePolicy(context.Background(), subject(namespace), policy)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func check(t *testing.T, url string, o S3Options) error {
	t.Helper()
	s, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return Check(context.Background(), s)
}

// refusedWith wants a reason, words, and nothing of the token in the message.
func refusedWith(t *testing.T, err error, reason Reason, token string, words ...string) {
	t.Helper()
	if ReasonOf(err) != reason {
		t.Fatalf("reason %q of %v, want %q", ReasonOf(err), err, reason)
	}
	everything := err.Error()
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		everything += fmt.Sprintf("\n%+v", inner)
	}
	for _, part := range strings.Split(token, ".") {
		if part != "" && strings.Contains(everything, part) {
			t.Errorf("the error has a part of the token: %s", everything)
		}
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestWebIdentity(t *testing.T) {
	t.Parallel()
	provider := startIdentityProvider(t)
	m := minioWithIdentities(t, provider, "team-a", "team-b")
	o := S3Options{Endpoint: m.endpoint, WebIdentity: WebIdentity{TokenFile: filepath.Join(t.TempDir(), "token")}}

	err := check(t, "s3://traces/team-a/job/uid", o)
	refusedWith(t, err, CredentialsMissing, "", o.WebIdentity.TokenFile)

	token := provider.token(t, subject("team-a"), audience, time.Hour)
	writeToken(t, o.WebIdentity.TokenFile, token+"\n")
	if err := check(t, "s3://traces/team-a/job/uid", o); err != nil {
		t.Fatalf("its own prefix: %v", err)
	}
	refusedWith(t, check(t, "s3://traces/team-b/job/uid", o), AccessDenied, token)

	for name, bad := range map[string]struct {
		token string
		words []string
	}{
		"expired":          {provider.token(t, subject("team-a"), audience, -time.Hour), []string{"expired", "clocks", o.WebIdentity.TokenFile}},
		"another audience": {provider.token(t, subject("team-a"), "vault", time.Hour), []string{"vault", "allow its issuer, audience and subject"}},
		"no policy":        {provider.token(t, subject("team-c"), audience, time.Hour), []string{"system:serviceaccount:team-c:default"}},
		"another issuer":   {startIdentityProvider(t).token(t, subject("team-a"), audience, time.Hour), []string{"issuer"}},
		"no token":         {"something-else-that-is-secret", []string{"allow its issuer"}},
	} {
		t.Run(name, func(t *testing.T) {
			writeToken(t, o.WebIdentity.TokenFile, bad.token)
			refusedWith(t, check(t, "s3://traces/team-a/job/uid", o), AccessDenied, bad.token, bad.words...)
		})
	}
}

// TestRole: the store decides by the role that is asked for.
func TestRole(t *testing.T) {
	t.Parallel()
	provider := startIdentityProvider(t)
	m := minioTrusting(t, provider, "MINIO_IDENTITY_OPENID_ROLE_POLICY=readwrite")
	client := sha1.Sum([]byte(audience))
	o := S3Options{Endpoint: m.endpoint, WebIdentity: WebIdentity{TokenFile: filepath.Join(t.TempDir(), "token"),
		RoleARN: "arn:minio:iam:::role/" + base64.RawURLEncoding.EncodeToString(client[:])}}
	token := provider.token(t, subject("team-a"), audience, time.Hour)
	writeToken(t, o.WebIdentity.TokenFile, token)
	// MinIO loads its roles a moment after it answers
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := check(t, "s3://traces/team-a", o)
		if err == nil {
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal(err)
		}
	}
	o.WebIdentity.RoleARN = "arn:minio:iam:::role/another"
	refusedWith(t, check(t, "s3://traces/team-a", o), AccessDenied, token, "for the role arn:minio:iam:::role/another")
}

// TestTokenIsReadAnew: an open store exchanges the token that is in the file when
// the last keys end.
func TestTokenIsReadAnew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	provider := startIdentityProvider(t)
	m := minioWithIdentities(t, provider, "team-a", "team-b")
	o := S3Options{Endpoint: m.endpoint, WebIdentity: WebIdentity{TokenFile: filepath.Join(t.TempDir(), "token")}}
	writeToken(t, o.WebIdentity.TokenFile, provider.token(t, subject("team-a"), audience, 10*time.Second))
	s, err := Open("s3://traces/team-b", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(ctx, s); ReasonOf(err) != AccessDenied {
		t.Fatalf("with the first token: %v", err)
	}
	writeToken(t, o.WebIdentity.TokenFile, provider.token(t, subject("team-b"), audience, time.Hour))
	start := time.Now()
	for Check(ctx, s) != nil {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the second token was not exchanged")
		}
		time.Sleep(200 * time.Millisecond)
	}
	if waited := time.Since(start); waited < time.Second {
		t.Errorf("exchanged after %v: keys are used for four fifths of their time, not for one request", waited)
	}
}

// TestLastKeysServeWhileTheSTSIsAway: keys are good until they expire.
func TestLastKeysServeWhileTheSTSIsAway(t *testing.T) {
	t.Parallel()
	provider := startIdentityProvider(t)
	m := minioWithIdentities(t, provider, "team-a")
	backend, err := url.Parse(m.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var away, exchanges atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(backend)
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchanges.Add(1)
		if away.Load() > 0 {
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(sts.Close)
	o := S3Options{Endpoint: m.endpoint, WebIdentity: WebIdentity{TokenFile: filepath.Join(t.TempDir(), "token"), STSEndpoint: sts.URL}}
	const lifetime = 60 * time.Second
	writeToken(t, o.WebIdentity.TokenFile, provider.token(t, subject("team-a"), audience, lifetime))
	provided, err := o.credentials()
	if err != nil {
		t.Fatal(err)
	}
	first, err := provided.GetWithContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	away.Store(1)
	provided.Expire() // an exchange is due
	for range 3 {
		again, err := provided.GetWithContext(nil)
		if err != nil || again.SecretAccessKey != first.SecretAccessKey {
			t.Fatalf("while the STS is away: %v", err)
		}
	}
	if n := exchanges.Load(); n != 2 {
		t.Errorf("%d exchanges, want 2: an STS that is away is not asked with every request", n)
	}

	// without keys there is nothing to fall back on, and that passes
	err = check(t, "s3://traces/team-a", o)
	refusedWith(t, err, Unreachable, "", "503", sts.URL)
	if !MayPass(err) {
		t.Error("an STS that is away may come back")
	}
}

func TestSTSThatIsNotThere(t *testing.T) {
	provider := startIdentityProvider(t)
	o := S3Options{WebIdentity: WebIdentity{TokenFile: filepath.Join(t.TempDir(), "token")}}
	token := provider.token(t, subject("team-a"), audience, time.Hour)
	writeToken(t, o.WebIdentity.TokenFile, token)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Endpoint = "http://" + listener.Addr().String()
	listener.Close()
	refusedWith(t, check(t, "s3://traces/x", o), Unreachable, token, "STS", "refused", o.Endpoint)

	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) }))
	t.Cleanup(page.Close)
	o.Endpoint = page.URL
	refusedWith(t, check(t, "s3://traces/x", o), Other, token, "does not answer as an STS")

	o.WebIdentity.STSEndpoint = "sts.example.org"
	_, err = Open("s3://traces/x", o)
	refusedWith(t, err, Other, token, "the STS endpoint must be like")
}

func TestSTSEndpoint(t *testing.T) {
	for _, c := range []struct {
		o    S3Options
		want string
	}{
		{S3Options{}, "https://sts.amazonaws.com"},
		{S3Options{Region: "eu-west-1"}, "https://sts.eu-west-1.amazonaws.com"},
		{S3Options{Region: "cn-north-1", Endpoint: "https://s3.cn-north-1.amazonaws.com.cn"}, "https://sts.cn-north-1.amazonaws.com.cn"},
		{S3Options{Region: "eu-west-1", Endpoint: "http://minio:9000"}, "http://minio:9000"},
		{S3Options{WebIdentity: WebIdentity{STSEndpoint: "https://sts.example.org"}}, "https://sts.example.org"},
	} {
		if got, err := c.o.stsEndpoint(); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v, want %q", c.o, got, err, c.want)
		}
	}
}

func TestWebIdentityFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want WebIdentity
	}{
		{map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/aws", "AWS_ROLE_ARN": "arn"}, WebIdentity{TokenFile: "/aws", RoleARN: "arn"}},
		{map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/aws", "AWS_ACCESS_KEY_ID": "key"}, WebIdentity{}},
		{map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/aws", EnvCredentialsDir: "/keys"}, WebIdentity{}},
		{map[string]string{EnvTokenFile: "/ours", EnvCredentialsDir: "/keys", EnvSTSEndpoint: "https://sts", "AWS_WEB_IDENTITY_TOKEN_FILE": "/aws"},
			WebIdentity{TokenFile: "/ours", STSEndpoint: "https://sts"}},
	} {
		o, err := OptionsFromEnv(func(name string) string { return c.env[name] })
		if err != nil || o.WebIdentity != c.want {
			t.Errorf("%v: %+v, %v, want %+v", c.env, o.WebIdentity, err, c.want)
		}
	}
}
