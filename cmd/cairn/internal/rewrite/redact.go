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
		Short: "Write a trace that can be shared: without paths, hosts and arguments",
		Long: `Redact writes the same trace with pseudonyms: host-1, host-2, … in the order of ranks. Calls, times and sizes stay, so
that the output of every command is the same except for names.

hosts: names of hosts, pods and nodes, boot ids, results of MPI_Get_processor_name and MPI_Get_library_version, ports.
paths: directories of source files, modules and executables. File names, lines and names of functions stay. Names of
files that the program opens with MPI are replaced completely.
arguments: all other strings of calls (argv, infos, names of objects), and names of threads.
In notes and reasons, everything that looks like a name or an address belongs to hosts, and all paths to paths.

Share only that file: a report beside the original trace names its hosts, and clock.json has boot ids. 'cairn analyze'
creates new ones from the redacted trace.`,
		Example: "  cairn redact out/trace.cairn -o shared.cairn\n  cairn redact out/trace.cairn --only hosts -o shared.cairn",
		Args:    cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return cli.UsageError(errors.New("-o is missing: cairn redact FILE -o FILE"))
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
	c.Flags().StringSliceVar(&what, "only", tracefile.Everything, "what to replace")
	return c
}
