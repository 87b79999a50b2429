package rewrite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewRedactCommand returns the command `cairn redact`.
func NewRedactCommand() *cobra.Command {
	var (
		s3   storage.Flags
		out  string
		what []string
	)
	c := &cobra.Command{
		Use:   "redact FILE -o FILE",
		Short: "Write a trace that can be given away: without paths, hosts and arguments",
		Long: `Redact writes the same trace with pseudonyms: host-1, host-2, … in the order of ranks. Calls, times and sizes stay, so
that every command says the same of it but for names.

hosts: names of hosts, pods and nodes, boot ids, what MPI_Get_processor_name and MPI_Get_library_version gave, ports.
paths: directories of source files, modules and executables, of which the last name stays, as do lines and names of functions;
files that the program opens by MPI, of which nothing stays.
arguments: all other strings of calls (argv, infos, names of objects), and names of threads.
In notes and reasons all that looks like a name or an address goes with hosts, and all paths with paths.

Give away that file alone: a report beside the trace names its hosts, a clock.json their boots. 'cairn analyze' makes new
ones of the redacted trace.`,
		Example: "  cairn redact out/trace.cairn -o shared.cairn\n  cairn redact out/trace.cairn --only hosts -o shared.cairn",
		Args:    cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return cli.UsageError(errors.New("where to? cairn redact FILE -o FILE"))
			}
			chosen, err := redact.Parse(what)
			if err != nil {
				return cli.UsageError(fmt.Errorf("--only: %w", err))
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			content, err := tracefile.RedactedContent(f, chosen)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if err := tracefile.Write(c, s3, out, content); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: without %s\n", out, strings.Join(what, ", "))
			return nil
		},
	}
	s3.Register(c)
	c.Flags().StringVarP(&out, "output", "o", "", "the trace to write, a local path or s3://bucket/key")
	c.Flags().StringSliceVar(&what, "only", tracefile.Everything, "what is to go")
	return c
}
