//go:build mpi

package mpi

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/network"
)

// TestLostPackets: the trace has the TCP segments that ranks sent over a network that loses some,
// and sent again. Each of the 40 messages of a rank has at least seven segments of at most 64 KiB,
// so that all of them arrive at the first attempt less than once in ten million runs.
func TestLostPackets(t *testing.T) {
	hosts, err := network.New(2, network.Link{Latency: 500 * time.Microsecond, Loss: 0.03})
	require.NoError(t, err)
	defer hosts.Close()
	agent, err := hosts.Agent(t.TempDir())
	require.NoError(t, err)
	ring := &networkWhatIf{program: "ring", ranks: 2, arguments: []string{"--iterations", "40", "--work-us", "0", "--bytes", "400000"}}
	out := t.TempDir()
	command := append([]string{"run", "-o", out, "--"}, ring.command(hosts, agent)...)
	said, err := exec.Command(cairnBinary(), command...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	again := int64(0)
	for _, rank := range openTrace(t, out).Ranks().All() {
		require.NotNil(t, rank.TCP)
		require.GreaterOrEqual(t, rank.TCP.Segments, int64(40*7))
		require.Less(t, rank.TCP.Retransmits, rank.TCP.Segments)
		again += rank.TCP.Retransmits
	}
	require.Positive(t, again)
	require.Positive(t, hosts.Sent().Lost)
}
