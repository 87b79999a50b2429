package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers"
	"github.com/cairn-mpi/cairn/internal/version"
)

// serve runs the operator until the context ends.
func serve(ctx context.Context, o *options, settings controllers.Settings) error {
	level, err := o.level()
	if err != nil {
		return usageError{err}
	}
	logger := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	config, err := ctrl.GetConfig()
	if err != nil {
		return unavailableError{fmt.Errorf("no cluster: %w", err)}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        controllers.Scheme(),
		Cache:                         controllers.CacheOptions(),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "cairn-operator",
		LeaderElectionNamespace:       o.leaderElectNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return unavailableError{err}
	}
	if err := awaitResources(ctx, manager.GetRESTMapper()); err != nil {
		return unavailableError{err}
	}
	if err := controllers.Add(manager, settings); err != nil {
		return err
	}
	if err := errors.Join(manager.AddHealthzCheck("ping", healthz.Ping), manager.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	logger.Info("starting", "version", version.Version, "image", settings.Image, "storage", describe(settings.Storage))
	return manager.Start(ctx)
}

// awaitResources waits a little for the cluster to serve the resources that the operator watches: a
// chart creates its CRD and this pod together.
func awaitResources(ctx context.Context, mapper meta.RESTMapper) error {
	var missing error
	err := wait.PollUntilContextTimeout(ctx, time.Second, 20*time.Second, true, func(context.Context) (bool, error) {
		missing = checkResources(mapper)
		return missing == nil, nil
	})
	if err != nil {
		return errors.Join(missing, ctx.Err())
	}
	return nil
}

// checkResources returns an error that names the resources that the cluster lacks and what to do.
func checkResources(mapper meta.RESTMapper) error {
	for _, need := range []struct {
		schema.GroupVersionKind
		advice string
	}{
		{mpiv2beta1.SchemeGroupVersionKind, "install mpi-operator v0.8 first"},
		{v1alpha1.GroupVersion.WithKind(v1alpha1.Kind), "install the CRD of Cairn's chart first"},
	} {
		_, err := mapper.RESTMapping(need.GroupKind(), need.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("the cluster has no %s of %s: %s", need.Kind, need.GroupVersion(), need.advice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func describe(s3 *v1alpha1.S3Storage) string {
	if s3 == nil {
		return "none: each job must name its own"
	}
	return fmt.Sprintf("s3://%s/%s at %s", s3.Bucket, s3.Prefix, s3.Endpoint)
}
