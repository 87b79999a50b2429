#!/usr/bin/env bash
# Sizes of traces without timing (container + signatures + grammar + rank map + values, call sites
# off), compared with what Pilgrim writes for the same program on the same kind of machine, and
# with zstd -19 of that, which is the target (Pilgrim was measured once: a2b828b, MPICH 4.0.2; the
# traces here are made under Open MPI). Then sizes of simulated stencils, the merge
# (hack/bench-merge.sh), timing and decode rates. Each row ends with pass or MISS.
#   hack/bench-trace.sh                programs of hack/bench
#   NPB=dir hack/bench-trace.sh        and NAS Parallel Benchmarks: the folder NPB3.x-MPI with their sources
#                                      (https://www.nas.nasa.gov/software/npb.html), or one with the executables
#   ONLY=sizes|clock|simulated|merge|timing|decode   that part alone
#   LARGE=1                            simulated rows with 65,536 and 1,048,576 ranks and ten million iterations too
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
part() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ]; }

go build -o "$w/stats" ./hack/stats

# row NAME RANKS PILGRIM ZSTD COMMAND…: traces a program and compares.
row() {
  local name=$1 ranks=$2 pilgrim=$3 target=$4
  shift 4
  rm -rf "$w/out"
  if ! timeout 300 bin/cairn run --call-sites none -o "$w/out" -- mpirun.openmpi -np "$ranks" --oversubscribe \
    --mca mpi_yield_when_idle 1 "$@" >"$w/log" 2>&1 </dev/null; then
    printf '%-22s %5d   failed: %s\n' "$name" "$ranks" "$(tail -1 "$w/log")"
    failed=1
    return
  fi
  "$w/stats" beside --ratios "$w/ratios" "$name" "$ranks" "$pilgrim" "$target" "$w/out/trace.cairn"
}

own_programs() {
  local program
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
}

# NPB rows: program, ranks, Pilgrim's bytes, target.
npb_rows='bt.S 4 9074 1353
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
sp.S 16 19302 3410'

npb() {
  local dir=${NPB:-} name ranks pilgrim target names
  if [ -z "$dir" ]; then
    echo "left out: $(wc -l <<<"$npb_rows") rows of the NAS Parallel Benchmarks; NPB=dir with the folder NPB3.x-MPI of https://www.nas.nasa.gov/software/npb.html"
    return
  fi
  if [ -d "$dir/config" ] && ! [ -x "$dir/cg.S.4" ]; then
    mapfile -t names < <(awk '{print $1 "." $2}' <<<"$npb_rows")
    hack/bench/npb-build.sh "$dir" "$w/npb" "${names[@]}"
    dir=$w/npb/bin
  fi
  while read -r name ranks pilgrim target; do
    if [ -x "$dir/$name.$ranks" ]; then
      row "NPB $name" "$ranks" "$pilgrim" "$target" "$dir/$name.$ranks"
    else
      echo "left out: NPB $name on $ranks ranks: no $name.$ranks in $dir"
    fi
  done <<<"$npb_rows"
}

failed=0
if part sizes; then
  printf '%-22s %5s %9s %9s %9s %9s %8s  %-26s %s\n' program ranks calls Pilgrim target bytes ratio parts ''
  : >"$w/ratios"
  own_programs
  npb
  # osu_latency 2, osu_allreduce 16, osu_alltoall 4, osu_put_latency 2: the peer's have 9806, 2934, 3254, 6314 bytes
  echo "left out: 4 rows of the OSU micro-benchmarks: with how many iterations the peer's were measured was not kept"
  "$w/stats" ratios "$w/ratios"
fi

# clock: the cost of reading the clock in most calls of a program, as a part of its whole trace.
if part clock; then
  echo
  printf '%-34s %9s %9s %9s %9s\n' 'clock readings, 4 ranks' 'target' 'B/reading' 'bytes' 'of trace'
  for mpi in openmpi mpich; do
    mpicc.$mpi -O2 -o "$w/clock.$mpi" hack/bench/clock.c
    launch=(mpirun.$mpi -np 4)
    [ "$mpi" = mpich ] || launch+=(--oversubscribe --mca mpi_yield_when_idle 1)
    for timing in lossy lossless; do
      rm -rf "$w/out"
      bin/cairn run --call-sites none --timing $timing -o "$w/out" -- "${launch[@]}" "$w/clock.$mpi" 2000 >"$w/log" 2>&1 </dev/null
      # two readings around each of 8 timers, two around the messages of a step
      "$w/stats" readings $([ $timing = lossless ] || echo --judge) "$mpi, $timing" $((4 * 2000 * 18)) "$w/out/trace.cairn"
    done
  done
fi

simulated() {
  bin/cairn simulate --no-replay --call-sites none --timing aggregated "${@:2}" -o "$w/simulated.cairn" >/dev/null
  "$w/stats" simulated "$1" "$w/simulated.cairn"
}
# tree NAME RANKS ARGUMENTS…: with shards and a tree of merges
tree() {
  rm -rf "$w/job"
  bin/cairn simulate --no-replay --call-sites none --timing aggregated --ranks "$2" "${@:3}" --store "$w/job" >/dev/null
  : >"$w/message" # written only if it exists, as in a pod
  bin/cairn merge --job --store "$w/job" --collect-timeout 1 --fan-in 256 --termination-log "$w/message" >/dev/null
  local level=0 parts
  for parts in $("$w/stats" field levels <"$w/message"); do
    level=$((level + 1))
    seq 0 $((parts - 1)) | xargs -P2 -I{} bin/cairn merge --job --store "$w/job" --level $level --index {} >/dev/null
  done
  "$w/stats" simulated "$1, $2 ranks" "$w/job/0/0/trace.cairn"
  rm -rf "$w/job"
}
if part simulated; then
  echo
  printf '%-44s %9s %9s  %-26s %s\n' 'simulated, without timing' target bytes parts ''
  flat='stencil2d' round='stencil3d periodic'
  for ranks in 9 64 4096; do simulated "$flat, $ranks ranks" --pattern stencil2d --ranks "$ranks"; done
  for ranks in 27 512 4096; do simulated "$round, $ranks ranks" --pattern stencil3d --periodic --ranks $ranks; done
  for n in 1000 100000 ${LARGE:+10000000}; do
    simulated "$flat, 9 ranks, $n iterations" --pattern stencil2d --ranks 9 --iterations "$n"
    simulated "$round, 27 ranks, $n iterations" --pattern stencil3d --periodic --ranks 27 --iterations "$n"
  done
  for ranks in 16384 ${LARGE:+65536 1048576}; do
    tree "$flat" "$ranks" --pattern stencil2d
    tree "$round" "$ranks" --pattern stencil3d --periodic
  done
fi

if part merge; then
  echo
  hack/bench-merge.sh
fi
if part timing; then
  echo
  if [ -d "${NPB:-}/config" ]; then
    programs=(cg.S.4 bt.S.4 sp.S.4 mg.S.4 lu.S.4 lu.W.4)
    MPI=mpich hack/bench/npb-build.sh "$NPB" "$w/npb.mpich" "${programs[@]}"
    hack/bench/timing.sh "${programs[@]/#/$w/npb.mpich/bin/}" || failed=1
  else
    echo "left out: timing of the NAS Parallel Benchmarks; NPB=dir with their sources"
  fi
  go test -run '^$' -bench 'TimingCodec|TimingRound' -benchtime 200ms ./trace ./trace/timing | grep -E '^(Benchmark|FAIL|panic)'
fi
if part decode; then
  echo
  go test -run '^$' -bench 'Cursor|Sequitur' -benchtime 1s ./trace ./trace/grammar >"$w/decode" || failed=1
  "$w/stats" decode "$w/decode"
  grep -E '^(BenchmarkSequitur|FAIL|panic)' "$w/decode" || true
fi
exit $failed
