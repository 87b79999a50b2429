#!/usr/bin/env bash
# What the tracer adds to a call from Fortran, compared with what it adds to the same call from C:
# CPU ns per call, medians of alternating rounds.
#   hack/bench/fortran.sh [ROUNDS [CALLS]]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$ROOT"
rounds=${1:-5} calls=${2:-300000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir "$w/root"
cp -r lib "$w/root/lib"
printf '{"enabled":true,"spool":"%s","call_sites":"caller"}\n' "$w/root/spool" >"$w/root/config.json"
run() { # MPI LANGUAGE PRELOAD [CALLS]
  rm -rf "$w/root/spool"
  mkdir "$w/root/spool"
  "mpirun.$1" -np 1 env ${3:+LD_PRELOAD="$3"} "$w/$2.$1" "${4:-$calls}"
}
go build -o "$w/stats" ./hack/stats
printf '%-8s %-20s %9s %9s %9s %9s %14s\n' MPI call 'C alone' 'C adds' F.alone 'F. adds' 'Fortran - C'
for mpi in openmpi mpich; do
  shim=$w/root/lib/libcairn-$mpi.so
  "mpicc.$mpi" -O2 -w -o "$w/c.$mpi" hack/bench/percall.c
  "mpif90.$mpi" -O2 -w -fallow-argument-mismatch -J"$w" -o "$w/f.$mpi" hack/bench/fortran.F90
  for _ in $(seq "$rounds"); do
    for language in c f; do
      run "$mpi" $language '' >>"$w/$mpi.$language.alone"
      run "$mpi" $language "$shim" >>"$w/$mpi.$language.traced"
    done
  done
  "$w/stats" fortran --mpi "$mpi" --calls 'MPI_Comm_rank MPI_Iprobe MPI_Allreduce(self) Irecv+Isend+Waitall' \
    "$w/$mpi".{c,f}.{alone,traced}
done
