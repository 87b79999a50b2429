package main

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers"
	"github.com/cairn-mpi/cairn/controllers/container"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// options are the flags. The chart sets them from its values.
type options struct {
	image, pullPolicy string
	pullSecrets       []string
	runAsUser         string

	s3          v1alpha1.S3Storage
	s3PathStyle string
	webIdentity v1alpha1.WebIdentity

	metricsAddress, healthAddress  string
	leaderElect                    bool
	leaderElectNamespace, logLevel string

	retry, storageWait, jobTTL time.Duration
	concurrency                int
}

func defaults() *options {
	return &options{
		pullPolicy:     string(corev1.PullIfNotPresent),
		runAsUser:      strconv.FormatInt(container.DefaultUser, 10),
		s3:             v1alpha1.S3Storage{CredentialsSecretName: v1alpha1.DefaultCredentialsSecretName},
		metricsAddress: ":8080",
		healthAddress:  ":8081",
		logLevel:       "info",
		retry:          10 * time.Second,
		storageWait:    2 * time.Minute,
		jobTTL:         time.Hour,
		concurrency:    controllers.DefaultConcurrency,
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.image, "image", o.image, "Cairn's image, for sidecars and jobs (required)")
	flags.StringVar(&o.pullPolicy, "image-pull-policy", o.pullPolicy, "when to pull it: Always, IfNotPresent or Never")

	flags.StringSliceVar(&o.pullSecrets, "image-pull-secret", nil, "Secret for pulling it, in the namespaces of jobs")
	flags.StringVar(&o.runAsUser, "run-as-user", o.runAsUser, "user and group of Cairn's containers, a number above 0; leave it unset if the cluster assigns one to each namespace")

	flags.StringVar(&o.s3.Endpoint, "s3-endpoint", "", "default storage: address of the object store, such as https://s3.example.org")
	flags.StringVar(&o.s3.Bucket, "s3-bucket", "", "default storage: bucket; without it jobs must name their storage")
	flags.StringVar(&o.s3.Prefix, "s3-prefix", "", "default storage: prefix of all objects")
	flags.StringVar(&o.s3.Region, "s3-region", "", "default storage: region")
	flags.StringVar(&o.s3PathStyle, "s3-path-style", "", "default storage: bucket in the path (true) or in the host name (false)")
	flags.StringVar(&o.s3.CASecretName, "s3-ca-secret", "", "default storage: Secret with ca.crt, in the job's namespace")
	flags.StringVar(&o.s3.CredentialsSecretName, "s3-credentials-secret", o.s3.CredentialsSecretName,
		"default storage: Secret with accessKey and secretKey, in the job's namespace")
	flags.StringVar(&o.webIdentity.Audience, "s3-web-identity-audience", "",
		"default storage: get keys from an STS for tokens with this audience, instead of from the Secret")
	flags.StringVar(&o.webIdentity.RoleARN, "s3-web-identity-role-arn", "", "default storage: role to request from the STS")
	flags.StringVar(&o.webIdentity.STSEndpoint, "s3-web-identity-sts-endpoint", "", "default storage: address of the STS, if it is not AWS's or the store's own")

	flags.StringVar(&o.metricsAddress, "metrics-address", o.metricsAddress, "address for metrics; 0 disables it")
	flags.StringVar(&o.healthAddress, "health-address", o.healthAddress, "address for /healthz and /readyz; 0 disables it")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "elect a leader, so that only one of several operators works")
	flags.StringVar(&o.leaderElectNamespace, "leader-elect-namespace", "", "namespace of the lease; the operator's own if empty")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")

	flags.DurationVar(&o.retry, "retry", o.retry, "pause before a storage that does not work is checked again; it doubles with each failure, up to 5 minutes")
	flags.DurationVar(&o.storageWait, "storage-wait", o.storageWait,
		"how long a job waits for storage that is not ready before it starts anyway; with failurePolicy Fail it waits forever")
	flags.DurationVar(&o.jobTTL, "job-ttl", o.jobTTL, "how long finished Jobs and their logs are kept")
	flags.IntVar(&o.concurrency, "concurrency", o.concurrency, "how many TracedMPIJobs are reconciled at the same time")
}

// settings converts the flags.
func (o *options) settings() (controllers.Settings, error) {
	settings := controllers.Settings{
		Installation: task.Installation{Image: o.image, PullPolicy: corev1.PullPolicy(o.pullPolicy)},
		Retry:        o.retry, StorageWait: o.storageWait, JobTTL: o.jobTTL, Concurrency: o.concurrency,
	}
	if o.image == "" {
		return settings, errors.New("--image is missing: it names Cairn's image, for sidecars and jobs")
	}
	switch settings.PullPolicy {
	case corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
	default:
		return settings, fmt.Errorf("--image-pull-policy is %q: it may be Always, IfNotPresent or Never", o.pullPolicy)
	}
	for _, name := range o.pullSecrets {
		settings.PullSecrets = append(settings.PullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if o.runAsUser != "" && o.runAsUser != "unset" {
		user, err := strconv.ParseInt(o.runAsUser, 10, 32)
		if err != nil || user <= 0 {
			return settings, fmt.Errorf("--run-as-user is %q: it may be a number above 0, or unset", o.runAsUser)
		}
		settings.RunAsUser = &user
	}
	if o.retry <= 0 || o.storageWait <= 0 || o.jobTTL < 0 {
		return settings, errors.New("--retry and --storage-wait must be above 0, and --job-ttl not below")
	}
	if o.concurrency < 1 {
		return settings, fmt.Errorf("--concurrency is %d: it must be at least 1", o.concurrency)
	}
	if o.s3.Bucket == "" {
		if o.s3.Endpoint != "" {
			return settings, errors.New("--s3-endpoint is set, but not --s3-bucket")
		}
		return settings, nil
	}
	if !validPrefix(o.s3.Prefix) {
		return settings, fmt.Errorf("--s3-prefix is %q: it may have letters, digits and !_.*'()=@:+,~- between single slashes, and no . or .. there", o.s3.Prefix)
	}
	s3 := o.s3
	if o.s3PathStyle != "" {
		pathStyle, err := strconv.ParseBool(o.s3PathStyle)
		if err != nil {
			return settings, fmt.Errorf("--s3-path-style is %q: it may be true or false", o.s3PathStyle)
		}
		s3.PathStyle = &pathStyle
	}
	if err := o.setWebIdentity(&s3); err != nil {
		return settings, err
	}
	settings.Storage = &s3
	return settings, nil
}

// setWebIdentity copies the flags of the web identity, if there are any.
func (o *options) setWebIdentity(s3 *v1alpha1.S3Storage) error {
	switch identity := o.webIdentity; {
	case identity == v1alpha1.WebIdentity{}:
	case identity.Audience == "":
		return errors.New("--s3-web-identity-role-arn and --s3-web-identity-sts-endpoint need --s3-web-identity-audience")
	case identity.RoleARN == "" && s3.Endpoint == "":
		return errors.New("--s3-web-identity-role-arn is missing: AWS issues keys only for a role")
	default:
		s3.WebIdentity = &identity
	}
	return nil
}

// prefixPattern is that of S3Storage.Prefix in the CRD: jobs record the storage that they use in
// their status.
var prefixPattern = regexp.MustCompile(`^/?([A-Za-z0-9!_.*'()=@:+,~-]+(/[A-Za-z0-9!_.*'()=@:+,~-]+)*/?)?$`)

// validPrefix reports whether objects below a prefix stay below it.
func validPrefix(prefix string) bool {
	segments := strings.Split(prefix, "/")
	return prefixPattern.MatchString(prefix) && !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
}

func (o *options) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return level, fmt.Errorf("--log-level is %q: it may be debug, info, warn or error", o.logLevel)
	}
	return level, nil
}
