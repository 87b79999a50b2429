package inspect

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/trace"
)

// NewDumpCommand returns the command `cairn dump`.
func NewDumpCommand() *cobra.Command {
	var (
		s3     storage.Flags
		rank   int
		asJSON bool
		sites  bool
		types  bool
	)
	c := &cobra.Command{
		Use:   "dump FILE",
		Short: "Print every call of a trace, decoded, in the order of each rank",
		Example: `  cairn dump out/trace.cairn --rank 0
  cairn dump s3://traces/default/stencil/<uid>/0/0/trace.cairn --json`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if h, _, err := tracefile.OpenHistograms(c.Context(), args[0], s3); h != nil || err != nil {
				if err != nil {
					return err
				}
				if c.Flags().Changed("rank") && h.Ranks.Find(rank) < 0 {
					return cli.UsageError(fmt.Errorf("%s has no rank %d", args[0], rank))
				}
				return dumpHistograms(c, h, asJSON, func(ranks trace.RankList) bool { return !c.Flags().Changed("rank") || ranks.Index(rank) >= 0 })
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			if c.Flags().Changed("rank") && !tracefile.HasRank(f, rank) {
				return cli.UsageError(fmt.Errorf("%s has no rank %d", args[0], rank))
			}
			out := bufio.NewWriterSize(c.OutOrStdout(), 1<<16)
			var line []byte
			known := map[int]*datatypes.Table{}
			for _, thread := range f.Threads().All() {
				if c.Flags().Changed("rank") && thread.Rank != rank {
					continue
				}
				cursor, err := f.Cursor(thread.Rank, thread.Thread)
				if err != nil {
					return tracefile.Damaged(args[0], err)
				}
				for n := 0; cursor.Next(); n++ {
					if n&0xfff == 0 && c.Context().Err() != nil {
						return c.Context().Err()
					}
					e := cursor.Event()
					if asJSON {
						line = e.AppendJSON(line[:0])
					} else {
						start, duration := "-", "-"
						if e.Timed {
							start, duration = fmt.Sprintf("%.6f", milliseconds(e.Enter)), fmt.Sprintf("%.6f", milliseconds(e.Exit-e.Enter))
						}
						line = fmt.Appendf(line[:0], "%d.%d %14s %12s  %s", e.Rank, e.Thread, start, duration, e.Text())
						if sites {
							line = appendCallPath(line, e)
						}
						if types {
							line = appendDatatype(line, known, e)
						}
					}
					if _, err := out.Write(append(line, '\n')); err != nil {
						return err
					}
				}
				if err := cursor.Err(); err != nil {
					_ = out.Flush()
					return tracefile.Damaged(args[0], err)
				}
			}
			return out.Flush()
		},
	}
	s3.Register(c)
	c.Flags().Var(cli.AtLeast(&rank, 0, 0), "rank", "only this rank")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	c.Flags().BoolVar(&sites, "call-sites", false, "print where each call was made and, in a trace with call paths, its callers")
	c.Flags().BoolVar(&types, "datatypes", false, "print the datatype that a call creates: its typemap, size and bounds in bytes")
	return c
}

// appendDatatype appends the datatype that a call created. Threads of a rank share its datatypes.
// One that another thread created is known only if that thread was printed before.
func appendDatatype(line []byte, known map[int]*datatypes.Table, e *trace.Event) []byte {
	if known[e.Rank] == nil {
		known[e.Rank] = &datatypes.Table{}
	}
	made := known[e.Rank].See(e)
	if made == nil {
		return line
	}
	return fmt.Appendf(line, "  %s size %d extent %d lower bound %d", made.TypeMap(), made.Size, made.Extent, made.LB)
}

// appendCallPath appends the source locations of the callers, innermost first.
func appendCallPath(line []byte, e *trace.Event) []byte {
	between := "  at "
	for site := range e.CallPath {
		line = append(append(line, between...), callsite.Short(callsite.Name(site))...)
		between = " < "
	}
	return line
}

func milliseconds(ns int64) float64 { return float64(ns) / 1e6 }
