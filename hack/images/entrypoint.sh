#!/bin/bash
# A launcher waits until its own name and the workers' resolve (DNS learns of
# pods a little later than mpi-operator does), then runs the command. Nothing
# here helps tracing, or Open MPI 5 to find the host file: that is for the job's
# author, or Cairn, to set, and tests would not notice if it were set here.
if [ "$K_MPI_JOB_ROLE" = launcher ]; then
  for h in "$HOSTNAME" $(sed 's/[: ].*//' /etc/mpi/hostfile); do
    for _ in $(seq 100); do getent hosts "$h" >/dev/null && break; sleep 0.2; done
  done
fi
exec "$@"
