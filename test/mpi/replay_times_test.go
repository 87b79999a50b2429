//go:build mpi

package mpi

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/network"
)

// The paper's mean error of how long a replay takes (ScalaTrace II, ICS 2013, §4.2).
const replayError = 0.057

// times are what a program took in some runs, and its re-executions, in seconds.
type times struct{ run, again []float64 }

var replayed = regexp.MustCompile(`executed again in ([\d.]+) s; the recorded run took ([\d.]+) s`)

// add runs the program and executes the run again, on the same network; computation is sleep.
func (x *times) add(t *testing.T, w *networkWhatIf) {
	t.Helper()
	hosts, err := network.New(w.ranks, w.is)
	require.NoError(t, err)
	defer hosts.Close()
	agent, err := hosts.Agent(t.TempDir())
	require.NoError(t, err)
	command := w.command(hosts, agent)
	r := trace(t, nil, command...)
	require.Equal(t, 0, r.code, r.stderr)
	launcher := command[:len(command)-1-len(w.arguments)]
	again := cairn(t, r.dir, append([]string{"replay", r.dir + "/trace.cairn", "--compute", "sleep", "--mpi", "openmpi", "--"}, launcher...)...)
	require.Equal(t, 0, again.code, again.stderr)
	found := replayed.FindStringSubmatch(again.stderr)
	require.NotNil(t, found, again.stderr)
	for i, to := range []*[]float64{&x.again, &x.run} {
		seconds, err := strconv.ParseFloat(found[i+1], 64)
		require.NoError(t, err)
		*to = append(*to, seconds)
	}
}

// off is how much longer the re-execution takes, by the medians. target is the limit: the paper's
// error, or twice the difference between the program's own runs.
func (x *times) off() float64 { return median(x.again) - median(x.run) }

func (x *times) target() float64 {
	return max(replayError*median(x.run), 2*(slices.Max(x.run)-slices.Min(x.run)))
}

// TestReplayTimes: a re-execution takes as long as the run, on the same network. make bench-replay
// has all networks of bench-predict and prints a row for each, with the target. Here there is other
// load, so that one must be right within a half.
func TestReplayTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all")
	}
	pairs := benchPairs(t)
	worst := 0.0
	for i := range networkWhatIfs {
		w := &networkWhatIfs[i]
		if pairs == 0 && i > 0 {
			break
		}
		t.Run(w.name, func(t *testing.T) {
			var x times
			for range max(pairs, 1) {
				x.add(t, w)
			}
			if pairs == 0 {
				require.LessOrEqual(t, math.Abs(x.off()), median(x.run)/2, "run, again: %v", x)
				return
			}
			verdict := "pass"
			if math.Abs(x.off()) > x.target() {
				verdict = "MISS"
			}
			worst = max(worst, math.Abs(x.off())/median(x.run))
			fmt.Printf("%-10s %-36s %8.3f s %8.3f s %+7.1f%% %7.1f%% %s\n", w.program, w.name, median(x.run), median(x.again),
				100*x.off()/median(x.run), 100*x.target()/median(x.run), verdict)
		})
	}
	if pairs > 0 {
		fmt.Printf("the worst is off by %.1f%%\n", 100*worst)
	}
}
