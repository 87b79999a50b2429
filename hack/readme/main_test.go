package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlocksAreWrittenAndChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	page := "before\n<!-- output: echo took 12.5 s -->\n```\nstale\n```\n<!-- output(cluster): false -->\n```\nleft\n```\nafter\n"
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	require.ErrorContains(t, run(path, false, false), "echo took 12.5 s")
	require.NoError(t, run(path, true, false))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(written), "```\ntook 12.5 s\n```")
	require.Contains(t, string(written), "```\nleft\n```\nafter")
	require.NoError(t, run(path, false, false))
	require.ErrorContains(t, run(path, false, true), "false")
}

func TestMaskForgetsNumbersOnly(t *testing.T) {
	require.Equal(t, mask("stencil  Ready   4  25s"), mask("stencil  Ready  16  1m5s"))
	require.Equal(t, mask("Rank 3 took  1.5 s"), mask("Rank 2 took 13 ms"))
	require.Equal(t, mask("0.9 s of CPU, throttled for 0 s"), mask("0.9 s of CPU, waited 0.3 s for a CPU, throttled for 0 s"))
	require.Equal(t, mask("rank 1  0.9 s\nnote  x\n"), mask("rank 1  0.9 s\nsteal on n1  0.3 s, summed over its CPUs\nnote  x\n"))
	require.NotEqual(t, mask("Rank 3 is slow"), mask("Rank 3 is fast"))
}
