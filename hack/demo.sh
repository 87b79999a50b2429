#!/usr/bin/env bash
# From nothing to a verdict: first a traced run on this machine, then a TracedMPIJob on a Kubernetes cluster.
#   hack/demo.sh                            a local cluster of two nodes, kept running afterwards (hack/cluster/down.sh)
#   CAIRN_CLUSTER=existing CAIRN_REGISTRY=… KUBECONFIG=… hack/demo.sh      that cluster; images go to that registry
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
started=$SECONDS
namespace=${CAIRN_DEMO_NAMESPACE:-default}
head() { printf '\n\033[1m%s\033[0m\n' "$*"; }
elapsed() { echo $((SECONDS - started)); }

hack/preflight.sh cluster

# minutes_left estimates how long it takes to compile what is missing, from CPU seconds per part.
minutes_left() {
  local part seconds sum=0
  while read -r part seconds; do [ -x "$BIN/$part" ] || sum=$((sum + seconds)); done <<T
    etcd 60
    kube-apiserver 240
    kubectl 60
    kubelet 120
    kube-controller-manager 60
    kube-scheduler 15
    kube-proxy 15
    coredns 30
    mpi-operator 180
    helm 100
    minio 220
T
  echo $(((sum / $(nproc) + 59) / 60))
}

# --- 1. a traced run on this machine
head "A traced run on this machine"
say "installing compilers and MPI, building Cairn: two to three minutes on a fresh machine"
mkdir -p out
hack/install.sh base
make -s -j"$(nproc)" bin/cairn lib/libcairn-openmpi.so || die "Cairn could not be built"
make -s -C examples bin/openmpi/stencil
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin/cairn run --force -o out/demo -- mpirun.openmpi -np 2 \
  examples/bin/openmpi/stencil --iterations 100 --work-us 10000 --slow-rank 1 --slow-factor 3
say "verdict on the screen after $(elapsed) s; the report: out/demo/report/index.html"

# --- 2. the same on Kubernetes
head "A TracedMPIJob on Kubernetes"
say "compiling what is missing of Kubernetes and MinIO: about $(minutes_left) min (log: out/install.log)"
: >out/install.log
set -m # a process group of its own, to end it with its compilers
hack/install.sh cluster >out/install.log 2>&1 &
preparing=$!
set +m
trap 'kill -- -$preparing 2>/dev/null || true' EXIT
tail -n +1 --follow --pid=$preparing out/install.log | while read -r line; do
  case $line in *": "*s) line="$line; about $(minutes_left) min left" ;; esac
  printf '  %s\n' "$line"
done
wait $preparing && trap - EXIT || { tail -n 20 out/install.log >&2; die "the cluster's parts could not be built"; }
export PATH=$BIN:$PATH
say "building Cairn's images, starting the cluster, a traced job: about 2 min"
hack/images.sh
if [ "$CAIRN_CLUSTER" = local ]; then
  hack/cluster/up.sh
  KUBECONFIG=$(hack/cluster/status.sh --kubeconfig)
  export KUBECONFIG
fi
hack/deploy.sh "$namespace"

hack/sample.sh "$namespace"

head "Verdict"
kubectl -n "$namespace" get tmj stencil -o jsonpath='{.status.verdict}{"\n"}'
echo
kubectl -n "$namespace" get tmj stencil
uri=$(kubectl -n "$namespace" get tmj stencil -o jsonpath='{.status.runs[0].reportURI}')
cat <<T

The report lies in the bucket:  ${uri%/}/index.html
To reach the cluster:
  export KUBECONFIG=${KUBECONFIG:-}
To open the report:
  hack/fetch-report.sh $namespace stencil out/report && xdg-open out/report/index.html
To look around:
  $(command -v kubectl) -n $namespace get tmj stencil -o wide
T
[ "$CAIRN_CLUSTER" != local ] || echo "To stop the cluster:  hack/cluster/down.sh"
say "the whole demo took $(elapsed) s"
