#!/usr/bin/env bash
# Install or upgrade the chart, with MinIO, on the cluster that KUBECONFIG names, using the images of
# hack/images.sh.
#   hack/deploy.sh JOB_NAMESPACE...
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
PATH=$BIN:$PATH
. "$CAIRN_CACHE/images.env"
[ $# -gt 0 ] || set -- default
for namespace; do kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null; done
joined=$(IFS=,; echo "$*")

# the images' contents are annotations, so that a new build of the same tag rolls the Deployment
say "helm upgrade --install cairn charts/cairn"
helm upgrade --install cairn charts/cairn --namespace cairn-system --create-namespace --wait --timeout 5m \
  --set image="$CAIRN_IMAGE" --set imageContent="${CAIRN_IMAGE_KEY:-}" \
  --set minio.enabled=true --set minio.image="$CAIRN_MINIO_IMAGE" \
  --set "jobNamespaces={$joined}" >"$BUILD/helm.log" 2>&1 || { tail -n 20 "$BUILD/helm.log" >&2; kubectl -n cairn-system get pods >&2; die "helm upgrade --install"; }

# keys are made in the cluster, by MinIO's pod
for namespace; do
  for _ in $(seq 120); do
    [ -z "$(kubectl -n "$namespace" get secret cairn-storage -o jsonpath='{.data.secretKey}')" ] || continue 2
    sleep 1
  done
  kubectl -n cairn-system logs deployment/cairn-minio --all-containers --tail 20 >&2 || true
  die "Secret cairn-storage in namespace $namespace has no key"
done
