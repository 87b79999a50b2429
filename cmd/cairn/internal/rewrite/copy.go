package rewrite

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/store"
)

// NewCopyCommand returns the command `cairn copy`.
func NewCopyCommand() *cobra.Command {
	var s3 storage.Flags
	c := &cobra.Command{
		Use:     "copy FROM TO",
		Short:   "Copy all objects below one path to another: a report out of the bucket, say",
		Long:    "Copy copies all objects below one path to another. The raw records of a run (tracer/) are left out if its trace is copied.",
		Example: "  cairn copy s3://traces/default/stencil/<uid>/0/0/report out/report",
		Args:    cli.Exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			from, err := s3.Open(args[0])
			if err != nil {
				return err
			}
			to, err := s3.Open(args[1])
			if err != nil {
				return err
			}
			objects, err := from.List(c.Context(), "")
			if err != nil {
				return err
			}
			if len(objects) == 0 {
				return cli.UsageError(fmt.Errorf("there is nothing below %s", args[0]))
			}
			objects, raw := withoutSpools(objects)
			for _, object := range objects {
				if err := copyObject(c, from, to, object); err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), to.URL(object.Key))
			}
			if raw > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "cairn: the raw records in %s (%d bytes) are not copied, since the trace is beside them\n", from.URL(rawRecords), raw)
			}
			return nil
		},
	}
	s3.Register(c)
	return c
}

// rawRecords is the folder of raw records in that of a run.
const rawRecords = "tracer/"

// withoutSpools leaves out raw records if traces of them are copied, and returns the size of what it
// left out.
func withoutSpools(objects []store.Object) (rest []store.Object, raw int64) {
	if !slices.ContainsFunc(objects, func(o store.Object) bool { return path.Base(o.Key) == shipper.TraceFile }) {
		return objects, 0
	}
	for _, o := range objects {
		if strings.HasPrefix(o.Key, rawRecords) {
			raw += o.Size
		} else {
			rest = append(rest, o)
		}
	}
	return rest, raw
}

func copyObject(c *cobra.Command, from, to store.Store, object store.Object) error {
	body, err := from.Get(c.Context(), object.Key)
	if err != nil {
		return err
	}
	defer body.Close()
	return to.Put(c.Context(), object.Key, body, object.Size)
}
