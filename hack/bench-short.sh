#!/usr/bin/env bash
# What `cairn run` adds to short programs whose calls hardly repeat (hack/bench/short.c): CPU
# seconds of everything (tracer, merge, analyses, page), less those of the program alone. There is a
# single rank: several would spin while they wait, for much longer on a busy machine. Target: 1 s +
# 2 µs a call, not counting the analysis `program`, whose share has its own column: `cairn analyze`
# of the same trace with it less without it.
#   hack/bench-short.sh [KIND…]          default: infos dims types messages comms collectives
#   CALLS="1000 10000"                   default: 1000 10000 100000
#   MPIS="openmpi mpich"                 default: both
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
go build -o "$w/stats" ./hack/stats

cpu() { # COMMAND…: its CPU seconds
  "$w/stats" usage "$@" | cut -d' ' -f2
}

# row MPI KIND CALLS
row() {
  local mpi=$1 kind=$2 start=(mpirun."$1" -np 1 "$w/short.$1" "$2" "$3") plain traced calls
  plain=$(cpu "${start[@]}")
  rm -rf "$w/run"
  traced=$(cpu bin/cairn run -o "$w/run" -- "${start[@]}")
  calls=$(bin/cairn info "$w/run/trace.cairn" | sed -n 's/^calls *//p')
  "$w/stats" short "$mpi" "$kind" "$calls" "$plain" "$traced" \
    "$(cpu bin/cairn analyze "$w/run/trace.cairn" -o "$w/report")" \
    "$(cpu bin/cairn analyze "$w/run/trace.cairn" -o "$w/report" --only critical-path,topology,clusters,placement)"
}

for mpi in ${MPIS:-openmpi mpich}; do
  "mpicc.$mpi" -O2 -g -Wno-stringop-overflow -o "$w/short.$mpi" hack/bench/short.c
done
printf '%-8s %-12s %10s %10s %10s %10s %12s %8s\n' MPI kind calls 'alone s' 'added s' 'program s' 'the rest s' target
for mpi in ${MPIS:-openmpi mpich}; do
  for kind in ${*:-infos dims types messages comms collectives}; do
    for calls in ${CALLS:-1000 10000 100000}; do row "$mpi" "$kind" "$calls"; done
  done
done
