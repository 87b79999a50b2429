package export

import (
	"bytes"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/analyze"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/rewrite"
)

// execute runs a command and gives what it printed.
func execute(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := &cobra.Command{Use: "cairn", SilenceUsage: true, SilenceErrors: true}
	c.AddCommand(NewExportCommand(), rewrite.NewSimulateCommand(), rewrite.NewReduceCommand(), rewrite.NewRedactCommand(), inspect.NewInfoCommand(),
		inspect.NewDumpCommand(), analyze.NewAnalyzeCommand())
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SetArgs(arguments)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}
