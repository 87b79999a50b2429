#!/usr/bin/env bash
# Builds NAS Parallel Benchmarks under openmpi or mpich, in a copy of their sources:
#   bench/npb-build.sh NPB3.x-MPI DIR MPI NAME.CLASS.RANKS…       e.g. cg.S.16; leaves DIR/bin/cg.S.16
# The sources are NASA's (https://www.nas.nasa.gov/software/npb.html) and no part of this project.
set -euo pipefail
source=$1 work=$2 mpi=$3
shift 3
mkdir -p "$work"
cp -r "$source/." "$work"
chmod -R u+w "$work"
rm -rf "$work/bin"
mkdir "$work/bin"
flags="-O2 -g -w -fallow-argument-mismatch -std=legacy -fallow-invalid-boz"
# 3.4 names the Fortran compiler MPIFC, 3.3 MPIF77
cat >"$work/config/make.def" <<END
MPIFC = mpif90.$mpi
MPIF77 = mpif90.$mpi
FC = mpif90.$mpi
FLINK = mpif90.$mpi
FFLAGS = $flags
FLINKFLAGS = $flags
FMPI_LIB =
FMPI_INC =
MPICC = mpicc.$mpi
CLINK = mpicc.$mpi
CFLAGS = -O2 -g -w
CLINKFLAGS = -O2
CMPI_LIB =
CMPI_INC =
CC = gcc -g
UCC = gcc
BINDIR = ../bin
RAND = randi8
END
for program in "$@"; do
  IFS=. read -r kernel class ranks <<<"$program"
  if ! make -C "$work" "$kernel" CLASS="$class" NPROCS="$ranks" >"$work/log" 2>&1; then
    echo "$program does not build:" >&2
    tail -n 5 "$work/log" >&2
    continue
  fi
  # 3.4 leaves the number of ranks out of the name
  [ -e "$work/bin/$program" ] || mv "$work/bin/$kernel.$class.x" "$work/bin/$program"
done
