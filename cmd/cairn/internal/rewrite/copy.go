package rewrite

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// NewCopyCommand returns the command `cairn copy`.
func NewCopyCommand() *cobra.Command {
	var s3 storage.Flags
	c := &cobra.Command{
		Use:     "copy FROM TO",
		Short:   "Copy all objects below one path to another: a report out of the bucket, say",
		Long:    "Copy copies all objects below one path to another.",
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
			for _, object := range objects {
				if err := copyObject(c, from, to, object); err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), to.URL(object.Key))
			}
			return nil
		},
	}
	s3.Register(c)
	return c
}

func copyObject(c *cobra.Command, from, to store.Store, object store.Object) error {
	body, err := from.Get(c.Context(), object.Key)
	if err != nil {
		return err
	}
	defer body.Close()
	return to.Put(c.Context(), object.Key, body, object.Size)
}
