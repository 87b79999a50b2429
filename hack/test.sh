#!/usr/bin/env bash
# The project's test: everything, on a machine that may have nothing installed. Each stage prints
# how long it took.
#   hack/test.sh            all stages
#   hack/test.sh STAGE...   some of: install build verify unit race mpi docs e2e
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

export KUBEBUILDER_ASSETS=$BIN OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

install() {
  hack/preflight.sh test && hack/install.sh all
}
# for arm64, too: the test of its commands compiles them, and is fast if that is done already
build() { make -s build bin/cairn-otf2 build-arm64 examples; }
verify() { hack/verify.sh; }
# with OTF2's library, too: archives are read by OTF2's own tools
unit() {
  go test -timeout 15m ./... &&
    go test -tags otf2 -run 'OTF2|Archive' ./analyzer/export/otf2/library ./cmd/cairn/internal/export
}
# With the race detector: the packages that start goroutines or are called by several, and those
# that read files of others, since it checks uses of unsafe pointers, too. ./analyzer runs all
# analyses with one goroutine, and those of the simulator. -short omits or reduces cases that
# differ only in their data, and slow tests without additional goroutines: the unit stage has all
# of them.
race() {
  go test -race -short -timeout 25m ./trace/... ./tracer/recorder/... ./merger/collect ./shipper/... ./store/... \
    ./internal/{passes,simulate/shards} ./analyzer ./analyzer/{compare,criticalpath,eventlog,match,pass,phases,profile,scaling} \
    ./analyzer/{timeline,topology} ./analyzer/export/parquet
}
# one program at a time: each has more ranks than this machine has cores
mpi() { go test -tags mpi -count=1 -p 1 -timeout 40m ./test/mpi/... ./test/plants ./tracer/shim/... ./tracer/verify/...; }
# the README shows what users get
docs() { go run ./hack/readme README.md; }
e2e() { hack/e2e.sh; }

stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(install build verify unit race mpi docs e2e)
total=$SECONDS
# a stage is one list of commands joined with "&&": within "||", a failing command alone does not
# end it
for stage in "${stages[@]}"; do
  case $stage in install | build | verify | unit | race | mpi | docs | e2e) ;; *) die "unknown stage $stage" ;; esac
  say "=== $stage"
  started=$SECONDS
  "$stage" || die "stage $stage failed"
  say "=== $stage took $((SECONDS - started)) s"
done
say "all stages passed in $((SECONDS - total)) s"
