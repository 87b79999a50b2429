#!/usr/bin/env bash
# What clustering at run time costs and saves: the two-phase example, and a sweep (like NPB LU's)
# and a farm (master and workers) with explicit markers, in both modes, one after the other in each
# round. It prints the share of votes in the ranks' time, bytes of timing per call, CPU time of the
# job as a ratio within a round, and the accuracy (ACC) of the replay of a trace of leads. Medians
# of the rounds.
#   hack/bench-clustering.sh [ROUNDS [ITERATIONS]]      3 rounds of 5000 iterations of each phase unless given
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
rounds=${1:-3} iterations=${2:-5000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TIMEFORMAT="%U %S"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

go build -o "$w/stats" ./hack/stats

program() { # NAME: the command and its options
  case $1 in
    phases) echo "phases --work-us 100 --iterations $iterations" ;;
    sweep) echo "sweep --mark --work-us 200 --planes 8 --iterations $((iterations / 10))" ;;
    farm) echo "farm --mark --work-us 200 --rounds $((iterations / 10))" ;;
  esac
}

# measure MODE PROGRAM RANKS: CPU seconds of the job, then bytes of timing, votes and their time,
# accuracy
measure() {
  local job="mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np $3 examples/bin/openmpi/$(program "$2")" filter=()
  [ "$1" = full ] || [ "$2" != farm ] || filter=(--clustering arguments=ignored)
  rm -rf "$w/out" "$w/leads.cairn"
  bash -c "time $job" 2>"$w/plain" >/dev/null
  bin/cairn run -o "$w/out" --mode "$1" "${filter[@]}" -- bash -c "time $job >/dev/null 2>/dev/null" 2>"$w/cpu" >/dev/null
  bin/cairn info "$w/out/trace.cairn" --json >"$w/info"
  bin/cairn reduce "$w/out/trace.cairn" --leads -o "$w/leads.cairn" >"$w/leads"
  "$w/stats" clustered-run "$w" "$@"
}
for _ in $(seq "$rounds"); do
  for job in "phases 4" "phases 16" "sweep 4" "farm 4"; do
    for mode in full clustered; do
      # shellcheck disable=SC2086 # a program and its ranks
      measure $mode $job
    done
  done
done >"$w/all"
"$w/stats" clustering "$w/all"
