#!/usr/bin/env bash
# The cost of tables: a simulated halo exchange of RANKS × ITERATIONS (default: 10⁷ calls), written
# as Parquet and for Perfetto. Sizes in bytes per call, seconds of CPU time, and the maximum
# memory.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bin/cairn simulate --pattern stencil2d --ranks "${RANKS:-128}" --iterations "${ITERATIONS:-10000}" -o "$dir/trace.cairn"
calls=$(bin/cairn info --json "$dir/trace.cairn" | python3 -c 'import json, sys; print(json.load(sys.stdin)["calls"])')
per_call() { awk -v bytes="$(cat "$@" | wc -c)" -v calls="$calls" 'BEGIN { printf "%.2f bytes per call", bytes / calls }'; }
measured() { # NAME COMMAND...: what the command takes
  python3 - "$@" <<'EOF'
import resource, subprocess, sys, time
start = time.time()
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]}: {time.time() - start:.1f} s, {r.ru_utime + r.ru_stime:.1f} s of CPU, {r.ru_maxrss / 1024:.0f} MiB")
EOF
}
echo "trace: $calls calls, $(per_call "$dir/trace.cairn")"
measured parquet bin/cairn export "$dir/trace.cairn" --format parquet -o "$dir/tables"
echo "parquet: $(per_call "$dir"/tables/*.parquet); calls alone: $(per_call "$dir/tables/calls.parquet")"
measured perfetto bin/cairn export "$dir/trace.cairn" -o "$dir/trace.perfetto.gz"
echo "perfetto, compressed: $(per_call "$dir/trace.perfetto.gz")"
