package commands_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	cpu, memory := filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")
	c := commands.Root()
	c.SetArgs([]string{"simulate", "--ranks", "4", "--no-replay", "-o", filepath.Join(dir, "x.cairn"), "--cpuprofile", cpu, "--memprofile", memory})
	require.NoError(t, c.Execute())
	for file, word := range map[string]string{cpu: "nanoseconds", memory: "alloc_space"} {
		require.Contains(t, profileText(t, file), word)
	}
}

// profileText is what go tool pprof would read.
func profileText(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

// A profile that cannot be written is an error of the command line, before anything is done.
func TestProfileWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	c := commands.Root()
	out := filepath.Join(dir, "x.cairn")
	c.SetArgs([]string{"simulate", "--ranks", "4", "--no-replay", "-o", out, "--cpuprofile", filepath.Join(dir, "no", "cpu")})
	code, _ := cli.ExitCode(c.Execute())
	require.Equal(t, cli.ExitUsage, code)
	require.NoFileExists(t, out)
}

// All commands that read or write for long have both flags: all commands except those known to be
// short.
func TestProfilesOfLongCommands(t *testing.T) {
	short := []string{"info", "copy", "fetch", "replay-rank", "install", "probe", "check-storage", "make-bucket", "delete-prefix", "resolve", "exec", "compress-host", "send", "help", "completion"}
	long := 0
	for _, c := range commands.Root().Commands() {
		if slices.Contains(short, c.Name()) {
			continue
		}
		long++
		require.NotNil(t, c.Flags().Lookup("cpuprofile"), c.Name())
		require.NotNil(t, c.Flags().Lookup("memprofile"), c.Name())
	}
	require.GreaterOrEqual(t, long, 15)
	for _, name := range []string{"run", "ship", "merge", "analyze", "report", "dump", "export", "compare", "predict", "reduce", "program", "clusters", "simulate"} {
		c, _, err := commands.Root().Find([]string{name})
		require.NoError(t, err)
		require.Equal(t, name, c.Name())
	}
}
