package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The program in the command line of a launcher, for each launcher and form of options. In the text
// it has a + in front, and words that are left out of a further start have a !.
func TestProgramInACommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("here", nil, 0o755))
	for _, text := range []string{
		"mpirun -H a,b +./a --np 4",
		"mpirun -np 4 --oversubscribe --mca btl tcp,self --mca plm_rsh_agent ssh -x LD_LIBRARY_PATH +./a",
		"mpirun.openmpi --host a:2,b:2 --map-by ppr:2:node --bind-to none -q +env X=1 ./a",
		"mpirun -H a,b -np 1 +./a 1 : -np 2 +./b 2 : -H c +./c",
		"mpiexec.hydra -hosts a,b -launcher ssh -genv X 1 -n 4 +./a -n 5",
		"mpiexec -env OMP_NUM_THREADS 4 -ppn 2 -f hosts.txt -prepend-rank +./a",
		"mpirun --some-new-option value-of-it -n 2 +./a",
		"mpirun --some-new-switch -n 2 +./a",
		"mpirun --timeout=5 -n 2 +sh -c ./a",
		"srun -n4 -N 2 --mpi=pmi2 --cpu-bind cores -q high -d singleton -l +./a",
		"srun --ntasks 4 --nodelist a,b +python3 a.py : +./b",
		"flux run -n 4 -N2 --env=X=1 +./a",
		"env X=1 timeout 60 mpirun -n 2 +./a",
		"mpiexec -genv X=1 -env Y=2 +./a b",
		"mpiexec -genv X 1 +./a b",
		"mpirun --some-new-switch +here in.dat",
		"srun -u +./a in.dat",
		"srun -K --propagate +./a in.dat",
		"srun -n4 +here in.dat",
		"srun -n4 -l +here in.dat",
		"srun -lun 4 -N2 -wa,b +here in.dat",
		"srun -n 4 !-o !job.log !-ejob.err !--error=job.err !--input !none !--task-prolog !./p +./a -o out",
		"mpirun !--output-filename !logs !--report-pid !pid.txt !--mca !orte_output_filename !logs --mca btl tcp +./a",
		"mpiexec.mpich !-outfile-pattern !%r.out !-errfile-pattern=%r.err -n 4 +./a",
		"flux run -n 4 !--output=job.log -u +./a",
	} {
		var words, prefixed, replaced []string
		inside := false
		for _, word := range strings.Fields(text) {
			word, begins := strings.CutPrefix(word, "+")
			word, dropped := strings.CutPrefix(word, "!")
			inside = (inside || begins) && word != ":"
			if begins {
				prefixed, replaced = append(prefixed, "cairn", "exec"), append(replaced, "cairn", "send")
			}
			words, prefixed = append(words, word), append(prefixed, word)
			if !inside && !dropped {
				replaced = append(replaced, word)
			}
		}
		c, ok := Parse(words)
		require.True(t, ok, text)
		assert.Equal(t, prefixed, c.Prefixed("cairn", "exec"))
		assert.Equal(t, replaced, c.Replaced("cairn", "send"))
	}
	for _, text := range []string{
		"./a mpirun ./b", "mpirun -n 4", "bash -c mpirun", "mpirun --app file", "mpirun_rsh -hostfile f X=1 ./a", "mpirun a 4 ./a",
		"mpirun a,b 4 ./a : c 2 ./b", "mpiexec_mpt -n 2 ./a", "flux mini run ./a", "flux submit ./a", "flux alloc -n 4 ./a", "flux",
		"srun -n 2 --multi-prog conf",
	} {
		_, ok := Parse(strings.Fields(text))
		assert.False(t, ok, text)
	}
}

// Only a command that may leave this host is changed.
func TestCommandThatLeavesThisHost(t *testing.T) {
	own, err := os.Hostname()
	require.NoError(t, err)
	for _, variable := range []string{"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile", "SLURM_JOB_NUM_NODES"} {
		t.Setenv(variable, "")
	}
	file := func(name, words string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(words), 0o644))
		return path
	}
	here, there := file("here", "# ours\nlocalhost slots=4\n"+own+":2\n"), file("there", own+"\nnode-17 slots=2\n")
	for command, leaves := range map[string]bool{
		"mpirun -n 4 ./a":                            false,
		"mpirun -H localhost:4 ./a":                  false,
		"mpirun -H " + own + " -n 1 ./a":             false,
		"mpirun -H a,b ./a":                          true,
		"mpirun -n 1 -H localhost ./a : -H b ./a":    true,
		"mpirun --hostfile " + here + " ./a":         false,
		"mpirun --hostfile " + there + " ./a":        true,
		"mpiexec -f " + there + " ./a":               true,
		"mpiexec -hosts 127.0.0.1 ./a -hosts remote": false,
		"srun ./a":     true,
		"flux run ./a": true,
	} {
		c, ok := Parse(strings.Fields(command))
		require.True(t, ok)
		assert.Equal(t, leaves, c.LeavesThisHost(), command)
	}
	t.Setenv("SLURM_JOBID", "")
	for _, job := range []string{"", "17"} {
		t.Setenv("SLURM_JOB_ID", job)
		for command, asks := range map[string]bool{"mpirun ./a": false, "srun --jobid=7 ./a": false, "srun --jobid 7 ./a": false, "srun -n 4 ./a --jobid=7": job == ""} {
			c, ok := Parse(strings.Fields(command))
			require.True(t, ok)
			assert.Equal(t, asks, c.AsksForHosts(), command)
		}
	}
	c, _ := Parse([]string{"mpirun", "./a"})
	t.Setenv("PBS_NODEFILE", here)
	assert.False(t, c.LeavesThisHost())
	t.Setenv("PBS_NODEFILE", there)
	assert.True(t, c.LeavesThisHost())
	t.Setenv("PBS_NODEFILE", "")
	t.Setenv("SLURM_JOB_NUM_NODES", "2")
	assert.True(t, c.LeavesThisHost())
}
