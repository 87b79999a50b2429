package pod

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/store"
)

// NewShipCommand returns the command of the sidecar. The pod belongs to the user: problems with the
// command line, the storage or the spool are logged. The command neither fails nor ends before it
// is asked to.
func NewShipCommand() *cobra.Command {
	var (
		s3    storage.Flags
		url   string
		o     shipper.Options
		log   cli.TerminationLog
		grace int

		profiles cli.ProfileFlags
	)
	c := &cobra.Command{
		Use:                "ship",
		Short:              "Upload what ranks write to a spool, until SIGTERM; a pod's sidecar",
		DisableFlagParsing: true, // invalid options are reported below
		RunE: func(c *cobra.Command, args []string) error {
			// a closed output is not a failure, either
			signal.Ignore(syscall.SIGPIPE)
			debug.SetGCPercent(shipper.GCPercent)
			c.SetOut(cli.Unchecked(c.OutOrStdout()))
			say := func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }
			troubles, help := parseLeniently(c.Flags(), args)
			if help {
				return c.Help()
			}
			for _, trouble := range troubles {
				say("cairn: %s; continuing without it", trouble)
			}
			o.Store = &lateStore{name: url, open: func() (store.Store, error) { return s3.Open(url) }}
			o.Identity = shipper.IdentityFromEnv(os.Getenv)
			o.Grace = time.Duration(grace) * time.Second
			o.Logf = say
			o.Compress = true
			if self, err := os.Executable(); err == nil {
				o.Resolver = []string{self, "resolve"}
			}
			o.Report = func(outcome shipper.Outcome) {
				if err := log.Write(c, shipMessage(outcome, troubles).Fit()); err != nil {
					say("cairn: %v", err)
				}
			}
			stop, err := profiles.Start()
			if err != nil {
				say("cairn: %v; continuing without a profile", err)
				stop = func() error { return nil }
			}
			for _, lost := range shipper.Ship(c.Context(), o) {
				say("cairn: lost: %s", lost)
			}
			if err := stop(); err != nil {
				say("cairn: %v", err)
			}
			// the job's result does not depend on its trace: losses are reported in the log, to the
			// merge and to the operator
			return nil
		},
	}
	s3.Register(c)
	log.Register(c)
	profiles.Register(c)
	c.Flags().StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix")
	c.Flags().StringVar(&o.Spool, "spool", "/cairn/spool", "the spool")
	c.Flags().Var(cli.AtLeast(&grace, int(shipper.DefaultGrace/time.Second), 1), "grace", "the pod's grace period in seconds; after SIGTERM the command ends before that is over")
	c.Flags().Int64Var(&o.SpoolLimit, "spool-limit-bytes", 0, "how much all processes together may write to the spool (0: each has its own limit)")
	return c
}

// shipMessage is the result that is reported to the operator.
func shipMessage(outcome shipper.Outcome, troubles []string) messages.Ship {
	m := messages.Ship{Lost: outcome.Lost, LostCount: len(outcome.Lost), Message: strings.Join(troubles, "; ")}
	if outcome.Storage != nil {
		m.Storage = &messages.StorageTrouble{Reason: messages.StorageReason(store.ReasonOf(outcome.Storage)), Message: outcome.Storage.Error()}
	}
	return m
}

// parseLeniently sets the flags that it can parse and returns a message for each of the others.
func parseLeniently(flags *pflag.FlagSet, args []string) (troubles []string, help bool) {
	for len(args) > 0 {
		argument := args[0]
		args = args[1:]
		name, isFlag := strings.CutPrefix(argument, "--")
		name, value, given := strings.Cut(name, "=")
		flag := flags.Lookup(name)
		switch {
		case argument == "-h" || argument == "--help":
			return nil, true
		case !isFlag:
			troubles = append(troubles, fmt.Sprintf("%q is not an option", argument))
			continue
		case !given && len(args) > 0 && !strings.HasPrefix(args[0], "--"):
			value, args = args[0], args[1:]
		case !given:
			troubles = append(troubles, fmt.Sprintf("--%s has no value", name))
			continue
		}
		err := errors.New("no such option")
		if flag != nil {
			err = flag.Value.Set(value)
		}
		if err != nil {
			troubles = append(troubles, fmt.Sprintf("--%s %q is invalid: %v", name, value, err))
		}
	}
	return troubles, false
}
