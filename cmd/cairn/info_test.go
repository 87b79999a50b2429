package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// The steal of each machine is there once, where it is known and more than nothing.
func TestInfoTellsSteal(t *testing.T) {
	b := tracetest.New(6)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		r.Finalize(5, 6)
		machine, steal := i/2, [][]int64{{0, 2e9}, {0, 3e9}, {0, 0}, {0, 0}, {-1, -1}, {0, -1}}[i]
		r.Info().Host, r.Info().Node, r.Info().BootID = "host", []string{"n0", "n1", "n2"}[machine], "boot"
		for k, ns := range steal {
			r.Info().Context = append(r.Info().Context, trace.ContextSample{MonotonicNS: int64(k) * 1e9, StealNS: ns})
		}
	})
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, b.Content()))
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	text, err := cairn(t, "info", path)
	require.NoError(t, err)
	require.Contains(t, text, "3 s, of all its CPUs")
	require.Equal(t, 1, strings.Count(text, "steal on "), text)
	out, err := cairn(t, "info", path, "--json")
	require.NoError(t, err)
	var found information
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Equal(t, []machineSteal{{"n0", 3}}, found.Steal)
}
