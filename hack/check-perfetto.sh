#!/usr/bin/env bash
# Decode an export with Perfetto's own schema, by protoc: every field is known, every slice that
# begins ends, every arrow has both ends, and their numbers are those that the export printed.
# (Which slices arrows connect is tested in analyzer/export/perfetto.)
#   PERFETTO=DIR hack/check-perfetto.sh [TRACE]     DIR: a checkout of https://github.com/google/perfetto
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
proto=${PERFETTO:?PERFETTO is a checkout of https://github.com/google/perfetto}/protos/perfetto/trace
command -v protoc >/dev/null || die "protoc is missing: apt-get install protobuf-compiler"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trace=${1:-$work/trace.cairn}
[ -f "$trace" ] || "$ROOT/bin/cairn" simulate --pattern stencil2d --ranks 16 --iterations 50 --slow-rank 5 --slow-percent 30 -o "$trace"
said=$("$ROOT/bin/cairn" export "$trace" -o "$work/export")
echo "$said"
protoc -I"$proto" --decode=perfetto.protos.Trace "$proto/perfetto_trace.proto" <"$work/export" >"$work/text"
count() { grep -cE "$1" "$work/text" || true; }
[ "$(count '^ *[0-9]+(:| \{)')" = 0 ] || die "fields that are not in Perfetto's schema: $(grep -E '^ *[0-9]+(:| \{)' "$work/text" | head -3)"
read -r calls messages segments phases counters < <(sed -E \
  's/.*: ([0-9]+) calls, ([0-9]+) messages, ([0-9]+) path segments, ([0-9]+) phases, ([0-9]+) counters.*/\1 \2 \3 \4 \5/' <<<"$said")
slices=$((calls + segments + phases))
[ "$(count 'type: TYPE_SLICE_BEGIN')" = $slices ] || die "not a slice per call, path segment and phase"
[ "$(count 'type: TYPE_SLICE_END')" = $slices ] || die "not every slice ends"
[ "$(count '^ *counter \{')" = "$counters" ] || die "not a track per counter"
[ "$(count 'type: TYPE_COUNTER')" = "$(count '^ *double_counter_value:')" ] || die "a counter without a value"
[ "$(count '^ *terminating_flow_ids:')" = "$messages" ] || die "not every arrow ends"
[ "$(count '^ *flow_ids:')" = "$messages" ] || die "not every arrow begins"
echo "Perfetto's schema has all fields: $calls calls, $segments path segments, $phases phases, $counters counters, $messages arrows"
