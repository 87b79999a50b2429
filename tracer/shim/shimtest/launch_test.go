//go:build mpi

package shimtest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// launchIDs returns the launch ids that processes have recorded, by the name of their launch, which
// is the program's last argument.
func launchIDs(t *testing.T, tracer *Tracer) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, dir := range tracer.Processes(t) {
		b, err := os.ReadFile(filepath.Join(dir, "process.json"))
		require.NoError(t, err)
		var p struct {
			LaunchID  string   `json:"launch_id"`
			Arguments []string `json:"arguments"`
		}
		require.NoError(t, json.Unmarshal(b, &p))
		name := p.Arguments[len(p.Arguments)-1]
		found[name] = append(found[name], p.LaunchID)
	}
	return found
}

// Programs in front of a rank. In a PID namespace of its own the launcher is not visible, as in
// containers.
const (
	isolated  = `exec unshare -pf --kill-child --mount-proc "$@"`
	outerProc = `exec unshare -pf --kill-child "$@"`
	otherName = `exec unshare -mupf --kill-child --mount-proc sh -c 'hostname "host-${PMIX_RANK:-$PMI_RANK}"; exec "$@"' sh "$@"`
	// the launcher passes hydra's PMI on, and nothing else of it
	notHydra = `exec 5>&- 7>&-; unset HYDI_CONTROL_FD MPI_LOCALRANKID; export `
)

// agent starts a proxy as a shell on another host does: it inherits no descriptor of mpirun.
const agent = `#!/bin/sh
while case $1 in -*) ;; *) false ;; esac; do shift; done
shift
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
exec sh -c "$*"
`

// All processes of a launch have one launch id, whatever namespaces they are in and whoever started
// them, and two launches at once have two.
func TestLaunchIDs(t *testing.T) {
	t.Parallel()
	programs := CompileForAll(t, filepath.Join(Root(), "tracer", "shim", "testdata", "launch.c"))
	for name, test := range map[string]struct {
		rank     string   // script in front of each rank
		launcher []string // in front of mpirun
		hosts    bool     // each rank on a host of its own
		only     string   // the MPI; "": both
	}{
		"plain":                         {rank: `exec "$@"`},
		"shell":                         {rank: `"$@"; exit $?`},
		"PID namespaces":                {rank: isolated},
		"PID namespaces, outer /proc":   {rank: outerProc},
		"all namespaces":                {rank: otherName},
		"some in a PID namespace":       {rank: `[ "${PMIX_RANK:-$PMI_RANK}" = 0 ] && exec "$@"; ` + outerProc},
		"mpirun in a namespace":         {rank: `exec "$@"`, launcher: []string{"unshare", "-pf", "--kill-child", "--mount-proc"}},
		"both in namespaces":            {rank: isolated, launcher: []string{"unshare", "-pf", "--kill-child", "--mount-proc"}},
		"other hosts":                   {rank: `exec "$@"`, hosts: true, only: "mpich"},
		"PID namespaces on other hosts": {rank: isolated, hosts: true, only: "mpich"},
		"closed listener":               {rank: `exec 5>&-; ` + isolated, only: "mpich"},
		"PMI-2":                         {rank: notHydra + `PMI_JOBID=$LAUNCH; ` + isolated, only: "mpich"},
		"Slurm":                         {rank: notHydra + `SLURM_JOB_ID=7 SLURM_STEP_ID=$LAUNCH SLURM_PROCID=$PMI_RANK; ` + isolated, only: "mpich"},
		"flux":                          {rank: notHydra + `FLUX_JOB_ID=$LAUNCH FLUX_TASK_RANK=$PMI_RANK; ` + isolated, only: "mpich"},
		"PALS":                          {rank: notHydra + `PALS_APID=$LAUNCH PALS_RANKID=$PMI_RANK; ` + isolated, only: "mpich"},
		"PMIx":                          {rank: notHydra + `PMIX_NAMESPACE=$LAUNCH PMIX_RANK=$PMI_RANK; ` + isolated, only: "mpich"},
	} {
		implementations := Implementations
		if test.only != "" {
			implementations = []string{test.only}
		}
		for _, implementation := range implementations {
			t.Run(implementation+"/"+name, func(t *testing.T) {
				t.Parallel()
				tracer := NewTracer(t, map[string]any{})
				tracer.Alone = true
				launch := func(launch string) string {
					mpirun := Launch(implementation, 2, "sh", "-c", `'`+strings.ReplaceAll(test.rank, `'`, `'\''`)+`'`, "sh", programs[implementation], launch)
					if test.hosts {
						mpirun = slices.Insert(mpirun, 1, "-launcher", "ssh", "-launcher-exec", filepath.Join(tracer.Dir, "agent"), "-hosts", "a,b")
					}
					mpirun = slices.Concat(test.launcher, mpirun)
					temporary := filepath.Join(tracer.Dir, launch) // two Open MPIs at once would make the same folder
					require.NoError(t, os.Mkdir(temporary, 0o755))
					return "TMPDIR=" + temporary + " OMPI_MCA_orte_tmpdir_base=" + temporary + " LAUNCH=" + launch + " " + strings.Join(mpirun, " ")
				}
				require.NoError(t, os.WriteFile(filepath.Join(tracer.Dir, "agent"), []byte(agent), 0o755))
				// processes of several PID namespaces cannot map each other's memory
				require.NoError(t, os.WriteFile(filepath.Join(tracer.Dir, "run"), []byte(
					"export UCX_TLS=sysv,self OMPI_MCA_btl=tcp,self\n"+launch("first")+" & "+launch("second")+" && wait $!\n"), 0o644))
				r := tracer.Run(t, "sh", filepath.Join(tracer.Dir, "run"))
				require.Equal(t, 0, r.Code, r.Stderr)
				ids := launchIDs(t, tracer)
				require.ElementsMatch(t, []string{"first", "second"}, slices.Collect(maps.Keys(ids)))
				for launch, ids := range ids {
					assert.Len(t, ids, 2, launch)
					assert.Equal(t, ids[0], ids[1], launch)
				}
				assert.NotEqual(t, ids["first"][0], ids["second"][0])
			})
		}
	}
}
