// Command plant runs planted problems and prints what was planted, what is true of it, and what
// Cairn reports.
//
//	go run ./hack/plant list
//	go run ./hack/plant run --kind chain --seed 17
//	go run ./hack/plant run --kind chain --seed 17 -o chain.cairn [--mended]
//	go run ./hack/plant run --kind chain --seed 17 --real --mpi mpich [-o FOLDER]
//	go run ./hack/plant bench --simulated 240 --controls 300 --real 60
//
// It exits with 1 if Cairn's report is wrong, or a target is missed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
	"github.com/cairn-mpi/cairn/trace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	c := &cobra.Command{Use: "plant", Short: "Run planted problems, and print what was planted and what Cairn reports", SilenceUsage: true, SilenceErrors: true}
	c.AddCommand(newListCommand(), newRunCommand(), newBenchCommand())
	err := c.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(1)
	}
}

func newListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all kinds", Args: cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
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
		},
	}
}

var errWrong = errors.New("the report is wrong")

func newRunCommand() *cobra.Command {
	var (
		kind   string
		seed   uint64
		out    string
		mended bool
		real   bool
		mpi    string
	)
	c := &cobra.Command{
		Use: "run --kind KIND --seed N", Short: "Run one plant", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
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
	c.Flags().StringVar(&kind, "kind", "", "the kind of problem (plant list)")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of everything that is drawn")
	c.Flags().StringVarP(&out, "output", "o", "", "where the trace of a simulated plant is written, which is not analyzed then; the folder of a real one")
	c.Flags().BoolVar(&mended, "mended", false, "with -o, of a simulated plant: without the problem")
	c.Flags().BoolVar(&real, "real", false, "a C program that runs on this machine")
	c.Flags().StringVar(&mpi, "mpi", "openmpi", "with --real: openmpi or mpich")
	return c
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
