package analyze

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// TestReportIsServedToThisMachine: the page and its files and nothing else, on a port
// of 127.0.0.1, until the end.
func TestReportIsServedToThisMachine(t *testing.T) {
	t.Setenv("PATH", "") // no browser
	s, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	for name, content := range map[string]string{"index.html": "<p>page", "report.json": "{}", "secret": "no"} {
		require.NoError(t, storage.PutBytes(t.Context(), s, name, []byte(content)))
	}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- openReport(ctx, in, s) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	url := strings.Fields(line)[1]
	require.True(t, strings.HasPrefix(url, "http://127.0.0.1:"), line)

	ask := func(method, path, host string) (int, string, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		require.NoError(t, err)
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, answer.Header.Get("Content-Type"), string(body)
	}
	for _, c := range []struct {
		method, path, host string
		status             int
		kind, body         string
	}{
		{http.MethodGet, "", "", 200, "text/html; charset=utf-8", "<p>page"},
		{http.MethodGet, "index.html", "", 200, "text/html; charset=utf-8", "<p>page"},
		{http.MethodGet, "report.json", "", 200, "application/json", "{}"},
		{http.MethodGet, "summary.txt", "", 404, "", ""}, // of an older report
		{http.MethodGet, "secret", "", 404, "", ""},
		{http.MethodGet, "../secret", "", 404, "", ""},
		{http.MethodPost, "", "", 405, "", ""},
		{http.MethodGet, "", "evil.example", 421, "", ""},
	} {
		status, kind, body := ask(c.method, c.path, c.host)
		assert.Equal(t, c.status, status, "%+v", c)
		if c.status == 200 {
			assert.Equal(t, c.kind, kind)
			assert.Equal(t, c.body, body)
		}
	}
	stop()
	select {
	case err := <-ended:
		assert.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("it is still serving")
	}
}
