#!/usr/bin/env bash
# The cost of the tracer for whole programs: NPB LU, MG and CG, with and without it in turns, CPU
# time of all ranks and their launcher. The ratio of the sums over all pairs, and its upper 95%
# bound over 10,000 bootstrap samples of the pairs.
#
#   NPB=NPB3.4-MPI hack/bench-tracer-npb.sh [PAIRS]     15 pairs unless given
#
# KERNELS, CLASS, RANKS, MPIS and CONFIG (the tracer's config.json) may be set. With WORK=DIR,
# programs and measurements stay in DIR, and a second call continues with them: a long benchmark
# can be run in parts. With fewer than 15 pairs there are figures but no verdict. The sources are
# NASA's (https://www.nas.nasa.gov/software/npb.html) and not part of this project; they are built
# in a copy.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
source=$(realpath "${NPB:?which folder has the sources of NPB3.x-MPI?}")
pairs=${1:-15} class=${CLASS:-W} ranks=${RANKS:-4} target=1.02 least=15
kernels=${KERNELS:-lu mg cg} mpis=${MPIS:-openmpi mpich}
config=${CONFIG:-'{"call_sites":"caller","timing":"lossy"}'}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=${WORK:-}
if [ -z "$w" ]; then
  w=$(mktemp -d)
  trap 'rm -rf "$w"' EXIT
fi
mkdir -p "$w/root"
rm -rf "$w/root/lib"
cp -r lib "$w/root/lib"
echo "{\"enabled\":true,\"spool\":\"$w/root/spool\",${config#\{}" >"$w/root/config.json"
# A rank without a processor of its own must yield to others while it waits.
gcc -O2 -shared -fPIC -o "$w/yield.so" test/mpi/yield/ucp_yield.c

build() { # MPI KERNEL
  local mpi=$1 kernel=$2 flags="-O2 -w -fallow-argument-mismatch -std=legacy -fallow-invalid-boz"
  [ -x "$w/$kernel.$mpi" ] && return
  if [ ! -d "$w/$mpi" ]; then
    cp -r "$source" "$w/$mpi"
    mkdir -p "$w/$mpi/bin"
    # 3.4 names the Fortran compiler MPIFC, 3.3 MPIF77
    printf '%s\n' "MPIFC = mpif90.$mpi" "MPIF77 = mpif90.$mpi" "FC = mpif90.$mpi" "FLINK = mpif90.$mpi" \
      "FFLAGS = $flags" "FLINKFLAGS = $flags" "FMPI_LIB =" "FMPI_INC =" "MPICC = mpicc.$mpi" "CLINK = mpicc.$mpi" \
      "CFLAGS = -O2 -w" "CLINKFLAGS = -O2" "CMPI_LIB =" "CMPI_INC =" "CC = gcc -g" "UCC = gcc" "BINDIR = ../bin" \
      "RAND = randi8" >"$w/$mpi/config/make.def"
  fi
  make -C "$w/$mpi" "$kernel" CLASS="$class" NPROCS="$ranks" >"$w/build.log" 2>&1 || {
    tail -n 5 "$w/build.log"
    die "$kernel does not build with $mpi"
  }
  cp "$(find "$w/$mpi/bin" -name "$kernel*" | head -n 1)" "$w/$kernel.$mpi"
}

# cpu MPI KERNEL PRELOAD: seconds of CPU time of one run, which must have computed the right result
cpu() {
  local mpi=$1 kernel=$2 preload=$w/yield.so${3:+:$3} TIMEFORMAT='%U %S' arguments=()
  [ "$mpi" = openmpi ] && arguments=(--oversubscribe --mca mpi_yield_when_idle 1)
  # The files are moved, not removed: a file system that has just freed many files takes longer to create
  # new ones, and a pod's volume is fresh.
  mkdir -p "$w/old"
  [ ! -e "$w/root/spool" ] || mv "$w/root/spool" "$(mktemp -d "$w/old/XXXXXX")"
  mkdir "$w/root/spool"
  { time "mpirun.$mpi" "${arguments[@]}" -np "$ranks" env LD_PRELOAD="$preload" "$w/$kernel.$mpi" >"$w/out" 2>"$w/err"; } 2>"$w/time" ||
    die "$kernel under $mpi failed: $(tail -n 3 "$w/err")"
  grep -Eqi 'verification *(=|:)? *success' "$w/out" || die "$kernel under $mpi computed something else"
  if [ -n "$3" ] && [ "$(find "$w/root/spool" -name process.json | wc -l)" != "$ranks" ]; then
    die "$kernel under $mpi: not every rank was traced"
  fi
  awk '{print $1 + $2}' "$w/time"
}

for mpi in $mpis; do
  for kernel in $kernels; do build "$mpi" "$kernel"; done
done
for ((pair = 0; pair < pairs; pair++)); do
  for mpi in $mpis; do
    for kernel in $kernels; do
      tracer=$w/root/lib/libcairn-$mpi.so
      if ((pair % 2 == 0)); then
        without=$(cpu "$mpi" "$kernel" "") with=$(cpu "$mpi" "$kernel" "$tracer")
      else
        with=$(cpu "$mpi" "$kernel" "$tracer") without=$(cpu "$mpi" "$kernel" "")
      fi
      echo "$without $with" >>"$w/$kernel.$mpi.pairs"
    done
  done
done

echo "CPU time with the tracer and without, class $class, $ranks ranks, $config; target: upper 95% bound <= $target"
printf '%-8s %-6s %5s %10s %10s %7s %7s %-5s\n' MPI kernel pairs 'without s' 'with s' ratio upper ''
for mpi in $mpis; do
  for kernel in $kernels; do
    go run ./hack/stats pairs --mpi "$mpi" --kernel "$kernel" --target "$target" --least "$least" "$w/$kernel.$mpi.pairs"
  done
done
