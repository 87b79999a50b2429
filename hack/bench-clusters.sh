#!/usr/bin/env bash
# 16,384 ranks of a sweep over a 3-D grid, 27 shapes of grammar, on the compressed trace: how long it takes to group the ranks, to
# write the program text and to find the topology, with targets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go test ./analyzer/clusters -run '^$' -bench Clusters -benchtime 3x | awk '
  { lines = lines $0 "\n" }
  /^BenchmarkClusters\// {
    split($1, name, "/")
    sub(/-[0-9]+$/, "", name[2])
    n++; what[n] = name[2]; seconds[n] = $3 / 1e9; memory[n] = $5
  }
  END {
    if (n < 3) { printf "%s", lines; exit 1 }
    printf "%-10s %10s %10s %8s  %s\n", "what", "seconds", "target", "MiB", ""
    for (i = 1; i <= n; i++) {
      target = what[i] == "groups" ? 1 : what[i] == "program" ? 5 : 60
      ok = seconds[i] < target
      missed = missed || !ok
      printf "%-10s %10.3f %10s %8.0f  %s\n", what[i], seconds[i], "< " target, memory[i], ok ? "pass" : "MISS"
    }
    exit missed
  }'
