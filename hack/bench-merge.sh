#!/usr/bin/env bash
# Time and memory of the merge against the number of ranks: synthetic shards of 64 ranks, every
# rank recorded by itself (cairn simulate), merged by `cairn merge` as the pods of a job do,
# including reading. Up to 256 shards are merged by one process, more by a tree of 64-way merges,
# two at a time. The times are those of the whole tree, the memory is that of its largest step. The
# last column is the cost of reading a finished trace (cairn info).
#   hack/bench-merge.sh [RANKS…]         default: 1024 4096 16384
#   PATTERNS="stencil2d wavefront"       default: stencil2d stencil3d wavefront irregular master-worker
#   LARGE=1                              131072 and 1048576 ranks of stencil2d too: ten minutes, 2 GB of disk
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
export w

# measured COMMAND…: runs it; adds its peak memory in KiB and its CPU time in seconds to $w/usage
measured() {
  python3 - "$w/usage" "$@" <<'PY'
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
u = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "a") as usage:
    print(u.ru_maxrss, u.ru_utime + u.ru_stime, file=usage)
sys.exit(status)
PY
}
export -f measured

largest() { sort -n "$1" | awk 'END {printf "%.0f", $1 / 1024}'; }

# row PATTERN RANKS
row() {
  local pattern=$1 ranks=$2 replay=--no-replay fan=256
  [ "$pattern" != master-worker ] || replay= # what a master receives depends on time
  [ "$ranks" -le 16384 ] || fan=64
  rm -rf "$w/job" "$w/usage"
  # shellcheck disable=SC2086 # $replay is a flag or nothing
  made=$(GOGC=400 bin/cairn simulate $replay --pattern "$pattern" --ranks "$ranks" --call-sites none --store "$w/job")
  shards=$(sed 's/.*: \([0-9]*\) shards.*/\1/' <<<"$made")
  bytes=$(sed 's/.*, \([0-9]*\) bytes.*/\1/' <<<"$made")
  : >"$w/message"
  begun=$(date +%s.%N)
  measured bin/cairn merge --job --store "$w/job" --collect-timeout 1 --fan-in "$fan" --termination-log "$w/message"
  level=0
  for parts in $(python3 -c 'import json,sys; print(*json.load(open(sys.argv[1])).get("levels", []))' "$w/message"); do
    level=$((level + 1))
    seq 0 $((parts - 1)) | xargs -P2 -I{} bash -c "measured bin/cairn merge --job --store '$w/job' --level $level --index {}"
  done
  seconds=$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN {printf "%.2f", b - a}')
  cpu=$(awk '{s += $2} END {printf "%.2f", s}' "$w/usage")
  peak=$(largest "$w/usage")
  trace=$(stat -c %s "$w/job/0/0/trace.cairn")
  : >"$w/usage"
  measured bin/cairn info "$w/job/0/0/trace.cairn"
  info=$(largest "$w/usage")
  case $pattern-$ranks in
    stencil2d-16384) limits="2 256" ;;
    stencil2d-1048576) limits="60 512" ;;
    *) limits= ;;
  esac
  verdict=
  if [ -n "$limits" ]; then
    # on a machine with other load the wall time means little: half of the CPU time is what two
    # free cores would take
    verdict=$(awk -v s="$seconds" -v c="$cpu" -v p="$peak" -v l="$limits" 'BEGIN {
      split(l, x, " ")
      v = "miss"
      if (p + 0 <= x[2] + 0 && s + 0 <= x[1] + 0) v = "pass"
      else if (p + 0 <= x[2] + 0 && c / 2 <= x[1] + 0) v = "miss by the clock; half of the CPU time would pass"
      printf "%s s, %s MiB: %s", x[1], x[2], v
    }')
  fi
  printf '%-14s %8d %7d %12d %8s %8s %9s %12d %9s  %s\n' "$pattern" "$ranks" "$shards" "$bytes" "$cpu" "$seconds" "$peak" "$trace" "$info" "$verdict"
}

printf '%-14s %8s %7s %12s %8s %8s %9s %12s %9s  %s\n' pattern ranks shards "shard bytes" "CPU s" "wall s" "peak MiB" "trace bytes" "info MiB" target
for pattern in ${PATTERNS:-stencil2d stencil3d wavefront irregular master-worker}; do
  for ranks in ${@:-1024 4096 16384}; do
    if [ "$pattern" = master-worker ] && [ "$ranks" -gt 4096 ]; then continue; fi # it is replayed as a whole, in memory
    row "$pattern" "$ranks"
  done
done
if [ -n "${LARGE:-}" ]; then
  row stencil2d 131072
  row stencil2d 1048576
fi
