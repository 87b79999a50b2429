package inspect

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/logical"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewProgramCommand returns the command `cairn program`.
func NewProgramCommand() *cobra.Command {
	var (
		s3     storage.Flags
		asJSON bool
		peers  bool
		shape  topologyFlags
	)
	c := &cobra.Command{
		Use:   "program FILE",
		Short: "Print the whole job as one program: loops, calls, and which ranks differ",
		Long: `Program prints what all ranks do as one program text: loops with their trip counts, calls with their parameters
(rank+1 if they are a function of the rank), source lines, and lists of ranks where ranks differ. What is too long for a line
is in tables at the end. Threads of different ranks are one in it if they do the same, whatever number each has on its
rank. --json prints every argument of every call (docs/topology.md).`,
		Example: `  cairn program out/trace.cairn
  cairn program out/trace.cairn --logical
  cairn program out/trace.cairn --json`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			o := program.Options{Exact: true}
			if peers {
				of, err := shape.options()
				if err != nil {
					return err
				}
				p, err := logicalProgram(c, f, args[0], of)
				if err != nil {
					return err
				}
				o.Peer, o.IsDirection, o.Lacks, o.Coordinates = p.Peer, p.IsDirection, p.Lacks, p.Coordinates()
			}
			found, err := program.Analyze(c.Context(), timeline.Of(f.Reader), o)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), found)
			}
			return found.Write(c.OutOrStdout())
		},
	}
	s3.Register(c)
	shape.register(c)
	c.Flags().BoolVar(&peers, "logical", false, "peers as directions in the topology: NORTH, +x, parent")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	return c
}

// logicalProgram finds the topology and prints how well one program describes all ranks.
func logicalProgram(c *cobra.Command, f *tracefile.File, path string, o topology.Options) (*logical.Program, error) {
	pairs, err := traffic.Matrix(f.Reader)
	if err != nil {
		return nil, tracefile.Damaged(path, err)
	}
	shape := topology.Identify(topology.World(pairs, f.Meta().WorldSize), o)
	p, err := logical.New(c.Context(), timeline.Of(f.Reader), &shape)
	if err != nil {
		return nil, cli.StatusError(cli.ExitBadData, fmt.Errorf("%s: %w", path, err))
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %d of %d ranks do what rank %d does, as far as they have its neighbors%s; %d calls follow the topology, %d do not\n",
		shape.Name(), len(p.Alike), len(p.Derived)+len(p.Kept), p.Maximal, differingText(p), p.Inside, p.Outside)
	file, err := p.Bytes()
	if err != nil {
		return nil, err
	}
	sizes := f.Sizes()
	fmt.Fprintf(c.ErrOrStderr(), "as a separate file the logical program would take %d bytes; calls and results take %d in the trace\n",
		len(file), sizes.Signatures+sizes.Grammar+sizes.RankMap+sizes.Values)
	return p, nil
}

// differingText describes how much differs between the ranks that share one program.
func differingText(p *logical.Program) string {
	var words []string
	if n := len(p.Differing); n > 0 {
		words = append(words, wording.Count(n, "parameter differs", "parameters differ")+" by rank")
	}
	if p.Trips {
		words = append(words, "trip counts differ")
	}
	if len(words) == 0 {
		return ""
	}
	return "; " + strings.Join(words, ", ") + " (the program lists each)"
}
