package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/spf13/cobra"
)

// execute runs a command and gives what it printed.
func execute(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := &cobra.Command{Use: "cairn", SilenceUsage: true, SilenceErrors: true}
	c.AddCommand(newExportCommand(), newSimulateCommand(), newReduceCommand(), newRedactCommand(), newInfoCommand(),
		newDumpCommand(), newAnalyzeCommand())
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SetArgs(arguments)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}
