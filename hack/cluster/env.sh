# shellcheck shell=bash
# What the cluster's scripts share in addition to ../lib.sh: paths, and processes identified by pid
# and start time. Sourced, never run.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

HERE=$HACK/cluster
LOGS=$CAIRN_STATE/log
PKI=$CAIRN_STATE/pki
PIDS=$CAIRN_RUN/pid
CPIP=$CAIRN_NET.1                    # control plane
APISERVER=https://$CPIP:6443         # as seen inside the cluster
NS=$CAIRN_NAME                       # network namespaces: cairn0 control plane, cairnN node N
CGROOT=$CAIRN_NAME                   # below every cgroup hierarchy
CGCPU=/sys/fs/cgroup/$CGROOT         # of the hierarchy that counts CPU time
[ -e /sys/fs/cgroup/cgroup.controllers ] || CGCPU=/sys/fs/cgroup/cpuacct/$CGROOT
ADMIN=$CAIRN_STATE/admin.conf
SEED=$CAIRN_CACHE/seed
CONTAINERD_UNUSED='"io.containerd.internal.v1.opt", "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"'
[ -x "$BIN/kubectl" ] && KUBECTL=$BIN/kubectl || KUBECTL=kubectl

kubectl_() { "$KUBECTL" --kubeconfig "$ADMIN" "$@"; }
in_cp() { nsenter --net="/run/netns/${NS}0" "$@"; }

# Field 22 of /proc/PID/stat, counted after the name, which may contain anything. A zombie that has
# not been waited for is not running.
startof() {
  local s
  s=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  s=${s##*) }
  # shellcheck disable=SC2086
  set -- $s
  [ "$1" != Z ] || return 1
  echo "${20}"
}
alive() { # PIDFILE: is the very process running that was started then?
  local p t
  [ -s "$1" ] || return 1
  read -r p t <"$1"
  [ "$(startof "$p" 2>/dev/null)" = "$t" ]
}
# spawn NAME COMMAND...: in the background, in its own session, counted by cpu_seconds
spawn() {
  local name=$1 p; shift
  alive "$PIDS/$name" && return 0
  mkdir -p "$CGCPU/daemons"
  {
    echo "$BASHPID" >"$CGCPU/daemons/cgroup.procs"
    exec setsid "$@"
  } >>"$LOGS/$name.log" 2>&1 </dev/null &
  p=$!
  echo "$p $(startof $p)" >"$PIDS/$name"
}
# cpu_seconds prints the CPU time that the cluster and its pods have used so far.
cpu_seconds() {
  { cat "$CGCPU/cpuacct.usage" "$CGCPU/cpu.stat" 2>/dev/null || true; } | # one of them, or none yet
    awk 'NF == 1 {s = $1 / 1e9} $1 == "usage_usec" {s = $2 / 1e6} END {printf "%.0f\n", s}'
}
stop() { # PIDFILE: TERM, after 10 s KILL
  local p t i
  if alive "$1"; then
    read -r p t <"$1"
    kill -TERM "$p"
    for i in $(seq 150); do
      alive "$1" || break
      [ "$i" != 100 ] || kill -KILL "$p"
      sleep 0.1
    done
  fi
  rm -f "$1"
}
until_ok() { # SECONDS WHAT COMMAND...
  local t=$1 what=$2 end
  shift 2
  end=$((SECONDS + t))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { say "timeout after ${t}s: $what" >&2; return 1; }
    sleep 0.2
  done
}
# import_image loads an image archive into the containerd behind a socket, in up to three attempts.
# The name's old image becomes garbage as soon as the name refers to the new one. The collector may
# then remove a layer that both images have and that the import has just found
# (github.com/containerd/containerd/issues/3787). The next attempt unpacks that layer again.
import_image() { # SOCKET FILE LOG
  local try
  for try in 1 2 3; do
    ctr -a "$1" -n k8s.io images import "$2" >>"$3" 2>&1 && return 0
    printf '\nimport of %s failed, try %d of 3\n' "$2" "$try" >>"$3"
  done
  return 1
}
nodes_up() { # the numbers of the nodes that run
  local f
  for f in "$PIDS"/node*; do
    if alive "$f"; then echo "${f##*node}"; fi
  done
}
components=(etcd apiserver controller-manager scheduler coredns forward)
