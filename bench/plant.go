package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
	"github.com/cairn-mpi/cairn/trace"
)

var errWrong = errors.New("the report is wrong")

// newPlantCommand runs one planted problem, and prints what was planted, what is true of it, and
// what Cairn reports.
func newPlantCommand() *cobra.Command {
	var (
		kind   string
		seed   uint64
		out    string
		mended bool
		real   bool
		mpi    string
	)
	c := &cobra.Command{
		Use: "plant [--kind KIND --seed N]", Short: "Run a planted problem, or list all kinds",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if kind == "" {
				listPlants()
				return nil
			}
			p, err := plant.Random(kind, seed, real)
			if err != nil {
				return err
			}
			fmt.Println(p)
			if out != "" && !real {
				return write(p, out, mended)
			}
			r, err := examined(c.Context(), p, mpi, out)
			if err != nil {
				return err
			}
			fmt.Print(r)
			if !r.Cause || !r.Who {
				return errWrong
			}
			return nil
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "the kind of problem; without it, all kinds are listed")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of everything that is drawn")
	c.Flags().StringVarP(&out, "output", "o", "",
		"where the trace of a simulated plant is written, which is not analyzed then; the folder of "+
			"a real one")
	c.Flags().BoolVar(&mended, "mended", false, "with -o, of a simulated plant: without the problem")
	c.Flags().BoolVar(&real, "real", false, "a C program that runs on this machine")
	c.Flags().StringVar(&mpi, "mpi", "openmpi", "with --real: openmpi or mpich")
	return c
}

func listPlants() {
	for i := range plant.Kinds {
		k := &plant.Kinds[i]
		forms := ""
		if k.HasSimulated() {
			forms = "simulated "
		}
		if k.Real {
			forms += "real"
		}
		fmt.Printf("%-18s %-15s %s\n", k.Name, forms, k.About)
	}
}

// examined runs a plant and judges it. Real ones run in the project's folder.
func examined(ctx context.Context, p *plant.Plant, mpi, keep string) (*examine.Result, error) {
	if !p.Real {
		return examine.Simulated(ctx, p)
	}
	m, err := examine.NewMachine(ctx, ".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	return m.Real(ctx, p, mpi, keep)
}

func write(p *plant.Plant, to string, mended bool) error {
	content, err := examine.Trace(p, mended)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(trace.Write(file, content), file.Close())
}
