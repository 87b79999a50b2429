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
go build -o "$w/stats" ./hack/stats

# row PATTERN RANKS
row() {
  local pattern=$1 ranks=$2 replay=--no-replay fan=256
  [ "$pattern" != master-worker ] || replay= # the messages of a master depend on time
  [ "$ranks" -le 16384 ] || fan=64
  rm -rf "$w/job" "$w/usage" "$w/info"
  # shellcheck disable=SC2086 # $replay is a flag or nothing
  made=$(GOGC=400 bin/cairn simulate $replay --pattern "$pattern" --ranks "$ranks" --call-sites none --store "$w/job")
  shards=$(sed 's/.*: \([0-9]*\) shards.*/\1/' <<<"$made")
  bytes=$(sed 's/.*, \([0-9]*\) bytes.*/\1/' <<<"$made")
  : >"$w/message"
  begun=${EPOCHREALTIME/./}
  "$w/stats" usage -o "$w/usage" bin/cairn merge --job --store "$w/job" --collect-timeout 1 --fan-in "$fan" --termination-log "$w/message"
  level=0
  for parts in $("$w/stats" field levels <"$w/message"); do
    level=$((level + 1))
    seq 0 $((parts - 1)) | xargs -P2 -I{} "$w/stats" usage -o "$w/usage" bin/cairn merge --job --store "$w/job" --level $level --index {}
  done
  seconds=$((${EPOCHREALTIME/./} - begun))e-6
  "$w/stats" usage -o "$w/info" bin/cairn info "$w/job/0/0/trace.cairn"
  "$w/stats" merge "$pattern" "$ranks" "$shards" "$bytes" "$seconds" "$(stat -c %s "$w/job/0/0/trace.cairn")" "$w/usage" "$w/info"
}

printf '%-14s %8s %7s %12s %8s %8s %9s %12s %9s  %s\n' pattern ranks shards "shard bytes" "CPU s" "wall s" "peak MiB" "trace bytes" "info MiB" target
for pattern in ${PATTERNS:-stencil2d stencil3d wavefront irregular master-worker}; do
  for ranks in ${@:-1024 4096 16384}; do
    if [ "$pattern" = master-worker ] && [ "$ranks" -gt 4096 ]; then continue; fi # replayed as a whole, in memory
    row "$pattern" "$ranks"
  done
done
if [ -n "${LARGE:-}" ]; then
  row stencil2d 131072
  row stencil2d 1048576
fi
