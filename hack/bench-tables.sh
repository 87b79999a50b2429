#!/usr/bin/env bash
# The cost of tables: a simulated halo exchange of RANKS × ITERATIONS (default: 10⁷ calls), written
# as Parquet and for Perfetto. Sizes in bytes per call, seconds of CPU time, and the maximum
# memory.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stats" ./hack/stats
bin/cairn simulate --pattern stencil2d --ranks "${RANKS:-128}" --iterations "${ITERATIONS:-10000}" -o "$dir/trace.cairn"
calls=$(bin/cairn info --json "$dir/trace.cairn" | "$dir/stats" field calls)
per_call() { awk -v bytes="$(cat "$@" | wc -c)" -v calls="$calls" 'BEGIN { printf "%.2f bytes per call", bytes / calls }'; }
measured() { # NAME COMMAND...: resource usage of the command
  local used
  used=$("$dir/stats" usage "${@:2}")
  awk -v name="$1" '{printf "%s: %.1f s, %.1f s of CPU, %.0f MiB\n", name, $1, $2, $3 / 1024}' <<<"$used"
}
echo "trace: $calls calls, $(per_call "$dir/trace.cairn")"
measured parquet bin/cairn export "$dir/trace.cairn" --format parquet -o "$dir/tables"
echo "parquet: $(per_call "$dir"/tables/*.parquet); calls alone: $(per_call "$dir/tables/calls.parquet")"
measured perfetto bin/cairn export "$dir/trace.cairn" -o "$dir/trace.perfetto.gz"
echo "perfetto, compressed: $(per_call "$dir/trace.perfetto.gz")"
