package cairntest

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
	"github.com/cairn-mpi/cairn/trace"
)

// Main is the TestMain of tests that run the command as a separate process (see Process).
func Main(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(commands.Run())
	}
	_ = flag.Set("test.parallel", "8") // those that are parallel wait for something else than a CPU
	os.Exit(m.Run())
}

// asCommand is the environment variable that makes a test binary behave as the command.
const asCommand = "CAIRN_TEST_COMMAND"

// Run runs a command line and returns what it printed.
func Run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := commands.Root()
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SetArgs(arguments)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// TraceFile writes a trace to a temporary file and returns its path.
func TraceFile(t *testing.T, c *trace.Content) string {
	path := filepath.Join(t.TempDir(), "trace.cairn")
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, c))
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	return path
}

// Process returns the command as a process that is not started yet.
func Process(arguments []string) *exec.Cmd {
	c := exec.Command(os.Args[0], arguments...)
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}
