package compressor

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgramOfAProcess(t *testing.T) {
	c := exec.Command("sh", "-c", "read line; exec sleep 1000")
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	before := programOf(c.Process.Pid)
	require.NotEmpty(t, before)
	_, err = stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return filepath.Base(programOf(c.Process.Pid)) == "sleep" }, 10*time.Second, time.Millisecond)
	require.NotEqual(t, before, programOf(c.Process.Pid))
	require.Empty(t, programOf(1<<30))
}
