#!/usr/bin/env bash
# SimGrid as a reference for `cairn predict`: both predict how long a traced run would take on a
# network of 20 µs and 10 GB/s. SimGrid gets the actions of `cairn export --format simgrid`, and
# options that make its model the same as predict's: messages do not slow each other down, and
# collectives use the algorithms of predict's model (for all-to-all the faster one). Three rows per
# trace, by the protocol of large messages:
#   at once   no message waits for its receive. Target: within 0.5%, and of real runs within 2%
#   handshake from the size that the run shows. SimGrid starts a transfer when both sides are ready,
#             and continues it while they compute. predict has three latencies, and data move only
#             while both sides are in MPI. SimGrid gets the three latencies (lat-factor). No target:
#             the remaining difference is overlap, which SimGrid always has
#   default   SimGrid's own algorithms of collectives, and no additional latencies. No target
# Collectives of some ranks, and nonblocking ones, are messages in the export: those of alltoall go
# directly, in one latency.
#   hack/bench-simgrid.sh [TRACE…]      default: simulated patterns, and the examples under Open MPI
#   RANKS=N                             of simulated patterns; default 16
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
command -v smpirun >/dev/null || die "smpirun is missing: hack/install.sh readers installs it"
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
network=(--latency 20us --bandwidth 10)
alike=(--cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree --cfg=smpi/reduce:binomial
  --cfg=smpi/barrier:ompi_bruck --cfg=smpi/allgather:bruck --cfg=smpi/gather:ompi_binomial --cfg=smpi/scatter:ompi_binomial)
unlimited=2000000000
go build -o "$w/stats" ./hack/stats

predicted() { # TRACE OPTIONS…: seconds
  bin/cairn predict "$@" "${network[@]}" --json | "$w/stats" field run.predicted_seconds
}
simulated() { # OPTIONS…: seconds
  (cd "$w/export" && smpirun -platform platform.xml -hostfile hostfile -replay traces.txt "$@" >"$w/log" 2>&1) ||
    { tail -n 5 "$w/log" >&2; echo nan; return; }
  sed -n 's/.*Simulation time //p' "$w/log"
}
quicker() { # OPTIONS…: seconds with the faster algorithm; ring is the pairwise exchange for any number of ranks
  local all
  all=$(for way in bruck ring; do simulated "${alike[@]}" "--cfg=smpi/alltoall:$way" "$@"; done)
  sort -g <<<"$all" | head -n 1
}
judge() { # NAME TRACE TARGET
  rm -rf "$w/export"
  bin/cairn export "$2" --format simgrid -o "$w/export" "${network[@]}" >"$w/said"
  "$w/stats" simgrid "$1" "at once" "$3" "$(predicted "$2" --handshake-from $unlimited)" "$(quicker \
    --cfg=smpi/async-small-thresh:$unlimited --cfg=smpi/send-is-detached-thresh:$unlimited)"
  local from
  from=$(sed -n 's/.*smpi.async-small-thresh" value="\([0-9]*\)".*/\1/p' "$w/export/platform.xml")
  "$w/stats" simgrid "$1" handshake 0 "$(predicted "$2")" "$(quicker "--cfg=smpi/lat-factor:$from:3;0:1")"
  "$w/stats" simgrid "$1" default 0 "$(predicted "$2")" "$(simulated)"
  sed -n 's/^\(written\|left\)/    \1/p' "$w/said"
}

printf '%-22s %-10s %12s %12s %9s\n' trace messages 'predict ms' 'SimGrid ms' off
if [ $# -gt 0 ]; then
  for t; do judge "$(basename "$t" .cairn)" "$t" 2; done
  exit
fi
for pattern in stencil2d stencil3d ring all-to-all pairwise master-worker butterfly tree hypercube transpose irregular wavefront \
  multigrid multipartition random two-phase; do
  for bytes in 1024 200000; do
    bin/cairn simulate --pattern $pattern --ranks "${RANKS:-16}" --bytes $bytes --noise-percent 20 -o "$w/$pattern.cairn" >/dev/null
    judge "$pattern $bytes" "$w/$pattern.cairn" 0.5
  done
done
for example in stencil ring collectives sweep imbalance balanced master_worker farm requests persistent split topology; do
  bin/cairn run --force -o "$w/run" --timing lossless -- mpirun.openmpi --allow-run-as-root -np 4 --oversubscribe \
    --mca mpi_yield_when_idle 1 examples/bin/openmpi/$example >"$w/log" 2>&1 || { tail -n 3 "$w/log" >&2; continue; }
  judge "$example" "$w/run/trace.cairn" 2
done
