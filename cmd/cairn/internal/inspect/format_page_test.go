package inspect_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/internal/repository"
)

// Every command of docs/format.md's example prints what the page shows, byte for byte.
func TestCommandsOfTheFormatPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository.Root(), "docs", "format.md"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	commands := 0
	blocks := strings.Split(string(page), "```console\n")
	for _, block := range blocks[1:] {
		block, _, closed := strings.Cut(block, "```")
		require.True(t, closed)
		for _, shown := range strings.Split(block, "$ ")[1:] {
			command, want, _ := strings.Cut(shown, "\n")
			commands++
			require.Equal(t, want, output(t, command), "docs/format.md: %s", command)
		}
	}
	require.Greater(t, commands, 3)
}

// output is what a command prints: cairn's in this process, others by the shell.
func output(t *testing.T, command string) string {
	t.Helper()
	if arguments, ours := strings.CutPrefix(command, "cairn "); ours {
		out, err := cairntest.Run(t, strings.Fields(arguments)...)
		require.NoError(t, err)
		return out
	}
	out, err := exec.Command("bash", "-c", command).Output()
	require.NoError(t, err)
	return string(out)
}
