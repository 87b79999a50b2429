// Command cairn-operator brings TracedMPIJobs from apply to report.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cairn-mpi/cairn/internal/version"
)

// Exit codes, the same as those of the cairn command.
const (
	exitUsage       = 64
	exitUnavailable = 69
	exitInternal    = 70
)

func main() {
	if err := newCommand().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintf(os.Stderr, "cairn-operator: %v\n", err)
		os.Exit(exitCode(err))
	}
}

// usageError is an error of the command line.
type usageError struct{ error }

// unavailableError is the lack of something that the operator needs.
type unavailableError struct{ error }

func exitCode(err error) int {
	var usage usageError
	var unavailable unavailableError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &unavailable):
		return exitUnavailable
	default:
		return exitInternal
	}
}

func newCommand() *cobra.Command {
	o := defaults()
	command := &cobra.Command{
		Use:           "cairn-operator",
		Short:         "Run TracedMPIJobs: MPIJobs with all their MPI calls traced",
		Args:          cobra.NoArgs,
		Version:       version.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := o.settings()
			if err != nil {
				return usageError{err}
			}
			return serve(command.Context(), o, settings)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	o.addFlags(command.Flags())
	command.AddCommand(newMinIOKeysCommand(), newMinIOUsersCommand())
	return command
}
