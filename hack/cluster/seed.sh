#!/usr/bin/env bash
# Keep a containerd directory with all exported images unpacked. up.sh gives every new node a copy
# with hard links, so that images are unpacked once, not for each node and start. Only changed
# images are imported.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

main() {
  local f name todo=() sock=$IMAGES_RUN/seed.sock pidfile=$IMAGES_RUN/seed.pid t=$SECONDS
  for f in "$IMG"/*.tar; do
    name=$(basename "$f" .tar)
    [ -e "$f" ] && ! cmp -s "$IMG/$name.key" "$SEED/imported/$name" && todo+=("$f")
  done
  [ ${#todo[@]} -gt 0 ] || return 0
  say "unpacking images: $(basename -s .tar "${todo[@]}" | tr '\n' ' ')"
  mkdir -p "$SEED/imported" "$IMAGES_RUN"
  cat >"$SEED/containerd.toml" <<C
version = 2
root = "$SEED/root"
state = "$IMAGES_RUN/seed"
disabled_plugins = ["io.containerd.grpc.v1.cri", $CONTAINERD_UNUSED]
[grpc]
  address = "$sock"
C
  # one that a killed run of this script left locks the database
  stop "$pidfile"
  # in its own mount namespace: no mount is left, whatever happens
  unshare --mount containerd -c "$SEED/containerd.toml" >"$SEED/containerd.log" 2>&1 &
  echo "$! $(startof $!)" >"$pidfile"
  trap 'stop "$IMAGES_RUN/seed.pid"' EXIT
  until_ok 60 "containerd for the images" ctr -a $sock version || { tail -n 5 "$SEED/containerd.log"; return 1; }
  for f in "${todo[@]}"; do
    name=$(basename "$f" .tar)
    rm -f "$SEED/imported/$name"
    import_image "$sock" "$f" "$SEED/import.log" || die "import of $f, see $SEED/import.log"
    cp "$IMG/$name.key" "$SEED/imported/$name"
  done
  say "images unpacked in $((SECONDS - t))s"
}
locked import main
