#!/usr/bin/env bash
# Build the images and load them into the running nodes, or, with CAIRN_CLUSTER=existing, push them
# to CAIRN_REGISTRY. Unchanged images are not built, exported or imported again.
#   hack/images.sh [--build-only] [TARGET...]
#     cairn    localhost/cairn:dev            of what make build makes on this machine
#     dockerfile   localhost/cairn:dockerfile the same, from the project's Dockerfile; not exported
#     cairn-arm64  localhost/cairn:dev-arm64  for arm64 nodes, from the Dockerfile
#     demo     localhost/cairn-demo:bookworm  Open MPI 4.1.4, MPICH 4.0.2, examples/
#              localhost/cairn-demo:trixie    Open MPI 5.0.7, MPICH 4.2.1, examples/
#              (one of them: demo-bookworm, demo-trixie)
#     minio    localhost/cairn-minio:dev
#     system   pause and mpi-operator, for the local cluster only
#     bases    only what the others stand on: Debian, MPI
#   Default: cairn demo minio. Names of what was built, one shell variable each,
#   are then in $CAIRN_CACHE/images.env.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suites=(bookworm trixie)
store=$CAIRN_CACHE/containers

bh() {
  BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF=$store/storage.conf TMPDIR=$BUILD buildah "$@"
}
# quiet NAME COMMAND...: output into a log, shown only on failure
quiet() {
  local log=$BUILD/image-$1.log; shift
  "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "$1 $2 failed, see $log"; }
}
has() { bh inspect --type image "$1" >/dev/null 2>&1; }

# fresh NAME KEY: was the image NAME made from the content with the hash KEY?
fresh() { [ "$(cat "$IMG/$1.key" 2>/dev/null)" = "$2" ] && { [ -s "$IMG/$1.tar" ] || [ -e "$IMG/$1.base" ]; }; }
# export_image NAME KEY TAG: into an archive that containerd imports
export_image() {
  rm -f "$IMG/$1.key" "$IMG/$1.tar.new"
  quiet "$1-export" bh push "$3" "docker-archive:$IMG/$1.tar.new:$3"
  mv "$IMG/$1.tar.new" "$IMG/$1.tar"
  echo "$2" >"$IMG/$1.key"
}
# scratch_image NAME TREE TAG ENTRYPOINT USER: files and nothing else
scratch_image() {
  local c
  c=$(bh from scratch)
  quiet "$1" bh copy "$c" "$2" /
  bh config --entrypoint "[\"$4\"]" --env PATH=/usr/local/bin --user "$5" --created-by "hack/images.sh" "$c"
  quiet "$1" bh commit --rm "$c" "$3"
}

# --- replacements for public base images ---------------------------------------
# They are made from the package mirror that this machine uses, under the names in the Dockerfiles,
# so that the same files work with any other builder.

debian_sources() { # SUITE FILE-WITHOUT-EXTENSION: prints the file it wrote
  local host f out
  host=$(. /etc/os-release; echo "$VERSION_CODENAME")
  out=$2.sources; : >"$out"
  for f in $(grep -lsE "^Suites:(.* )?$host( |\$)" /etc/apt/sources.list.d/*.sources || true); do
    { cat "$f"; echo; } | sed "s/\b$host\b/$1/g" >>"$out"
  done
  if [ ! -s "$out" ]; then
    out=$2.list
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
      grep -E "^deb .* $host(-updates|-security)? " | sed "s/\b$host\b/$1/g" >"$out" || true
  fi
  [ -s "$out" ] || die "no Debian package source of $host found below /etc/apt"
  echo "$out"
}

debian() { # SUITE
  local tag=docker.io/library/debian:$1-slim name=debian-$1 key src
  key=debian-3 # counted up by hand when this function changes
  fresh "$name" $key && return 0
  say "mmdebstrap $1"
  src=$(debian_sources "$1" "$BUILD/$name")
  rm -f "$BUILD/$name.tar"
  quiet "$name" mmdebstrap --mode=root --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='force-unsafe-io' \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
    --customize-hook='printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"; rm -rf "$1"/var/lib/apt/lists/* "$1"/var/log/*' \
    "$1" "$BUILD/$name.tar" "$src"
  local c; c=$(bh from scratch)
  quiet "$name" bh add "$c" "$BUILD/$name.tar" /
  bh config --cmd '["bash"]' --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$c"
  quiet "$name" bh commit --rm "$c" "$tag"
  rm -f "$BUILD/$name.tar"
  : >"$IMG/$name.base"; echo $key >"$IMG/$name.key"
}

# Go itself is not copied: the build below mounts this machine's.
golang() {
  local from=docker.io/library/debian:bookworm-slim tag key
  tag=$(sed -n 's/^ARG GO_IMAGE=//p' "$ROOT/Dockerfile")
  debian bookworm
  key=golang-2-$(cat "$IMG/debian-bookworm.key")-$tag
  fresh golang "$key" && return 0
  local c; c=$(bh from --pull-never "$from")
  bh config --env PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --env GOPATH=/go --env GOTOOLCHAIN=local --workingdir /go "$c"
  quiet golang bh commit --rm "$c" "$tag"
  : >"$IMG/golang.base"; echo "$key" >"$IMG/golang.key"
}

# bud NAME ARGS...: a Dockerfile build with cached layers
bud() {
  local name=$1; shift
  quiet "$name" bh bud --pull-never --layers "$@"
  # remove what the build left and no tagged image is based on
  bh rmi --prune >/dev/null 2>&1 || true
}

# --- targets -----------------------------------------------------------------
tools() { # the compilers of the Dockerfile's build stage
  golang
  local key; key=tools-$(cat "$IMG/golang.key")-$(sed '/^# --- end of tools/q' "$ROOT/Dockerfile" | digest)
  fresh tools "$key" && return 0
  say "image of the build tools"
  bud tools --target tools -t localhost/cairn-tools:dev -f "$ROOT/Dockerfile" "$HACK/images"
  : >"$IMG/tools.base"; echo "$key" >"$IMG/tools.key"
}

mpi() { # SUITE
  debian "$1"
  local ctx=$BUILD/mpi key
  key=mpi-$1-$(cat "$IMG/debian-$1.key")-$(digest "$HACK"/images/{mpi.Dockerfile,entrypoint.sh,sshd_config,ucp-nodisc.c})
  fresh "mpi-$1" "$key" && return 0
  say "MPI image of $1"
  rm -rf "$ctx"; mkdir -p "$ctx"
  cp "$HACK"/images/{entrypoint.sh,sshd_config} "$ctx/"
  gcc -O2 -shared -fPIC -o "$ctx/ucp-nodisc.so" "$HACK/images/ucp-nodisc.c"
  bud "mpi-$1" --build-arg SUITE="$1" -t "localhost/cairn-mpi:$1" -f "$HACK/images/mpi.Dockerfile" "$ctx"
  : >"$IMG/mpi-$1.base"; echo "$key" >"$IMG/mpi-$1.key"
}

do_bases() {
  local s
  for s in "${suites[@]}"; do mpi "$s"; done
}

# The input of the Dockerfile's build: all files that git tracks or would add (or all files, if
# this is not a checkout), except those in .dockerignore.
source_key() {
  cd "$ROOT"
  { git ls-files --cached --others --exclude-standard 2>/dev/null || find . -type f -printf '%P\n'; } |
    grep -vE '^(\.git|bin|lib|out|\.cache|docs|hack|examples|charts|config|test|tracer/shim/build|replayer/build)/|\.md$|_test\.go$|(^|/)testdata/' |
    sort -u | while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done | xargs -0 sha256sum | digest
}

# The image of the Dockerfile is what make build makes in Debian 12. This machine is one: here it is
# made of these files, without compiling them again in a container.
do_cairn() {
  (cd "$ROOT" && make -s build) || die "make build"
  local key w=$BUILD/cairn-image
  local files=("$ROOT"/bin/{cairn,cairn-probe,cairn-operator} "$ROOT"/lib/*)
  key=cairn-$(cat "${files[@]}" | digest)
  fresh cairn "$key" && return 0
  say "image cairn"
  rm -rf "$w"; mkdir -p "$w"/{tmp,usr/local/bin,usr/local/lib/cairn,etc/ssl/certs}
  chmod 1777 "$w/tmp"
  cp "${files[@]:0:3}" "$w/usr/local/bin/"
  cp "${files[@]:3}" "$w/usr/local/lib/cairn/"
  cp /etc/ssl/certs/ca-certificates.crt "$w/etc/ssl/certs/"
  chmod -R a+rX "$w"
  scratch_image cairn "$w" localhost/cairn:dev cairn 65532:65532
  export_image cairn "$key" localhost/cairn:dev
  rm -rf "$w"
}
from_dockerfile() { # NAME TAG ARCHITECTURE
  local key name=$1 tag=$2 arch=$3
  tools
  key=$name-$(source_key)-$(go env GOVERSION)-$(cat "$IMG/tools.key")
  fresh "$name" "$key" && return 0
  say "image $name"
  local mod cache objects
  mod=$(go env GOMODCACHE) cache=$(go env GOCACHE)
  mkdir -p "$mod" "$cache"
  (cd "$ROOT" && go mod download) || die "go mod download"
  # this machine's Go with its caches, and the shim's objects: nothing is downloaded or compiled
  # twice
  objects=$BUILD/shim-$(digest "$ROOT/Dockerfile" "$ROOT/tracer/shim/Makefile" "$IMG/tools.key")
  [ -d "$objects" ] || { rm -rf "$BUILD"/shim-*; mkdir -p "$objects"; }
  bud "$name" -t "$tag" -f "$ROOT/Dockerfile" --platform "linux/$arch" \
    --build-arg VERSION="${VERSION:-$(git -C "$ROOT" describe --tags --always 2>/dev/null || echo dev)}" \
    -v "$(go env GOROOT):/usr/local/go:ro" -v "$mod:/go/pkg/mod" -v "$cache:/root/.cache/go-build" -v "$objects:/src/tracer/shim/build" "$ROOT"
  : >"$IMG/$name.base"; echo "$key" >"$IMG/$name.key"
}
do_dockerfile() { from_dockerfile dockerfile localhost/cairn:dockerfile amd64; }
do_cairn-arm64() { from_dockerfile cairn-arm64 localhost/cairn:dev-arm64 arm64; }

# Programs are compiled here and run in both Debian releases: the sonames of
# Open MPI 4 and 5 and of MPICH 4.0 and 4.2 are the same.
examples() { # DIR
  local impl
  for impl in openmpi mpich; do
    mkdir -p "$1/$impl"
    "mpicc.$impl" -O1 -g -o "$1/$impl/hello" "$HACK/images/hello.c" || die "hello.c does not compile with $impl"
  done
  [ -e "$ROOT/examples/Makefile" ] || return 0
  quiet examples make -C "$ROOT/examples"
  cp -a "$ROOT/examples/bin/." "$1/"
}

do_demo() { # SUITE
  local key ctx=$BUILD/demo-$1; mpi "$1"
  local files=("$HACK"/images/{demo.Dockerfile,hello.c} "$HACK/images.sh")
  [ ! -d "$ROOT/examples" ] || mapfile -t -O ${#files[@]} files < <(find "$ROOT/examples" -path "$ROOT/examples/bin" -prune -o -type f -print | sort)
  key=demo-$(cat "$IMG/mpi-$1.key")-$(digest "${files[@]}")
  fresh "demo-$1" "$key" && return 0
  say "image demo:$1"
  rm -rf "$ctx"; mkdir -p "$ctx/examples"
  examples "$ctx/examples"
  bud "demo-$1" --build-arg SUITE="$1" -t "localhost/cairn-demo:$1" -f "$HACK/images/demo.Dockerfile" "$ctx"
  export_image "demo-$1" "$key" "localhost/cairn-demo:$1"
}

do_minio() {
  [ -x "$BIN/minio" ] || die "$BIN/minio is missing: hack/install.sh cluster"
  local key; key=minio-2-$(cat "$BIN/.minio.version")
  fresh minio "$key" && return 0
  say "image minio"
  local w=$BUILD/minio-image; rm -rf "$w"; mkdir -p "$w/usr/local/bin" "$w/tmp" "$w/data" "$w/etc/ssl/certs"
  cp "$BIN/minio" "$w/usr/local/bin/"; chmod 1777 "$w/tmp" "$w/data"
  scratch_image minio "$w" localhost/cairn-minio:dev minio 65532:65532
  export_image minio "$key" localhost/cairn-minio:dev
  rm -rf "$w"
}

do_system() {
  [ -x "$BIN/mpi-operator" ] || die "$BIN/mpi-operator is missing: hack/install.sh cluster"
  local key w=$BUILD/system-image
  key=pause-2-$(digest <"$HACK/images/pause.c")
  if ! fresh pause "$key"; then
    rm -rf "$w"; mkdir -p "$w"
    gcc -Os -static -s -o "$w/pause" "$HACK/images/pause.c"
    scratch_image pause "$w" localhost/pause:1 /pause 65535:65535
    export_image pause "$key" localhost/pause:1
  fi
  key=mpi-operator-2-$(cat "$BIN/.mpi-operator.version")
  if ! fresh mpi-operator "$key"; then
    rm -rf "$w"; mkdir -p "$w/opt" "$w/tmp"; chmod 1777 "$w/tmp"
    cp "$BIN/mpi-operator" "$w/opt/"
    scratch_image mpi-operator "$w" "localhost/mpi-operator:$MPI_OPERATOR_VERSION" /opt/mpi-operator 65532:65532
    export_image mpi-operator "$key" "localhost/mpi-operator:$MPI_OPERATOR_VERSION"
  fi
  rm -rf "$w"
}

# --- where they go -----------------------------------------------------------
push() { # NAME TAG VARIABLE
  local to; to=$CAIRN_REGISTRY/${2#localhost/}
  # a tag per content, so that no node keeps using an older image of that name
  to=$to-$(digest <"$IMG/$1.key")
  say "push $to"
  quiet "$1-push" bh push ${CAIRN_REGISTRY_INSECURE:+--tls-verify=false} "$2" "docker://$to"
  echo "$3=$to" >>"$CAIRN_CACHE/images.env.new"
}
# each NAME TAG VARIABLE: what "make demo" and the chart need
list() {
  printf '%s\n' "cairn localhost/cairn:dev CAIRN_IMAGE" "minio localhost/cairn-minio:dev CAIRN_MINIO_IMAGE"
  local s; for s in "${suites[@]}"; do echo "demo-$s localhost/cairn-demo:$s CAIRN_DEMO_IMAGE_${s^^}"; done
}
deliver() {
  local name tag var
  : >"$CAIRN_CACHE/images.env.new"
  while read -r name tag var; do
    [ -s "$IMG/$name.key" ] || continue
    if [ "$CAIRN_CLUSTER" = existing ]; then push "$name" "$tag" "$var" </dev/null
    else echo "$var=$tag" >>"$CAIRN_CACHE/images.env.new"; fi
    # the content, for annotations that make a Deployment roll
    echo "${var}_KEY=$(digest <"$IMG/$name.key")" >>"$CAIRN_CACHE/images.env.new"
  done < <(list)
  mv "$CAIRN_CACHE/images.env.new" "$CAIRN_CACHE/images.env"
  [ "$CAIRN_CLUSTER" = existing ] || "$HACK/cluster/import.sh"
}

main() {
  local t s
  mkdir -p "$IMG" "$BUILD" "$store"
  # skip_mount_home: otherwise the store stays mounted on itself, and cannot be deleted
  cat >"$store/storage.conf" <<C
[storage]
driver = "overlay"
graphroot = "$store/root"
runroot = "$IMAGES_RUN"
[storage.options.overlay]
skip_mount_home = "true"
C
  for t in "${targets[@]}"; do
    case $t in
      bases | cairn | dockerfile | cairn-arm64 | minio | system) "do_$t" ;;
      demo) for s in "${suites[@]}"; do do_demo "$s"; done ;;
      demo-*) do_demo "${t#demo-}" ;;
      *) die "unknown target $t" ;;
    esac
  done
  [ $build_only = 1 ] || deliver
}

build_only=0 targets=()
for a; do
  case $a in --build-only) build_only=1 ;; -*) die "unknown option $a" ;; *) targets+=("$a") ;; esac
done
[ ${#targets[@]} -gt 0 ] || targets=(cairn demo minio)
[ "$(id -u)" = 0 ] || die "images are built as root"
command -v buildah >/dev/null && command -v mmdebstrap >/dev/null || die "buildah or mmdebstrap is missing: hack/install.sh cluster"
if [ "$CAIRN_CLUSTER" = existing ] && [ $build_only = 0 ] && [ -z "$CAIRN_REGISTRY" ]; then
  die "CAIRN_CLUSTER=existing needs CAIRN_REGISTRY: a registry that this machine can push to and the cluster can pull from"
fi
locked images main
