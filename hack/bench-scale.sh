#!/usr/bin/env bash
# How good models of scaling are, with targets: of random programs with known growth, and of a size
# that the models have not seen.
#
#   [NPB=NPB3.x-MPI] hack/bench-scale.sh
#
# The ranks of the example sleep to compute, so its times are valid on a machine with fewer
# processors than ranks. The kernels of NPB (NASA's, https://www.nas.nasa.gov/software/npb.html,
# not part of this project; built in a copy) do not: only their calls and bytes count.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir "$w/traces"
missed=0

# metrics NAME...: the named metrics of each line of a Go benchmark, after its name
metrics() {
  awk -v names="$*" '
    BEGIN { n = split(names, name, " ") }
    /^Benchmark/ {
      sub(/^[^\/]*\//, "", $1); sub(/-[0-9]+$/, "", $1)
      split("", value)
      for (i = 4; i <= NF; i += 2) value[$i] = $(i - 1)
      line = $1
      for (i = 1; i <= n; i++) line = line " " (name[i] in value ? value[name[i]] : "-")
      print line
    }'
}

echo "60 random programs of five computations, noise from run to run, in percent: how often the term is right if it is one"
echo "that programs often have, how often a constant is reported as growing, the median error of growing times at 4 and 16 times the"
echo "largest size, how often the truth is in the interval, and how often the one that hurts first is named"
go test ./analyzer/scaling -run '^$' -bench Rates -benchtime 1x -timeout 1h |
  metrics %right-term %false-alarms %error-4x %error-16x %in-interval %right-hurts-first | awk '
  function show(value, limit, most) {
    ok = most ? value <= limit : value >= limit
    missed = missed || !ok
    return sprintf(" %6.1f (%s %3d)%s", value, most ? "<=" : ">=", limit, ok ? " " : "!")
  }
  { noisy = $1 ~ /noise=5/; exact = $1 ~ /noise=0/
    printf "%-30s", $1
    printf "%s", show($2, exact ? 98 : noisy ? 55 : 80, 0)
    printf "%s", show($3, exact ? 0 : 5, 1)
    printf "%s", show($4, exact ? 1 : noisy ? 15 : 8, 1)
    printf "%s", show($5, exact ? 1 : noisy ? 30 : 15, 1)
    printf "%s", show($6, exact ? 99 : 80, 0)
    printf "%s\n", show($7, exact ? 100 : noisy ? 70 : 85, 0) }
  END { if (NR < 12) print "fewer than 12 lines"; exit missed || NR < 12 }' || missed=1

# record NAME RANKS RUN COMMAND...
record() {
  local name=$1 ranks=$2 run=$3
  shift 3
  bin/cairn run --force -o "$w/out" -- mpirun.openmpi -np "$ranks" --oversubscribe --mca mpi_yield_when_idle 1 "$@" >"$w/log" 2>&1 || return 1
  cp "$w/out/trace.cairn" "$w/traces/$name-$ranks-$run.cairn"
}

for run in 1 2 3; do
  for ranks in 2 3 4 6 8 16; do
    record stencil "$ranks" "$run" examples/bin/openmpi/stencil --iterations 20 --work-us $((128000 / ranks)) || die "stencil: $(tail -n 3 "$w/log")"
  done
done
kernels=
if [ -n "${NPB:-}" ]; then
  flags="-O1 -g -w -fallow-argument-mismatch -std=legacy -fallow-invalid-boz"
  cp -r "$(realpath "$NPB")" "$w/npb"
  mkdir -p "$w/npb/bin"
  # 3.4 names the Fortran compiler MPIFC, 3.3 MPIF77
  printf '%s\n' "MPIFC = mpif90.openmpi" "MPIF77 = mpif90.openmpi" "FLINK = mpif90.openmpi" "FFLAGS = $flags" "FLINKFLAGS = $flags" \
    "FMPI_LIB =" "FMPI_INC =" "MPICC = mpicc.openmpi" "CLINK = mpicc.openmpi" "CFLAGS = -O1 -g -w" "CLINKFLAGS = -O1" "CMPI_LIB =" \
    "CMPI_INC =" "CC = gcc -g" "UCC = gcc" "BINDIR = ../bin" "RAND = randi8" >"$w/npb/config/make.def"
  kernels="cg mg ft is ep"
  for kernel in $kernels; do
    for ranks in 1 2 4 8 16 32; do
      make -C "$w/npb" "$kernel" CLASS=S NPROCS=$ranks >"$w/log" 2>&1 || die "$kernel does not build: $(tail -n 3 "$w/log")"
      program=$(find "$w/npb/bin" -name "$kernel.S*" | head -n 1)
      record "$kernel" "$ranks" 1 "$program" || die "$kernel on $ranks ranks: $(tail -n 3 "$w/log")"
      rm "$program"
    done
  done
fi
echo
echo "The largest size, predicted from the others: call sites, those with models of calls and of bytes, how many of these are right to"
echo "the last digit, and for the example, the error of its computation time in percent"
HELD_BACK="$w/traces" go test ./analyzer/scaling -run '^$' -bench HeldBack -benchtime 1x |
  metrics held-back sites call-models calls-right byte-models bytes-right %time-off | sort | awk '
  { own = $1 == "stencil"
    ok = $5 == $4 && $7 == $6 && (!own || $8 != "-" && $8 <= 15 && $8 >= -15)
    missed = missed || !ok
    printf "%-10s %3d ranks, %3d sites; calls %d of %d right; bytes %d of %d right", $1, $2, $3, $5, $4, $7, $6
    printf "%s", own ? sprintf("; time %+.1f%% (target: within 15)", $8) : ""
    print ok ? "" : "  MISS" }
  END { exit missed || !NR }' || missed=1
[ -n "$kernels" ] || echo "NPB: left out (NPB=dir)"
exit $missed
