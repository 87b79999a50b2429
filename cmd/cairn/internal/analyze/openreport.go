package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// openReport serves a report on a free port of this machine, opens it in a browser if there is one,
// and returns when it is interrupted.
func openReport(ctx context.Context, out io.Writer, s store.Store) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("no port to serve the report on: %w", err)
	}
	server := &http.Server{Handler: reportHandler(s, listener.Addr().String()), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	url := "http://" + listener.Addr().String() + "/"
	fmt.Fprintf(out, "open: %s (until interrupted)\n", url)
	openInBrowser(ctx, url)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openInBrowser is best effort, since the address is printed, too. The browser outlives this
// command.
func openInBrowser(ctx context.Context, url string) {
	opener, err := exec.LookPath("xdg-open")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener, url)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}

var contentTypes = map[string]string{
	report.PageFile: "text/html; charset=utf-8",
	report.DataFile: "application/json",
	report.TextFile: "text/plain; charset=utf-8",
}

// reportHandler serves a report's files to requests for this address only. A page of another site
// whose name was made to resolve to this machine (DNS rebinding) sends another Host header.
func reportHandler(s store.Store, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address {
			http.Error(w, "this is not "+r.Host, http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = report.PageFile
		}
		if !slices.Contains(report.FileNames, name) {
			http.NotFound(w, r)
			return
		}
		content, err := storage.GetBytes(r.Context(), s, name)
		switch {
		case store.IsNotFound(err):
			http.NotFound(w, r)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", contentTypes[name])
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(content)
	})
}
