#!/usr/bin/env bash
# From nothing to a verdict: first a traced run on this machine, then a TracedMPIJob on a Kubernetes cluster.
#   hack/demo.sh                            a local cluster of two nodes, kept running afterwards (hack/cluster/down.sh)
#   CAIRN_CLUSTER=existing CAIRN_REGISTRY=… KUBECONFIG=… hack/demo.sh      that cluster; images go to that registry
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
started=$SECONDS
namespace=${CAIRN_DEMO_NAMESPACE:-default}
release_namespace=cairn-system
head() { printf '\n\033[1m%s\033[0m\n' "$*"; }
elapsed() { echo $((SECONDS - started)); }

hack/preflight.sh cluster

# --- 1. a traced run on this machine; the cluster's parts compile at the same time with low
# priority
head "A traced run on this machine"
hack/install.sh base
mkdir -p out
# building both at once would only slow down both: the first verdict has precedence
make -s bin/cairn lib/libcairn-core.so lib/libcairn-openmpi.so
make -s -C examples bin/openmpi/stencil
nice -n 19 hack/install.sh cluster >out/install.log 2>&1 &
preparing=$!
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin/cairn run --force -o out/demo -- mpirun.openmpi -np 4 --oversubscribe --mca mpi_yield_when_idle 1 \
  examples/bin/openmpi/stencil --iterations 100 --work-us 10000 --slow-rank 2 --slow-factor 3
say "verdict on the screen after $(elapsed) s; the report: out/demo/report/index.html"

# --- 2. the same on Kubernetes
head "A TracedMPIJob on Kubernetes"
say "building the cluster's parts (log: out/install.log)"
shown=
while kill -0 $preparing 2>/dev/null; do
  now=$(tail -n 1 out/install.log)
  [ "$now" = "$shown" ] || printf '  %s\n' "$now"
  shown=$now
  sleep 1
done
wait $preparing || { tail -n 20 out/install.log >&2; die "the cluster's parts could not be built"; }
export PATH=$BIN:$PATH
if [ "$CAIRN_CLUSTER" = local ]; then
  hack/cluster/up.sh
  KUBECONFIG=$(hack/cluster/status.sh --kubeconfig)
  export KUBECONFIG
fi
hack/images.sh
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
