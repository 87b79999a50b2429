#!/usr/bin/env bash
# Write the README's output blocks again. Those of a cluster are written only while the local
# cluster runs: start it with hack/cluster/up.sh and run `make demo` before.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export PATH=$BIN:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
go run ./hack/readme -write README.md
if hack/cluster/status.sh --quiet; then
  KUBECONFIG=$(hack/cluster/status.sh --kubeconfig)
  export KUBECONFIG
  hack/sample.sh default
  go run ./hack/readme -write -cluster README.md
fi
