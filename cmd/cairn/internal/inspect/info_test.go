package inspect_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// The steal of each machine is printed once, if it is known and not zero.
func TestInfoPrintsSteal(t *testing.T) {
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
	text, err := cairntest.Run(t, "info", path)
	require.NoError(t, err)
	require.Contains(t, text, "2.99 s, summed over its CPUs", "rounded, as a trace has it")
	require.Equal(t, 1, strings.Count(text, "steal on "), text)
	out, err := cairntest.Run(t, "info", path, "--json")
	require.NoError(t, err)
	var found inspect.Information
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found.Steal, 1)
	require.Equal(t, "n0", found.Steal[0].Machine)
	require.InEpsilon(t, 3, found.Steal[0].Seconds, 1./128)
}

// What is known of a rank's container and connections is printed, and nothing else.
func TestInfoPrintsPressure(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		r.Finalize(5, 6)
		r.Info().Pressure = []*trace.Pressure{
			{MemoryNS: 3 << 29, IONS: trace.Unknown, MemoryLimitHits: 42}, nil, {MemoryNS: trace.Unknown, IONS: trace.Unknown, MemoryLimitHits: 0},
		}[i]
		r.Info().TCP = []*trace.TCPUsage{{Segments: 60, Retransmits: 3}, nil, nil}[i]
	})
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, b.Content()))
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	text, err := cairntest.Run(t, "info", path)
	require.NoError(t, err)
	require.Regexp(t, `pressure of rank 0 +waited 1.61 s for memory, memory limit reached 42 times, retransmitted 3 of 60 TCP segments\n`, text)
	require.NotContains(t, text, "pressure of rank 1")
	require.NotContains(t, text, "pressure of rank 2", "nothing happened")
}

// Calls with arguments that were lost by generalization are counted by function.
func TestInfoPrintsGeneralizedCalls(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Init(0, 1)
		r.Collective("MPI_Barrier", 2, 3)
		r.Collective("MPI_Barrier", 4, 5)
		r.Finalize(6, 7)
	})
	c := b.Content()
	for k := range c.Signatures {
		for _, f := range c.Functions {
			c.Signatures[k].Generalized = c.Signatures[k].Generalized || f.ID == c.Signatures[k].Function && f.Name == "MPI_Barrier"
		}
	}
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, c))
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	out, err := cairntest.Run(t, "info", path, "--json")
	require.NoError(t, err)
	var found inspect.Information
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found.Generalized, 1)
	require.Equal(t, "MPI_Barrier", found.Generalized[0].Function)
	require.EqualValues(t, 4, found.Generalized[0].Calls)
	text, err := cairntest.Run(t, "info", path)
	require.NoError(t, err)
	require.Contains(t, text, "4 calls of MPI_Barrier")
}

// The cost of tracing for a rank is what the compressor and its buffers took, and the bytes of its
// times.
func TestInfoPrintsTracingCost(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		if i == 1 {
			r.Info().Tracer = &trace.TracerUsage{Stalls: 3, StalledNS: 2 << 30, LongestStallNS: 1 << 30, MemoryBytes: 8 << 20, MostMemory: 16 << 20, MostSpool: 5 << 20, WrittenBytes: 7 << 20, CPUNS: 4 << 30}
		}
		r.Init(0, 1)
		r.Collective("MPI_Barrier", 2, 3)
		r.Finalize(5, 6)
	})
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, b.Content()))
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
	out, err := cairntest.Run(t, "info", path, "--json")
	require.NoError(t, err)
	var found inspect.Information
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found.Tracing, 2)
	total := int64(0)
	for _, r := range found.Tracing {
		require.Positive(t, r.TimingBytes)
		total += r.TimingBytes
	}
	require.Less(t, total, found.Bytes.Timing)
	text, err := cairntest.Run(t, "info", path)
	require.NoError(t, err)
	require.Contains(t, text, "4.29 s of CPU per rank, at most 4.29 s (rank 1)")
	require.Nil(t, found.Tracing[0].Process)
	require.Equal(t, &inspect.ProcessTracing{
		CPUSeconds: 4.294967296, MemoryBytes: 8 << 20, MaxMemoryBytes: 16 << 20, Stalls: 3, StallSeconds: 2.147483648, LongestStallSeconds: 1.073741824, MaxSpoolBytes: 5 << 20, WrittenBytes: 7 << 20,
	}, found.Tracing[1].Process)
	require.Contains(t, text, "8 MiB per rank at the end, at most 16 MiB (rank 1)")
	require.Contains(t, text, "at most 5 MiB (rank 1), 7 MiB per rank written")
	require.Contains(t, text, "3 changes of a record buffer, 2.15 s in total, the longest 1.07 s (rank 1)")
}
