#!/usr/bin/env bash
# The NAS Parallel Benchmarks, all eight kernels of the MPI version, traced with --verify under both MPIs: every call of
# the decoded trace must equal the reference log, and the benchmark's own verification must succeed.
#
#   hack/bench/npb.sh NPB3.4-MPI [CLASS [RANKS]]        class S and 4 ranks unless given
#
# The sources are NASA's (https://www.nas.nasa.gov/software/npb.html) and not part of this project.
# They are built in a copy.
set -euo pipefail
source=${1:?which folder has the sources of NPB3.x-MPI?}
class=${2:-S} ranks=${3:-4}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/npb.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Without a processor of its own a rank must yield to others while it waits.
gcc -O2 -shared -fPIC -o "$work/yield.so" "$root/test/mpi/yield/ucp_yield.c"
export LD_PRELOAD="$work/yield.so${LD_PRELOAD:+:$LD_PRELOAD}"

kernels=(bt cg dt ep ft is lu mg sp) failed=0
printf '%-8s %-6s %-10s %12s %12s  %s\n' MPI kernel benchmark calls bytes 'reference log'
for mpi in openmpi mpich; do
  MPI=$mpi "$root/hack/bench/npb-build.sh" "$source" "$work/$mpi" "${kernels[@]/%/.$class.$ranks}"
  for kernel in "${kernels[@]}"; do
    arguments=() n=$ranks
    [ "$mpi" = openmpi ] && arguments=(--oversubscribe --mca mpi_yield_when_idle 1)
    command=("$work/$mpi/bin/$kernel.$class.$n")
    if [ ! -x "${command[0]}" ]; then
      printf '%-8s %-6s does not build\n' "$mpi" "$kernel"
      failed=1
      continue
    fi
    if [ "$kernel" = dt ]; then # its graph says how many ranks: five in class S
      command+=(BH) n=5
    fi
    out=$work/out-$mpi-$kernel
    code=0
    "$root/bin/cairn" run --force --verify -o "$out" -- "mpirun.$mpi" "${arguments[@]}" -np "$n" "${command[@]}" >"$work/log" 2>&1 || code=$?
    correct=no
    grep -Eqi 'verification *(=|:)? *success|VERIFICATION SUCCESSFUL|Verification *= *SUCCESSFUL' "$work/log" && correct=yes
    agrees=$(sed -n 's/^verify: //p' "$work/log")
    calls=$(sed -n 's/^trace: .*(\([0-9]*\) calls.*/\1/p' "$work/log")
    bytes=$(sed -n 's/^trace: .* in \([0-9]*\) bytes.*/\1/p' "$work/log")
    printf '%-8s %-6s %-10s %12s %12s  %s\n' "$mpi" "$kernel" "$correct" "${calls:--}" "${bytes:--}" "${agrees:-exit code $code}"
    if [ "$correct" = no ] || [ -z "$agrees" ]; then
      failed=1
      tail -n 15 "$work/log"
    fi
    rm -rf "$out"
  done
done
exit $failed
