# SPDX-License-Identifier: Apache-2.0
# Rank 0 sends to rank 1 late, by 50 ms for each of 6 messages. Rank 1 polls, as Python programs do: it sleeps between two
# tests, for a fixed time (argument "sleep") or for increasing times ("backoff", as mpi4py.futures does).
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD


def pauses(how):
    pause = 1e-6 if how == "backoff" else 1e-3
    while True:
        yield pause
        if how == "backoff":
            pause = min(2 * pause, 1e-3)


world.Barrier()
for _ in range(6):
    if world.rank == 0:
        time.sleep(0.05)
        world.send(b"late", dest=1)
        world.recv(source=1)
    elif sys.argv[1] == "sleep":
        request, pause = world.irecv(source=0), pauses("sleep")
        while not request.test()[0]:
            time.sleep(next(pause))
        world.send(b"thanks", dest=0)
    else:
        pause = pauses("backoff")
        while not world.iprobe(source=0):
            time.sleep(next(pause))
        world.recv(source=0)
        world.send(b"thanks", dest=0)
