#!/usr/bin/env bash
# Re-executions (cairn replay). First every example under both MPIs, traced again and compared call
# by call; those that must be refused are recognized by their message. Then the duration of
# re-executions compared with the run, on slow networks, with computation as sleep. Each row ends
# with pass or MISS.
#   hack/bench-replay.sh
#   NPB=dir hack/bench-replay.sh       and NAS Parallel Benchmarks, class S on 4 ranks: dir/openmpi/bin and dir/mpich/bin have
#                                      the executables (bt.S.4, …)
#   ONLY=calls|times                   that part alone
#   PAIRS=5                            runs and re-executions of a row of the second part
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
failed=0
part() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ]; }

launcher() { # MPI
  echo "mpirun.$1 -np 4$([ "$1" = mpich ] || echo " --oversubscribe --mca mpi_yield_when_idle 1")"
}

# row MPI PROGRAM EXPECTED [ARGUMENTS]: the result of a replay with --check; EXPECTED is a pattern
# of it.
row() {
  local mpi=$1 program=$2 expected=$3 said
  shift 3
  rm -rf "$w/out"
  # shellcheck disable=SC2046
  timeout 300 bin/cairn run -o "$w/out" -- $(launcher "$mpi") "$program" "$@" >"$w/log" 2>&1 </dev/null || true
  # shellcheck disable=SC2046
  timeout 300 bin/cairn replay "$w/out/trace.cairn" --speed max --check -- $(launcher "$mpi") >"$w/said" 2>&1 </dev/null || true
  if said=$(grep -E -m1 "$expected" "$w/said"); then
    printf '%-8s %-14s pass  %s\n' "$mpi" "${program##*/}" "$said"
  else
    printf '%-8s %-14s MISS  %s\n' "$mpi" "${program##*/}" "$(tail -1 "$w/said")"
    failed=1
  fi
}

calls() {
  local mpi program
  for mpi in openmpi mpich; do
    for program in examples/bin/$mpi/*; do
      case ${program##*/} in
        early-exit) row "$mpi" "$program" 'MPI_Abort: it ends the job' --abort 3 ;;
        *) row "$mpi" "$program" 'made the same [0-9]+ calls' ;;
      esac
    done
    [ -n "${NPB:-}" ] || continue
    for program in "$NPB/$mpi"/bin/*.S.4; do row "$mpi" "$program" 'made the same [0-9]+ calls'; done
  done
}

times() {
  printf '%-10s %-36s %10s %10s %8s %8s\n' program network 'run' 'again' off target
  CAIRN_BENCH_PREDICT=${PAIRS:-5} go test -tags mpi -count=1 -v -run TestReplayTimes ./test/mpi | tee "$w/times" | grep -v '^ *\(===\|---\)'
  ! grep -q 'MISS' "$w/times" || failed=1
}

! part calls || calls
! part times || times
exit $failed
