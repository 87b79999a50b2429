#!/usr/bin/env bash
# What the tracer adds to a call on this machine, compared with a wrapper that does nothing and one
# that only reads the clock twice. Every variant runs once per round. Differences, and the ratio to
# reading the clock, are computed within a round, since the machine may have other load. The
# medians of the rounds are printed.
#   hack/bench-tracer.sh [ROUNDS [CALLS]]      5 rounds of a million calls unless given: some minutes
# MPIS, THREADS and CONFIGS (lines "name {json}" for the tracer's config.json) may be set. The cost
# of an option is the difference to the first configuration. INSTRUCTIONS=only leaves out the
# times, INSTRUCTIONS=no the instructions, which are counted in half as many calls, minus a tenth
# as many. LIB=DIR uses the tracer's libraries of another tree.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
rounds=${1:-5} calls=${2:-1000000}
mpis=${MPIS:-openmpi mpich} threads=${THREADS:-1 4}
configs=${CONFIGS:-$'lossy {"call_sites":"none","timing":"lossy"}
lossless {"call_sites":"none","timing":"lossless"}
aggregated {"call_sites":"none","timing":"aggregated"}
caller {"call_sites":"caller","timing":"lossy"}
path {"call_sites":"path","timing":"lossy"}
pointers {"call_sites":"none","timing":"lossy","pointers":true}'}
names=$(awk '{print $1}' <<<"$configs")
loops="Comm_rank Iprobe Isend+Irecv+Waitall Allreduce(self) Waitany(16)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir -p "$w/root"
cp -r "${LIB:-lib}" "$w/root/lib"

# preload MPI VARIANT: prints what is preloaded into the program, and empties its spool
preload() {
  case $2 in
    alone) ;;
    noop | stamps) echo "$w/$2.$1.so" ;;
    *)
      rm -rf "$w/root/spool"
      mkdir "$w/root/spool"
      awk -v n="$2" '$1 == n {sub(/^[^ ]+ /, ""); print}' <<<"$configs" |
        sed "s|^{|{\"enabled\":true,\"spool\":\"$w/root/spool\",|" >"$w/root/config.json"
      local allocations=
      ! grep -q '"pointers":true' "$w/root/config.json" || allocations=$w/root/lib/libcairn-allocations.so:
      echo "$allocations$w/root/lib/libcairn-$1.so"
      ;;
  esac
}

times() {
  for mpi in $mpis; do
    for t in $threads; do
      for round in $(seq "$rounds"); do
        for variant in alone noop stamps $names; do
          local library
          library=$(preload "$mpi" "$variant")
          "mpirun.$mpi" -np 1 env ${library:+LD_PRELOAD="$library"} "$w/calls.$mpi" "$calls" "$t" |
            sed "s/^/$mpi $t $round $variant /" >>"$w/times"
        done
      done
    done
  done
  cat <<END
CPU ns added per call (whole process, compression included), over $calls calls, median of $rounds rounds.
Targets: added <= 100 ns; added <= 2 x what reading the clock twice adds (stamps); longest iteration <= 200 us, or 2 x that
of a wrapper that does nothing; option: added in excess of the first configuration. The last columns are the time of the longest
iteration for which the thread slept (it waited for the compressor) and for which it had no CPU.
END
  "$w/stats" tracer --mpis "$mpis" --threads "$threads" --calls "$loops" --configs "$names" "$w/times"
}

# The cost of the start: a program that makes a hundred calls, and one with records that need the
# core. For the latter, record buffers are so small that 6,000 calls fill enough of them and have
# hardly any cost themselves.
start() {
  local few=100 more=6000 round variant mpi all=$configs
  local configs=$'short {"call_sites":"caller","timing":"lossy"}\ncore {"call_sites":"caller","timing":"lossy","segment_bytes":32768}'
  echo
  echo "Start: total cost of a process that makes some calls and ends, median of $((4 * rounds)) rounds"
  for mpi in $mpis; do
    for round in $(seq $((4 * rounds))); do
      for variant in alone short core; do
        local library calls=$few
        library=$(preload "$mpi" "$variant")
        [ "$variant" = short ] || calls=$more
        "mpirun.$mpi" -np 1 env ${library:+LD_PRELOAD="$library"} "$w/start.$mpi" "$calls" |
          sed "s/^/$mpi $round $variant /" >>"$w/starts"
        # one row must not include the core; it is most of the other
        [ "$variant" = alone ] || cores "$variant"
      done
    done
  done
  configs=$all
  "$w/stats" start --mpis "$mpis" "$w/starts"
}

# cores VARIANT: checks whether the last process had a core, as it should. The core names its
# record buffers with numbers.
cores() {
  local made
  made=$(find "$w/root/spool" -name '[0-9]*.seg' | wc -l)
  case $1-$made in
    short-0 | core-[1-9]*) ;;
    *) die "start: the variant $1 has $made record buffers of the core" ;;
  esac
}

# The cost for a process that never calls MPI_Init.
idle() {
  echo
  echo "A process that never calls MPI_Init; target: one library, nothing else"
  for mpi in $mpis; do
    local library
    library=$(preload "$mpi" "$(head -n 1 <<<"$names")")
    # shellcheck disable=SC2016  # the inner shell expands it
    LD_PRELOAD="$library" bash -c 'set -- /proc/$$/task/*; echo "$# $(grep -o "[^/]*cairn[^/]*$" /proc/$$/maps | sort -u | wc -l)"' |
      awk -v mpi="$mpi" -v files="$(find "$w/root/spool" -mindepth 1 | wc -l)" '{
        printf "%-8s threads %d, libraries of ours %d, files in the spool %d: %s\n", mpi, $1, $2, files,
          $1 == 1 && $2 == 1 && files == 0 ? "pass" : "miss"}'
  done
}

# The cost of evidence for long computations: gaps of 1.2 ms in which the thread sleeps, with a
# shim that records none and with one that does. The budget is a part of the time, so the ratio
# counts.
evidence() {
  local all=$configs round mpi variant library
  local configs='caller {"call_sites":"caller","timing":"lossy"}'
  cp -r "$w/root/lib" "$w/without"
  echo
  echo "Evidence: CPU time added to gaps of 1.2 ms between two calls, median of $((4 * rounds)) rounds, target: <= 0.1% of the time"
  for mpi in $mpis; do
    make -s -C tracer/shim OUT="$w/without" BUILD="$w/build" CFLAGS='-O2 -DCAIRN_NO_EVIDENCE' "$w/without/libcairn-$mpi.so" >/dev/null
    for round in $(seq $((4 * rounds))); do
      for variant in without with; do
        library=$(preload "$mpi" caller)
        [ "$variant" = with ] || library=$w/without/libcairn-$mpi.so
        "mpirun.$mpi" -np 1 env CAIRN_ROOT="$w/root" LD_PRELOAD="$library" "$w/gaps.$mpi" 4000 | sed "s/^/$mpi $round $variant /" >>"$w/gaps"
      done
    done
  done
  configs=$all
  "$w/stats" gaps --mpis "$mpis" "$w/gaps"
}

# Instructions in user space: by the processor's counters, or else in an emulator that counts them
# (Debian: qemu-user). valgrind cannot be used: it aborts on the Go runtime of the core.
instructions() {
  echo
  local how few=$((calls / 10)) more=$((calls / 2))
  if perf stat -x, -e instructions:u true 2>&1 | grep -qE '^[0-9]+,'; then
    how="perf"
  elif command -v "qemu-$(uname -m)" >/dev/null; then
    how="qemu's user-mode emulation, hack/bench/instructions.c"
    gcc -O2 -shared -fPIC -o "$w/instructions.so" hack/bench/instructions.c
  else
    echo "Instructions added per call: not measured (perf has no hardware counters here, and there is no qemu-$(uname -m))"
    return
  fi
  # count MPI VARIANT LOOP CALLS: of the main thread (perf: 0) and of all
  count() {
    local library
    library=$(preload "$1" "$2")
    if [ "$how" = perf ]; then
      "mpirun.$1" -np 1 env ${library:+LD_PRELOAD="$library"} perf stat -x, -e instructions:u "$w/calls.$1" "$4" 1 "$3" 2>&1 |
        awk -F, '/instructions/ {print 0, $1}'
    else
      "mpirun.$1" -np 1 "qemu-$(uname -m)" -plugin "$w/instructions.so" ${library:+-E "LD_PRELOAD=$library"} "$w/calls.$1" "$4" 1 "$3" 2>&1 |
        awk '/^instructions/ {print $2, $3}'
    fi
  }
  echo "Instructions added per call, in user space ($how): by the thread that calls, and by all threads"
  printf '%-8s %-20s %-10s %8s %8s\n' MPI call tracing calling all
  for mpi in $mpis; do
    for loop in $loops; do
      local none
      none="$(count "$mpi" alone "$loop" $few) $(count "$mpi" alone "$loop" $more)"
      for variant in noop stamps $names; do
        # warm-up and the timed pass are part of a run: 1.3 times as many calls
        # shellcheck disable=SC2046,SC2086 # two numbers each
        "$w/stats" instructions "$mpi" "$loop" "$variant" $(((more - few) * 13 / 10)) $none \
          $(count "$mpi" "$variant" "$loop" $few) $(count "$mpi" "$variant" "$loop" $more)
      done
    done
  done
}

go build -o "$w/stats" ./hack/stats
for mpi in $mpis; do
  "mpicc.$mpi" -O2 -pthread -Wno-stringop-overflow -o "$w/calls.$mpi" hack/bench/calls.c
  "mpicc.$mpi" -O2 -o "$w/start.$mpi" hack/bench/start.c
  "mpicc.$mpi" -O2 -o "$w/gaps.$mpi" hack/bench/gaps.c
  "mpicc.$mpi" -O2 -fPIC -shared -o "$w/noop.$mpi.so" hack/bench/floor.c
  "mpicc.$mpi" -O2 -fPIC -shared -DSTAMPS -o "$w/stamps.$mpi.so" hack/bench/floor.c
done
if [ "${INSTRUCTIONS:-}" != only ]; then
  times
  start
  evidence
  idle
fi
[ "${INSTRUCTIONS:-}" = no ] || instructions
