package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// On arm64 nodes the image's commands and libraries are those for arm64. The real binaries run here
// in an emulator (Debian's qemu-user), where the probe sees this machine's own programs.
func TestArm64(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all: it compiles the commands for arm64")
	}
	const emulator = "qemu-aarch64"
	bin := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, build(bin, "arm64"))
	require.NoError(t, os.CopyFS(filepath.Join(bin, "lib"), os.DirFS(shimtest.Variant(t, "arm64"))))
	root := filepath.Join(t.TempDir(), "root")
	installed := command(t, nil, emulator, filepath.Join(bin, "cairn"), "install", "--to", root)
	require.Zero(t, installed.code, installed.output)
	require.True(t, installed.verdict.Traceable, installed.output)
	require.Equal(t, "arm64", installed.verdict.Architecture)
	require.FileExists(t, filepath.Join(root, "lib/libcairn-mpich.so"))

	probed := command(t, nil, emulator, filepath.Join(root, "cairn"), "probe", "--root", root)
	require.Zero(t, probed.code, probed.output)
	require.Equal(t, messages.ProbeUnsupportedArchitecture, probed.verdict.Reason, probed.output)
	require.Equal(t, "the image's programs are amd64, the tracer is arm64", probed.verdict.Message)
	require.Empty(t, preload(t, root))

	store := t.TempDir()
	ship := exec.Command(emulator, filepath.Join(bin, "cairn"), "ship", "--spool", filepath.Join(root, "spool"), "--store", store)
	ship.Env = append(os.Environ(), "CAIRN_POD_NAME=worker-0", "CAIRN_POD_UID=u", "CAIRN_POD_NAMESPACE=n", "CAIRN_NODE_NAME=arm", "CAIRN_POD_ROLE=worker")
	require.NoError(t, ship.Start())
	ended := make(chan error, 1)
	go func() { ended <- ship.Wait() }()
	select {
	case err := <-ended:
		require.Fail(t, "the sidecar ended by itself", "%v", err)
	case <-time.After(3 * time.Second):
	}
	require.NoError(t, ship.Process.Signal(unix.SIGTERM))
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		require.NoError(t, ship.Process.Kill())
		require.Fail(t, "the sidecar did not end")
	}
}
