// Command cairn traces MPI programs and says why they are slow: run, merge, analyze, dump, info, export and report for
// people; install, probe, ship and the --job forms for the pods of a TracedMPIJob. It knows nothing of Kubernetes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/version"
)

func main() {
	// SIGTERM ends a pod's commands in good order: what they hold is still written.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	root, out := newRootCommand(), &output{Writer: os.Stdout}
	root.SetOut(out)
	progress := newProgressMeter(os.Stderr)
	err := root.ExecuteContext(passes.Watch(ctx, progress))
	progress.stop()
	stop()
	if err == nil {
		err = out.err
	}
	if err == nil {
		return
	}
	code, quiet := exitCode(err)
	if !quiet {
		fmt.Fprintln(os.Stderr, "cairn:", err)
	}
	os.Exit(code)
}

// output is where commands print to. It keeps the first error for the end: what is cut short by a full disk is no success,
// and no line of a table has to ask.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("cannot print: %w", err)
	}
	return n, err
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cairn",
		Short:         "Trace an MPI job and see which rank, on which node, in which call, makes it slow",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q (see 'cairn --help')", args[0])}
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see '%s --help')", err, c.CommandPath())}
	})
	root.AddGroup(&cobra.Group{ID: peopleGroup, Title: "For people:"}, &cobra.Group{ID: podGroup, Title: "For the pods of a TracedMPIJob:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(peopleGroup, profiled(newRunCommand(), newReplayCommand())...)
	add(peopleGroup, profiled(obey(newDumpCommand(), newProgramCommand(), newSkeletonCommand(), newClustersCommand(), newReduceCommand(),
		newRedactCommand(), newPlacementCommand(), newGraphCommand(), newMergeCommand(), newAnalyzeCommand(), newReportCommand(),
		newPredictCommand(), newScaleCommand(), newCompareCommand(), newExportCommand(), newSimulateCommand())...)...)
	add(peopleGroup, profiled(obey(newReplayFeedCommand())...)...)
	add(peopleGroup, obey(newInfoCommand(), newCopyCommand())...)
	add(podGroup, newShipCommand(), newInstallCommand(), newProbeCommand())
	add(podGroup, obey(newCheckStorageCommand(), newMakeBucketCommand(), newFetchCommand(), newReplayRankCommand(),
		newDeletePrefixCommand(), newResolveCommand())...)
	return root
}

// exactly takes n arguments, and none of another number.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s, not %d: %s (see '%s --help')", wording.Count(len(args), "argument is given", "arguments are given"), n, c.UseLine(), c.CommandPath())}
		}
		return nil
	}
}

const (
	peopleGroup = "people"
	podGroup    = "pod"
)

// Exit codes: the operator knows them, too.
const (
	exitUsage       = messages.ExitUsage
	exitBadData     = messages.ExitBadData
	exitUnavailable = messages.ExitUnavailable
	exitInternal    = messages.ExitInternal
	exitRefused     = messages.ExitRefused
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// statusError ends the process with a code; with a nil cause it does so without a message.
type statusError struct {
	code  int
	cause error
}

func (e statusError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e statusError) Unwrap() error { return e.cause }

// exitCode says how the process ends for err, and whether the message has been said already.
func exitCode(err error) (code int, quiet bool) {
	var status statusError
	if errors.As(err, &status) {
		return status.code, status.cause == nil
	}
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage, false
	}
	return classify(err), false
}
