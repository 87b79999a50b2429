package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/store"
)

func newCopyCommand() *cobra.Command {
	var s3 s3Flags
	c := &cobra.Command{
		Use:     "copy FROM TO",
		Short:   "Copy all objects below one path to another: a report out of the bucket, say",
		Example: "  cairn copy s3://traces/default/stencil/<uid>/0/0/report out/report",
		Args:    exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			from, err := s3.open(args[0])
			if err != nil {
				return err
			}
			to, err := s3.open(args[1])
			if err != nil {
				return err
			}
			objects, err := from.List(c.Context(), "")
			if err != nil {
				return err
			}
			if len(objects) == 0 {
				return usageError(fmt.Errorf("there is nothing below %s", args[0]))
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
	s3.register(c)
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
