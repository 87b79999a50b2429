//go:build mpi

package verify

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// changed makes one final trace of process directories and changes its times, as a bug would.
func changed(t *testing.T, directories []string, change func(c *trace.Content)) *trace.Reader {
	t.Helper()
	var m merger.Merger
	for _, dir := range directories {
		c, _, err := spool.Recover(dir)
		require.NoError(t, err)
		change(c)
		require.NoError(t, m.Add(c))
	}
	contents, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	require.Len(t, contents, 1)
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, contents[0]))
	reader, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	return reader
}

// Calls that take a fraction of a microsecond, on two threads, with untraced regions: correct times
// agree in every timing mode, and a time beyond the stated error by one tick does not.
func TestTimesOfQuickCalls(t *testing.T) {
	t.Parallel()
	for seed, test := range []map[string]any{
		{"timing": "lossy 5"},
		{"timing": "lossy 5 MPI_Comm_rank=1 MPI_Allreduce=20"},
		{"timing": "lossless"},
		{"timing": "aggregated"},
		{"timing": "lossy 5", "mode": "clustered"},
		{"timing": "lossless", "mode": "clustered"},
	} {
		for _, implementation := range shimtest.ImplementationsOf(seed) {
			settings, err := timing.ParseSettings(test["timing"].(string))
			require.NoError(t, err)
			name := implementation + "/" + test["timing"].(string)
			if test["mode"] != nil {
				name += "/clustered"
			}
			t.Run(name, func(t *testing.T) {
				test["verify"], test["call_sites"] = true, "caller"
				tracer := shimtest.NewTracer(t, test)
				program := shimtest.Compile(t, implementation, source("quick.c"), "-pthread")
				r := tracer.Run(t, shimtest.Launch(implementation, 3, program, strconv.Itoa(seed))...)
				require.Equal(t, 0, r.Code, r.Stderr)
				directories := tracer.Processes(t)
				result, err := Compare(changed(t, directories, func(*trace.Content) {}), directories)
				require.NoError(t, err)
				for _, d := range result.Disagreements {
					t.Error(d)
				}
				require.Equal(t, 3, result.Ranks)

				log, err := readLog(directories[0])
				require.NoError(t, err)
				p, err := readProcess(directories[0])
				require.NoError(t, err)
				for _, number := range []int{0, 1} {
					index := shortCall(t, log[number])
					call := log[number][index]
					took := call.exit - call.enter
					reader := changed(t, directories, func(c *trace.Content) {
						for row, thread := range c.Threads.All() {
							if rank := c.Ranks.At(0); !p.of(&rank) || thread.Thread != number {
								continue
							}
							c.Threads.Change(row, func(thread *trace.Thread) {
								if len(thread.Aggregates) > 0 {
									thread.Aggregates[len(thread.Aggregates)-1].Durations.Sum++
									return
								}
								var err error
								thread.Gaps, thread.Durations, err = thread.Times()
								require.NoError(t, err)
								thread.Timing = nil
								thread.Durations[index] = took + settings.IntervalBound(call.function, took) + 1
							})
						}
					})
					result, err := Compare(reader, directories)
					require.NoError(t, err)
					require.NotEmpty(t, result.Disagreements)
					d := result.Disagreements[0]
					require.Equal(t, number, d.Thread)
					require.Equal(t, "time", d.Argument)
					if settings.Mode != timing.Aggregated {
						require.Equal(t, uint64(index), d.Index)
					}
					t.Log(d)
				}
			})
		}
	}
}

// shortCall is a call of less than 3,000 ticks, about a microsecond, in the first half
// of the thread's.
func shortCall(t *testing.T, calls []*loggedCall) int {
	for i := len(calls) / 4; i < len(calls)/2; i++ {
		if took := calls[i].exit - calls[i].enter; calls[i].enter > 0 && took > 0 && took < 3_000 {
			return i
		}
	}
	t.Fatal("no call is short")
	return 0
}
