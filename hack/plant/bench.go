package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
)

// maxUnexplained is the part of all ranks' time that a ledger may leave unexplained.
const maxUnexplained = 0.05

// bench is the number of plants to judge, by class and kind.
type bench struct {
	simulated, controls int
	real                int      // problems; a tenth as many controls and failures are added
	kinds               []string // nil: all
	seed                uint64   // of the first plant of each kind
	table               plant.Table
	unexplained         int // plants with too much unexplained time in the ledger
	gains               []gain
}

// A gain is a row of the table of gains.
type gain struct {
	examine.Gain
	name string
}

func newBenchCommand() *cobra.Command {
	var b bench
	c := &cobra.Command{
		Use: "bench", Short: "Run plants of all kinds in turn, and count how often Cairn is right", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.run(c.Context()) },
	}
	c.Flags().IntVar(&b.simulated, "simulated", 240, "how many simulated plants")
	c.Flags().IntVar(&b.controls, "controls", 300, "how many simulated controls")
	c.Flags().IntVar(&b.real, "real", 0, "how many real plants; for each ten of them also one real control, and one hang or crash")
	c.Flags().StringSliceVar(&b.kinds, "kinds", nil, "of these kinds only")
	c.Flags().Uint64Var(&b.seed, "seed", 1, "of the first plant of each kind")
	return c
}

func (b *bench) run(ctx context.Context) error {
	for _, name := range b.kinds {
		if _, err := plant.KindOf(name); err != nil {
			return err
		}
	}
	fmt.Printf("seed %d; what is wrong:\n", b.seed)
	if err := b.simulate(ctx, plant.Problem, b.simulated); err != nil {
		return err
	}
	if err := b.simulate(ctx, plant.Control, b.controls); err != nil {
		return err
	}
	if b.real > 0 {
		if err := b.runReal(ctx); err != nil {
			return err
		}
	}
	fmt.Print("\n", &b.table)
	if b.printGains() || b.table.Missed() || b.unexplained > 0 {
		return errors.New("a target is missed")
	}
	return nil
}

// draw draws n plants of a class, cycling through all wanted kinds.
func (b *bench) draw(class plant.Class, real bool, n int) ([]*plant.Plant, error) {
	kinds := slices.DeleteFunc(plant.Of(class, real), func(k *plant.Kind) bool {
		return b.kinds != nil && !slices.Contains(b.kinds, k.Name)
	})
	var plants []*plant.Plant
	for i := 0; i < n && len(kinds) > 0; i++ {
		p, err := plant.Random(kinds[i%len(kinds)].Name, b.seed+uint64(i/len(kinds)), real)
		if err != nil {
			return nil, err
		}
		plants = append(plants, p)
	}
	return plants, nil
}

// simulate judges simulated plants on all processors.
func (b *bench) simulate(ctx context.Context, class plant.Class, n int) error {
	plants, err := b.draw(class, false, n)
	if err != nil {
		return err
	}
	results := make([]*examine.Result, len(plants))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range plants {
		group.Go(func() (err error) {
			results[i], err = examine.Simulated(ctx, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, r := range results {
		b.count(r)
	}
	return nil
}

// runReal judges real plants one by one, alternating between the MPIs.
func (b *bench) runReal(ctx context.Context) error {
	m, err := examine.NewMachine(ctx, ".")
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	some := (b.real + 9) / 10
	for _, of := range []struct {
		class plant.Class
		n     int
	}{{plant.Problem, b.real}, {plant.Control, some}, {plant.Failure, some}} {
		plants, err := b.draw(of.class, true, of.n)
		if err != nil {
			return err
		}
		kinds := map[string]int{} // by which the MPIs alternate
		for _, p := range plants {
			if _, seen := kinds[p.Kind]; !seen {
				kinds[p.Kind] = len(kinds)
			}
			r, err := m.Real(ctx, p, examine.MPIs[kinds[p.Kind]%len(examine.MPIs)], "")
			if err != nil {
				return err
			}
			kinds[p.Kind]++
			b.count(r)
			if g, ok := r.Gain(); ok {
				b.gains = append(b.gains, gain{g, fmt.Sprintf("%s, seed %d, %s", p.Kind, p.Seed, r.MPI)})
			}
		}
	}
	return nil
}

// count adds a result to the table, and names it if it is wrong.
func (b *bench) count(r *examine.Result) {
	loss := r.Truth.Loss()
	b.table.Add(r.Plant, loss, r.Cause, r.Who)
	if !r.Cause || !r.Who {
		fmt.Printf("%s   # %.0f%%: %s\n", r.Command(), 100*loss, r.Why)
	}
	if u := r.Unexplained(); u > maxUnexplained {
		b.unexplained++
		fmt.Printf("%s   # the ledger leaves %.0f%% unexplained\n", r.Command(), 100*u)
	}
}

// printGains prints promised and real gains, and reports whether one is missed.
func (b *bench) printGains() (missed bool) {
	if len(b.gains) == 0 {
		return false
	}
	fmt.Printf("%-44s %10s %10s %10s %10s\n", "gains of rightly named real plants", "run", "promised", "real", "spread")
	right, all := map[bool]int{}, map[bool]int{} // by whether the gain is an estimate
	for _, g := range b.gains {
		fmt.Printf("  %-42s %s\n", g.name, g)
		all[g.Estimate]++
		if g.Right() {
			right[g.Estimate]++
		}
	}
	fmt.Printf("  within 2%% of the run, 10%% of it, or the spread: %d of %d by replay, %d of %d estimates\n",
		right[false], all[false], right[true], all[true])
	return right[false] < all[false] || right[true] < all[true]
}
