package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// What reduce writes it can read again, also where it takes more memory than a trace from anywhere may: 240,000 calls with
// as many signatures.
func TestReduceOfManySignatures(t *testing.T) {
	const calls = 240_000
	b := tracetest.New(2)
	b.Meta().Final = true
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		for k := range calls / 2 {
			at := 1 + float64(k)
			if i == 0 {
				r.Call("MPI_Send", at, at+0.1, tracetest.Args{"dest": 1, "tag": k, "count": 7 * k})
			} else {
				r.Call("MPI_Recv", at, at+0.2, tracetest.Args{"source": 0, "tag": k, "count": 7 * k,
					"status": tracetest.Status{Source: 0, Tag: k, Bytes: 7 * k}})
			}
		}
		r.Finalize(calls, calls+1)
	})
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, b.Content()))
	dir := t.TempDir()
	path, out := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "leads.cairn")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	_, err := cairn(t, "reduce", path, "--leads", "-o", out)
	require.NoError(t, err)
	_, err = cairn(t, "info", out)
	require.NoError(t, err)
}
