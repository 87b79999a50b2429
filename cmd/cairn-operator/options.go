package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers"
)

// options are the flags. The chart sets them from its values.
type options struct {
	image, pullPolicy string

	s3          v1alpha1.S3Storage
	s3PathStyle string

	metricsAddress, healthAddress  string
	leaderElect                    bool
	leaderElectNamespace, logLevel string

	retry, jobTTL time.Duration
}

func defaults() *options {
	return &options{
		pullPolicy:     string(corev1.PullIfNotPresent),
		s3:             v1alpha1.S3Storage{CredentialsSecretName: v1alpha1.DefaultCredentialsSecretName},
		metricsAddress: ":8080",
		healthAddress:  ":8081",
		logLevel:       "info",
		retry:          10 * time.Second,
		jobTTL:         time.Hour,
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.image, "image", o.image, "Cairn's image, for sidecars and jobs (required)")
	flags.StringVar(&o.pullPolicy, "image-pull-policy", o.pullPolicy, "when to pull it: Always, IfNotPresent or Never")

	flags.StringVar(&o.s3.Endpoint, "s3-endpoint", "", "default storage: address of the object store, such as https://s3.example.org")
	flags.StringVar(&o.s3.Bucket, "s3-bucket", "", "default storage: bucket; without it jobs must name their storage")
	flags.StringVar(&o.s3.Prefix, "s3-prefix", "", "default storage: prefix of all objects")
	flags.StringVar(&o.s3.Region, "s3-region", "", "default storage: region")
	flags.StringVar(&o.s3PathStyle, "s3-path-style", "", "default storage: bucket in the path (true) or in the host name (false)")
	flags.StringVar(&o.s3.CASecretName, "s3-ca-secret", "", "default storage: Secret with ca.crt, in the job's namespace")
	flags.StringVar(&o.s3.CredentialsSecretName, "s3-credentials-secret", o.s3.CredentialsSecretName,
		"default storage: Secret with accessKey and secretKey, in the job's namespace")

	flags.StringVar(&o.metricsAddress, "metrics-address", o.metricsAddress, "where to serve metrics; 0 is nowhere")
	flags.StringVar(&o.healthAddress, "health-address", o.healthAddress, "where to serve /healthz and /readyz; 0 is nowhere")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let one of several operators work")
	flags.StringVar(&o.leaderElectNamespace, "leader-elect-namespace", "", "namespace of the lease; the operator's own if empty")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")

	flags.DurationVar(&o.retry, "retry", o.retry, "pause before a storage that does not work is checked again")
	flags.DurationVar(&o.jobTTL, "job-ttl", o.jobTTL, "how long finished jobs are kept, and with them their logs")
}

// settings are what the flags mean.
func (o *options) settings() (controllers.Settings, error) {
	settings := controllers.Settings{
		Image: o.image, PullPolicy: corev1.PullPolicy(o.pullPolicy), Retry: o.retry, JobTTL: o.jobTTL,
	}
	if o.image == "" {
		return settings, errors.New("--image is missing: it names Cairn's image, for sidecars and jobs")
	}
	switch settings.PullPolicy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		return settings, fmt.Errorf("--image-pull-policy is %q: it may be Always, IfNotPresent or Never", o.pullPolicy)
	}
	if o.retry <= 0 || o.jobTTL < 0 {
		return settings, errors.New("--retry must be above 0, and --job-ttl not below")
	}
	if o.s3.Bucket == "" {
		if o.s3.Endpoint != "" {
			return settings, errors.New("--s3-endpoint is set, but not --s3-bucket")
		}
		return settings, nil
	}
	s3 := o.s3
	if o.s3PathStyle != "" {
		pathStyle, err := strconv.ParseBool(o.s3PathStyle)
		if err != nil {
			return settings, fmt.Errorf("--s3-path-style is %q: it may be true or false", o.s3PathStyle)
		}
		s3.PathStyle = &pathStyle
	}
	settings.Storage = &s3
	return settings, nil
}

func (o *options) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return level, fmt.Errorf("--log-level is %q: it may be debug, info, warn or error", o.logLevel)
	}
	return level, nil
}
