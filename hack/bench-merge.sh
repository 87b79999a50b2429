#!/usr/bin/env bash
# How long the merge takes and how much memory, against the number of ranks: synthetic shards of 64 ranks, every rank
# recorded by itself (cairn simulate), merged by `cairn merge` as the pods of a job do it, reading included. Up to
# 64 shards are merged by one process, more by a tree of 64-way merges, two at a time; the time is that of the whole
# tree, the memory that of its largest step.
#   hack/bench-merge.sh [RANKS…]         default: 1024 4096 16384; 1048576 takes half an hour and 8 GiB of disk
#   PATTERNS="stencil2d wavefront"       default: stencil2d wavefront irregular
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
fan=64

# measured COMMAND…: runs it; adds its peak memory in KiB to $w/peaks
measured() {
  python3 - "$w/peaks" "$@" <<'PY'
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
with open(sys.argv[1], "a") as peaks:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=peaks)
sys.exit(status)
PY
}
export -f measured
export w

printf '%-10s %9s %8s %12s %8s %9s %12s  %s\n' pattern ranks shards "shard bytes" seconds "peak MiB" "trace bytes" target
for pattern in ${PATTERNS:-stencil2d wavefront irregular}; do
  for ranks in ${@:-1024 4096 16384}; do
    rm -rf "$w/job" "$w/peaks"
    made=$(bin/cairn simulate --no-replay --pattern "$pattern" --ranks "$ranks" --call-sites none --store "$w/job")
    shards=$(sed 's/.*: \([0-9]*\) shards.*/\1/' <<<"$made")
    bytes=$(sed 's/.*, \([0-9]*\) bytes.*/\1/' <<<"$made")
    : >"$w/message"
    begun=$(date +%s.%N)
    measured bin/cairn merge --job --store "$w/job" --collect-timeout 1 --fan-in $((ranks <= 16384 ? 256 : fan)) --termination-log "$w/message"
    level=0
    for parts in $(python3 -c 'import json,sys; print(*json.load(open(sys.argv[1])).get("levels", []))' "$w/message"); do
      level=$((level + 1))
      seq 0 $((parts - 1)) | xargs -P2 -I{} bash -c "measured bin/cairn merge --job --store '$w/job' --level $level --index {}"
    done
    seconds=$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN {printf "%.2f", b - a}')
    peak=$(sort -n "$w/peaks" | awk 'END {printf "%.0f", $1 / 1024}')
    trace=$(stat -c %s "$w/job/0/0/trace.cairn")
    case $pattern-$ranks in
      stencil2d-16384) limits="2 256" ;;
      stencil2d-1048576) limits="60 512" ;;
      *) limits= ;;
    esac
    verdict=
    if [ -n "$limits" ]; then
      verdict=$(awk -v s="$seconds" -v p="$peak" -v l="$limits" 'BEGIN {
        split(l, x, " "); printf "%s s, %s MiB: %s", x[1], x[2], (s <= x[1] && p <= x[2]) ? "pass" : "miss"}')
    fi
    printf '%-10s %9d %8d %12d %8s %9s %12d  %s\n' "$pattern" "$ranks" "$shards" "$bytes" "$seconds" "$peak" "$trace" "$verdict"
  done
done
