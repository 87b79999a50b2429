#!/usr/bin/env bash
# Fuzz every target of the tree for an equal part of some minutes (default 60).
#   hack/fuzz.sh [MINUTES]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
mapfile -t targets < <(git grep -oE '^func Fuzz\w+' -- '*_test.go' | sed -E 's|/[^/]*:func | |')
[ ${#targets[@]} -gt 0 ] || die "no fuzz target found"
each=$((${1:-60} * 60 / ${#targets[@]}))
say "${#targets[@]} targets, $each s each"
failed=()
for target in "${targets[@]}"; do
  read -r folder name <<<"$target"
  say "$folder $name"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "${each}s" "./$folder" || failed+=("$folder $name")
done
[ ${#failed[@]} = 0 ] || die "failed: $(printf '%s; ' "${failed[@]}")"
