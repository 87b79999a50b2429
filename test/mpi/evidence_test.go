//go:build mpi

package mpi

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// evidence is what `cairn info --json` says of a rank's long computations and of its threads.
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
		} `json:"places"`
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

// A program computes in five ways, for some milliseconds each: the operating system says which is which. The machine may be
// busy: whoever runs may wait for a CPU besides.
func TestEvidenceForCPUAndKernel(t *testing.T) {
	const iterations, ms = "40", 1e-3
	for _, implementation := range implementations {
		program := filepath.Join(t.TempDir(), "kinds")
		out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-pthread", "-Wall", "-Werror", "-o", program, "evidence/kinds.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		for name, flags := range map[string][]string{"full": nil, "clustered": {"--mode", "clustered"}, "no call sites": {"--call-sites", "none"}} {
			t.Run(implementation+" "+name, func(t *testing.T) {
				command := append(launch(implementation, 1, ""), iterations, t.TempDir())
				command[len(command)-3] = program
				var found evidence
				seen, odd := 0, ""
				// Where reading takes long, the budget allows for few; where the hypervisor takes CPUs, a burn takes more of one.
				for tries := 0; tries < 5 && (seen < 5 || odd != ""); tries++ {
					r := trace(t, flags, command...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					said := cairn(t, "", "info", filepath.Join(r.dir, "trace.cairn"), "--json")
					found = evidence{}
					require.NoError(t, json.Unmarshal([]byte(said.stdout), &found), said.stderr)
					require.Len(t, found.Evidence, 1)
					seen, odd = 0, ""
					for _, p := range found.Evidence[0].Places {
						if p.After == nil || p.IOBytes == nil { // what it was blocked for was never looked at
							continue
						}
						require.NotNil(t, p.RunDelay, "this kernel counts it")
						kind := p.After.Function
						near := func(want, got, within float64) bool { return math.Abs(got-want) <= within*want }
						good := p.Measured > 0
						switch kind {
						case "MPI_Comm_rank": // burns 5 ms
							good = good && near(5*ms*p.Measured, p.CPU, 0.1) && near(p.Wall, p.CPU+*p.RunDelay, 0.1)
						case "MPI_Comm_size": // sleeps 5 ms
							good = good && p.CPU < 0.1*p.Wall && *p.Blocked > 0.85*5*ms*p.Measured && *p.IOBytes < 1e4*p.Measured
						case "MPI_Initialized": // writes 1 MiB, and waits until the disk has it
							good = good && *p.Blocked > 3*ms*p.Measured*0.9 && near(float64(1<<20)*p.Measured, *p.IOBytes, 0.1)
						case "MPI_Finalized": // another thread burns 5 ms
							good = good && p.CPU < 0.2*5*ms*p.Measured && near(5*ms*p.Measured, *p.Other, 0.2)
						case "MPI_Is_thread_main": // burns 20 ms, and somebody else has the CPU, too
							good = good && near(20*ms*p.Measured, p.CPU, 0.1) && *p.RunDelay > 0.3*p.CPU && near(p.Wall, p.CPU+*p.RunDelay, 0.1)
						default:
							continue
						}
						if !good {
							odd += " " + kind
						}
						seen++
					}
				}
				require.Empty(t, odd, "%+v", found.Evidence[0].Places)
				require.Equal(t, 5, seen, "%+v", found.Evidence[0].Places)
				require.NotEmpty(t, found.Evidence[0].Instances)
				tracers := 0
				for i, thread := range found.Evidence[0].Threads {
					require.Equal(t, i == 0, thread.CallsMPI, thread.Name)
					if thread.Tracer {
						tracers++
					}
				}
				require.Positive(t, tracers)
			})
		}
	}
}
