package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// errNoCredentials is behind every error about a key that is not there.
var errNoCredentials = errors.New("no credentials")

// missingCredentials says which key is not where.
type missingCredentials struct{ message string }

func (e *missingCredentials) Error() string { return e.message }
func (e *missingCredentials) Unwrap() error { return errNoCredentials }

// credentials gives the key for every request anew: a mounted Secret may
// appear or change while the process runs.
func (o S3Options) credentials() *credentials.Credentials {
	return credentials.New(&keySource{directory: o.CredentialsDir})
}

// keySource is a credentials.Provider that never caches.
type keySource struct {
	directory string
}

// IsExpired makes the client ask before each request.
func (k *keySource) IsExpired() bool { return true }

// Retrieve implements credentials.Provider.
func (k *keySource) Retrieve() (credentials.Value, error) {
	value := credentials.Value{SignerType: credentials.SignatureV4}
	if k.directory == "" {
		value.AccessKeyID = os.Getenv("AWS_ACCESS_KEY_ID")
		value.SecretAccessKey = os.Getenv("AWS_SECRET_ACCESS_KEY")
		value.SessionToken = os.Getenv("AWS_SESSION_TOKEN")
		if value.AccessKeyID == "" || value.SecretAccessKey == "" {
			return credentials.Value{}, &missingCredentials{"no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or " + EnvCredentialsDir}
		}
		return value, nil
	}
	var err error
	if value.AccessKeyID, err = k.read("accessKey"); err != nil {
		return credentials.Value{}, err
	}
	if value.SecretAccessKey, err = k.read("secretKey"); err != nil {
		return credentials.Value{}, err
	}
	return value, nil
}

// RetrieveWithCredContext implements credentials.Provider.
func (k *keySource) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return k.Retrieve()
}

func (k *keySource) read(name string) (string, error) {
	file := filepath.Join(k.directory, name)
	content, err := os.ReadFile(file)
	key := strings.TrimSpace(string(content))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", &missingCredentials{fmt.Sprintf("no credentials: there is no file %s; create the Secret with the keys accessKey and secretKey", file)}
	case err != nil:
		return "", &missingCredentials{fmt.Sprintf("no credentials: %s cannot be read: %v", file, errors.Unwrap(err))}
	case key == "":
		return "", &missingCredentials{fmt.Sprintf("no credentials: the file %s is empty", file)}
	}
	return key, nil
}
