package storage

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/store"
)

// Flags are the storage flags of every command that takes a path or a store URL. Values that are
// not given come from the environment.
type Flags struct {
	endpoint, region, pathStyle, caFile, credentialsDir string
}

// Register adds the flags to a command.
func (f *Flags) Register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.endpoint, "s3-endpoint", "", "URL of the object storage, https://host:port ($"+store.EnvEndpoint+")")
	flags.StringVar(&f.region, "s3-region", "", "region of the object storage ($"+store.EnvRegion+")")
	flags.StringVar(&f.pathStyle, "s3-path-style", "", "true: the bucket is part of the path, false: of the host name ($"+store.EnvPathStyle+")")
	flags.StringVar(&f.caFile, "s3-ca-file", "", "PEM file with certificates to trust ($"+store.EnvCAFile+")")
	flags.StringVar(&f.credentialsDir, "s3-credentials-dir", "", "directory with the files accessKey and secretKey, and sessionToken for temporary keys ($"+store.EnvCredentialsDir+"; else AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)")
}

// Options combines flags and environment.
func (f *Flags) Options() (store.S3Options, error) {
	given := map[string]string{
		store.EnvEndpoint: f.endpoint, store.EnvRegion: f.region, store.EnvPathStyle: f.pathStyle,
		store.EnvCAFile: f.caFile, store.EnvCredentialsDir: f.credentialsDir,
	}
	o, err := store.OptionsFromEnv(func(name string) string {
		if v := given[name]; v != "" {
			return v
		}
		return os.Getenv(name)
	})
	if err != nil {
		return o, cli.UsageError(err)
	}
	return o, nil
}

// refusedPatience is how long a refused key is retried: a new key may need some time until it is
// accepted.
const refusedPatience = 30 * time.Second

// Patience is how many seconds the --job forms wait for a storage that does not respond.
type Patience int

// Register adds the flag to a command.
func (p *Patience) Register(c *cobra.Command) {
	c.Flags().Var(cli.AtLeast((*int)(p), 900, 0), "patience", "with a job's store: how long to wait for a storage that does not respond, in seconds")
}

// OpenPatient opens a job's store. It waits for a storage that does not respond, and prints that
// once.
func (f *Flags) OpenPatient(c *cobra.Command, url string, p Patience) (store.Store, error) {
	s, err := f.Open(url)
	if err != nil {
		return nil, err
	}
	unreachable := time.Duration(min(int64(p), int64(math.MaxInt64/time.Second))) * time.Second
	return store.Patient(s, store.Patience{
		Unreachable: unreachable, Refused: min(refusedPatience, unreachable),
		Logf: func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), "cairn: "+format+"\n", args...) },
	}), nil
}

// Open opens the store that --store names.
func (f *Flags) Open(url string) (store.Store, error) {
	if url == "" {
		return nil, cli.UsageError(fmt.Errorf("--store is missing: a directory or s3://bucket/prefix"))
	}
	o, err := f.Options()
	if err != nil {
		return nil, err
	}
	return store.Open(url, o)
}
