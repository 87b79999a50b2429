#!/usr/bin/env bash
# Load image archives into every running node. Images that a node already has are skipped. Without
# arguments: all that hack/images.sh exported.
#   hack/cluster/import.sh [IMAGE.tar...]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

import() { # NODE FILE
  local r=$CAIRN_RUN/node$1 name key
  name=$(basename "$2" .tar)
  # the key of images.sh beside the archive, or else properties of the file
  key=$(cat "${2%.tar}.key" 2>/dev/null || stat -c '%s %Y' "$2")
  [ "$(cat "$r/imported/$name" 2>/dev/null)" = "$key" ] && return 0
  mkdir -p "$r/imported"
  import_image "$r/containerd.sock" "$2" "$LOGS/import.log" ||
    die "import of $2 into node$1, see $LOGS/import.log"
  echo "$key" >"$r/imported/$name"
}

main() {
  local n f p=() bad=0
  for n in $(nodes_up); do
    (for f; do import "$n" "$f"; done) &
    p+=($!)
  done
  for n in "${p[@]}"; do wait "$n" || bad=1; done
  return $bad
}

[ -d "$PIDS" ] || exit 0 # no cluster is up
if [ $# = 0 ]; then
  for f in "$IMG"/*.tar; do [ ! -e "$f" ] || set -- "$@" "$f"; done
fi
[ $# -gt 0 ] || exit 0
locked import main "$@"
