#!/usr/bin/env bash
# How fast a trace becomes a report: simulated stencils with a slow rank (cairn simulate), analyzed
# by `cairn analyze`, including reading, all analyses with the verdict's scenarios, and the page.
# It prints events per second of wall-clock time (which means little on a busy machine), CPU time
# per event, peak memory and temporary file, and the size of the page. Targets: 0.5, 0.8 and 1.0 µs
# per event with 16, 256 and 1,024 ranks; a page below 3 MiB; with LARGE, and with 16,384 ranks, 1
# GiB of memory; a billion events in 8 minutes, 2 GiB of memory and 5 GB of disk. Then two ranks
# that always wait for each other, so that the critical path alternates between them: peak memory
# for 2 million events and for eight times as many, and their ratio. Target: a ratio of at most
# 1.3. Then irregular programs with hardly any repetition: CPU seconds per million calls of each
# command, for a trace and for one with four times as many calls, and their ratio. Target: a ratio
# of at most 1.3.
#   hack/bench-analyze.sh [RANKS…]       default: 16 256 1024 16384
#   EVENTS=N                             events of each trace, about; default 1000000 (irregular: a quarter, and all)
#   LARGE=1                              100 million events on 1024 ranks too: some minutes, 1 GB of disk
#   BILLION=1                            a billion events on 256 ranks too: an hour with making the trace, 5 GB of disk
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
def spooled(pid): # bytes of its temporary files, which have no names any more
    sizes = 0
    try:
        for fd in os.scandir(f"/proc/{pid}/fd"):
            if "cairn-analyze-" in os.readlink(fd.path): sizes += os.stat(fd.path).st_size
    except OSError:
        pass
    return sizes
begun, disk = time.time(), 0
analyzing = subprocess.Popen(sys.argv[4:], stdout=subprocess.DEVNULL)
while True:
    try:
        analyzing.wait(0.2)
        break
    except subprocess.TimeoutExpired:
        disk = max(disk, spooled(analyzing.pid))
wall = time.time() - begun
if analyzing.returncode: sys.exit(f"{sys.argv[4:]} ended with {analyzing.returncode}")
u = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, memory = u.ru_utime + u.ru_stime, u.ru_maxrss / 1024
page, json = (os.path.getsize(report + "/" + name) / 2**20 for name in ("index.html", "report.json"))
each = cpu / events * 1e6
def judge(met): return "" if met else " (missed)"
billion, large = events > 500e6, events > 50e6 or ranks >= 16384
fast = each <= {16: 0.5, 256: 0.8, 1024: 1.0}.get(ranks, each) and (not billion or wall <= 480)
small = memory <= (2048 if billion else 1024 if large else memory)
print(f"{ranks:>6} {events:>12} {events / wall / 1e6:>12.2f} {each:>10.2f}{judge(fast):<9} {memory:>8.0f}{judge(small):<9} {disk / 1e6:>8.0f}{judge(disk <= 5e9):<9} {page:>8.2f}{judge(page < 3):<9} {json:>8.2f}")
PY
}

printf '%6s %12s %12s %19s %17s %17s %17s %8s\n' ranks events 'Mevents/s' 'µs an event' 'peak MiB' 'file MB' 'page MiB' 'JSON MiB'
for ranks in ${*:-16 256 1024 16384}; do row "$ranks" "${EVENTS:-1000000}"; done
[ -z "${LARGE:-}" ] || row 1024 100000000
[ -z "${BILLION:-}" ] || row 256 1000000000

# long EVENTS: two ranks, a trace with this many events and one with eight times as many
long() {
  local events=$1
  for times in 1 8; do
    bin/cairn simulate --pattern butterfly --ranks 2 --iterations $((events * times / 2)) --noise-percent 40 --timing "lossy 5" -o "$w/$times.cairn" >"$w/$times.made"
  done
  python3 - "$w" <<'PY'
import os, re, subprocess, sys
w = sys.argv[1]
def peak(times): # MiB
    analyzing = subprocess.Popen(["bin/cairn", "analyze", f"{w}/{times}.cairn", "-o", f"{w}/report"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(analyzing.pid, 0)
    if status: sys.exit(f"cairn analyze ended with status {status}")
    return used.ru_maxrss / 1024
calls = int(re.search(r"(\d+) calls", open(f"{w}/8.made").read()).group(1))
few, many = peak(1), peak(8)
print(f"{2:>6} {calls:>12} {few:>16.0f} {many:>12.0f} {many / few:>8.2f}{'' if many <= 1.3 * few else ' (missed)'}")
PY
}

printf '\n%6s %12s %16s %12s %8s\n' ranks events 'MiB, an eighth' 'MiB, all' ratio
long $((2 * ${EVENTS:-1000000}))

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
