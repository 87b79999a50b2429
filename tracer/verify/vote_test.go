package verify

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ranks' decision does not depend on the tree in which their ballots are combined, and the
// states follow each other as specified, for any number of ranks (testdata/vote.c of the shim).
func TestVotes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "vote")
	out, err := exec.Command("gcc", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-o", program, "../shim/testdata/vote.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
