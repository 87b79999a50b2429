package v1alpha1_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// kubectl runs a command of a person against the API server.
func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	path, prefix, err := server.Kubectl()
	require.NoError(t, err)
	out, err := exec.Command(path, append(prefix, arguments...)...).CombinedOutput()
	require.NoError(t, err, "kubectl %v: %s", arguments, out)
	return string(out)
}
