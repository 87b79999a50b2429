#!/usr/bin/env bash
# How fast a trace becomes a report: simulated stencils with a rank that is slow (cairn simulate), analyzed by
# `cairn analyze`, reading, all analyses and the page included. Events per second of wall-clock time, and those that two
# cores alone would reach by the CPU time it took (on a busy machine the former says little); peak memory; size of the
# page. Targets: 2 million events a second on two cores; a page below 3 MiB; with LARGE, and with 16,384 ranks, 1 GiB of
# memory.
# Then irregular programs, in which hardly anything is repeated: CPU seconds for a million calls of each command, for a
# trace and for one of four times as many calls, and the ratio of the two. Target: a ratio of at most 1.3.
#   hack/bench-analyze.sh [RANKS…]       default: 16 256 1024 16384
#   EVENTS=N                             events of each trace, about; default 1000000 (irregular: a quarter, and all)
#   LARGE=1                              100 million events on 1024 ranks too: a quarter of an hour, 1 GB of disk
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT

# row RANKS EVENTS
row() {
  local ranks=$1 events=$2 trace=$w/trace.cairn
  bin/cairn simulate --pattern stencil2d --ranks "$ranks" --iterations $((events / ranks / 9 + 1)) --noise-percent 10 --slow-rank 3 \
    --slow-percent 30 --timing "lossy 5" -o "$trace" >"$w/made"
  python3 - "$ranks" "$(sed 's/.*, \([0-9]*\) calls.*/\1/' "$w/made")" "$w/report" bin/cairn analyze "$trace" -o "$w/report" <<'PY'
import os, resource, subprocess, sys, time
ranks, events, report = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
begun = time.time()
subprocess.run(sys.argv[4:], stdout=subprocess.DEVNULL, check=True)
wall = time.time() - begun
u = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, memory = u.ru_utime + u.ru_stime, u.ru_maxrss / 1024
page, json = (os.path.getsize(report + "/" + name) / 2**20 for name in ("index.html", "report.json"))
rate = 2 * events / cpu / 1e6
def judge(met): return "" if met else " (missed)"
large = events > 50e6 or ranks >= 16384
print(f"{ranks:>6} {events:>12} {events / wall / 1e6:>12.2f} {rate:>10.2f}{judge(rate >= 2):<9} {memory:>8.0f}{judge(not large or memory <= 1024):<9} {page:>8.2f}{judge(page < 3):<9} {json:>8.2f}")
PY
}

printf '%6s %12s %12s %19s %17s %17s %8s\n' ranks events 'Mevents/s' 'on two cores' 'peak MiB' 'page MiB' 'JSON MiB'
for ranks in ${*:-16 256 1024 16384}; do row "$ranks" "${EVENTS:-1000000}"; done
[ -z "${LARGE:-}" ] || row 1024 100000000

# irregular NAME RANKS OPTIONS…
irregular() {
  local name=$1 ranks=$2 events=${EVENTS:-1000000}
  shift 2
  for part in 4 1; do
    bin/cairn simulate --ranks "$ranks" --iterations $((events / part / ranks + 1)) "$@" --timing "lossy 5" -o "$w/$part.cairn" >"$w/$part.made"
  done
  python3 - "$name" "$ranks" "$w" <<'PY'
import re, resource, subprocess, sys
name, ranks, w = sys.argv[1:]
def calls(part): return int(re.search(r"(\d+) calls", open(f"{w}/{part}.made").read()).group(1))
def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["bin/cairn", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
commands = {
    "analyze": lambda t: ["analyze", t, "-o", f"{w}/report"], "program": lambda t: ["program", t], "clusters": lambda t: ["clusters", t],
    "placement": lambda t: ["placement", t], "predict": lambda t: ["predict", t, "--ideal-network"], "compare": lambda t: ["compare", t, t],
    "reduce": lambda t: ["reduce", t, "--leads", "-o", f"{w}/leads.cairn"], "export": lambda t: ["export", t, "-o", f"{w}/x.perfetto"],
    "dump": lambda t: ["dump", t], "info": lambda t: ["info", t],
}
for command, arguments in commands.items():
    few, many = (cpu(arguments(f"{w}/{part}.cairn")) / calls(part) * 1e6 for part in (4, 1))
    ratio = many / few
    print(f"{name:<14} {ranks:>6} {calls(1):>12} {command:<10} {few:>12.2f} {many:>12.2f} {ratio:>8.2f}{'' if ratio <= 1.3 else ' (missed)'}")
PY
}

printf '\n%-14s %6s %12s %-10s %12s %12s %8s\n' irregular ranks calls command 's/M, quarter' 's/M, all' ratio
irregular random 1 --pattern random
irregular random 16 --pattern random
irregular 'many kinds' 16 --pattern random --variety 100000
irregular regridding 64 --pattern irregular --regrid 1
irregular master-worker 64 --pattern master-worker --noise-percent 90
