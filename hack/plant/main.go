// Command plant runs a planted problem and prints what was planted, what is true of it, and what Cairn says.
//
//	go run ./hack/plant --list
//	go run ./hack/plant --kind chain --seed 17
//	go run ./hack/plant --kind chain --seed 17 -o chain.cairn [--mended]
//
// It exits with 1 if what Cairn says is wrong.
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
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(1)
	}
}

// flags are what the command was asked for.
type flags struct {
	kind   string
	seed   uint64
	out    string
	mended bool
	list   bool
}

func command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:           "plant --kind KIND --seed N",
		Short:         "Run a planted problem, and say what was planted and what Cairn says",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.list {
				list()
				return nil
			}
			return f.run(c.Context())
		},
	}
	c.Flags().StringVar(&f.kind, "kind", "", "the kind of problem (--list has them)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of all that is drawn")
	c.Flags().StringVarP(&f.out, "output", "o", "", "where the trace is written; it is not analyzed then")
	c.Flags().BoolVar(&f.mended, "mended", false, "with -o: without the problem")
	c.Flags().BoolVar(&f.list, "list", false, "list all kinds")
	return c
}

func list() {
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

func (f *flags) run(ctx context.Context) error {
	p, err := plant.Random(f.kind, f.seed, false)
	if err != nil {
		return err
	}
	fmt.Println(p)
	if f.out != "" {
		return write(p, f.out, f.mended)
	}
	r, err := examine.Simulated(ctx, p)
	if err != nil {
		return err
	}
	fmt.Print(r)
	if !r.Cause || !r.Who {
		return errors.New("what Cairn says is wrong")
	}
	return nil
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
