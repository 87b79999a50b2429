#!/usr/bin/env bash
# Run config/samples/stencil.yaml again and follow it to its report.
#   hack/sample.sh NAMESPACE
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
PATH=$BIN:$PATH
namespace=$1
. "$CAIRN_CACHE/images.env"
kubectl -n "$namespace" delete tracedmpijob stencil --ignore-not-found --wait >/dev/null
say "kubectl apply --server-side -f config/samples/stencil.yaml"
sed "s|localhost/cairn-demo:bookworm|$CAIRN_DEMO_IMAGE_BOOKWORM|" config/samples/stencil.yaml |
  kubectl -n "$namespace" apply --server-side -f - >/dev/null
hack/watch.sh "$namespace" stencil
