package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
	"github.com/cairn-mpi/cairn/internal/minioadmin"
)

const (
	// untilServed is the interval between two rounds while MinIO starts.
	untilServed = time.Second

	// userHead is the prefix of a user's name, before the namespace.
	userHead = "cairn-"
)

// minioUsers maintains the users of the chart's MinIO: one per namespace, limited to that
// namespace's prefix.
type minioUsers struct {
	endpoint, bucket, prefix string
	// admin is a directory with the files accessKey and secretKey.
	admin string
	// namespaces is a file that lists the namespaces. It changes when the chart's values do,
	// without a restart of MinIO.
	namespaces string
	// secret is the name of the Secret, in each namespace, with that namespace's key.
	secret  string
	secrets keySecrets
	// every is the interval at which new namespaces are noticed.
	every time.Duration
}

func newMinIOUsersCommand() *cobra.Command {
	var o minioUsers
	command := &cobra.Command{
		Use:   "minio-users",
		Short: "Keep a user per namespace in a MinIO server, limited to that namespace's prefix",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			var err error
			if o.secrets.Client, err = inClusterSecrets(); err != nil {
				return err
			}
			o.keep(command.Context(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.endpoint, "endpoint", "http://127.0.0.1:9000", "address of the server")
	flags.StringVar(&o.bucket, "bucket", "traces", "bucket")
	flags.StringVar(&o.prefix, "prefix", "", "prefix of all objects, before the namespace")
	flags.StringVar(&o.admin, "admin", "/etc/cairn/admin", "directory with the administrator's accessKey and secretKey")
	flags.StringVar(&o.namespaces, "namespaces", "/etc/cairn/users/namespaces", "file with a namespace in each line")
	flags.StringVar(&o.secret, "secret", v1alpha1.DefaultCredentialsSecretName, "name of the Secret with a namespace's key, in that namespace")
	flags.BoolVar(&o.secrets.readOnly, "existing-secrets", false, "the Secrets are filled by someone else")
	flags.DurationVar(&o.every, "every", 15*time.Second, "interval at which the list and the Secrets are read")
	return command
}

// keep creates and removes users until the context ends.
func (o minioUsers) keep(ctx context.Context, log *slog.Logger) {
	said := ""
	pause := untilServed
	for {
		done, err := o.round(ctx)
		for _, user := range done.removed {
			log.Info("removed the user of a namespace that is no longer listed", "user", user)
		}
		now := fmt.Sprint(done.namespaces, err)
		if now != said {
			log.Info("users", "namespaces", done.namespaces, "error", err)
			said = now
		}
		if done.served {
			pause = o.every
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// usersRound is the result of one round, valid also if it returned an error.
type usersRound struct {
	namespaces []string // that have their users
	removed    []string // users
	served     bool     // MinIO responds
}

// round creates the user of every listed namespace and removes those of others. An error of one
// namespace does not affect the others.
func (o minioUsers) round(ctx context.Context) (done usersRound, err error) {
	listed, err := o.listed()
	if err != nil {
		return done, err
	}
	server := minioadmin.Server{Endpoint: o.endpoint}
	if server.AccessKey, err = readKey(o.admin, container.AccessKey); err != nil {
		return done, err
	}
	if server.SecretKey, err = readKey(o.admin, container.SecretKey); err != nil {
		return done, err
	}
	var troubles []error
	for _, namespace := range listed {
		if err := o.ensure(ctx, server, namespace); err != nil {
			troubles = append(troubles, fmt.Errorf("namespace %s: %w", namespace, err))
			continue
		}
		done.namespaces = append(done.namespaces, namespace)
	}
	done.removed, err = removeOthers(ctx, server, listed)
	done.served = err == nil
	return done, errors.Join(append(troubles, err)...)
}

// listed returns the namespaces that must have a user. An unreadable list is an error, not an empty
// list.
func (o minioUsers) listed() ([]string, error) {
	raw, err := os.ReadFile(o.namespaces)
	if err != nil {
		return nil, fmt.Errorf("the list of namespaces cannot be read: %w", err)
	}
	return strings.Fields(string(raw)), nil
}

// ensure creates the user of a namespace, with the key in the namespace's Secret.
func (o minioUsers) ensure(ctx context.Context, server minioadmin.Server, namespace string) error {
	name := userHead + namespace
	found, err := o.secrets.ensure(ctx, types.NamespacedName{Namespace: namespace, Name: o.secret}, key{access: name, secret: randomText(40)})
	if err != nil {
		return err
	}
	if found.access != name {
		// a namespace must not be able to change the key of another namespace's user
		return fmt.Errorf("the %s in Secret %s must be %s", container.AccessKey, o.secret, name)
	}
	policy, err := minioadmin.PrefixPolicy(o.bucket, path.Join(o.prefix, namespace))
	if err != nil {
		return err
	}
	return server.EnsureUser(ctx, minioadmin.User{AccessKey: name, SecretKey: found.secret, Policy: policy})
}

// removeOthers removes the users of namespaces that are not listed. Users that Cairn did not create
// stay.
func removeOthers(ctx context.Context, server minioadmin.Server, listed []string) (removed []string, err error) {
	owned, err := server.Owned(ctx, userHead)
	if err != nil {
		return nil, err
	}
	for _, name := range owned {
		if slices.Contains(listed, strings.TrimPrefix(name, userHead)) {
			continue
		}
		if err := server.RemoveUser(ctx, name); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

func readKey(directory, name string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(directory, name))
	return strings.TrimSpace(string(raw)), err
}
