#!/usr/bin/env bash
# One node: process 1 of its own pid, mount, uts and ipc namespaces, inside the node's network
# namespace (up.sh starts it). Runs containerd, the kubelet and kube-proxy. When it ends, the
# kernel removes everything in the node: containers, shims, mounts.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
n=$1 name=node$1
s=$CAIRN_STATE/$name r=$CAIRN_RUN/$name

mount --make-rshared /
hostname "$name"
# paths that the kubelet and CNI hard-code
for d in /var/lib/kubelet /var/log/pods /var/log/containers /var/lib/cni; do
  # these empty directories stay after down.sh: nodes of another cluster may have theirs mounted on
  # them, and removing a directory ends the mounts that other namespaces have on it
  mkdir -p "$d" "$s$d"
  mount --bind "$s$d" "$d"
done
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns # the pods' namespaces: this node's only
sysctl -qw net.ipv4.ip_forward=1

containerd -c "$s/containerd.toml" >>"$LOGS/$name-containerd.log" 2>&1 &
until_ok 120 containerd ctr -a "$r/containerd.sock" version
# containerd responds before its part for the kubelet does ("server is not initialized yet"), and
# the kubelet then exits immediately
kubelet() {
  local started
  for _ in $(seq 20); do
    started=$SECONDS
    "$BIN/kubelet" --config="$s/kubelet.yaml" --kubeconfig="$s/kubelet.conf" \
      --hostname-override="$name" --node-ip="$CAIRN_NET.$((10 + n))" --root-dir=/var/lib/kubelet || true
    [ $((SECONDS - started)) -lt 5 ] || return 1
    sleep 0.5
  done
  return 1
}
kubelet >>"$LOGS/$name-kubelet.log" 2>&1 &
"$BIN/kube-proxy" --config="$s/kube-proxy.yaml" --hostname-override="$name" >>"$LOGS/$name-proxy.log" 2>&1 &
# if one of them ends, the node ends
wait -n || true
say "$name: a daemon ended"
jobs -l
exit 1
