package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Parts of a run are given in one way everywhere: in seconds, or with a unit. A part without a call is no success.
func TestPartsOfARun(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "out")
	_, err := cairn(t, "simulate", "--ranks", "4", "-o", file)
	require.NoError(t, err)
	for _, command := range [][]string{{"analyze", file, "-o", out}, {"graph", file}, {"export", file, "-o", out + ".perfetto"}} {
		for _, fine := range [][]string{{"--from", "0.0001", "--to", "0.0009"}, {"--from", "100us", "--to", "900us"}, {"--from", "1e-4"}} {
			_, err := cairn(t, append(command, fine...)...)
			assert.NoError(t, err, "%v %v", command, fine)
		}
		for _, wrong := range [][]string{
			{"--from", "2", "--to", "1"}, {"--from", "-1s"}, {"--from", "soon"}, {"--to", "NaN"}, {"--from", "1e300"},
			{"--from", "100", "--to", "200s"},
		} {
			_, err := cairn(t, append(command, wrong...)...)
			require.Error(t, err, "%v %v", command, wrong)
			code, _ := exitCode(err)
			assert.Equal(t, exitUsage, code, "%v %v: %v", command, wrong, err)
		}
	}
	refused := filepath.Join(dir, "refused.perfetto")
	for _, command := range [][]string{{"graph", file}, {"export", file, "-o", refused}} {
		_, err := cairn(t, append(command, "--from", "0", "--to", "1", "--ranks", "1,9")...)
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
	_, err := cairn(t, "report", dir)
	assert.ErrorContains(t, err, "'cairn run' and 'cairn analyze' write reports")
	code, _ := exitCode(err)
	assert.Equal(t, exitUsage, code)
	file := filepath.Join(dir, "trace.cairn")
	_, err = cairn(t, "simulate", "--ranks", "2", "-o", file)
	require.NoError(t, err)
	_, err = cairn(t, "info", dir)
	assert.ErrorContains(t, err, "is a directory; the trace of a run is the file trace.cairn in it")
	_, err = cairn(t, "analyze", file, "-o", filepath.Join(dir, "report"))
	require.NoError(t, err)
	inside, err := cairn(t, "report", filepath.Join(dir, "report"))
	require.NoError(t, err)
	outside, err := cairn(t, "report", dir)
	require.NoError(t, err)
	assert.Equal(t, inside, outside)
}

// What is cut short by a full disk is no success.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	file := filepath.Join(t.TempDir(), "trace.cairn")
	_, err = cairn(t, "simulate", "--ranks", "2", "-o", file)
	require.NoError(t, err)
	for _, command := range []string{"dump", "info", "program", "clusters", "placement"} {
		c, out := newRootCommand(), &output{Writer: full}
		c.SetOut(out)
		c.SetArgs([]string{command, file})
		_ = c.ExecuteContext(t.Context())
		assert.ErrorContains(t, out.err, "no space left on device", command)
	}
}

func TestNumberOfArguments(t *testing.T) {
	_, err := cairn(t, "export")
	assert.EqualError(t, err, "0 arguments are given, not 1: cairn export FILE -o OUT [flags] (see 'cairn export --help')")
}
