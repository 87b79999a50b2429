package plant

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// A Simulated is a simulated plant that has run.
type Simulated struct {
	simulation *simulate.Simulation
	processes  []*process
}

// Simulate runs a simulated plant; with mended, without the problem.
func (p *Plant) Simulate(mended bool) (*Simulated, error) {
	return p.simulate(func(*Plant) bool { return mended })
}

func (p *Plant) simulate(mended func(p *Plant) bool) (*Simulated, error) {
	if p.Real {
		return nil, fmt.Errorf("plant: %s is real", p.Kind)
	}
	config := simulate.Config{
		Pattern: string(p.Program), Ranks: p.Ranks, Iterations: p.Iterations, RanksPerNode: p.PerNode, Compute: p.Work, Seed: p.Seed,
		Evidence: p.evident(),
	}
	if p.Program == "" { // a pattern of package simulate
		config.Pattern, config.Imbalance.Noise = p.Pattern, 100*p.Noise
		s, err := simulate.New(config)
		return &Simulated{simulation: s}, err
	}
	effects, err := p.effects(mended)
	if err != nil {
		return nil, err
	}
	for _, e := range effects {
		if e.model != nil {
			e.model(&config.Model)
		}
	}
	done := &Simulated{processes: make([]*process, p.Ranks)}
	done.simulation, err = simulate.NewOf(config, func(r *simulate.Rank) {
		s := &process{Rank: r, plant: p, effects: effects}
		done.processes[r.Rank()] = s
		s.run()
	})
	if err != nil {
		return nil, fmt.Errorf("plant: %v: %w", p, err)
	}
	return done, nil
}

// evident reports whether the tracer of a simulated plant records for each long computation whether
// it had a CPU. One of three plants is a run on a kernel that does not provide this.
func (p *Plant) evident() bool { return p.Seed%3 != 0 }

// Seconds returns the duration of the run in seconds.
func (s *Simulated) Seconds() float64 { return float64(s.simulation.End()) / 1e9 }

// Trace returns the merged trace.
func (s *Simulated) Trace() (*trace.Content, error) {
	contents, err := s.simulation.Contents()
	if err != nil {
		return nil, err
	}
	for i, process := range s.processes {
		contents[i].Ranks.Change(0, func(r *trace.Rank) { r.Context = process.samples })
	}
	return merger.Merge(contents, merger.Options{Final: true, CreatedBy: "plant"})
}

// Truth returns what may be reported about the plant. The loss of a simulated plant is determined
// by simulation.
func (p *Plant) Truth() (Truth, error) {
	k, err := KindOf(p.Kind)
	if err != nil {
		return Truth{}, err
	}
	var t Truth
	if k.may != nil {
		t.May = k.may(p)
	}
	if p.Real || k.Class != Problem {
		return t.of(p)
	}
	seconds := func(mended func(*Plant) bool) float64 {
		if err != nil {
			return 0
		}
		var s *Simulated
		if s, err = p.simulate(mended); err != nil {
			return 0
		}
		return s.Seconds()
	}
	t.RunSeconds = seconds(func(*Plant) bool { return false })
	t.LossSeconds = t.RunSeconds - seconds(func(*Plant) bool { return true })
	if t, err = t.of(p); err != nil {
		return t, err
	}
	if len(p.With) == 0 {
		t.Planted[0].LossSeconds = t.LossSeconds
		return t, nil
	}
	for i, one := range p.With {
		t.Planted[i].LossSeconds = t.RunSeconds - seconds(func(p *Plant) bool { return p == one })
	}
	slices.SortStableFunc(t.Planted, func(a, b Planted) int { return cmp.Compare(b.LossSeconds, a.LossSeconds) })
	return t, err
}

// of adds what is planted.
func (t Truth) of(p *Plant) (Truth, error) {
	all := p.With
	if len(all) == 0 {
		all = []*Plant{p}
	}
	for _, one := range all {
		k, err := KindOf(one.Kind)
		if err != nil {
			return t, err
		}
		if k.accepted != nil {
			t.Planted = append(t.Planted, Planted{Kind: one.Kind, Accepted: k.accepted(one)})
		}
	}
	return t, nil
}
