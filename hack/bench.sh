#!/usr/bin/env bash
# What Cairn costs and how fast it is, on this machine. Every figure is measured now. Ratios and
# differences come from alternating runs, since single times on a shared machine mean little.
#   hack/bench.sh [PAIRS]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
pairs=${1:-5}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
go build -o "$w/stats" ./hack/stats

echo "Time added per call (CPU ns of the whole process, median of $pairs alternating runs, compression included)"
printf '%-10s %-22s %10s %10s %10s\n' MPI call without with added
for mpi in openmpi mpich; do
  "mpicc.$mpi" -O2 -Wno-stringop-overflow -o "$w/percall.$mpi" hack/bench/percall.c
  for _ in $(seq "$pairs"); do
    "mpirun.$mpi" -np 1 "$w/percall.$mpi" >>"$w/$mpi.without"
    bin/cairn run --force -o "$w/out" --call-sites caller -- "mpirun.$mpi" -np 1 "$w/percall.$mpi" | grep -E '^[A-Za-z+_()]+ [0-9.]+$' >>"$w/$mpi.with"
  done
  "$w/stats" added --mpi "$mpi" "$w/$mpi.without" "$w/$mpi.with"
done

echo
echo "Size of the trace, without timing and metadata (container + signatures + grammar + rank map + values)"
printf '%-14s %6s %10s %12s %14s\n' program ranks calls "all bytes" "without timing"
for program in ring stencil collectives master_worker; do
  for ranks in 4 16; do
    rm -rf "$w/out"
    bin/cairn run -o "$w/out" -- mpirun.openmpi -np $ranks --oversubscribe --mca mpi_yield_when_idle 1 "examples/bin/openmpi/$program" >/dev/null
    "$w/stats" size $program $ranks "$w/out/trace.cairn"
  done
done

echo
echo "Speed of the parts (go test -bench)"
go test -run '^$' -bench . -benchtime 200ms ./trace/... ./tracer/recorder/... ./merger ./analyzer/... | grep -E '^Benchmark'
