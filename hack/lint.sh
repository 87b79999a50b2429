#!/usr/bin/env bash
# golangci-lint, built from its module at the version named here, and rules of our own (hack/lint),
# over all packages and build tags.
#   hack/lint.sh [--build-only]     --build-only: makes the linters
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
version=v2.13.0

if [ "$(cat "$BIN/.golangci-lint.version" 2>/dev/null)" != $version ]; then
  say "go build golangci-lint ($version)"
  dir=$BUILD/golangci-lint-$version
  mkdir -p "$dir" "$BIN"
  printf 'module cairn/lint\n\ngo 1.26.0\n\nrequire github.com/golangci/golangci-lint/v2 %s\n' $version >"$dir/go.mod"
  (cd "$dir" && CGO_ENABLED=0 GOWORK=off go build -mod=mod -trimpath -ldflags '-s -w' -o "$BIN/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint 2> >(grep -v '^go: downloading' >&2))
  echo $version >"$BIN/.golangci-lint.version"
fi
go build -o "$BIN/cairn-lint" ./hack/lint
[ "${1:-}" != --build-only ] || exit 0
tags=mpi,e2e,browser,recipes,slurm,netgo,osusergo
# cgocall opens the sources of cgo's packages by the names that they had in the clone that compiled
# them first (-trimpath).
mapfile -t folders < <(go list -tags "$tags" -f '{{.Dir}}' ./...)
"$BIN/golangci-lint" run --build-tags "$tags" "${folders[@]}"
go vet -cgocall=false -tags otf2,netgo,osusergo ./analyzer/export/otf2/...
go vet -vettool="$BIN/cairn-lint" -tags "$tags" "${folders[@]}"
go vet -vettool="$BIN/cairn-lint" -tags otf2,netgo,osusergo ./analyzer/export/otf2/...
