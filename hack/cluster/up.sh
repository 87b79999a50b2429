#!/usr/bin/env bash
# Start the local cluster, or the parts of it that are not running: a control plane and CAIRN_NODES
# nodes, each in its own namespaces, and mpi-operator. Everything runs in the background; logs are
# in $CAIRN_STATE/log.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
t0=$SECONDS

# --- network -----------------------------------------------------------------
# Namespace cairn0 has a bridge with the control plane's address; each node's namespace is
# connected to it. Nothing is routed out of them.
usable_ns() { [ -e "/run/netns/$1" ] && nsenter --net="/run/netns/$1" true 2>/dev/null; }
fresh_ns() {
  [ ! -e "/run/netns/$1" ] || ip netns del "$1"
  ip netns add "$1"
  ip -n "$1" link set lo up
}
network() {
  local n m
  if ! usable_ns ${NS}0; then
    fresh_ns ${NS}0
    ip -n ${NS}0 link add name br0 type bridge
    ip -n ${NS}0 addr add "$CPIP/24" dev br0
    ip -n ${NS}0 link set br0 up
  fi
  for n in $(seq "$CAIRN_NODES"); do
    alive "$PIDS/node$n" && continue
    # a node that is not running starts from scratch
    fresh_ns $NS"$n"
    rm -rf "${CAIRN_RUN:?}/node$n" "${CAIRN_STATE:?}/node$n"
    ip -n ${NS}0 link del "v$n" 2>/dev/null || true
    ip -n ${NS}0 link add name "v$n" type veth peer name eth0 netns $NS"$n"
    ip -n ${NS}0 link set "v$n" master br0 up
    ip -n $NS"$n" addr add "$CAIRN_NET.$((10 + n))/24" dev eth0
    ip -n $NS"$n" link set eth0 up
    # a service's address needs a route before kube-proxy can rewrite it
    ip -n $NS"$n" route add "$CAIRN_SVCNET.0/24" via "$CPIP"
    ip -n ${NS}0 route replace "$CAIRN_PODNET.$n.0/24" via "$CAIRN_NET.$((10 + n))"
  done
  for n in $(seq "$CAIRN_NODES"); do for m in $(seq "$CAIRN_NODES"); do
    [ "$n" = "$m" ] || ip -n $NS"$n" route replace "$CAIRN_PODNET.$m.0/24" via "$CAIRN_NET.$((10 + m))"
  done; done
}

# --- certificates and kubeconfigs ---------------------------------------------
cert() { # FILE SUBJECT [SAN]
  [ -s "$PKI/$1.crt" ] && return 0
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" \
    -keyout "$PKI/$1.key" -out "$PKI/$1.csr" 2>/dev/null
  openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 3650 \
    -extfile <(printf 'keyUsage=digitalSignature\nextendedKeyUsage=clientAuth,serverAuth\n'; [ -z "${3:-}" ] || echo "subjectAltName=$3") \
    -out "$PKI/$1.crt.new" 2>/dev/null
  mv "$PKI/$1.crt.new" "$PKI/$1.crt"
}
b64() { base64 -w0 "$1"; }
conf() { # CERT FILE [SERVER]: everything inside, so that the file can be copied
  (umask 077; printf '%s\n' "apiVersion: v1" "kind: Config" "current-context: cairn" \
    "clusters: [{name: cairn, cluster: {server: '${3:-$APISERVER}', certificate-authority-data: $(b64 "$PKI/ca.crt")}}]" \
    "users: [{name: cairn, user: {client-certificate-data: $(b64 "$PKI/$1.crt"), client-key-data: $(b64 "$PKI/$1.key")}}]" \
    "contexts: [{name: cairn, context: {cluster: cairn, user: cairn}}]" >"$2.new")
  mv "$2.new" "$2"
}
certificates() {
  local n svc=kubernetes.default.svc
  export RANDFILE=/dev/null
  if [ ! -s "$PKI/sa.pub" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
      -subj /CN=cairn-ca -keyout "$PKI/ca.key" -out "$PKI/ca.crt" 2>/dev/null
    openssl genrsa -out "$PKI/sa.key" 2048 2>/dev/null
    openssl rsa -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub" 2>/dev/null
  fi
  cert apiserver /CN=kube-apiserver "IP:$CPIP,IP:127.0.0.1,IP:$CAIRN_SVCNET.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:$svc,DNS:$svc.cluster.local"
  cert apiserver-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client
  cert admin /O=system:masters/CN=admin
  cert controller-manager /CN=system:kube-controller-manager
  cert scheduler /CN=system:kube-scheduler
  cert coredns /CN=coredns
  cert proxy /CN=system:kube-proxy
  for n in controller-manager scheduler coredns proxy; do conf $n "$PKI/$n.conf"; done
  for n in $(seq "$CAIRN_NODES"); do
    cert "node$n" "/O=system:nodes/CN=system:node:node$n" "IP:$CAIRN_NET.$((10 + n)),DNS:node$n"
    mkdir -p "$CAIRN_STATE/node$n" "$CAIRN_RUN/node$n"
    conf "node$n" "$CAIRN_STATE/node$n/kubelet.conf"
  done
  chmod 600 "$PKI"/*.key
}

# --- control plane --------------------------------------------------------------
cp_spawn() { local name=$1; shift; spawn "$name" nsenter --net="/run/netns/${NS}0" "$@"; }
control_plane() {
  cp_spawn etcd "$BIN/etcd" --name cairn --data-dir "$CAIRN_STATE/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster cairn=http://127.0.0.1:2380
  cp_spawn apiserver "$BIN/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
    --bind-address="$CPIP" --advertise-address="$CPIP" --secure-port=6443 \
    --service-cluster-ip-range="$CAIRN_SVCNET.0/24" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
    --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" \
    --kubelet-client-certificate="$PKI/apiserver-kubelet.crt" --kubelet-client-key="$PKI/apiserver-kubelet.key" \
    --kubelet-preferred-address-types=InternalIP --allow-privileged=true --profiling=false
  if ! alive "$PIDS/forward"; then
    # the same port as before, if there was one: kubeconfigs may have been copied
    local port; port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$CAIRN_RUN/forward" 2>/dev/null || true)
    rm -f "$CAIRN_RUN/forward"
    spawn forward "$BIN/cairn-forward" "/run/netns/${NS}0" "${port:-$CAIRN_PORT}" "$CPIP:6443" "$CAIRN_RUN/forward"
    until_ok 10 "forward on 127.0.0.1" test -s "$CAIRN_RUN/forward" || { cat "$LOGS/forward.log"; return 1; }
  fi
  conf admin "$ADMIN" "https://$(cat "$CAIRN_RUN/forward")"
}
controllers() {
  cp_spawn controller-manager "$BIN/kube-controller-manager" --kubeconfig="$PKI/controller-manager.conf" --bind-address=127.0.0.1 \
    --leader-elect=false --use-service-account-credentials=true --root-ca-file="$PKI/ca.crt" \
    --service-account-private-key-file="$PKI/sa.key" --profiling=false \
    --controllers='*,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller'
  cp_spawn scheduler "$BIN/kube-scheduler" --kubeconfig="$PKI/scheduler.conf" --bind-address=127.0.0.1 \
    --leader-elect=false --profiling=false
  cat >"$CAIRN_STATE/Corefile" <<C
.:53 {
  bind $CPIP
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $PKI/coredns.conf cairn
    ttl 1
  }
}
C
  cp_spawn coredns "$BIN/coredns" -conf "$CAIRN_STATE/Corefile"
}

# --- nodes ------------------------------------------------------------------------
node_config() { # N
  local n=$1 s=$CAIRN_STATE/node$1 r=$CAIRN_RUN/node$1
  mkdir -p "$s/cni"
  cat >"$s/cni/10-cairn.conflist" <<C
{"cniVersion": "1.0.0", "name": "cairn", "plugins": [
 {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "$r/ipam", "ranges": [[{"subnet": "$CAIRN_PODNET.$n.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
C
  cat >"$s/containerd.toml" <<C
version = 2
root = "$s/containerd"
state = "$r/containerd"
disabled_plugins = [$CONTAINERD_UNUSED]
[grpc]
  address = "$r/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # this root may lack CAP_SYS_RESOURCE; runc would die setting a lower score
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$s/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
C
  : >"$s/resolv.conf"
  cat >"$s/kubelet.yaml" <<C
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$r/containerd.sock
address: $CAIRN_NET.$((10 + n))
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$CGROOT/node$n
failSwapOn: false
makeIPTablesUtilChains: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $PKI/node$n.crt
tlsPrivateKeyFile: $PKI/node$n.key
clusterDNS: [$CPIP]
clusterDomain: cluster.local
resolvConf: $s/resolv.conf
# images are imported, never pulled: none may be collected, and a fairly full disk must not cause
# evictions
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
serializeImagePulls: false
C
  cat >"$s/kube-proxy.yaml" <<C
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
bindAddress: $CAIRN_NET.$((10 + n))
clusterCIDR: $CAIRN_PODNET.0.0/16
clientConnection: {kubeconfig: $PKI/proxy.conf}
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
C
}
node_cgroups() { # N: the kubelet wants its root group to exist
  local h c g=/sys/fs/cgroup
  if [ -e $g/cgroup.controllers ]; then # v2: hand every controller down
    mkdir -p $g/$CGROOT/node"$1"
    for c in $g $g/$CGROOT $g/$CGROOT/node"$1"; do
      for h in $(cat "$c/cgroup.controllers"); do echo "+$h" >"$c/cgroup.subtree_control" 2>/dev/null || true; done
    done
    return
  fi
  for h in $g/*/; do
    mkdir -p "$h$CGROOT/node$1" 2>/dev/null || continue
    if [ -e "$h$CGROOT/cpuset.mems" ]; then # a cpuset of v1 starts empty
      for c in "$CGROOT" "$CGROOT/node$1"; do
        cat "${h}cpuset.cpus" >"$h$c/cpuset.cpus"
        cat "${h}cpuset.mems" >"$h$c/cpuset.mems"
      done
    fi
  done
}
# forget_nodes: after a crash, no stale Node may look Ready, and pods that ended with their node
# must be created again at once
forget_nodes() {
  local n
  for n in $(seq "$CAIRN_NODES"); do
    alive "$PIDS/node$n" && continue
    kubectl_ delete node "node$n" --ignore-not-found >/dev/null
    kubectl_ delete pods --all-namespaces --field-selector "spec.nodeName=node$n" --force --grace-period=0 --wait=false >/dev/null 2>&1
  done
}
start_nodes() {
  local n
  for n in $(seq "$CAIRN_NODES"); do
    alive "$PIDS/node$n" && continue
    node_config "$n"
    seed_node "$n"
    node_cgroups "$n"
    # nsenter, not "ip netns exec": that would hide /sys/fs/cgroup
    spawn "node$n" nsenter --net=/run/netns/$NS"$n" \
      unshare --mount --pid --uts --ipc --fork --kill-child=KILL --mount-proc --propagation private \
      bash "$HERE/node.sh" "$n"
  done
}
# seed_node N: adds the images to a new node's containerd, as hard links: all layers are read-only,
# only the databases are copied.
seed_node() {
  local d=$CAIRN_STATE/node$1/containerd f
  cp -al "$SEED/root" "$d" 2>/dev/null || { rm -rf "$d"; cp -a "$SEED/root" "$d"; }
  find "$d" -maxdepth 2 -name '*.db' | while read -r f; do cp "$f" "$f.new" && mv "$f.new" "$f"; done
  cp -a "$SEED/imported" "$CAIRN_RUN/node$1/imported"
}

# --- what runs in every cluster ----------------------------------------------------
# There is no provisioner: a few volumes wait for the claims of charts. A volume without its claim
# is emptied and used again.
volumes() {
  local i pv phases
  phases=$(kubectl_ get pv -o jsonpath='{range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end}')
  [ "${1:-}" != released ] || grep -q ' Released$' <<<"$phases" || return 0
  for i in 1 2 3 4; do
    pv=$CAIRN_STATE/volume/$i
    if grep -qx "local-$i Released" <<<"$phases"; then
      kubectl_ delete pv "local-$i" >/dev/null
      rm -rf "$pv"
    fi
    mkdir -p "$pv"
    chmod 1777 "$pv"
    cat <<C
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: local-$i}
spec:
  storageClassName: local
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  hostPath: {path: $pv}
C
  done | kubectl_ apply --server-side -f - >/dev/null
}
objects() {
  kubectl_ apply --server-side -f - >/dev/null <<C
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: coredns}
rules:
- {apiGroups: [""], resources: [endpoints, services, pods, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: coredns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: coredns}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: coredns}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: Immediate
C
  volumes
  # mpi-operator according to its own manifest, with the image built here
  sed "s|image: mpioperator/mpi-operator:.*|image: localhost/mpi-operator:$MPI_OPERATOR_VERSION|" \
    "$CAIRN_CACHE/mpi-operator-$MPI_OPERATOR_VERSION.yaml" | kubectl_ apply --server-side -f - >/dev/null
}

save_sysctls() { # the kubelet changes these for the whole machine; down.sh puts them back
  [ ! -s "$CAIRN_RUN/sysctl" ] || return 0
  local k
  for k in vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes; do
    echo "$k=$(sysctl -n $k)"
  done >"$CAIRN_RUN/sysctl"
}

main() {
  local n again=0
  mkdir -p "$CAIRN_STATE"
  mkdir -p "$LOGS" "$PKI" "$PIDS"
  cat /proc/sys/kernel/random/boot_id >"$CAIRN_STATE/boot-id"
  save_sysctls
  network
  certificates
  [ ! -d "$CAIRN_STATE/etcd" ] || again=1
  control_plane
  "$HERE/seed.sh" # while the API server starts, and containerd as well
  [ $again = 1 ] || start_nodes
  until_ok 180 "API server" kubectl_ get --raw=/readyz || { tail -n 5 "$LOGS/apiserver.log"; return 1; }
  say "API server ready after $((SECONDS - t0))s"
  [ $again = 0 ] || { forget_nodes; start_nodes; }
  controllers
  objects
  for n in $(seq "$CAIRN_NODES"); do
    until_ok 180 "node$n registered" kubectl_ get node "node$n" || { tail -n 5 "$LOGS/node$n-kubelet.log"; return 1; }
  done
  kubectl_ wait --for=condition=Ready node --all --timeout=180s >/dev/null
  say "nodes Ready after $((SECONDS - t0))s"
  kubectl_ -n mpi-operator rollout status deployment/mpi-operator --timeout=180s >/dev/null
  until_ok 60 DNS in_cp curl -fs http://127.0.0.1:8181/ready
  "$HERE/import.sh" # into nodes that ran before
  say "cluster up after $((SECONDS - t0))s; KUBECONFIG=$ADMIN"
}

[ "$CAIRN_CLUSTER" = local ] || die "CAIRN_CLUSTER=$CAIRN_CLUSTER: this script only starts the local cluster"
# from before a reboot: namespaces and processes are gone, and the data is useless
if [ -s "$CAIRN_STATE/boot-id" ] && [ "$(cat "$CAIRN_STATE/boot-id")" != "$(cat /proc/sys/kernel/random/boot_id)" ]; then
  "$HERE/down.sh"
fi
if [ "$(nodes_up 2>/dev/null | wc -l)" -ge "$CAIRN_NODES" ] && "$HERE/status.sh" --quiet; then
  "$HERE/import.sh"
  volumes released
  say "cluster is up; KUBECONFIG=$ADMIN"
  exit 0
fi
"$HACK/preflight.sh" cluster
for b in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns cairn-forward; do
  [ -x "$BIN/$b" ] || die "$BIN/$b is missing: hack/install.sh cluster"
done
for b in pause mpi-operator; do [ -s "$IMG/$b.tar" ] || die "image $b is missing: hack/install.sh cluster"; done
locked cluster main
