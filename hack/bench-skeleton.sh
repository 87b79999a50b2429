#!/usr/bin/env bash
# The quality of skeletons of real programs: the examples, and the NAS Parallel Benchmarks class S
# if their binaries exist, under both MPIs. Each is traced on 4 ranks and written as a skeleton,
# which is compiled with -Wall -Wextra -Werror, run and traced again. The table has the lines of C,
# whether the traced skeleton makes the program's calls (target: all do, except those for which the
# command says that it makes no skeleton), and how long program and skeleton ran untraced (target:
# within 30%, or 0.3 s).
#   hack/bench-skeleton.sh [PROGRAM...]     NPB=folder with openmpi/bin/bt.S.4, mpich/bin/… (default: none)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
# fewer cores than ranks: computations sleep
export SKELETON_SLEEP=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks=4 limit=120
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
programs=("$@")
[ $# -gt 0 ] || programs=(attributes balanced collectives datatypes farm imbalance io master_worker persistent phases requests rma
  ring split stencil sweep threads topology)

run() { # MPI PROGRAM: starts it on all ranks
  case $1 in
    openmpi) timeout $limit mpirun.openmpi -np $ranks --oversubscribe --mca mpi_yield_when_idle 1 "$2" ;;
    mpich) timeout $limit mpirun.mpich -np $ranks "$2" ;;
  esac
}
export -f run
export ranks limit

seconds() { # MPI PROGRAM: its run time
  local from=${EPOCHREALTIME/./}
  run "$1" "$2" >/dev/null 2>&1 || return
  echo $((${EPOCHREALTIME/./} - from)) | awk '{printf "%.2f", $1 / 1e6}'
}

misses=0
row() { # MPI NAME BINARY
  local mpi=$1 name=$2 binary=$3 d=$w/$1-$2 same lines program skeleton verdict=pass
  mkdir -p "$d"
  if ! bin/cairn run -o "$d/out" --call-sites path -- bash -c "run $mpi $binary" >"$d/log" 2>&1; then
    printf '%-8s %-14s cannot be traced\n' "$mpi" "$name"
    return
  fi
  if ! bin/cairn skeleton "$d/out/trace.cairn" -o "$d/skeleton" >"$d/summary" 2>"$d/error"; then
    printf '%-8s %-14s none: %s\n' "$mpi" "$name" "$(sed 's/.*made of this trace: //' "$d/error" | tail -1)"
    return
  fi
  lines=$(wc -l <"$d/skeleton/skeleton.c") same=no program=- skeleton=-
  if ! make -s -C "$d/skeleton" "CC=mpicc.$mpi" CFLAGS="-std=c11 -O2 -Wall -Wextra -Werror" 2>"$d/error"; then
    same="does not compile"
  elif ! bin/cairn run -o "$d/again" -- bash -c "run $mpi $d/skeleton/skeleton" >"$d/log" 2>&1; then
    same="does not run"
  elif bin/cairn skeleton "$d/out/trace.cairn" --compare "$d/again/trace.cairn" >"$d/compare" 2>&1; then
    same=yes
    program=$(seconds "$mpi" "$binary") skeleton=$(seconds "$mpi" "$d/skeleton/skeleton")
  fi
  [ "$same" = yes ] || verdict=MISS
  awk -v a="$program" -v b="$skeleton" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d > 0.3 && d > 0.3 * a) }' && verdict=MISS
  [ $verdict = pass ] || misses=$((misses + 1))
  printf '%-8s %-14s %6s %-16s %9s %9s %s\n' "$mpi" "$name" "$lines" "$same" "$program" "$skeleton" "$verdict"
}

printf '%-8s %-14s %6s %-16s %9s %9s\n' MPI program lines "same calls" "program,s" "skeleton,s"
for mpi in openmpi mpich; do
  for name in "${programs[@]}"; do row $mpi "$name" "examples/bin/$mpi/$name"; done
  for binary in ${NPB:+"$NPB/$mpi/bin"/*.S.4}; do row $mpi "$(basename "$binary")" "$binary"; done
done
[ $misses = 0 ] || { echo "$misses rows miss their targets"; exit 1; }
