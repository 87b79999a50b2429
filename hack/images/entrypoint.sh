#!/bin/bash
# A launcher waits until its own name and the workers' resolve (DNS gets the names of pods a little
# later than mpi-operator creates them), then runs the command. This script does nothing to help
# tracing, or Open MPI 5 to find the host file: the job's author or Cairn must set that, and tests
# would not notice if it were set here.
if [ "$K_MPI_JOB_ROLE" = launcher ]; then
  for h in "$HOSTNAME" $(sed 's/[: ].*//' /etc/mpi/hostfile); do
    for _ in $(seq 100); do getent hosts "$h" >/dev/null && break; sleep 0.2; done
  done
fi
exec "$@"
