#!/usr/bin/env bash
# The end-to-end tests: on the local cluster, which is started if it does not run, or on an existing one
# (CAIRN_CLUSTER=existing, CAIRN_REGISTRY, KUBECONFIG). The local cluster is stopped again if this started it.
#   hack/e2e.sh [GO TEST ARGUMENTS]
# A stage of hack/test has CAIRN_TEST_SHORT=true for `make test`, and a file, CAIRN_TEST_CPU, for the
# seconds of CPU of the cluster, whose processes are not this script's; it reads the tests as JSON.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export PATH=$BIN:$PATH
short=${CAIRN_TEST_SHORT:-false}
step() { say "$1 after $SECONDS s"; }

# before the cluster starts: its nodes then begin with these images
hack/images.sh
[ "$short" = true ] || [ $# != 0 ] || hack/images.sh --build-only dockerfile
step images
if [ "$CAIRN_CLUSTER" = local ]; then
  started=0
  hack/cluster/status.sh >/dev/null 2>&1 || started=1
  before=$(hack/cluster/status.sh --cpu)
  finish() {
    local used=$(($(hack/cluster/status.sh --cpu) - before))
    step "the cluster and its pods used $used s of CPU"
    [ -z "${CAIRN_TEST_CPU:-}" ] || echo "$used" >"$CAIRN_TEST_CPU"
    [ $started = 0 ] || hack/cluster/down.sh --keep-logs
  }
  trap finish EXIT
  [ $started = 0 ] || hack/cluster/up.sh
  KUBECONFIG=$(hack/cluster/status.sh --kubeconfig)
  export KUBECONFIG
fi
step cluster
for namespace in e2e-restricted e2e-quota; do kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null; done
kubectl label --overwrite namespace e2e-restricted pod-security.kubernetes.io/enforce=restricted >/dev/null
hack/deploy.sh default e2e e2e-restricted e2e-quota
step deployed
[ "$short" = false ] || set -- -short "$@"
status=0
go test -tags e2e,netgo,osusergo -count=1 -timeout 170m -parallel 4 ${CAIRN_TEST_CPU:+-json} -v "$@" ./test/e2e ||
  status=$?
step tests
# The README's outputs of a cluster, from the sample that it applies, on a cluster on which all
# tests ran. Its first sentence depends on other load on the machine during these two seconds: one
# of three runs must match the README.
if [ "$status" = 0 ] && [ $# = 0 ] && [ "$CAIRN_CLUSTER" = local ]; then
  for run in 1 2 3; do
    hack/sample.sh default
    status=0
    go run ./hack/readme -cluster README.md || status=$?
    [ "$status" != 0 ] || break
    say "run $run of the sample differs from the README"
  done
fi
exit "$status"
