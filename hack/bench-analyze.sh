#!/usr/bin/env bash
# How fast a trace becomes a report: simulated stencils with a slow rank (cairn simulate), analyzed
# by `cairn analyze`, including reading, all analyses with the verdict's scenarios, and the page.
# It prints events per second of wall-clock time (which means little on a busy machine), CPU time
# per event, peak memory and temporary file, and the size of the page. Targets: 0.5, 0.8 and 1.0 µs
# per event with 16, 256 and 1,024 ranks; a page below 3 MiB; with LARGE, and with 16,384 ranks, 1
# GiB of memory; a billion events in 8 minutes, 2 GiB of memory and 5 GB of disk. Then two ranks
# that always wait for each other, so that the critical path alternates between them: peak memory
# for 2 million events and for eight times as many, and their ratio. Target: a ratio of at most
# 1.3. Then irregular programs with hardly any repetition: CPU seconds per million calls of each
# command, for a trace and for one with four times as many calls, and their ratio. Target: a ratio
# of at most 1.3.
#   hack/bench-analyze.sh [RANKS…]       default: 16 256 1024 16384
#   EVENTS=N                             approximate events of each trace; default 1000000 (irregular: a quarter, and all)
#   LARGE=1                              100 million events on 1024 ranks too: some minutes, 1 GB of disk
#   BILLION=1                            a billion events on 256 ranks too: an hour with making the trace, 5 GB of disk
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

go build -o "$w/stats" ./hack/stats

calls() { # FILE: the number of calls that cairn simulate reports
  sed 's/.*, \([0-9]*\) calls.*/\1/' "$1"
}

# row RANKS EVENTS
row() {
  local ranks=$1 events=$2 trace=$w/trace.cairn used
  bin/cairn simulate --pattern stencil2d --ranks "$ranks" --iterations $((events / ranks / 9 + 1)) --noise-percent 10 --slow-rank 3 \
    --slow-percent 30 --timing "lossy 5" -o "$trace" >"$w/made"
  used=$("$w/stats" usage --files cairn-analyze- bin/cairn analyze "$trace" -o "$w/report")
  # shellcheck disable=SC2086 # four numbers
  "$w/stats" analyze "$ranks" "$(calls "$w/made")" $used "$(stat -c %s "$w/report/index.html")" "$(stat -c %s "$w/report/report.json")"
}

printf '%6s %12s %12s %19s %17s %17s %17s %8s\n' ranks events 'Mevents/s' 'µs an event' 'peak MiB' 'file MB' 'page MiB' 'JSON MiB'
for ranks in ${*:-16 256 1024 16384}; do row "$ranks" "${EVENTS:-1000000}"; done
[ -z "${LARGE:-}" ] || row 1024 100000000
[ -z "${BILLION:-}" ] || row 256 1000000000

peak() { # TIMES: KiB for a trace with TIMES as many events
  local used
  used=$("$w/stats" usage bin/cairn analyze "$w/$1.cairn" -o "$w/report")
  cut -d' ' -f3 <<<"$used"
}

# long EVENTS: two ranks, a trace with EVENTS and one with eight times as many
long() {
  local events=$1 times
  for times in 1 8; do
    bin/cairn simulate --pattern butterfly --ranks 2 --iterations $((events * times / 2)) --noise-percent 40 --timing "lossy 5" -o "$w/$times.cairn" >"$w/$times.made"
  done
  "$w/stats" memory "$(calls "$w/8.made")" "$(peak 1)" "$(peak 8)"
}

printf '\n%6s %12s %16s %12s %8s\n' ranks events 'MiB, an eighth' 'MiB, all' ratio
long $((2 * ${EVENTS:-1000000}))

cpu() { # COMMAND TRACE: CPU seconds of the command
  local arguments=("$1" "$2") used
  case $1 in
    analyze) arguments+=(-o "$w/report") ;;
    predict) arguments+=(--ideal-network) ;;
    compare) arguments+=("$2") ;;
    reduce) arguments+=(--leads -o "$w/leads.cairn") ;;
    export) arguments+=(-o "$w/x.perfetto") ;;
  esac
  used=$("$w/stats" usage bin/cairn "${arguments[@]}")
  cut -d' ' -f2 <<<"$used"
}

# irregular NAME RANKS OPTIONS…
irregular() {
  local name=$1 ranks=$2 events=${EVENTS:-1000000} part command
  shift 2
  for part in 4 1; do
    bin/cairn simulate --ranks "$ranks" --iterations $((events / part / ranks + 1)) "$@" --timing "lossy 5" -o "$w/$part.cairn" >"$w/$part.made"
  done
  for command in analyze program clusters placement predict compare reduce export dump info; do
    "$w/stats" irregular "$name" "$ranks" $command "$(calls "$w/4.made")" "$(cpu $command "$w/4.cairn")" "$(calls "$w/1.made")" "$(cpu $command "$w/1.cairn")"
  done
}

printf '\n%-14s %6s %12s %-10s %12s %12s %8s\n' irregular ranks calls command 's/M, quarter' 's/M, all' ratio
irregular random 1 --pattern random
irregular random 16 --pattern random
irregular 'many kinds' 16 --pattern random --variety 100000
irregular regridding 64 --pattern irregular --regrid 1
irregular master-worker 64 --pattern master-worker --noise-percent 90
