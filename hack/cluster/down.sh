#!/usr/bin/env bash
# Stop what up.sh started, by pid and start time, and remove what it left; the
# cache (binaries, images) stays.   hack/cluster/down.sh [--keep-logs]
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# Their data is removed, too, so processes get little time to end properly. A node's entry is the
# parent of process 1 of its pid namespace: everything in the node ends with it.
stop_all() {
  local f p t i left
  for f in "$PIDS"/*; do
    alive "$f" || continue
    read -r p t <"$f"
    case $f in */node*) kill -KILL "$p" ;; *) kill -TERM "$p" ;; esac
  done 2>/dev/null
  for i in $(seq 50); do
    left=
    for f in "$PIDS"/*; do alive "$f" && left="$left $f"; done
    [ -n "$left" ] || return 0
    [ "$i" != 20 ] || for f in $left; do read -r p t <"$f"; alive "$f" && kill -KILL "$p"; done
    sleep 0.1
  done
  say "still running:$left"
  return 1
}

remove_cgroups() {
  local h i
  for h in /sys/fs/cgroup/"$CGROOT" /sys/fs/cgroup/*/"$CGROOT"; do
    [ -d "$h" ] || continue
    for i in $(seq 50); do
      find "$h" -depth -type d -exec rmdir {} + 2>/dev/null
      [ -d "$h" ] || break
      sleep 0.1
    done
    [ ! -d "$h" ] || { say "left behind: $h"; bad=1; }
  done
}

main() {
  local ns bad=0
  if [ "${1:-}" = --keep-logs ] && [ -d "$LOGS" ]; then
    rm -rf "$CAIRN_CACHE/last-log"
    cp -a "$LOGS" "$CAIRN_CACHE/last-log"
  fi
  stop_all || bad=1
  # bridge and veth pairs go with their namespaces
  for ns in /run/netns/"$NS"[0-9]*; do [ ! -e "$ns" ] || ip netns del "${ns##*/}" || bad=1; done
  remove_cgroups
  [ ! -s "$CAIRN_RUN/sysctl" ] || sysctl -q -p "$CAIRN_RUN/sysctl" || bad=1
  rm -rf "$CAIRN_STATE" "$CAIRN_RUN" || bad=1
  [ $bad = 0 ] && say "cluster down" || say "cluster down, but not all of it could be removed"
  return $bad
}
locked cluster main "$@"
