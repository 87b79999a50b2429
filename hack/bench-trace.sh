#!/usr/bin/env bash
# Sizes of traces without timing (container + signatures + grammar + rank map + values, call sites off) beside what
# Pilgrim writes for the same program on the same kind of machine and what zstd -19 makes of that (peer figures measured
# once, Pilgrim a2b828b, MPICH 4.0.2), and size, time and memory of merges of simulated ranks.
#   hack/bench-trace.sh           programs of hack/bench, under Open MPI
#   NPB=dir hack/bench-trace.sh   and NAS Parallel Benchmarks: executables <dir>/<name>.<class>.<ranks>
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

# size FILE: the bytes that count, then where they are.
size() {
  bin/cairn info "$1" | awk '
    $1 ~ /^(container|signatures|grammar|values)$/ || $1 == "rank" && $2 == "map" {s[$1] = $NF}
    END {print s["container"] + s["signatures"] + s["grammar"] + s["rank"] + s["values"],
      s["container"] "+" s["signatures"] "+" s["grammar"] "+" s["rank"] "+" s["values"]}'
}
verdict() { awk -v v="$1" -v t="$2" 'BEGIN {print v <= t ? "pass" : "MISS"}'; }

# row NAME RANKS PILGRIM ZSTD COMMAND…: traces a program and compares.
row() {
  local name=$1 ranks=$2 pilgrim=$3 target=$4 bytes parts
  shift 4
  rm -rf "$w/out"
  if ! bin/cairn run --call-sites none -o "$w/out" -- mpirun.openmpi -np "$ranks" --oversubscribe \
    --mca mpi_yield_when_idle 1 "$@" >"$w/log" 2>&1; then
    printf '%-22s %5d   failed: %s\n' "$name" "$ranks" "$(tail -1 "$w/log")"
    return
  fi
  read -r bytes parts < <(size "$w/out/trace.cairn")
  printf '%-22s %5d %9d %9d %9d %7.1fx  %-26s %s\n' "$name" "$ranks" "$pilgrim" "$target" "$bytes" \
    "$(awk -v a="$pilgrim" -v b="$bytes" 'BEGIN {print a / b}')" "$parts" "$(verdict "$bytes" "$target")"
  [ "$pilgrim" -lt 2000 ] || echo "$pilgrim $bytes" >>"$w/ratios"
}

printf '%-22s %5s %9s %9s %9s %8s  %-26s %s\n' program ranks Pilgrim target bytes ratio parts ''
for program in stencil ring rowscolumns masterworker; do
  mpicc.openmpi -O2 -o "$w/$program" "hack/bench/$program.c" -lm
done
row 'stencil 5-point 100' 4 1338 486 "$w/stencil" 2 0 100
row 'stencil 5-point 100' 16 3226 756 "$w/stencil" 2 0 100
row 'stencil 5-point 10000' 16 3226 752 "$w/stencil" 2 0 10000
row 'stencil 5-point 100' 64 3418 786 "$w/stencil" 2 0 100
row 'stencil 7-point 100' 8 3246 700 "$w/stencil" 3 1 100
row 'stencil 7-point 100' 27 4706 970 "$w/stencil" 3 1 100
row 'stencil 7-point 100' 64 4854 978 "$w/stencil" 3 1 100
row 'ring 100' 16 1106 418 "$w/ring" 100
row 'ring 100' 64 1298 418 "$w/ring" 100
row 'rows and columns 20' 16 3452 653 "$w/rowscolumns" 20
row 'rows and columns 20' 64 3644 680 "$w/rowscolumns" 20
row 'master-worker' 4 6596 1215 "$w/masterworker" 50
row 'master-worker' 16 26876 3720 "$w/masterworker" 50
row 'master-worker' 64 158098 19801 "$w/masterworker" 50
if [ -n "${NPB:-}" ]; then
  while read -r name ranks pilgrim target; do
    program=$NPB/$name.$ranks
    [ -x "$program" ] || continue
    row "NPB $name" "$ranks" "$pilgrim" "$target" "$program"
  done <<'EOF'
bt.S 4 9074 1353
bt.S 16 58290 5591
cg.S 4 2342 656
cg.S 16 4772 941
cg.S 32 7078 1318
ep.S 16 678 324
ft.S 16 882 414
is.S 4 6836 1050
is.S 16 20622 3636
lu.S 4 3700 810
lu.S 16 7028 1462
lu.W 4 5452 967
lu.W 16 8406 1593
mg.S 4 7710 1206
mg.S 16 12854 2282
mg.S 64 27714 5752
sp.S 4 7328 1090
sp.S 16 19302 3410
EOF
fi
awk '{s += log($1 / $2); n++} END {r = exp(s / n)
  printf "geometric mean over rows where Pilgrim writes 2 KB or more: %.1fx (target 10x) %s\n", r, r >= 10 ? "pass" : "MISS"}' "$w/ratios"

echo
printf '%-34s %9s %9s %s\n' 'simulated, without timing' target bytes ''
simulated() {
  bin/cairn simulate --no-replay --call-sites none -o "$w/simulated.cairn" "${@:2}" >/dev/null
  read -r bytes _ < <(size "$w/simulated.cairn")
  printf '%-34s %9d %9d %s\n' "$1" 1023 "$bytes" "$(verdict "$bytes" 1023)"
}
for ranks in 9 64 4096; do simulated "stencil2d, $ranks ranks" --pattern stencil2d --ranks $ranks; done
simulated 'stencil2d, 9 ranks, 10000 iterations' --pattern stencil2d --ranks 9 --iterations 10000
for ranks in 27 512 4096; do simulated "stencil3d periodic, $ranks ranks" --pattern stencil3d --periodic --ranks $ranks; done

echo
printf '%-34s %9s %9s %s\n' 'merge of shards of 64 ranks' target value ''
ranks=${RANKS:-16384}
bin/cairn simulate --pattern stencil2d --ranks "$ranks" --no-replay --call-sites none --store "$w/job" >/dev/null
mapfile -t shards < <(find "$w/job" -name '*.cairn')
/usr/bin/time -o "$w/time" -f '%e %M' bin/cairn merge -o "$w/merged.cairn" "${shards[@]}" >/dev/null
read -r seconds kilobytes <"$w/time"
printf '%-34s %9.1f %9.2f %s\n' "stencil2d, $ranks ranks: seconds" 2 "$seconds" "$(verdict "$seconds" 2)"
printf '%-34s %9d %9d %s\n' "stencil2d, $ranks ranks: MiB" 256 $((kilobytes / 1024)) "$(verdict $((kilobytes / 1024)) 256)"
echo
go test -run '^$' -bench 'Cursor|Sequitur' -benchtime 200ms ./trace | grep -E '^Benchmark' || true
