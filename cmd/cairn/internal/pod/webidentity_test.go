package pod_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
	"github.com/cairn-mpi/cairn/store"
)

// TestRefusedIdentity: a pod's command reports what an STS refused, waits for a person, and does
// not print the token.
func TestRefusedIdentity(t *testing.T) {
	type answer struct {
		status int
		code   string
	}
	var says atomic.Pointer[answer]
	says.Store(&answer{http.StatusForbidden, "AccessDenied"})
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(says.Load().status)
		_, _ = w.Write([]byte(`<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Code>` + says.Load().code +
			`</Code><Message>Not authorized: header.claims.signature</Message></Error></ErrorResponse>`))
	}))
	t.Cleanup(sts.Close)
	t.Setenv(store.EnvEndpoint, sts.URL)
	t.Setenv(store.EnvRoleARN, "arn:aws:iam::1:role/traces")
	token := filepath.Join(t.TempDir(), "token")
	t.Setenv(store.EnvTokenFile, token)

	check := func() (messages.StorageCheck, int) {
		log := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(log, nil, 0o600))
		c := commands.Root()
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs([]string{"check-storage", "--store", "s3://traces/team-a", "--termination-log", log})
		err := c.Execute()
		require.NotContains(t, out.String()+err.Error(), "signature")
		exit, _ := cli.ExitCode(err)
		raw, err := os.ReadFile(log)
		require.NoError(t, err)
		var found messages.StorageCheck
		require.NoError(t, json.Unmarshal(raw, &found))
		return found, exit
	}
	found, exit := check()
	require.Equal(t, messages.StorageCredentialsMissing, found.Reason)
	require.Equal(t, messages.ExitRefused, exit)

	require.NoError(t, os.WriteFile(token, []byte("header.claims.signature"), 0o600))
	found, exit = check()
	require.Equal(t, messages.StorageAccessDenied, found.Reason)
	require.Contains(t, found.Message, "arn:aws:iam::1:role/traces")
	require.Equal(t, messages.ExitRefused, exit)

	says.Store(&answer{http.StatusForbidden, "ExpiredTokenException"})
	found, _ = check()
	require.Contains(t, found.Message, "has expired")

	says.Store(&answer{http.StatusBadGateway, ""})
	found, exit = check()
	require.Equal(t, messages.StorageUnreachable, found.Reason)
	require.Equal(t, messages.ExitUnavailable, exit)
}
