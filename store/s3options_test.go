package store

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
)

// The bucket's name is where the options say. A signed URL shows it without a request.
func TestAddressing(t *testing.T) {
	for _, c := range []struct {
		endpoint   string
		addressing Addressing
		host       string // that of AWS is the client library's choice
		virtual    bool
	}{
		{"", AddressingAuto, "", true},
		{"", AddressingPath, "", false},
		{"", AddressingVirtual, "", true},
		{"http://minio:9000", AddressingAuto, "minio:9000", false},
		{"http://minio:9000", AddressingPath, "minio:9000", false},
		{"https://objects.example.org", AddressingVirtual, "bucket.objects.example.org", true},
		{"https://storage.googleapis.com", AddressingAuto, "storage.googleapis.com", false}, // the library would say true
	} {
		o := S3Options{Endpoint: c.endpoint, Addressing: c.addressing, Region: "eu-west-1"}
		client, err := o.client(credentials.NewStaticV4("access", "secret", ""))
		require.NoError(t, err)
		signed, err := client.PresignedGetObject(t.Context(), "bucket", "a/b", time.Minute, nil)
		require.NoError(t, err)
		if c.host != "" {
			require.Equal(t, c.host, signed.Host)
		} else {
			require.True(t, isAWS(signed.Host), signed.Host)
			require.Equal(t, "https", signed.Scheme)
		}
		require.Equal(t, c.virtual, strings.HasPrefix(signed.Host, "bucket."), signed.Host)
		require.Equal(t, !c.virtual, strings.HasPrefix(signed.Path, "/bucket/"), signed.Path)
	}
}

func TestKeysOfTheEnvironment(t *testing.T) {
	const access, secret, token = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
	for _, c := range []struct {
		access, secret, token string
		complete              bool
	}{{"a", "s", "t", true}, {"a", "s", "", true}, {"a", "", "t", false}, {"", "s", "t", false}} {
		t.Setenv(access, c.access)
		t.Setenv(secret, c.secret)
		t.Setenv(token, c.token)
		got, err := (&keySource{}).Retrieve()
		if !c.complete {
			require.ErrorIs(t, err, errNoCredentials)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, credentials.Value{AccessKeyID: c.access, SecretAccessKey: c.secret, SessionToken: c.token, SignerType: credentials.SignatureV4}, got)
	}
}

// A read asks for the bytes that it returns, and for no others.
func TestRangesOfRequests(t *testing.T) {
	content := []byte("0123456789")
	var ranges []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			ranges = append(ranges, r.Header.Get("Range"))
		}
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(content))
	}))
	defer server.Close()
	dir := t.TempDir()
	require.NoError(t, writeKeys(dir, "access", "secret"))
	s, err := Open("s3://bucket", S3Options{Endpoint: server.URL, CredentialsDir: dir})
	require.NoError(t, err)
	r, err := s.ReaderAt(t.Context(), "digits")
	require.NoError(t, err)
	require.EqualValues(t, len(content), r.Size())
	for _, c := range []struct {
		offset int64
		n      int
		want   string
		asks   []string
		err    error
	}{
		{0, 10, "0123456789", []string{"bytes=0-9"}, nil},
		{3, 4, "3456", []string{"bytes=3-6"}, nil},
		{9, 1, "9", []string{"bytes=9-9"}, nil},
		{8, 4, "89", []string{"bytes=8-9"}, io.EOF},
		{10, 1, "", nil, io.EOF},
		{5, 0, "", nil, nil},
	} {
		ranges = nil
		p := make([]byte, c.n)
		n, err := r.ReadAt(p, c.offset)
		require.Equal(t, c.err, err)
		require.Equal(t, c.want, string(p[:n]))
		require.Equal(t, c.asks, ranges)
	}
}
