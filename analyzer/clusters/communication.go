package clusters

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Communication is what the messages of a run say, whatever their times: its topology, and where its ranks had better
// be.
type Communication struct {
	// Lengths are those of the Scenarios, where another analysis has played them; nil: they are played in a pass of
	// their own.
	Lengths []int64

	topology topology.Findings
	advice   *placement.Advice
	timed    bool // the scenarios can be played
}

// Communicates finds what the messages say.
func Communicates(ctx context.Context, t timeline.Trace, o Options) (*Communication, error) {
	found, err := topology.Analyze(ctx, t, o.Topology)
	if err != nil {
		return nil, err
	}
	advice, err := placement.Advise(t, placement.Options{Shape: found.Shape})
	if err != nil {
		return nil, err
	}
	timed := t.Threads().Calls() <= mostTimed && t.Meta().Timing.Mode != timing.Aggregated
	return &Communication{topology: found, advice: advice, timed: timed}, nil
}

// Scenarios are what to play to know what the better placement is worth.
func (c *Communication) Scenarios() []predict.Scenario {
	if !c.timed {
		return nil
	}
	return c.advice.Scenarios
}

// placement is the advice, with what it is worth if there are clocks.
func (c *Communication) placement(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (placement.Findings, error) {
	if scenarios := c.Scenarios(); clocks != nil && len(scenarios) > 0 && c.Lengths == nil {
		lengths, err := predict.Play(ctx, t, clocks, scenarios)
		if err != nil {
			return c.advice.Findings(nil), err
		}
		c.Lengths = lengths
	}
	return c.advice.Findings(c.Lengths), nil
}
