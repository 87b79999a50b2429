#!/usr/bin/env bash
# The topologies of the NAS Parallel Benchmarks, according to table 7 of the logicalization paper
# and according to Cairn, each also with the ranks of MPI_COMM_WORLD in random order. Prints the
# table of docs/topology.md.
#
#   hack/bench/topology.sh NPB3.4-MPI [WORK [RANKS…]]     WORK keeps programs and traces (default: a temporary folder)
#
# The sources are NASA's (https://www.nas.nasa.gov/software/npb.html) and not part of this project.
# They are copied, and the copies are changed: a few iterations are enough, and if CAIRN_PERMUTE is
# set, the program's world is a communicator with its ranks in another order.
set -euo pipefail
source=${1:?which folder has the sources of NPB3.4-MPI?}
work=${2:-}
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
shift $(($# < 2 ? $# : 2))
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cairn=$root/bin/cairn
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

mkdir -p "$work"
copy=$work/source
if [ ! -e "$copy/changed" ]; then
  cp -r "$source/." "$copy"
  chmod -R u+w "$copy"
  # every use of the world, except in the code that makes the other one, right after MPI_Init
  for kernel in BT SP LU CG MG; do
    sed -i -E 's/mpi_comm_world/world_here/Ig' "$copy/$kernel"/*.f
    sed -i -E "s/^( *)include 'mpif.h'/&\n\1integer world_here/" "$copy/$kernel/mpinpb.f"
    sed -i -E 's/^ *call mpi_init\(.*/&\n      call make_world(world_here)/I' "$copy/$kernel"/*.f
    cat "$copy/$kernel/mpinpb.f" - >"$copy/$kernel/mpinpb.new" <<'FORTRAN'

      subroutine make_world(world_here)
      include 'mpif.h'
      integer world_here, me, key, stat, error
      character*8 value
      world_here = MPI_COMM_WORLD
      call get_environment_variable('CAIRN_PERMUTE', value, status=stat)
      if (stat .ne. 0) return
      call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
      key = mod((me + 11) * (me + 17) * 7919, 10007)
      call MPI_Comm_split(MPI_COMM_WORLD, 0, key, world_here, error)
      end
FORTRAN
    mv "$copy/$kernel/mpinpb.new" "$copy/$kernel/mpinpb.f"
  done
  touch "$copy/changed"
fi
[ -e "$work/built/bin/mg.W.64" ] || "$root/hack/bench/npb-build.sh" "$copy" "$work/built" bt.W.64 sp.W.64 lu.W.64 cg.S.64 mg.S.64 mg.W.64 >&2

# few iterations: the pattern is the same in all of them
mkdir -p "$work/input"
printf '4\n0.0008d0\n24 24 24\n' >"$work/input/inputbt.data"
printf '4\n0.0015d0\n36 36 36\n' >"$work/input/inputsp.data"
printf 'c\nc\n1 4\nc\nc\n4\nc\nc\n1.5e-3\nc\nc\n1.2\nc\nc\n1e-8 1e-8 1e-8 1e-8 1e-8\nc\nc\n33 33 33\n' >"$work/input/inputlu.data"
printf '5\n32 32 32\n4\n0 0 0 0 0 0 0 0\n' >"$work/input/mg.input"

topology() { # FILE: what Cairn says
  "$cairn" clusters "$1" --no-times --json | python3 -c '
import json, sys
t = json.load(sys.stdin)["topology"]
r = t["run"]
print(r["topology"], "; ".join(r.get("aliases") or []), "%.1f" % (100 * r["lost_bytes"]), "yes" if r["natural"] else "no", sep="|")'
}

paper() { # KERNEL RANKS: table 7
  case $1.$2 in
    bt.9 | sp.9) echo '3×3 6-p stencil' ;;
    bt.16 | sp.16) echo '4×4 6-p stencil' ;;
    bt.36 | sp.36) echo '6×6 6-p stencil' ;;
    bt.64 | sp.64) echo '8×8 6-p stencil' ;;
    lu.8) echo '4×2 grid' ;;
    lu.16) echo '4×4 grid' ;;
    lu.32) echo '8×4 grid' ;;
    lu.64) echo '8×8 grid' ;;
    cg.8) echo '4×2 grid = CG stencil' ;;
    cg.16 | cg.32 | cg.64) echo 'CG stencil' ;;
    mg.8) echo '2×2×2 grid' ;;
    mg.16) echo '2×2×2×2 grid = 4×4 torus' ;;
    mg.32) echo '2×2×2×2×2 grid = 4×4×2 torus' ;;
    mg.64) echo '2×2×2×2×2×2 grid = 4×4×4 torus' ;;
    *) echo '–' ;;
  esac
}

echo '| program | ranks | paper | Cairn | the same graph | bytes beside it | permuted ranks |'
echo '|---|---|---|---|---|---|---|'
for kernel in bt sp lu cg mg; do
  case $kernel in bt | sp) sizes=(4 9 16 36 64) ;; *) sizes=(4 8 16 32 64) ;; esac
  for ranks in "${@:-${sizes[@]}}"; do
    # for MG on 64 ranks, class S has more levels on which most ranks have nothing to do
    case $kernel.$ranks in mg.64) class=W ;; cg.* | mg.*) class=S ;; *) class=W ;; esac
    declare -A found=()
    for order in plain permuted; do
      out=$work/$kernel.$ranks.$order
      if [ ! -e "$out/trace.cairn" ]; then
        rm -rf "$out"
        mkdir -p "$out.d"
        cp "$work/input/"* "$out.d"
        [ $kernel.$class != mg.W ] || rm "$out.d/mg.input"
        [ $order = plain ] || export CAIRN_PERMUTE=1
        (cd "$out.d" && "$cairn" run -o "$out" -- mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks" "$work/built/bin/$kernel.$class.64") >"$work/log" 2>&1 ||
          { echo "$kernel $ranks $order:" >&2; tail -n 5 "$work/log" >&2; }
        unset CAIRN_PERMUTE
        rm -rf "$out.d"
      fi
      found[$order]=$(topology "$out/trace.cairn")
    done
    IFS='|' read -r name aliases lost _ <<<"${found[plain]}"
    IFS='|' read -r other _ <<<"${found[permuted]}"
    echo "| ${kernel^^}.$class | $ranks | $(paper $kernel "$ranks") | $name | $aliases | $lost% | $other |"
  done
done
