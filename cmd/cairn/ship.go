package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/shipper"
)

func newShipCommand() *cobra.Command {
	var (
		s3    s3Flags
		url   string
		o     shipper.Options
		grace int
	)
	c := &cobra.Command{
		Use:   "ship",
		Short: "Upload what ranks leave in a spool, until SIGTERM; a pod's sidecar",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := s3.open(url)
			if err != nil {
				return err
			}
			o.Store, o.Identity = s, shipper.IdentityFromEnv(os.Getenv)
			o.Grace = time.Duration(grace) * time.Second
			o.Logf = func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }
			for _, lost := range shipper.Ship(c.Context(), o) {
				fmt.Fprintln(c.ErrOrStderr(), "cairn: lost:", lost)
			}
			// the job's result does not depend on its trace: what was lost is said in the log and to the merge
			return nil
		},
	}
	s3.register(c)
	c.Flags().StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix")
	c.Flags().StringVar(&o.Spool, "spool", "/cairn/spool", "the spool")
	c.Flags().Var(atLeast(&grace, int(shipper.DefaultGrace/time.Second), 0), "grace", "how long uploads are tried after SIGTERM, in seconds")
	return c
}
