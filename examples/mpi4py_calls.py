# SPDX-License-Identifier: Apache-2.0
"""MPI from Python: pickled objects, buffers, requests, a split communicator, a window.

    mpirun -np 4 python3 examples/mpi4py_calls.py [--counts] [--global]

--counts prints how often each of the MPI functions was called that the program calls by itself; mpi4py calls a few more
at start and end. --global loads libmpi into the scope of the whole process, as some sites do; by default it is in the
scope of Python's module only.
"""
import os
import sys
from array import array
from collections import Counter

if "--global" in sys.argv:
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)

from mpi4py import MPI  # noqa: E402  (calls MPI_Init_thread)

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
left, right = (rank - 1) % ranks, (rank + 1) % ranks
calls = Counter()


def check(right_result, what):
    if not right_result:
        sys.exit(f"wrong: {what}")


def call(f, names, *arguments, **keywords):
    """Calls f, which makes the MPI calls of these names."""
    for name in names.split():
        calls[name] += 1
    return f(*arguments, **keywords)


# pickled: a receive looks for the message first, for its size
if rank % 2 == 0:
    call(world.send, "MPI_Send", {"from": rank, "data": list(range(100))}, dest=right, tag=1)
if left % 2 == 0:
    got = call(world.recv, "MPI_Mprobe MPI_Mrecv", source=left, tag=1)
    check(got["from"] == left, "what recv got")

# buffers
for i in range(5):
    mine, theirs = array("i", [rank] * 10), array("i", [0] * 10)
    requests = [
        call(world.Irecv, "MPI_Irecv", theirs, source=left, tag=2),
        call(world.Isend, "MPI_Isend", mine, dest=right, tag=2),
    ]
    call(MPI.Request.Waitall, "MPI_Waitall", requests)
    check(theirs[9] == left, "what Irecv got")
    total = array("i", [0] * 10)
    call(world.Allreduce, "MPI_Allreduce", mine, total, op=MPI.SUM)
    check(total[0] == ranks * (ranks - 1) // 2, "Allreduce")

half = call(world.Split, "MPI_Comm_split", color=rank % 2, key=-rank)
call(half.Barrier, "MPI_Barrier")
call(half.Free, "MPI_Comm_free")

memory = array("i", [-1])
window = call(MPI.Win.Create, "MPI_Win_create", memory, disp_unit=4, comm=world)
call(window.Fence, "MPI_Win_fence")
call(window.Put, "MPI_Put", array("i", [rank]), right)
call(window.Fence, "MPI_Win_fence")
check(memory[0] == left, "what was put")
call(window.Free, "MPI_Win_free")

if "--counts" in sys.argv:
    line = " ".join([f"counts rank={rank}", *(f"{name}={n}" for name, n in sorted(calls.items()))])
    os.write(1, (line + "\n").encode())  # at once: print writes in pieces, between which other ranks' come
