#!/usr/bin/env bash
# The size of timing and how fast it is read: programs traced with lossless and with lossy timing
# under MPICH, 4 ranks; the lossless intervals rounded to 5% and 20% and encoded, compared with
# their Krichevsky-Trofimov code length.
#   hack/bench/timing.sh PROGRAM…     executables built for MPICH, e.g. of the NAS Parallel Benchmarks: bt.S.4 lu.W.4
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
w=$(mktemp -d "${TMPDIR:-/tmp}/timing.XXXXXX")
trap 'rm -rf "$w"' EXIT
gcc -O2 -shared -fPIC -o "$w/yield.so" "$root/test/mpi/yield/ucp_yield.c"
for program in "$@"; do
  program=$(realpath "$program")
  for mode in lossless lossy; do
    if ! LD_PRELOAD="$w/yield.so" "$root/bin/cairn" run --timing $mode --call-sites none \
      -o "$w/$(basename "$program").$mode" -- mpirun.mpich -np 4 "$program" >"$w/log" 2>&1; then
      tail -n 5 "$w/log"
      exit 1
    fi
  done
done
cd "$root"
go test -run '^$' -bench 'TimingOf' -benchtime 200ms ./trace -traces "$w/*/trace.cairn" >"$w/rows"
go run ./hack/stats timing "$w/rows" || { tail -n 5 "$w/rows"; exit 1; }
