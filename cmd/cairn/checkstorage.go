package main

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

func newCheckStorageCommand() *cobra.Command {
	var (
		s3  s3Flags
		url string
		log terminationLog
	)
	c := &cobra.Command{
		Use:   "check-storage",
		Short: "Write, read, list and delete one object, and say why that fails",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := s3.open(url)
			if err == nil {
				err = store.Check(c.Context(), s)
			}
			result := messages.StorageCheck{OK: err == nil}
			if trouble := storageTrouble(err); trouble != nil {
				result.Reason, result.Message = trouble.Reason, trouble.Message
			}
			if logErr := log.write(c, result.Fit()); logErr != nil && err == nil {
				return logErr
			}
			return err
		},
	}
	s3.register(c)
	log.register(c)
	c.Flags().StringVar(&url, "store", "", "directory or s3://bucket/prefix")
	return c
}

func newMakeBucketCommand() *cobra.Command {
	var (
		s3  s3Flags
		url string
	)
	c := &cobra.Command{
		Use:   "make-bucket",
		Short: "Create the bucket that a store URL names, if it is not there",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := s3.options()
			if err != nil {
				return err
			}
			return store.MakeBucket(c.Context(), url, o)
		},
	}
	s3.register(c)
	c.Flags().StringVar(&url, "store", "", "s3://bucket")
	return c
}

func newDeletePrefixCommand() *cobra.Command {
	var (
		s3       s3Flags
		patience patience
		url      string
	)
	c := &cobra.Command{
		Use:   "delete-prefix",
		Short: "Delete all objects of a job",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := s3.openPatient(c, url, patience)
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
	s3.register(c)
	patience.register(c)
	c.Flags().StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix")
	return c
}
