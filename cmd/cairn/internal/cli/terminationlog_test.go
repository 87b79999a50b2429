package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
)

func TestTerminationLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte("what an earlier container left, longer than the new text"), 0o644))
	c := &cobra.Command{}
	c.SetOut(new(strings.Builder))
	require.NoError(t, TerminationLog(file).Write(c, messages.Analysis{Analysis: "clusters", OK: true}))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, `{"analysis":"clusters","index":0,"ok":true,"message":""}`, string(raw))
	require.NoError(t, TerminationLog("/no/such/file").Write(c, messages.Analysis{}), "outside a pod there is none")
}
