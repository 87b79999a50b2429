#!/usr/bin/env bash
# How often the verdict, a report's first sentence, is right: planted problems of all kinds,
# simulated and real, and controls without a problem, by kind with Wilson's intervals, and the
# command that runs each failed one again. Real plants are C programs under both MPIs with twice as
# many ranks as cores. Each runs a second time without the problem, and the difference is compared
# with the predicted gain.
#   hack/bench-verdict.sh      SIMULATED=240 CONTROLS=300 REAL=60 SEED=1 KINDS= (all; else "chain,moving")
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
go run ./hack/plant bench --simulated "${SIMULATED:-240}" --controls "${CONTROLS:-300}" --real "${REAL:-60}" --seed "${SEED:-1}" \
  ${KINDS:+--kinds "$KINDS"}
