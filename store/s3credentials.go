package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// errNoCredentials is the cause of every error about a missing key.
var errNoCredentials = errors.New("no credentials")

// missingCredentials reports which key is missing and where.
type missingCredentials struct{ message string }

func (e *missingCredentials) Error() string { return e.message }
func (e *missingCredentials) Unwrap() error { return errNoCredentials }

// credentials reads the key for every request: a mounted Secret may appear or change while the
// process runs.
func (o S3Options) credentials() (*credentials.Credentials, error) {
	if o.WebIdentity.TokenFile != "" {
		return o.webIdentity()
	}
	return credentials.New(&keySource{directory: o.CredentialsDir}), nil
}

// keySource is a credentials.Provider that never caches.
type keySource struct {
	directory string
}

// IsExpired makes the client call Retrieve before each request.
func (k *keySource) IsExpired() bool { return true }

// Retrieve implements credentials.Provider.
func (k *keySource) Retrieve() (credentials.Value, error) {
	if k.directory == "" {
		return keysFromEnvironment()
	}
	// The files belong together, and the kubelet replaces all of them at once by a link. Read again
	// if the version changes in between.
	for {
		version := k.version()
		value, err := readKeys(k.directory)
		if k.version() == version {
			return value, err
		}
	}
}

// RetrieveWithCredContext implements credentials.Provider.
func (k *keySource) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return k.Retrieve()
}

// version identifies the present content of a mounted Secret; "" if the directory is an ordinary
// one.
func (k *keySource) version() string {
	version, err := os.Readlink(filepath.Join(k.directory, "..data"))
	if err != nil {
		return ""
	}
	return version
}

func keysFromEnvironment() (credentials.Value, error) {
	value := credentials.Value{
		SignerType:      credentials.SignatureV4,
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
	}
	if value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return credentials.Value{}, &missingCredentials{"no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or " + EnvCredentialsDir + ", or " + EnvTokenFile}
	}
	return value, nil
}

func readKeys(directory string) (credentials.Value, error) {
	value := credentials.Value{SignerType: credentials.SignatureV4}
	for _, key := range []struct {
		name     string
		into     *string
		optional bool
	}{
		{"accessKey", &value.AccessKeyID, false},
		{"secretKey", &value.SecretAccessKey, false},
		{"sessionToken", &value.SessionToken, true},
	} {
		file := filepath.Join(directory, key.name)
		content, err := os.ReadFile(file)
		*key.into = strings.TrimSpace(string(content))
		switch {
		case key.optional && (err == nil || errors.Is(err, os.ErrNotExist)):
		case errors.Is(err, os.ErrNotExist):
			return credentials.Value{}, &missingCredentials{fmt.Sprintf("no credentials: there is no file %s; create the Secret with the keys accessKey and secretKey", file)}
		case err != nil:
			return credentials.Value{}, &missingCredentials{fmt.Sprintf("no credentials: %s cannot be read: %v", file, errors.Unwrap(err))}
		case *key.into == "":
			return credentials.Value{}, &missingCredentials{fmt.Sprintf("no credentials: the file %s is empty", file)}
		}
	}
	return value, nil
}
