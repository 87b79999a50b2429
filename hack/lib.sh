# shellcheck shell=bash
# Settings and helpers shared by the scripts below hack/; sourced, never run.
# Every setting can be overridden from the environment.

K8S_VERSION=${K8S_VERSION:-v1.36.3}           # its staging modules are v0.<rest>
ETCD_VERSION=${ETCD_VERSION:-v3.6.8}          # the version k8s.io/kubernetes itself requires
COREDNS_VERSION=${COREDNS_VERSION:-v1.14.1}
MPI_OPERATOR_VERSION=${MPI_OPERATOR_VERSION:-v0.8.2}
HELM_VERSION=${HELM_VERSION:-v3.22.0}
DUCKDB_VERSION=${DUCKDB_VERSION:-v2.10506.0}          # of its Go module; DuckDB 1.5.6
MINIO_VERSION=${MINIO_VERSION:-v0.0.0-20260212201848-7aac2a2c5b7c}

# as in the Makefile: what was compiled once is found again
[[ ${GOFLAGS:-} == *-trimpath* ]] || export GOFLAGS="${GOFLAGS:-} -trimpath -tags=netgo,osusergo"
export CGO_ENABLED=${CGO_ENABLED:-1}

HACK=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$HACK")
CAIRN_CACHE=${CAIRN_CACHE:-$HOME/.cache/cairn}          # binaries, image archives; survives everything
CAIRN_NAME=${CAIRN_NAME:-cairn}                         # two clusters of different names can run at once
CAIRN_STATE=${CAIRN_STATE:-/var/lib/$CAIRN_NAME-cluster} # data of the running cluster; gone after down.sh
CAIRN_RUN=${CAIRN_RUN:-/run/$CAIRN_NAME-cluster}        # sockets and pidfiles (short: unix socket paths)
CAIRN_CLUSTER=${CAIRN_CLUSTER:-local}                   # local | existing (the one KUBECONFIG names)
CAIRN_REGISTRY=${CAIRN_REGISTRY:-}                      # existing only: where images are pushed to
CAIRN_NODES=${CAIRN_NODES:-2}
CAIRN_PORT=${CAIRN_PORT:-26443}                         # the API server on 127.0.0.1; another if it is taken

# Addresses exist only inside the cluster's own network namespaces.
CAIRN_NET=${CAIRN_NET:-10.211.0}                        # .1 = control plane, .10+N = node N
CAIRN_PODNET=${CAIRN_PODNET:-10.212}                    # pods of node N: $CAIRN_PODNET.N.0/24
CAIRN_SVCNET=${CAIRN_SVCNET:-10.213.0}                  # services, /24

# locks, sockets and mounts of image building: one set per cache, with a short path because of the
# sockets
IMAGES_RUN=/run/cairn-images-$(cksum <<<"$CAIRN_CACHE" | cut -d' ' -f1)

BIN=$CAIRN_CACHE/bin
IMG=$CAIRN_CACHE/image
BUILD=$CAIRN_CACHE/build

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*"; }
die() { printf '%s error: %s\n' "$(date +%H:%M:%S)" "$*" >&2; exit 1; }

# locked NAME COMMAND...: one process at a time, machine-wide for this cache
locked() {
  local name=$1; shift
  mkdir -p "$CAIRN_CACHE/lock"
  (
    flock -n 9 || { say "waiting for another $name"; flock 9; }
    # daemons that the command starts must not inherit the lock
    "$@" 9>&-
  ) 9>"$CAIRN_CACHE/lock/$name"
}

# digest FILE...: one hash over names and contents, the same in every copy of the tree
digest() { sha256sum "$@" | sed "s|  $ROOT/|  |" | sha256sum | cut -c1-16; }
