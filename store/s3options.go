package store

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3Options is how buckets are reached. The zero value is AWS with the credentials of the AWS_*
// environment.
type S3Options struct {
	Endpoint   string     // URL with http or https; "" is https://s3.amazonaws.com
	Region     string     // "" is us-east-1, or looked up at AWS
	Addressing Addressing // position of the bucket's name in requests
	CAFile     string     // PEM certificates to trust in addition to the system's; "": none
	// CredentialsDir is a directory with the files accessKey, secretKey and, for temporary keys,
	// sessionToken; "" is the AWS_* environment.
	CredentialsDir string
	// WebIdentity exchanges an identity token for temporary keys. If it names a file it replaces
	// CredentialsDir.
	WebIdentity WebIdentity
}

// Addressing is the position of the bucket's name in a request.
type Addressing string

// Ways of addressing a bucket.
const (
	AddressingAuto    Addressing = ""        // by path, except at AWS
	AddressingPath    Addressing = "path"    // https://endpoint/bucket/key
	AddressingVirtual Addressing = "virtual" // https://bucket.endpoint/key
)

// Names of the environment variables with the options.
const (
	EnvEndpoint       = "CAIRN_S3_ENDPOINT"
	EnvRegion         = "CAIRN_S3_REGION"
	EnvPathStyle      = "CAIRN_S3_PATH_STYLE"
	EnvCAFile         = "CAIRN_S3_CA_FILE"
	EnvCredentialsDir = "CAIRN_S3_CREDENTIALS_DIR"

	EnvTokenFile   = "CAIRN_S3_WEB_IDENTITY_TOKEN_FILE"
	EnvRoleARN     = "CAIRN_S3_ROLE_ARN"
	EnvSTSEndpoint = "CAIRN_S3_STS_ENDPOINT"
)

// OptionsFromEnv reads the CAIRN_S3_* variables. AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION
// and AWS_CA_BUNDLE replace missing ones. AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are used if
// no key is given.
func OptionsFromEnv(getenv func(string) string) (S3Options, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	o := S3Options{
		Endpoint:       first(EnvEndpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
		Region:         first(EnvRegion, "AWS_REGION", "AWS_DEFAULT_REGION"),
		CAFile:         first(EnvCAFile, "AWS_CA_BUNDLE"),
		CredentialsDir: getenv(EnvCredentialsDir),
		WebIdentity: WebIdentity{
			TokenFile:   getenv(EnvTokenFile),
			RoleARN:     first(EnvRoleARN, "AWS_ROLE_ARN"),
			STSEndpoint: first(EnvSTSEndpoint, "AWS_ENDPOINT_URL_STS"),
		},
	}
	if o.WebIdentity.TokenFile == "" && o.CredentialsDir == "" && getenv("AWS_ACCESS_KEY_ID") == "" {
		o.WebIdentity.TokenFile = getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	}
	var err error
	o.Addressing, err = ParsePathStyle(getenv(EnvPathStyle))
	if err != nil {
		err = fmt.Errorf("%s: %w", EnvPathStyle, err)
	}
	return o, err
}

// ParsePathStyle parses the path-style setting: a boolean, or "" for automatic.
func ParsePathStyle(s string) (Addressing, error) {
	if s == "" {
		return AddressingAuto, nil
	}
	path, err := strconv.ParseBool(s)
	if err != nil {
		return AddressingAuto, fmt.Errorf("path style is true or false, not %q", s)
	}
	if path {
		return AddressingPath, nil
	}
	return AddressingVirtual, nil
}

// endpoint returns host and port, and whether TLS is used.
func (o S3Options) endpoint() (host string, secure bool, err error) {
	if o.Endpoint == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := parseEndpoint(o.Endpoint)
	if err != nil {
		return "", false, fmt.Errorf("the S3 endpoint %w", err)
	}
	return u.Host, u.Scheme == "https", nil
}

func parseEndpoint(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("must be like https://host:port, not %q", s)
	}
	return u, nil
}

func isAWS(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return name == "amazonaws.com" || strings.HasSuffix(name, ".amazonaws.com") || strings.HasSuffix(name, ".amazonaws.com.cn")
}

// client builds the minio client; it makes no request.
func (o S3Options) client(keys *credentials.Credentials) (*minio.Client, error) {
	host, secure, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	transport, err := o.transport(secure)
	if err != nil {
		return nil, err
	}
	region := o.Region
	if region == "" && !isAWS(host) {
		region = "us-east-1" // saves a request, and the permission to ask for the bucket's location
	}
	lookup := minio.BucketLookupAuto
	switch {
	case o.Addressing == AddressingPath, o.Addressing == AddressingAuto && !isAWS(host):
		lookup = minio.BucketLookupPath
	case o.Addressing == AddressingVirtual:
		lookup = minio.BucketLookupDNS
	}
	return minio.New(host, &minio.Options{
		Creds:        keys,
		Secure:       secure,
		Transport:    transport,
		Region:       region,
		BucketLookup: lookup,
		// Few and quick retries here: callers with more time (the shipper) retry themselves.
		MaxRetries: 3,
	})
}

func (o S3Options) transport(secure bool) (http.RoundTripper, error) {
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = 60 * time.Second
	if !secure {
		return transport, nil
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("the CA file cannot be read: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA file %s has no PEM certificate", o.CAFile)
		}
		if transport.TLSClientConfig == nil {
			transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return transport, nil
}
