package rewrite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// The output of reduce can be read again, even if it needs more memory than is allowed for
// untrusted traces: 240,000 calls with as many signatures.
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
	_, err := cairntest.Run(t, "reduce", path, "--leads", "-o", out)
	require.NoError(t, err)
	_, err = cairntest.Run(t, "info", out)
	require.NoError(t, err)
}

// Commands that support a trace of histograms read it. All others refuse it, with a helpful
// message.
func TestReduceToHistograms(t *testing.T) {
	dir := t.TempDir()
	whole, small := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "small.cairn")
	_, err := cairntest.Run(t, "simulate", "--pattern", "irregular", "--ranks", "9", "--iterations", "40", "-o", whole)
	require.NoError(t, err)
	said, err := cairntest.Run(t, "reduce", whole, "--histogram", "-o", small)
	require.NoError(t, err)
	require.Contains(t, said, "calls by function off by 0%, bytes by 0%, time by 0%, time of the run by 0%")
	require.Contains(t, said, "lost: the order of calls")
	info, err := cairntest.Run(t, "info", small)
	require.NoError(t, err)
	require.Contains(t, info, "lost ")
	require.Contains(t, info, "MPI_Isend")
	_, err = cairntest.Run(t, "info", small, "--json")
	require.NoError(t, err)
	dump, err := cairntest.Run(t, "dump", small)
	require.NoError(t, err)
	require.Contains(t, dump, " × MPI_Waitall at irregular.c:36")
	require.Contains(t, dump, "rank+1 (")
	_, err = cairntest.Run(t, "dump", small, "--json")
	require.NoError(t, err)
	for _, command := range [][]string{
		{"analyze", small, "-o", filepath.Join(dir, "part")}, {"clusters", small}, {"program", small}, {"placement", small}, {"predict", small},
		{"export", small, "-o", filepath.Join(dir, "x.gz")}, {"compare", small, whole}, {"reduce", small, "--histogram", "-o", filepath.Join(dir, "again")},
		{"reduce", small, "--leads", "-o", filepath.Join(dir, "again")},
	} {
		_, err := cairntest.Run(t, command...)
		require.ErrorIs(t, err, trace.ErrHistograms, command[0])
	}
	_, err = cairntest.Run(t, "reduce", whole, "--histogram", "--leads", "-o", small)
	require.ErrorContains(t, err, "--histogram")
}

// dump --rank prints the clusters of a rank. A rank that does not exist is refused.
func TestDumpHistogramsOfARank(t *testing.T) {
	dir := t.TempDir()
	whole, small := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "small.cairn")
	_, err := cairntest.Run(t, "simulate", "--pattern", "master-worker", "--ranks", "9", "-o", whole)
	require.NoError(t, err)
	_, err = cairntest.Run(t, "reduce", whole, "--histogram", "-o", small)
	require.NoError(t, err)
	for _, more := range [][]string{nil, {"--json"}} {
		dump := func(arguments ...string) string {
			said, err := cairntest.Run(t, append(append([]string{"dump", small}, more...), arguments...)...)
			require.NoError(t, err)
			return said
		}
		all, master, worker := dump(), dump("--rank", "0"), dump("--rank", "5")
		require.Equal(t, all, master+worker, "%v: there are two clusters", more)
		require.NotEmpty(t, master)
		require.NotEmpty(t, worker)
		_, err = cairntest.Run(t, append([]string{"dump", small, "--rank", "9"}, more...)...)
		require.ErrorContains(t, err, "has no rank 9")
	}
}
