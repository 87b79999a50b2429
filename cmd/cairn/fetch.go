package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/store"
)

func newFetchCommand() *cobra.Command {
	var s3 s3Flags
	c := &cobra.Command{
		Use:   "fetch TRACE FILE",
		Short: "Copy a trace out of storage for ranks that re-execute it, after a look at whether it is one",
		Args:  exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			options, err := s3.options()
			if err != nil {
				return err
			}
			object, err := store.OpenFile(c.Context(), args[0], options)
			if err != nil {
				return err
			}
			f, err := readTrace(args[0], object) // which takes over the object
			if err != nil {
				return err
			}
			defer f.Close()
			err = writeWhole(args[1], func(file *os.File) error {
				// ranks have another user
				if err := file.Chmod(0o644); err != nil {
					return err
				}
				_, err := io.Copy(file, io.NewSectionReader(object, 0, object.Size()))
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: a trace of %d ranks, %d bytes\n", args[0], f.Meta().WorldSize, object.Size())
			return err
		},
	}
	s3.register(c)
	return c
}
