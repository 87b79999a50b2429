//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// evidence is the part of `cairn info --json` on a rank's long computations and its threads.
type evidence struct {
	Evidence []struct {
		Places []struct {
			After *struct {
				Function string `json:"function"`
			} `json:"after"`
			Measured float64  `json:"measured"`
			Wall     float64  `json:"wall_seconds"`
			CPU      float64  `json:"cpu_seconds"`
			RunDelay *float64 `json:"run_delay_seconds"`
			Blocked  *float64 `json:"blocked_seconds"`
			Other    *float64 `json:"other_cpu_seconds"`
			IOBytes  *float64 `json:"io_bytes"`
		} `json:"rows"`
		Instances []struct {
			Wall float64 `json:"wall_seconds"`
		} `json:"instances"`
		Threads []struct {
			Name     string  `json:"name"`
			CPU      float64 `json:"cpu_seconds"`
			CallsMPI bool    `json:"calls_mpi"`
			Tracer   bool    `json:"tracer"`
		} `json:"threads"`
	} `json:"evidence"`
}

// sums are the totals of all runs for the computations after a call.
type sums struct{ measured, wall, cpu, runDelay, blocked, other, ioBytes float64 }

// A program computes in five ways, for some milliseconds each, which the operating system's counts
// distinguish. On a busy machine any computation may also wait for a CPU. If readings are slow, the
// budget allows few of them. The first reading of a row is not exact, and contains earlier run
// delay. Then several runs together decide. With -short Open MPI has the first configuration, MPICH
// the others.
func TestEvidenceForCPUAndKernel(t *testing.T) {
	const iterations, enough, most, ms = "30", 2, 10, 1e-3
	near := func(want, got float64) bool { return math.Abs(got-want) <= 0.15*want }
	kinds := map[string]func(s *sums) bool{
		"MPI_Comm_rank": func(s *sums) bool { // burns 5 ms
			return near(5*ms*s.measured, s.cpu) && near(s.wall, s.cpu+s.runDelay)
		},
		"MPI_Comm_size": func(s *sums) bool { // sleeps 5 ms
			return s.cpu < 0.1*s.wall && s.blocked > 0.5*5*ms*s.measured && s.ioBytes < 1e4*s.measured
		},
		"MPI_Initialized": func(s *sums) bool { // writes 1 MiB, and waits until the disk has it
			// bytes are known for some instances only, which represent all
			return s.blocked > 0.5*3*ms*s.measured && math.Abs(s.ioBytes/s.measured-1<<20) < 1<<19
		},
		"MPI_Finalized": func(s *sums) bool { // another thread burns 5 ms
			return s.cpu < 0.2*5*ms*s.measured && near(5*ms*s.measured, s.other)
		},
		"MPI_Is_thread_main": func(s *sums) bool { // burns 20 ms, and somebody else has the CPU, too
			return near(20*ms*s.measured, s.cpu) && s.runDelay > 0.3*s.cpu && near(s.wall, s.cpu+s.runDelay)
		},
	}
	// those of which the bytes are asked
	reads := map[string]bool{"MPI_Comm_size": true, "MPI_Initialized": true}
	for _, implementation := range implementations {
		program := filepath.Join(t.TempDir(), "kinds")
		out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-pthread", "-Wall", "-Werror", "-o", program, "evidence/kinds.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		for name, flags := range map[string][]string{"full": nil, "clustered": {"--mode", "clustered"}, "no call sites": {"--call-sites", "none"}} {
			if testing.Short() && (name == "full") != (implementation == "openmpi") {
				continue
			}
			t.Run(implementation+" "+name, func(t *testing.T) {
				command := append(launch(implementation, 1, ""), iterations, t.TempDir())
				command[len(command)-3] = program
				found := make(map[string]*sums)
				for kind := range kinds {
					found[kind] = new(sums)
				}
				wrong := func() (list []string) {
					for kind, good := range kinds {
						if s := found[kind]; s.measured < enough || !good(s) {
							list = append(list, fmt.Sprintf("%s: %+v", kind, *s))
						}
					}
					return list
				}
				// if listing threads is slow, a run has only the first list
				instances, threads := false, false
				for runs := 0; runs < most && (len(wrong()) > 0 || !instances || !threads); runs++ {
					r := trace(t, flags, command...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					said := cairn(t, "", "info", filepath.Join(r.dir, "trace.cairn"), "--json")
					var one evidence
					require.NoError(t, json.Unmarshal([]byte(said.stdout), &one), said.stderr)
					require.Len(t, one.Evidence, 1)
					for _, p := range one.Evidence[0].Places {
						if p.After == nil || found[p.After.Function] == nil {
							continue
						}
						require.NotNil(t, p.RunDelay, "this kernel counts it")
						require.NotNil(t, p.Blocked)
						require.NotNil(t, p.Other)
						s := found[p.After.Function]
						if p.IOBytes != nil {
							s.ioBytes += *p.IOBytes
						} else if reads[p.After.Function] {
							continue // its blocked time was never measured
						}
						s.measured += p.Measured
						s.wall += p.Wall
						s.cpu += p.CPU
						s.runDelay += *p.RunDelay
						s.blocked += *p.Blocked
						s.other += *p.Other
					}
					instances = instances || len(one.Evidence[0].Instances) > 0
					known := len(one.Evidence[0].Threads) > 0
					for i, thread := range one.Evidence[0].Threads {
						known = known && thread.CallsMPI == (i == 0) && !thread.Tracer
					}
					threads = threads || known
					t.Log(instances, threads, wrong())
				}
				require.Empty(t, wrong())
				require.True(t, instances, "the largest are known one by one")
				require.True(t, threads, "the thread that calls MPI uses most, and none is the tracer's")
			})
		}
	}
}
