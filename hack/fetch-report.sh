#!/usr/bin/env bash
# Copy a TracedMPIJob's report to this machine, out of the chart's MinIO, which only the cluster can
# reach.
#   hack/fetch-report.sh NAMESPACE NAME DIRECTORY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$BIN:$ROOT/bin:$PATH
namespace=$1 name=$2 dir=$3
uri=$(kubectl -n "$namespace" get tmj "$name" -o jsonpath='{.status.runs[0].reportURI}')
[ -n "$uri" ] || die "$name has no report yet: kubectl -n $namespace get tmj $name"
. "$HACK/minio-forward.sh"
minio_forward "$namespace"
mkdir -p "$dir"
cairn copy "$uri" "$dir"
echo "$dir/index.html"
