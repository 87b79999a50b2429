#!/usr/bin/env bash
# Check whether this machine can do what is asked of it, and name everything that is missing, one
# line each.
#   hack/preflight.sh base      build, and traced runs on this machine
#   hack/preflight.sh cluster   base, and the local Kubernetes cluster (or, with
#                               CAIRN_CLUSTER=existing, the one KUBECONFIG names)
#   hack/preflight.sh test      cluster, and what else the tests use
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
stage=${1:-cluster}
case $stage in base | cluster | test) ;; *) die "usage: $0 [base|cluster|test]" ;; esac

bad=0
no() { printf 'preflight: MISSING %s\n           %s\n' "$1" "$2" >&2; bad=$((bad + 1)); }
have() { command -v "$1" >/dev/null 2>&1; }

free_kb() { # the first directory above $1 that exists
  local d=$1
  until [ -d "$d" ]; do d=$(dirname "$d"); done
  df -Pk "$d" | awk 'NR==2 {print $4}'
}

base() {
  [ "$(uname -s)/$(uname -m)" = Linux/x86_64 ] || no "Linux on x86_64" "this is $(uname -s) on $(uname -m)"
  [ "$(id -u)" = 0 ] || no "root" "run as root: packages are installed, and the cluster makes namespaces and cgroups"
  have apt-get && have dpkg-query || no "apt" "a Debian 12 (bookworm) machine or one like it is needed"
  local os; os=$(. /etc/os-release 2>/dev/null; echo "${ID:-?} ${VERSION_ID:-?}")
  [ "$os" = "debian 12" ] || no "Debian 12" "this is $os; package names and versions are those of Debian 12"
  have git || no "git" "apt-get install git"
  have make || no "make" "apt-get install make"
  if have go; then
    local v want; v=$(go env GOVERSION); want=$(awk '$1 == "go" {print $2}' "$ROOT/go.mod")
    [ "$(printf '%s\n%s\n' "$want" "${v#go}" | sort -V | head -n 1)" = "$want" ] || no "Go >= $want" "found ${v#go}: https://go.dev/dl"
  else
    no "Go" "install it from https://go.dev/dl into /usr/local/go and put /usr/local/go/bin into PATH"
  fi
  [ "$(free_kb "$CAIRN_CACHE")" -ge $((4 << 20)) ] || no "disk space" "4 GB free wanted for $CAIRN_CACHE (see CAIRN_CACHE)"
}

local_cluster() {
  # Go's caches 9 GB, binaries 1, images built, exported and unpacked 5
  local need=15
  [ ! -x "$BIN/minio" ] || need=6   # the builds are there already
  local d; for d in "$CAIRN_CACHE" "$CAIRN_STATE"; do
    [ "$(free_kb "$d")" -ge $((need << 20)) ] || no "disk space" "$need GB free wanted for $d"
  done
  local mem; mem=$(awk '$1 == "MemTotal:" {print int($2 / 1024)}' /proc/meminfo)
  [ "$mem" -ge 5500 ] || no "memory" "6 GB wanted, $mem MB found"
  [ "$(id -u)" = 0 ] || return 0 # said above; what follows would only repeat it

  if unshare --mount --pid --net --uts --ipc --fork --mount-proc true 2>/dev/null; then
    unshare --mount sh -c 'mount -t tmpfs t /mnt && mkdir /mnt/l /mnt/u /mnt/w /mnt/m &&
      mount -t overlay -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w o /mnt/m' 2>/dev/null ||
      no "mounts" "tmpfs and overlay mounts are refused (in a container: it must be privileged)"
    if have ip; then # else install.sh brings it; up.sh checks again
      unshare --net sh -c 'ip link add name cbr type bridge && ip link add name cv type veth peer name cw && ip link set cv master cbr' 2>/dev/null ||
        no "network administration" "a bridge and a veth pair cannot be made in a network namespace (kernel modules bridge, veth)"
    fi
    if have nft; then
      unshare --net sh -c 'nft add table t && nft "add chain t c { type nat hook prerouting priority -100 ; }"' 2>/dev/null ||
        no "nftables" "a NAT chain cannot be made (kernel modules nf_tables, nft_nat): services need it"
    fi
    unshare --net sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' 2>/dev/null || no "sysctl" "/proc/sys is not writable"
  else
    no "namespaces" "unshare of mount, pid and network namespaces is refused (in a container: it must be privileged)"
  fi

  # create and remove a group in every hierarchy that the kubelet needs
  local hs h
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then hs=/sys/fs/cgroup
  else hs='/sys/fs/cgroup/cpu /sys/fs/cgroup/cpuset /sys/fs/cgroup/memory /sys/fs/cgroup/pids'; fi
  for h in $hs; do
    { mkdir -p "$h/cairn-preflight" && rmdir "$h/cairn-preflight"; } 2>/dev/null || no "cgroups" "$h is not writable"
  done
}

existing_cluster() {
  have kubectl || [ -x "$BIN/kubectl" ] || { no "kubectl" "hack/install.sh apiserver builds one"; return; }
  [ -n "${KUBECONFIG:-}" ] || no "KUBECONFIG" "CAIRN_CLUSTER=existing uses the cluster that KUBECONFIG names; it is not set"
  [ -n "$CAIRN_REGISTRY" ] || no "CAIRN_REGISTRY" "CAIRN_CLUSTER=existing needs a registry that this machine can push to and the cluster can pull from, for example CAIRN_REGISTRY=registry.example.com/me"
  PATH=$BIN:$PATH
  if [ -n "${KUBECONFIG:-}" ]; then
    kubectl --request-timeout=10s get --raw=/readyz >/dev/null 2>&1 || no "the cluster" "the API server that KUBECONFIG names does not answer"
    kubectl --request-timeout=10s get crd mpijobs.kubeflow.org >/dev/null 2>&1 || no "mpi-operator" "the cluster lacks the MPIJob resource (kubeflow/mpi-operator $MPI_OPERATOR_VERSION or near)"
  fi
}

tests() {
  [ -c /dev/net/tun ] || no "/dev/net/tun" "the device is missing: it joins the hosts that predictions for other networks are tested on"
  [ -c /dev/fuse ] || no "/dev/fuse" "the device is missing: a file system that does not answer is made with it"
}

base
if [ "$stage" != base ]; then
  case $CAIRN_CLUSTER in
    local) local_cluster ;;
    existing) existing_cluster ;;
    *) no "CAIRN_CLUSTER" "'$CAIRN_CLUSTER' is neither local nor existing" ;;
  esac
fi
[ "$stage" != test ] || tests
[ $bad = 0 ] || { printf 'preflight: %d missing, nothing was started\n' $bad >&2; exit 1; }
