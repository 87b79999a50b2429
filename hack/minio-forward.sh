# shellcheck shell=bash
# Sourced: minio_forward NAMESPACE makes the chart's MinIO reachable on 127.0.0.1 until the script
# ends, and sets the CAIRN_S3_* environment for the cairn command with that namespace's credentials.
minio_forward() {
  local log; log=$(mktemp)
  kubectl -n cairn-system port-forward service/cairn-minio :9000 >"$log" 2>&1 &
  MINIO_FORWARD_PID=$!
  trap 'kill $MINIO_FORWARD_PID 2>/dev/null || true' EXIT
  local port=
  for _ in $(seq 100); do
    port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$log")
    [ -z "$port" ] || break
    kill -0 $MINIO_FORWARD_PID 2>/dev/null || die "kubectl port-forward: $(cat "$log")"
    sleep 0.1
  done
  rm -f "$log"
  export CAIRN_S3_ENDPOINT=http://127.0.0.1:$port CAIRN_S3_PATH_STYLE=true CAIRN_S3_REGION=us-east-1
  AWS_ACCESS_KEY_ID=$(kubectl -n "$1" get secret cairn-storage -o jsonpath='{.data.accessKey}' | base64 -d)
  AWS_SECRET_ACCESS_KEY=$(kubectl -n "$1" get secret cairn-storage -o jsonpath='{.data.secretKey}' | base64 -d)
  export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}
