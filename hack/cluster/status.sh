#!/usr/bin/env bash
# Print the state of the cluster. The exit status is 0 only if everything runs and every node is
# Ready.
#   hack/cluster/status.sh [--quiet]
#   hack/cluster/status.sh --kubeconfig    only where the administrator's kubeconfig lies
#   hack/cluster/status.sh --cpu           only the seconds of CPU that it and its pods have used
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
case ${1:-} in --kubeconfig) echo "$ADMIN"; exit ;; --cpu) cpu_seconds; exit ;; esac
[ "${1:-}" != --quiet ] || exec >/dev/null
[ -d "$PIDS" ] || { echo "cluster: down"; exit 1; }
rc=0
want=("${components[@]}")
for f in "$PIDS"/node*; do [ ! -e "$f" ] || want+=("${f##*/}"); done
for c in "${want[@]}"; do
  if alive "$PIDS/$c"; then read -r p _ <"$PIDS/$c"; printf '%-20s running, pid %s\n' "$c" "$p"
  else printf '%-20s DEAD, see %s\n' "$c" "$LOGS/$c.log"; rc=1; fi
done
if kubectl_ --request-timeout=5s get --raw=/readyz >/dev/null 2>&1; then
  kubectl_ get nodes -o wide
  ready=$(kubectl_ get nodes -o jsonpath='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | grep -c True) || true
  [ "$ready" = "$(nodes_up | wc -l)" ] && [ "$ready" != 0 ] || rc=1
  for n in $(nodes_up); do
    echo "images of node$n: $(ctr -a "$CAIRN_RUN/node$n/containerd.sock" -n k8s.io images ls -q | grep -v '^sha256:' | sort | tr '\n' ' ')"
  done
else
  echo "the API server does not answer"; rc=1
fi
echo "KUBECONFIG=$ADMIN"
exit $rc
