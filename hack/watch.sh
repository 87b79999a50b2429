#!/usr/bin/env bash
# Follow a TracedMPIJob to its end: one line whenever a condition changes.
#   hack/watch.sh NAMESPACE NAME [SECONDS]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$BIN:$PATH
namespace=$1 name=$2 limit=${3:-600}
end=$((SECONDS + limit)) seen=
while :; do
  now=$(kubectl -n "$namespace" get tmj "$name" -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}' || true)
  while IFS= read -r line; do
    [ -z "$line" ] || grep -qxF -- "$line" <<<"$seen" || say "  $line"
  done <<<"$now"
  seen=$now
  case $'\n'$now in *$'\n'Ready=True*) exit 0 ;; esac
  if [ -n "$(kubectl -n "$namespace" get tmj "$name" -o jsonpath='{.status.completionTime}' || true)" ]; then
    case $'\n'$(kubectl -n "$namespace" get tmj "$name" -o jsonpath='{range .status.conditions[*]}{.type}={.status}{"\n"}{end}') in
      *$'\n'Ready=True*) exit 0 ;;
      *) die "$name has ended without a report" ;;
    esac
  fi
  [ $SECONDS -lt $end ] || { kubectl -n "$namespace" get pods >&2; die "$name is not ready after $limit s"; }
  sleep 1
done
