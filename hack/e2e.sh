#!/usr/bin/env bash
# The end-to-end tests: on the local cluster, which is started if it does not run, or on an existing one
# (CAIRN_CLUSTER=existing, CAIRN_REGISTRY, KUBECONFIG). The local cluster is stopped again if this started it.
#   hack/e2e.sh [GO TEST ARGUMENTS]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export PATH=$BIN:$PATH
if [ "$CAIRN_CLUSTER" = local ]; then
  if ! hack/cluster/status.sh >/dev/null 2>&1; then
    hack/cluster/up.sh
    trap 'hack/cluster/down.sh --keep-logs' EXIT
  fi
  KUBECONFIG=$(hack/cluster/status.sh --kubeconfig)
  export KUBECONFIG
fi
hack/images.sh
for namespace in e2e-restricted e2e-quota; do kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null; done
kubectl label --overwrite namespace e2e-restricted pod-security.kubernetes.io/enforce=restricted >/dev/null
hack/deploy.sh default e2e e2e-restricted e2e-quota
status=0
go test -tags e2e -count=1 -timeout 170m -v "$@" ./test/e2e/... || status=$?
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
