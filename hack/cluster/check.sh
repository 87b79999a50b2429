#!/usr/bin/env bash
# Check that the cluster works without any part of Cairn: a plain MPIJob on two nodes with each MPI
# of each demo image, and MinIO behind a service address.
#   hack/cluster/check.sh [minio] [bookworm/openmpi | trixie/mpich | ...]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
ns=cairn-check

mpijob() { # SUITE MPI
  local name=hello-$1-$2 impl=OpenMPI t s='' hosts out
  [ "$2" = openmpi ] || impl=MPICH
  t=$(date +%s%N)
  # Open MPI 5 reads variables other than those that mpi-operator sets
  kubectl_ -n $ns apply -f - >/dev/null <<Y
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: $name}
spec:
  slotsPerWorker: 2
  mpiImplementation: $impl
  sshAuthMountPath: /home/mpiuser/.ssh
  launcherCreationPolicy: WaitForWorkersReady
  runPolicy: {cleanPodPolicy: Running, backoffLimit: 2}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: launcher
            image: localhost/cairn-demo:$1
            imagePullPolicy: IfNotPresent
            securityContext: {runAsUser: 1000}
            args: [mpirun.$2, -n, "4", /opt/cairn-examples/$2/hello]
            env:
            - {name: PRTE_MCA_prte_default_hostfile, value: /etc/mpi/hostfile}
            - {name: PRTE_MCA_plm_ssh_args, value: "-o ConnectionAttempts=10"}
    Worker:
      replicas: 2
      template:
        metadata: {labels: {check: $name}}
        spec:
          terminationGracePeriodSeconds: 1
          topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {check: $name}}}
          containers:
          - name: worker
            image: localhost/cairn-demo:$1
            imagePullPolicy: IfNotPresent
            securityContext: {runAsUser: 1000}
            args: [/usr/sbin/sshd, -De, -f, /home/mpiuser/.sshd_config]
            readinessProbe: {tcpSocket: {port: 2222}, periodSeconds: 1}
Y
  for _ in $(seq 400); do
    s=$(kubectl_ -n $ns get mpijob "$name" -o jsonpath='{range .status.conditions[?(@.status=="True")]}{.type} {end}')
    case $s in *Succeeded* | *Failed*) break ;; esac
    sleep 0.3
  done
  out=$(kubectl_ -n $ns logs -l "training.kubeflow.org/job-name=$name,training.kubeflow.org/job-role=launcher" --tail=-1)
  hosts=$(sed -n 's/^rank .* on //p' <<<"$out" | sort -u | wc -l)
  case $s in *Succeeded*) ;; *) printf '%s\n' "$out"; die "$name: ${s:-no condition}" ;; esac
  # a launcher that found no workers runs all ranks itself and "succeeds"
  [ "$hosts" = 2 ] || { printf '%s\n' "$out"; die "$name: ranks ran on $hosts hosts, not 2"; }
  say "$name: Succeeded on 2 nodes after $((($(date +%s%N) - t) / 100000000 ))00 ms; $(grep '^sum' <<<"$out")"
}

minio() {
  local s=''
  kubectl_ -n $ns apply -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: minio}
spec: {selector: {app: minio}, ports: [{port: 9000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: minio, labels: {app: minio}}
spec:
  nodeName: node1
  terminationGracePeriodSeconds: 1
  containers:
  - name: minio
    image: localhost/cairn-minio:dev
    imagePullPolicy: IfNotPresent
    args: [server, /data]
    readinessProbe: {httpGet: {path: /minio/health/live, port: 9000}, periodSeconds: 1}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, emptyDir: {}}]
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  nodeName: node2
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - name: client
    image: localhost/cairn-demo:bookworm
    imagePullPolicy: IfNotPresent
    command: [bash, -c]
    args:
    - |
      for i in \$(seq 100); do
        if exec 3<>/dev/tcp/minio/9000; then
          printf 'GET /minio/health/live HTTP/1.1\r\nHost: minio\r\nConnection: close\r\n\r\n' >&3
          if grep -q '200 OK' <&3; then echo reached; break; fi
        fi 2>/dev/null
        sleep 0.3
      done
      timeout 2 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' 2>/dev/null && echo 'a way out' || true
Y
  for _ in $(seq 200); do
    s=$(kubectl_ -n $ns get pod client -o jsonpath='{.status.phase}')
    case $s in Succeeded | Failed) break ;; esac
    sleep 0.3
  done
  [ "$(kubectl_ -n $ns logs client)" = reached ] || { kubectl_ -n $ns get pods -o wide; kubectl_ -n $ns logs client; die "MinIO was not reached through its service"; }
  say "MinIO on node1 reached from node2 through its service's name and address"
}

[ $# -gt 0 ] || set -- bookworm/openmpi bookworm/mpich trixie/openmpi trixie/mpich minio
kubectl_ delete namespace $ns --ignore-not-found --wait >/dev/null
kubectl_ create namespace $ns >/dev/null
trap 'kubectl_ delete namespace $ns --wait=false >/dev/null' EXIT
for c; do
  case $c in minio) minio ;; */*) mpijob "${c%/*}" "${c#*/}" ;; *) die "unknown check $c" ;; esac
done
