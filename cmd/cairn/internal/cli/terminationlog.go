package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/api/messages"
)

// TerminationLog is the file through which the command of a pod reports its result to the operator.
type TerminationLog string

// Register adds the flag to a command.
func (t *TerminationLog) Register(c *cobra.Command) {
	c.Flags().StringVar((*string)(t), "termination-log", "/dev/termination-log", "file for the result as JSON; ignored if it does not exist")
}

// Write prints v on standard output and writes it to the file, if there is one.
func (t TerminationLog) Write(c *cobra.Command, v any) error {
	raw, err := messages.Encode(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n", raw)
	file, err := os.OpenFile(string(t), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return nil // outside a pod
	}
	defer file.Close()
	_, err = file.Write(raw)
	return err
}
