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

// bench is how many plants of which kinds are judged.
type bench struct {
	simulated, controls int
	kinds               []string // nil: all
	seed                uint64   // of the first plant of each kind
	table               plant.Table
}

func newBenchCommand() *cobra.Command {
	var b bench
	c := &cobra.Command{
		Use: "bench", Short: "Run plants of all kinds in turn, and count how often Cairn is right", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.run(c.Context()) },
	}
	c.Flags().IntVar(&b.simulated, "simulated", 240, "how many simulated plants")
	c.Flags().IntVar(&b.controls, "controls", 300, "how many simulated controls")
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
	if err := b.simulate(ctx, plant.Problem, b.simulated); err != nil {
		return err
	}
	if err := b.simulate(ctx, plant.Control, b.controls); err != nil {
		return err
	}
	fmt.Print("\n", &b.table)
	if b.table.Missed() {
		return errors.New("a target is missed")
	}
	return nil
}

// draw draws n plants of a class, of all wanted kinds in turn.
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

// count adds a result to the table, and names it if it is wrong.
func (b *bench) count(r *examine.Result) {
	loss := r.Truth.Loss()
	b.table.Add(r.Plant, loss, r.Cause, r.Who)
	if !r.Cause || !r.Who {
		fmt.Printf("%s   # %.0f%%: %s\n", r.Command(), 100*loss, r.Why)
	}
}
