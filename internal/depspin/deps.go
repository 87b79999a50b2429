//go:build tools

package depspin

import (
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/go-logr/logr"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	_ "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	_ "github.com/minio/minio-go/v7"
	_ "github.com/minio/minio-go/v7/pkg/credentials"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/onsi/gomega"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "k8s.io/api/batch/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/applyconfigurations/core/v1"
	_ "k8s.io/utils/ptr"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/yaml"
	_ "gonum.org/v1/gonum/stat"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
)
