package pod

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// NewCheckStorageCommand returns the command `cairn check-storage`.
func NewCheckStorageCommand() *cobra.Command {
	var (
		s3  storage.Flags
		url string
		log cli.TerminationLog
	)
	c := &cobra.Command{
		Use:   "check-storage",
		Short: "Write, read, list and delete one object, and report why that fails",
		Args:  cli.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := s3.Open(url)
			if err == nil {
				err = store.Check(c.Context(), s)
			}
			result := messages.StorageCheck{OK: err == nil}
			if trouble := storage.Trouble(err); trouble != nil {
				result.Reason, result.Message = trouble.Reason, trouble.Message
			}
			if logErr := log.Write(c, result.Fit()); logErr != nil && err == nil {
				return logErr
			}
			return err
		},
	}
	s3.Register(c)
	log.Register(c)
	c.Flags().StringVar(&url, "store", "", "directory or s3://bucket/prefix")
	return c
}

// NewMakeBucketCommand returns the command `cairn make-bucket`.
func NewMakeBucketCommand() *cobra.Command {
	var (
		s3  storage.Flags
		url string
	)
	c := &cobra.Command{
		Use:   "make-bucket",
		Short: "Create the bucket that a store URL names, if it does not exist",
		Args:  cli.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := s3.Options()
			if err != nil {
				return err
			}
			return store.MakeBucket(c.Context(), url, o)
		},
	}
	s3.Register(c)
	c.Flags().StringVar(&url, "store", "", "s3://bucket")
	return c
}

// NewDeletePrefixCommand returns the command `cairn delete-prefix`.
func NewDeletePrefixCommand() *cobra.Command {
	var (
		s3       storage.Flags
		patience storage.Patience
		url      string
	)
	c := &cobra.Command{
		Use:   "delete-prefix",
		Short: "Delete all objects of a job",
		Args:  cli.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := s3.OpenPatient(c, url, patience)
			if err != nil {
				return err
			}
			objects, err := s.List(c.Context(), "")
			if err != nil {
				return err
			}
			for _, object := range objects {
				if err := s.Delete(c.Context(), object.Key); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s3.Register(c)
	patience.Register(c)
	c.Flags().StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix")
	return c
}
