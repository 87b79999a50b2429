package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/tracer/setup"
)

func newProbeCommand() *cobra.Command {
	var (
		o      setup.ProbeOptions
		log    terminationLog
		timing timingFlags
		mode   modeFlags
	)
	c := &cobra.Command{
		Use:   "probe",
		Short: "Look at the image it runs in and prepare the tracer for it; never fails",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			o.Getenv = os.Getenv
			var err error
			if o.Timing, err = timing.settings(); err != nil {
				// a failing init container would keep the job from running
				fmt.Fprintln(c.ErrOrStderr(), "cairn:", err, "(every time stamp is kept)")
			}
			if o.Mode, err = mode.settings(); err != nil {
				fmt.Fprintln(c.ErrOrStderr(), "cairn:", err, "(every rank is recorded by itself)")
			}
			// a failing init container would keep the job from running: whatever goes wrong is said, and only said
			verdict, err := setup.Probe(o)
			if err != nil {
				fmt.Fprintln(c.ErrOrStderr(), "cairn:", err)
			}
			if err := log.write(c, verdict); err != nil {
				fmt.Fprintln(c.ErrOrStderr(), "cairn:", err)
			}
			return nil
		},
	}
	log.register(c)
	timing.register(c.Flags())
	mode.register(c.Flags())
	c.Flags().StringVar(&o.Root, "root", "/cairn", "the tracer's root")
	c.Flags().StringVar(&o.CallSites, "call-sites", "caller", strings.Join(setup.CallSites, ", "))
	c.Flags().BoolVar(&o.Pointers, "pointers", false, "load the library that tells what pointers lead to")
	c.Flags().Int64Var(&o.SpoolLimitBytes, "spool-limit-bytes", 0, "tracing stops when a process has written that much (0: no limit)")
	registerControl(c, &o.Include, &o.Exclude, &o.StartOff)
	return c
}
