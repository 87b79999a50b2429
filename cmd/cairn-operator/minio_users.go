package main

import (
	"context"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/internal/minioadmin"
)

const (
	// untilUsersExist is the pause between two attempts while MinIO starts.
	untilUsersExist = time.Second
	// onceUsersExist is how soon a new namespace is noticed.
	onceUsersExist = 15 * time.Second
)

// minioUsers keep the users of the chart's MinIO: one per namespace, limited to that
// namespace's prefix.
type minioUsers struct {
	endpoint, bucket, prefix string
	// admin has the files accessKey and secretKey; users has a file per namespace,
	// with the secret key in it. Both are mounted Secrets.
	admin, users string
}

func newMinIOUsersCommand() *cobra.Command {
	var o minioUsers
	command := &cobra.Command{
		Use:   "minio-users",
		Short: "Keep a user per namespace in a MinIO server, limited to that namespace's prefix",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.keep(command.Context(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.endpoint, "endpoint", "http://127.0.0.1:9000", "address of the server")
	flags.StringVar(&o.bucket, "bucket", "traces", "bucket")
	flags.StringVar(&o.prefix, "prefix", "", "prefix of all objects, before the namespace")
	flags.StringVar(&o.admin, "admin", "/etc/cairn/admin", "directory with the administrator's accessKey and secretKey")
	flags.StringVar(&o.users, "users", "/etc/cairn/users", "directory with a file per namespace: its secret key")
	return command
}

// keep makes users until the context ends: again and again, because the files change
// when the chart is told of another namespace.
func (o minioUsers) keep(ctx context.Context, log *slog.Logger) {
	said := ""
	for {
		pause := onceUsersExist
		namespaces, err := o.ensure(ctx)
		now := "users of " + strings.Join(namespaces, ", ")
		if err != nil {
			pause, now = untilUsersExist, err.Error()
		}
		if now != said {
			log.Info(now)
			said = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// ensure makes the user of every namespace, and returns the namespaces.
func (o minioUsers) ensure(ctx context.Context) ([]string, error) {
	server := minioadmin.Server{Endpoint: o.endpoint}
	var err error
	if server.AccessKey, err = readKey(o.admin, "accessKey"); err != nil {
		return nil, err
	}
	if server.SecretKey, err = readKey(o.admin, "secretKey"); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(o.users)
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for _, file := range files {
		namespace := file.Name()
		if strings.HasPrefix(namespace, ".") {
			continue // how Kubernetes keeps the versions of a Secret
		}
		secretKey, err := readKey(o.users, namespace)
		if err != nil {
			return nil, err
		}
		policy, err := minioadmin.PrefixPolicy(o.bucket, path.Join(o.prefix, namespace))
		if err != nil {
			return nil, err
		}
		user := minioadmin.User{AccessKey: "cairn-" + namespace, SecretKey: secretKey, Policy: policy}
		if err := server.EnsureUser(ctx, user); err != nil {
			return nil, err
		}
		namespaces = append(namespaces, namespace)
	}
	return namespaces, nil
}

func readKey(directory, name string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(directory, name))
	return strings.TrimSpace(string(raw)), err
}
