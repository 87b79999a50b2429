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
awk '
  BEGIN {printf "%-44s %9s %9s %9s\n", "timing, 4 ranks", "target", "value", "KT"}
  function row(name, unit, target, value, ok, kt) {
    printf "%-44s %9.2f %9.2f %9s %s%s\n", name ", " unit, target, value, kt, (ok ? "pass" : "MISS"),
      (kt == "" ? "" : (value <= 1.1 * kt ? ", within 10% of KT: pass" : ", within 10% of KT: MISS"))
    rows++
  }
  /^BenchmarkTimingOf/ {
    sub(/-[0-9]+$/, "", $1)
    split($1, name, "/")
    for (i = 3; i < NF; i++) value[$(i + 1)] = $i
    if (name[2] == "cursor") row("cursor " name[3], "Mcalls/cpu-s", 10, value["Mcalls/cpu-s"], value["Mcalls/cpu-s"] >= 10, "")
    else {
      target = name[4] == "5%" ? 1.4 : 1.0
      row(name[3] " at " name[4], "bytes/call", target, value["bytes/call"], value["bytes/call"] <= target,
        sprintf("%.2f", value["KT-bytes/call"]))
    }
  }
  END {if (!rows) exit 1}' "$w/rows" || { tail -n 5 "$w/rows"; exit 1; }
