//go:build slurm

package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The options that have a value in the next word are those that srun lists with one.
func TestOptionsOfSrun(t *testing.T) {
	configuration := filepath.Join(t.TempDir(), "slurm.conf")
	require.NoError(t, os.WriteFile(configuration,
		[]byte("ClusterName=x\nSlurmctldHost=localhost\nNodeName=localhost\nPartitionName=all Nodes=localhost\n"), 0o644))
	cmd := exec.Command("srun", "--help")
	cmd.Env = append(os.Environ(), "SLURM_CONF="+configuration)
	help, err := cmd.Output()
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^  (?:-(\w),? {1,2}| {4})--([a-z-]+)(=?)`).FindAllStringSubmatch(string(help), -1)
	require.Greater(t, len(found), 80)
	for _, words := range found {
		value := words[3] != ""
		switch words[2] {
		case "bcast": // with = only
			value = false
		case "container": // always has one
			value = true
		}
		for _, name := range words[1:3] {
			if name != "" {
				assert.Equal(t, value, stepValues[name] > 0, name)
			}
		}
	}
}
