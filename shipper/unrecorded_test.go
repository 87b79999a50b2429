package shipper

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A heartbeat has at most maxProblems lines about processes, and one that counts the rest.
func TestUnrecordedProcessesOfAHeartbeat(t *testing.T) {
	u := unrecorded{}
	for i := range maxProblems {
		u.add(fmt.Sprint("process-", i), fmt.Sprintf("process %03d", i))
	}
	u.add("another directory", "process 000") // the same text is one line
	require.Len(t, u.lines(), maxProblems)
	require.Equal(t, "process 099", u.lines()[maxProblems-1])

	u.add("one more", "process 100")
	require.Len(t, u.lines(), maxProblems+1)
	require.Equal(t, "and at least 1 more", u.lines()[maxProblems])

	// what an earlier shipper counted names no process
	u.add("and at least 5 more", "and at least 5 more")
	require.Equal(t, "and at least 1 more", u.lines()[maxProblems])

	// what is remembered is limited, too; a known process may change its text
	for i := range 2 * maxNoted {
		u.add(fmt.Sprint("many-", i), fmt.Sprintf("what %05d", i))
	}
	require.Len(t, u, maxNoted)
	u.add("process-0", "it was read again")
	require.Equal(t, "it was read again", u.lines()[0])
}
