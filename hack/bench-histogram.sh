#!/usr/bin/env bash
# Traces of histograms (cairn reduce --histogram) of irregular programs: bytes of the trace and of
# its histograms with 1, 10 and 100 times the iterations and with more ranks, and the errors of
# sums by function, the time of the run, median durations, and the communication matrix (relative
# L1). The recorded farm needs Open MPI, and is left out without it. With NPB=DIR, where
# openmpi/bin has mg.S.4 and sp.S.4 (the NAS Parallel Benchmarks), these are measured, too.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
iterations=${1:-50}
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
missed=0
go build -o "$w/stats" ./hack/stats

printf '%-26s %10s %8s %7s %8s  %s\n' program trace small growth target ""
# row NAME FIRST MAX TRACE: reduces it, and compares its size with FIRST (0: it is the first, and
# sets `bytes`); it may have grown by MAX
row() {
  bin/cairn reduce --histogram "$4" -o "$w/small.cairn" >"$w/said"
  bytes=$(stat -c %s "$w/small.cairn")
  "$w/stats" histogram --first "$2" --most "$3" "$1" "$(stat -c %s "$4")" "$bytes" "$w/said" || missed=1
}
simulated() { # PATTERN RANKS ITERATIONS
  local more=()
  [ "$1" != random ] || more=(--variety 40)
  bin/cairn simulate --pattern "$1" --ranks "$2" --iterations "$3" "${more[@]}" --noise-percent 30 --seed 3 --timing "lossy 5" -o "$w/trace.cairn" >/dev/null 2>&1
}
recorded() { # TRACE COMMAND…
  rm -rf "$w/out"
  bin/cairn run -o "$w/out" -- mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 "${@:2}" >/dev/null 2>&1
  mv "$w/out/trace.cairn" "$1"
}
for pattern in irregular master-worker random; do
  first=0
  for times in 1 10 100; do
    simulated $pattern 16 $((iterations * times))
    row "$pattern, 16 ranks, ×$times" "$first" 1.1 "$w/trace.cairn"
    [ "$first" != 0 ] || first=$bytes
  done
  [ $pattern != random ] || continue
  first=0
  for ranks in 16 64 256; do
    simulated $pattern $ranks "$iterations"
    row "$pattern, $ranks ranks" "$first" 1.1 "$w/trace.cairn"
    [ "$first" != 0 ] || first=$bytes
  done
done
if command -v mpirun.openmpi >/dev/null; then
  first=0
  for times in 1 10 100; do
    recorded "$w/trace.cairn" -np 4 examples/bin/openmpi/farm --work-us 20 --rounds $((10 * times))
    row "farm, recorded, ×$times" "$first" 1.1 "$w/trace.cairn"
    [ "$first" != 0 ] || first=$bytes
  done
  for program in ${NPB:+mg sp}; do
    recorded "$w/trace.cairn" -np 4 "$NPB/openmpi/bin/$program.S.4"
    row "$program, recorded" 0 1 "$w/trace.cairn"
  done
fi
exit $missed
