#!/usr/bin/env bash
# Install what development needs, in stages. What exists is kept, and two of these may run at the
# same time.
#   hack/install.sh base        compilers, Open MPI and MPICH: builds, traced runs on this machine
#   hack/install.sh readers     what reads the exports in the tests: OTF2's tools, SimGrid, DuckDB,
#                               pandas, notebooks
#   hack/install.sh apps        the programs of apps/programs.txt (APPS="…": only these; up to 3 GB)
#   hack/install.sh apiserver   kube-apiserver, etcd, kubectl: tests against a real API server
#                               (KUBEBUILDER_ASSETS=$CAIRN_CACHE/bin)
#   hack/install.sh slurm       Debian's Slurm: the tests of srun
#   hack/install.sh cluster     the whole local cluster, helm, MinIO and the base images
#                               (CAIRN_CLUSTER=existing: without what that cluster has itself)
#   hack/install.sh all         base, readers and cluster
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir -p "$BIN" "$BUILD"

base_packages=(gcc g++ gcc-aarch64-linux-gnu libc6-dev-arm64-cross ccache libc6-dev make git ca-certificates gfortran libopenmpi-dev openmpi-bin libmpich-dev mpich python3 python3-dev python3-mpi4py zstd strace qemu-user musl-tools valgrind
  libjemalloc2 libtcmalloc-minimal4)
reader_packages=(pkg-config libopen-trace-format2-dev otf2-tools python3-otf2 libsimgrid-dev python3 python3-pandas
  python3-nbclient python3-ipykernel)
slurm_packages=(slurmctld slurmd slurm-client munge util-linux procps)
cluster_packages=(containerd runc containernetworking-plugins nftables iproute2 util-linux procps
  openssl curl ca-certificates mmdebstrap buildah gcc libc6-dev)

apt_install() { # PACKAGE...
  local p need=()
  local -A ok=()
  while read -r p; do ok[$p]=1; done < <(
    dpkg-query -W -f '${Package} ${Status}\n' "$@" 2>/dev/null | sed -n 's/ install ok installed$//p')
  for p; do [ -n "${ok[$p]:-}" ] || need+=("$p"); done
  [ ${#need[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "these packages are missing, and only root can install them: ${need[*]}"
  say "apt-get install ${need[*]}"
  local log=$BUILD/apt.log apt=(apt-get -o DPkg::Lock::Timeout=600)
  # RUNLEVEL=1: maintainer scripts must not start daemons
  export RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive
  # a fresh machine has no package lists, an old one has stale ones
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${need[@]}"; } >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; die "apt-get failed, see $log"; }
}

# --- Go programs from the module proxy ----------------------------------------
# Each is built from a two-line module that requires it, because "go install
# package@version" would not apply the replacements that Kubernetes needs.

go_build() { # DIR VERSION OUTPUT PACKAGE [LDFLAGS [CGO_ENABLED]]
  local out=$BIN/$3 stamp=$BIN/.$3.version t=$SECONDS
  fresh() { [ -x "$out" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$1" ]; }
  fresh "$2" && return 0
  say "go build $3 ($2)"
  (
    cd "$1"
    export CGO_ENABLED="${6:-0}" GOFLAGS="${GOFLAGS:-} -mod=mod" GOWORK=off
    go build -trimpath -ldflags "-s -w ${5:-}" -o "$out.new" "$4" 2> >(grep -v '^go: downloading' >&2)
  ) || die "go build of $3"
  mv "$out.new" "$out"
  echo "$2" >"$stamp"
  say "go build $3: $((SECONDS - t))s"
}

module() { # DIR NAME GO REQUIREMENT VERSION
  mkdir -p "$1"
  printf 'module cairn/%s\n\ngo %s\n\nrequire %s %s\n' "$2" "$3" "$4" "$5" >"$1/go.mod.new"
  # go adds to go.mod what it resolves: written only once
  [ -s "$1/go.mod" ] && rm "$1/go.mod.new" || mv "$1/go.mod.new" "$1/go.mod"
}

# Kubernetes, etcd and CoreDNS are built in one module, so that what they depend on is compiled
# once: of CoreDNS' 750 packages, 90 are left.
k8s=$BUILD/k8s-$K8S_VERSION-coredns-$COREDNS_VERSION
k8s_module() {
  [ ! -s "$k8s/go.mod" ] || return 0
  mkdir -p "$k8s"
  local src
  src=$(cd "$k8s" && GOFLAGS=-mod=mod GOWORK=off go mod download -json "k8s.io/kubernetes@$K8S_VERSION" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  [ -d "$src" ] || die "cannot get k8s.io/kubernetes@$K8S_VERSION from the module proxy"
  {
    printf 'module cairn/k8s\n\ngo %s\n\n' "$(sed -n 's/^go //p' "$src/go.mod")"
    printf 'require (\n\tk8s.io/kubernetes %s\n\tgo.etcd.io/etcd/server/v3 %s\n' "$K8S_VERSION" "$ETCD_VERSION"
    printf '\tgithub.com/coredns/coredns %s\n)\n\nreplace (\n' "$COREDNS_VERSION"
    # kubernetes' own go.mod replaces its staging modules by directories; they
    # are published as v0.x of the same number, and only what is imported is
    # looked up
    sed -n "s|^[[:space:]]*\(k8s.io/[^ ]*\) => ./staging.*|\t\1 => \1 v0.${K8S_VERSION#v1.}|p" "$src/go.mod"
    printf ')\n'
  } >"$k8s/go.mod.new"
  mv "$k8s/go.mod.new" "$k8s/go.mod"
}
k8s_build() { # NAME...
  local c v="-X k8s.io/component-base/version.gitVersion=$K8S_VERSION -X k8s.io/component-base/version.gitMajor=1"
  v="$v -X k8s.io/component-base/version.gitMinor=$(echo "$K8S_VERSION" | cut -d. -f2)"
  for c; do go_build "$k8s" "$K8S_VERSION" "$c" "k8s.io/kubernetes/cmd/$c" "$v"; done
}

do_apiserver() {
  k8s_module
  go_build "$k8s" "$ETCD_VERSION" etcd go.etcd.io/etcd/server/v3
  k8s_build kube-apiserver kubectl
}

# what a local cluster needs and an existing one has
do_system() {
  local d
  k8s_module
  k8s_build kubelet kube-controller-manager kube-scheduler kube-proxy

  # only the plugins used here: the full set drags in cloud SDKs
  d=$k8s/coredns
  mkdir -p "$d"
  cp "$HACK/cluster/coredns/main.go" "$d/main.go"
  go_build "$k8s" "$COREDNS_VERSION-$K8S_VERSION-$(digest <"$d/main.go")" coredns ./coredns

  d=$HACK/cluster/forward
  go_build "$d" "$(digest <"$d/main.go")" cairn-forward .

  d=$BUILD/mpi-operator-$MPI_OPERATOR_VERSION
  module "$d" mpiop 1.26.0 github.com/kubeflow/mpi-operator "$MPI_OPERATOR_VERSION"
  go_build "$d" "$MPI_OPERATOR_VERSION" mpi-operator github.com/kubeflow/mpi-operator/cmd/mpi-operator
  local y=$CAIRN_CACHE/mpi-operator-$MPI_OPERATOR_VERSION.yaml
  [ -s "$y" ] || install -m 644 "$(cd "$d" && GOFLAGS=-mod=mod GOWORK=off go list -m -f '{{.Dir}}' github.com/kubeflow/mpi-operator)/deploy/v2beta1/mpi-operator.yaml" "$y"
}

# DuckDB is available as static libraries in a Go module; the command with -c is a page of code.
do_duckdb() {
  local d=$BUILD/duckdb-$DUCKDB_VERSION
  module "$d" duckdb 1.26.0 github.com/duckdb/duckdb-go/v2 "$DUCKDB_VERSION"
  cp "$HACK/duckdb/main.go" "$d/main.go"
  go_build "$d" "$DUCKDB_VERSION-$(digest <"$d/main.go")" duckdb . "" 1
}

do_tools() {
  local d
  d=$BUILD/helm-$HELM_VERSION
  module "$d" helm 1.26.0 helm.sh/helm/v3 "$HELM_VERSION"
  go_build "$d" "$HELM_VERSION" helm helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$HELM_VERSION"

  d=$BUILD/minio-$MINIO_VERSION
  module "$d" minio 1.26.0 github.com/minio/minio "$MINIO_VERSION"
  go_build "$d" "$MINIO_VERSION" minio github.com/minio/minio
}

base() { locked apt apt_install "${base_packages[@]}"; }
readers() {
  locked apt apt_install "${reader_packages[@]}"
  locked go-build-duckdb do_duckdb
}
slurm() { locked apt apt_install "${slurm_packages[@]}"; }
apps() {
  local packages
  # shellcheck disable=SC2086  # APPS is a list of names
  packages=$(cd "$ROOT" && go run ./apps packages ${APPS:-}) || die "apps/programs.txt cannot be read"
  # shellcheck disable=SC2086
  locked apt apt_install $packages
}
apiserver() { locked go-build-apiserver do_apiserver; }
cluster() {
  locked apt apt_install "${cluster_packages[@]}"
  # downloading and unpacking base images, and compiling, can overlap
  local p bad=0
  "$HACK/images.sh" --build-only bases & p=$!
  { apiserver && { [ "$CAIRN_CLUSTER" = existing ] || locked go-build-cluster do_system; } && locked go-build-cluster do_tools; } || bad=1
  wait $p || die "base images"
  [ $bad = 0 ] || exit 1
  [ "$CAIRN_CLUSTER" = existing ] || "$HACK/images.sh" --build-only system
  "$HACK/images.sh" --build-only minio
}

[ $# -gt 0 ] || die "usage: $0 base|readers|apps|apiserver|slurm|cluster|all..."
command -v go >/dev/null || die "Go is missing (hack/preflight.sh says what else is)"
for s; do
  case $s in
    base | readers | apps | apiserver | slurm | cluster) $s ;;
    all) base; readers; cluster ;;
    *) die "unknown stage $s" ;;
  esac
done
