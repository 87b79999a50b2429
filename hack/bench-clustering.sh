#!/usr/bin/env bash
# What clustering at run time costs and saves: the two-phase example, and a sweep (like NPB LU's)
# and a farm (master and workers) with explicit markers, in both modes, one after the other in each
# round. It prints the share of votes in the ranks' time, bytes of timing per call, CPU time of the
# job as a ratio within a round, and the accuracy (ACC) of the replay of a trace of leads. Medians
# of the rounds.
#   hack/bench-clustering.sh [ROUNDS [ITERATIONS]]      3 rounds of 5000 iterations of each phase unless given
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
rounds=${1:-3} iterations=${2:-5000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TIMEFORMAT="%U %S"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

program() { # NAME: the command and its options
  case $1 in
    phases) echo "phases --work-us 100 --iterations $iterations" ;;
    sweep) echo "sweep --mark --work-us 200 --planes 8 --iterations $((iterations / 10))" ;;
    farm) echo "farm --mark --work-us 200 --rounds $((iterations / 10))" ;;
  esac
}

# measure MODE PROGRAM RANKS: CPU seconds of the job, then bytes of timing, votes and their time,
# accuracy
measure() {
  local job="mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np $3 examples/bin/openmpi/$(program "$2")" filter=()
  [ "$1" = full ] || [ "$2" != farm ] || filter=(--clustering arguments=ignored)
  rm -rf "$w/out" "$w/leads.cairn"
  bash -c "time $job" 2>"$w/plain" >/dev/null
  bin/cairn run -o "$w/out" --mode "$1" "${filter[@]}" -- bash -c "time $job >/dev/null 2>/dev/null" 2>"$w/cpu" >/dev/null
  bin/cairn info "$w/out/trace.cairn" --json >"$w/info"
  bin/cairn reduce "$w/out/trace.cairn" --leads -o "$w/leads.cairn" >"$w/leads"
  python3 - "$w" "$@" <<'PY'
import json, re, sys
w, mode, program, ranks = sys.argv[1:]
cpu = lambda f: sum(map(float, re.findall(r"^(\S+) (\S+)$", open(f"{w}/{f}").read(), re.M)[-1]))
i = json.load(open(f"{w}/info"))
c = i.get("clustering") or {}
acc = re.search(r"by replay:.*ACC (\S+)%", open(f"{w}/leads").read())
print(program, ranks, mode, cpu("cpu") / cpu("plain"), i["bytes"]["timing"] / i["calls"], c.get("votes", 0), c.get("ns_per_vote", 0) / 1e3,
      c.get("vote_share", 0), c.get("calls_extrapolated", 0) / i["calls"], c.get("clusterings", 0), float(acc[1]) / 100)
PY
}
for _ in $(seq "$rounds"); do
  for job in "phases 4" "phases 16" "sweep 4" "farm 4"; do
    for mode in full clustered; do
      # shellcheck disable=SC2086 # a program and its ranks
      measure $mode $job
    done
  done
done >"$w/all"
python3 - "$w/all" <<'PY'
import statistics, sys
rows = [l.split() for l in open(sys.argv[1])]
print(f"{'program':8} {'ranks':>5} {'mode':10} {'CPU, of untraced':>17} {'timing, bytes/call':>19} {'votes':>6} {'µs/vote':>8} {'of time':>8} {'led calls':>10}")
verdict = lambda good: "pass" if good else "MISS"
for job in dict.fromkeys((r[0], r[1]) for r in rows):
    of = {}
    for mode in ("full", "clustered"):
        mine = [list(map(float, r[3:])) for r in rows if (r[0], r[1]) == job and r[2] == mode]
        of[mode] = cpu, size, votes, took, share, led, clusterings, acc = [statistics.median(c) for c in zip(*mine)]
        print(f"{job[0]:8} {job[1]:>5} {mode:10} {cpu:17.2f} {size:19.3f} {votes:6.0f} {took:8.0f} {100 * share:7.1f}% {100 * led:9.1f}%")
    full, clustered = of["full"], of["clustered"]
    print(f"         votes: {100 * clustered[4]:.1f}% of the ranks' time (target 5%: {verdict(clustered[4] <= 0.05)}); "
          f"ACC of the leads of the full run: {100 * full[7]:.1f}% (target 95%: {verdict(full[7] >= 0.95)})")
    if job[0] == "phases":
        saved, target = 1 - clustered[1] / full[1], 0.3 if job[1] == "4" else 0.55
        print(f"         timing saved: {100 * saved:.0f}% (target {100 * target:.0f}%: {verdict(saved >= target)}); "
              f"clusterings: {clustered[6]:.0f} (target 2: {verdict(clustered[6] == 2)})")
PY
