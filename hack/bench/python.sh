#!/usr/bin/env bash
# The cost of the line of Python as call site of a call from mpi4py: CPU ns per call, untraced,
# with call sites off and on, medians of alternating rounds.
#   hack/bench/python.sh [ROUNDS [CALLS]]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$ROOT"
rounds=${1:-7} calls=${2:-500000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir "$w/root"
cp -r lib "$w/root/lib"
for _ in $(seq "$rounds"); do
  for sites in alone none caller; do
    rm -rf "$w/root/spool"
    mkdir "$w/root/spool"
    printf '{"enabled":true,"spool":"%s","call_sites":"%s"}\n' "$w/root/spool" "$sites" >"$w/root/config.json"
    preload=()
    [ "$sites" = alone ] || preload=(env "LD_PRELOAD=$w/root/lib/libcairn-openmpi.so")
    mpirun.openmpi -np 1 "${preload[@]}" /usr/bin/python3 hack/bench/python.py "$calls" >>"$w/$sites"
  done
done
printf '%-10s %10s %10s %10s %18s\n' "the lock" alone none caller 'line of Python adds'
go run ./hack/stats python "$w/alone" "$w/none" "$w/caller"
