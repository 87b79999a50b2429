#!/usr/bin/env bash
# 16,384 ranks of a sweep over a 3-D grid, with 27 shapes of grammar, on the compressed trace: the
# time to group the ranks, to write the program text and to find the topology, with targets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
go test ./analyzer/clusters -run '^$' -bench Clusters -benchtime 3x >"$w/benchmark" || { cat "$w/benchmark"; exit 1; }
go run ./hack/stats clusters "$w/benchmark"
