package commands_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

// Parts of a run are given in the same way in all commands: in seconds, or with a unit. A part
// without a call is an error.
func TestPartsOfARun(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "out")
	_, err := cairntest.Run(t, "simulate", "--ranks", "4", "-o", file)
	require.NoError(t, err)
	for _, command := range [][]string{{"analyze", file, "-o", out}, {"graph", file}, {"export", file, "-o", out + ".perfetto"}} {
		for _, fine := range [][]string{{"--from", "0.0001", "--to", "0.0009"}, {"--from", "100us", "--to", "900us"}, {"--from", "1e-4"}} {
			_, err := cairntest.Run(t, append(command, fine...)...)
			assert.NoError(t, err, "%v %v", command, fine)
		}
		for _, wrong := range [][]string{
			{"--from", "2", "--to", "1"}, {"--from", "-1s"}, {"--from", "soon"}, {"--to", "NaN"}, {"--from", "1e300"},
			{"--from", "100", "--to", "200s"},
		} {
			_, err := cairntest.Run(t, append(command, wrong...)...)
			require.Error(t, err, "%v %v", command, wrong)
			code, _ := cli.ExitCode(err)
			assert.Equal(t, cli.ExitUsage, code, "%v %v: %v", command, wrong, err)
		}
	}
	refused := filepath.Join(dir, "refused.perfetto")
	for _, command := range [][]string{{"graph", file}, {"export", file, "-o", refused}} {
		_, err := cairntest.Run(t, append(command, "--from", "0", "--to", "1", "--ranks", "1,9")...)
		assert.ErrorContains(t, err, "has no rank 9")
	}
	_, err = os.Stat(refused)
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing of what was refused is left")
	_, err = os.Stat(out + ".perfetto")
	assert.NoError(t, err, "what was written before stays")
}

// A run's folder is not its trace, but its report is found in it.
func TestFoldersOfRuns(t *testing.T) {
	dir := t.TempDir()
	_, err := cairntest.Run(t, "report", dir)
	assert.ErrorContains(t, err, "'cairn run' and 'cairn analyze' write reports")
	code, _ := cli.ExitCode(err)
	assert.Equal(t, cli.ExitUsage, code)
	file := filepath.Join(dir, "trace.cairn")
	_, err = cairntest.Run(t, "simulate", "--ranks", "2", "-o", file)
	require.NoError(t, err)
	_, err = cairntest.Run(t, "info", dir)
	assert.ErrorContains(t, err, "is a directory; the trace of a run is the file trace.cairn in it")
	_, err = cairntest.Run(t, "analyze", file, "-o", filepath.Join(dir, "report"))
	require.NoError(t, err)
	inside, err := cairntest.Run(t, "report", filepath.Join(dir, "report"))
	require.NoError(t, err)
	outside, err := cairntest.Run(t, "report", dir)
	require.NoError(t, err)
	assert.Equal(t, inside, outside)
}

// Output that is cut short by a full disk is a failure.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	file := filepath.Join(t.TempDir(), "trace.cairn")
	_, err = cairntest.Run(t, "simulate", "--ranks", "2", "-o", file)
	require.NoError(t, err)
	for _, command := range []string{"dump", "info", "program", "clusters", "placement"} {
		c, out := commands.Root(), &cli.Output{Writer: full}
		c.SetOut(out)
		c.SetArgs([]string{command, file})
		_ = c.ExecuteContext(t.Context())
		assert.ErrorContains(t, out.Err, "no space left on device", command)
	}
}

func TestNumberOfArguments(t *testing.T) {
	_, err := cairntest.Run(t, "export")
	assert.EqualError(t, err, "0 arguments are given, not 1: cairn export FILE -o OUT [flags] (see 'cairn export --help')")
}
