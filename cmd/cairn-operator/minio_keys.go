package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cairn-mpi/cairn/controllers/container"
)

// minioKeys writes the key of MinIO's administrator to files before MinIO starts.
type minioKeys struct {
	secret    types.NamespacedName
	directory string
}

func newMinIOKeysCommand() *cobra.Command {
	var o minioKeys
	command := &cobra.Command{
		Use:   "minio-keys",
		Short: "Write the key in a Secret to files; a Secret without a key gets one first",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := inClusterSecrets()
			if err != nil {
				return err
			}
			return o.write(command.Context(), keySecrets{Client: c})
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.secret.Namespace, "namespace", "", "namespace of the Secret")
	flags.StringVar(&o.secret.Name, "secret", "", "name of the Secret with accessKey and secretKey")
	flags.StringVar(&o.directory, "to", "/etc/cairn/admin", "directory for the files accessKey and secretKey")
	return command
}

func (o minioKeys) write(ctx context.Context, secrets keySecrets) error {
	admin, err := secrets.ensure(ctx, o.secret, key{access: randomText(20), secret: randomText(40)})
	if err != nil {
		return unavailableError{err}
	}
	for name, content := range map[string]string{container.AccessKey: admin.access, container.SecretKey: admin.secret} {
		// the directory is in memory and mounted only by MinIO's pod, and its containers may run as
		// different users
		if err := os.WriteFile(filepath.Join(o.directory, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("cannot write MinIO's key: %w", err)
		}
	}
	return nil
}
