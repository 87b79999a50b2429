package shipper

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
)

func TestFoldersHaveTheProgramsName(t *testing.T) {
	for executable, want := range map[string]string{
		"/usr/bin/lmp": "run-3-lmp", "/a b/x y;z": "run-3-x_y_z", "": "run-3", "/opt/gmx_mpi.d/gmx-2.1+c": "run-3-gmx-2.1+c", "/opt/über": "run-3-_ber",
	} {
		c := &trace.Content{}
		c.Ranks.Append(trace.Rank{Executable: executable})
		assert.Equal(t, want, runName(3, c))
		assert.True(t, ManyWorlds.MatchString(want))
	}
}
