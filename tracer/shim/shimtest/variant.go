package shimtest

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var building sync.Mutex // two make at once would write the same files

// Variant builds the shims of a target of tracer/shim/Makefile: with sanitizers (asan, tsan), or
// for another architecture (arm64). It returns the folder that has them. The first time takes a
// minute.
func Variant(t testing.TB, target string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	dir := filepath.Join(Root(), "tracer", "shim")
	out, err := exec.Command("make", "-s", "-C", dir, target).CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "build", target)
}

// RuntimeLibrary is a library of the compiler, such as libasan.so.
func RuntimeLibrary(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("gcc", "-print-file-name="+name).Output()
	require.NoError(t, err)
	path, err := filepath.EvalSymlinks(string(out[:len(out)-1]))
	require.NoError(t, err, "%s is part of Debian's gcc", name)
	return path
}
