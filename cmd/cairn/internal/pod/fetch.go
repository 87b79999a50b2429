package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/replay"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// NewFetchCommand returns the command `cairn fetch`.
func NewFetchCommand() *cobra.Command {
	var (
		s3        storage.Flags
		replayers bool
	)
	c := &cobra.Command{
		Use:   "fetch TRACE FILE",
		Short: "Copy a trace from storage for ranks that re-execute it, and check that it is one",
		Args:  cli.Exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			options, err := s3.Options()
			if err != nil {
				return err
			}
			object, err := store.OpenFile(c.Context(), args[0], options)
			if err != nil {
				return err
			}
			f, err := tracefile.Read(args[0], object) // takes ownership of object
			if err != nil {
				return err
			}
			defer f.Close()
			err = storage.WriteWhole(args[1], func(file *os.File) error {
				// ranks run as another user
				if err := file.Chmod(0o644); err != nil {
					return err
				}
				_, err := io.Copy(file, io.NewSectionReader(object, 0, object.Size()))
				return err
			})
			if err == nil && replayers {
				err = copyReplayers(filepath.Dir(args[1]))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: a trace of %d ranks, %d bytes\n", args[0], f.Meta().WorldSize, object.Size())
			return err
		},
	}
	s3.Register(c)
	c.Flags().BoolVar(&replayers, "replayers", false, "copy this command and the replayers beside FILE, too")
	return c
}

// copyReplayers copies what ranks start to a directory: this command, and the replayers of all MPIs
// that exist.
func copyReplayers(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	programs := []string{self}
	for _, abi := range []setup.ABI{setup.OpenMPI, setup.MPICH} {
		program, err := replay.FindReplayer(abi)
		if err != nil {
			return err
		}
		programs = append(programs, program)
	}
	for _, program := range programs {
		from, err := os.Open(program)
		if err != nil {
			return err
		}
		name := filepath.Base(program)
		if program == self {
			name = "cairn"
		}
		err = storage.WriteWhole(filepath.Join(dir, name), func(file *os.File) error {
			_, err := io.Copy(file, from)
			return errors.Join(err, file.Chmod(0o755))
		})
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	return nil
}
