#!/usr/bin/env bash
# What the tracer adds to a call, on this machine, next to what a wrapper that does nothing and one that only reads the
# clock twice add. Every variant runs once per round, rounds alternate, and medians are compared.
#   hack/bench-tracer.sh [ROUNDS [CALLS]]      3 rounds of a million calls unless given: some minutes
# MPIS, THREADS and CONFIGS (lines "name {json}" that go into the tracer's config.json) may be set. What an option costs
# is the difference to the first configuration; pointers are off in all.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
rounds=${1:-3} calls=${2:-1000000}
mpis=${MPIS:-openmpi mpich} threads=${THREADS:-1 4}
configs=${CONFIGS:-$'lossy {"call_sites":"none","timing":"lossy"}\nlossless {"call_sites":"none","timing":"lossless"}
aggregated {"call_sites":"none","timing":"aggregated"}\ncaller {"call_sites":"caller","timing":"lossy"}'}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

mkdir -p "$w/root"
cp -r lib "$w/root/lib"
# run MPI VARIANT THREADS COMMAND...: prints what the program prints
run() {
  local mpi=$1 variant=$2 threads=$3 preload=
  shift 3
  case $variant in
    alone) ;;
    noop | stamps) preload=$w/$variant.$mpi.so ;;
    *)
      rm -rf "$w/root/spool"
      mkdir "$w/root/spool"
      awk -v n="$variant" '$1 == n {sub(/^[^ ]+ /, ""); print}' <<<"$configs" |
        sed "s|^{|{\"enabled\":true,\"spool\":\"$w/root/spool\",|" >"$w/root/config.json"
      preload=$w/root/lib/libcairn-$mpi.so
      ;;
  esac
  "mpirun.$mpi" -np 1 env ${preload:+LD_PRELOAD="$preload"} "$@"
}
median() { sort -n | awk '{v[NR] = $1} END {print NR ? v[int((NR + 1) / 2)] : 0}'; }
# figure MPI THREADS VARIANT LOOP FIELD
figure() { awk -v l="$4" -v f="$5" '$1 == l {print $f}' "$w/$1.$2.$3" | median; }

for mpi in $mpis; do
  "mpicc.$mpi" -O2 -pthread -Wno-stringop-overflow -o "$w/calls.$mpi" hack/bench/calls.c
  "mpicc.$mpi" -O2 -fPIC -shared -o "$w/noop.$mpi.so" hack/bench/floor.c
  "mpicc.$mpi" -O2 -fPIC -shared -DSTAMPS -o "$w/stamps.$mpi.so" hack/bench/floor.c
  for t in $threads; do
    for _ in $(seq "$rounds"); do
      for variant in alone noop stamps $(awk '{print $1}' <<<"$configs"); do
        run "$mpi" "$variant" "$t" "$w/calls.$mpi" "$calls" "$t" >>"$w/$mpi.$t.$variant"
      done
    done
  done
done

loops="Comm_rank Iprobe Isend+Irecv+Waitall Allreduce(self) Waitany(16)"
echo "CPU ns added per call (whole process, compression included), over $calls calls, median of $rounds rounds"
echo "targets: added <= 100 ns; added <= 2 x stamps; longest call <= 200 us (or 2 x what it is with the no-op)"
echo "p99.9 and longest: ns of one iteration; option: added beyond what the first configuration adds"
printf '%-8s %7s %-20s %-10s %7s %7s %7s %7s %7s %-5s %-5s %9s %9s %9s %9s %-7s\n' MPI threads call tracing alone \
  noop stamps added option '<=100' '<=2x' p99.9 'no-op' longest 'no-op' '<=200us'
base=$(awk 'NR == 1 {print $1}' <<<"$configs")
for mpi in $mpis; do
  for t in $threads; do
    for loop in $loops; do
      for variant in $(awk '{print $1}' <<<"$configs"); do
        awk -v mpi="$mpi" -v t="$t" -v l="$loop" -v v="$variant" \
          -v a="$(figure "$mpi" "$t" alone "$loop" 2)" -v n="$(figure "$mpi" "$t" noop "$loop" 2)" \
          -v s="$(figure "$mpi" "$t" stamps "$loop" 2)" -v x="$(figure "$mpi" "$t" "$variant" "$loop" 2)" \
          -v p="$(figure "$mpi" "$t" "$variant" "$loop" 3)" -v m="$(figure "$mpi" "$t" "$variant" "$loop" 4)" \
          -v b="$(figure "$mpi" "$t" "$base" "$loop" 2)" -v np="$(figure "$mpi" "$t" noop "$loop" 3)" \
          -v nm="$(figure "$mpi" "$t" noop "$loop" 4)" 'BEGIN {
            limit = 200000; if (2 * nm > limit) limit = 2 * nm
            printf "%-8s %7d %-20s %-10s %7.1f %7.1f %7.1f %7.1f %7.1f %-5s %-5s %9d %9d %9d %9d %-7s\n", mpi, t, l, v, a,
              n - a, s - a, x - a, x - b, x - a <= 100 ? "pass" : "miss", x - a <= 2 * (s - a) ? "pass" : "miss", p, np,
              m, nm, m <= limit ? "pass" : "miss"}'
      done
    done
    for variant in $(awk '{print $1}' <<<"$configs"); do
      awk -v mpi="$mpi" -v t="$t" -v v="$variant" -v a="$(figure "$mpi" "$t" alone Finalize 2)" \
        -v x="$(figure "$mpi" "$t" "$variant" Finalize 2)" 'BEGIN {
          printf "%-8s %7d %-20s %-10s %.2f ms added by MPI_Finalize, target <= 5 ms: %s\n", mpi, t, "Finalize", v,
            (x - a) / 1e6, (x - a) / 1e6 <= 5 ? "pass" : "miss"}'
    done
  done
done

echo
# valgrind aborts on the Go runtime of the core, so that only the processor's own counters can tell
if ! perf stat -x, -e instructions:u true 2>&1 | grep -qE '^[0-9]+,'; then
  echo "Instructions added per call: not measured, perf has no hardware counters on this machine"
  exit 0
fi
echo "Instructions added per call (perf, user space, all threads: difference of two lengths of a run)"
instructions() { # MPI VARIANT LOOP CALLS
  run "$1" "$2" 1 perf stat -x, -e instructions:u "$w/calls.$1" "$4" 1 "$3" 2>&1 | awk -F, '/instructions/ {print $1}'
}
printf '%-8s %-20s %-10s %12s\n' MPI call tracing instructions
few=200000 more=1200000
for mpi in $mpis; do
  for loop in $loops; do
    for variant in alone stamps $(awk '{print $1}' <<<"$configs"); do
      a=$(instructions "$mpi" "$variant" "$loop" $few) b=$(instructions "$mpi" "$variant" "$loop" $more)
      # warm-up and the timed pass are part of a run: 1.3 times as many calls
      awk -v mpi="$mpi" -v l="$loop" -v v="$variant" -v n="$(((b - a) * 10 / 13 / (more - few)))" \
        'BEGIN {printf "%-8s %-20s %-10s %12d\n", mpi, l, v, n}'
    done
  done
done
