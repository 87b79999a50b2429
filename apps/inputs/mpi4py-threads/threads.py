# Two threads of each rank send and receive at the same time, each with a communicator of its own.
import threading
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
other = (world.rank + 1) % world.size
sums = [0.0, 0.0]


def work(which, comm):
    data, got = numpy.full(100, world.rank + which, dtype="d"), numpy.empty(100)
    for _ in range(200):
        comm.Sendrecv(data, other, 0, got, (world.rank - 1) % world.size, 0)
        sums[which] += float(got.sum())


comms = [world.Dup(), world.Dup()]
threads = [threading.Thread(target=work, args=(i, c)) for i, c in enumerate(comms)]
for t in threads:
    t.start()
for t in threads:
    t.join()
total = world.reduce(sum(sums))
if world.rank == 0:
    print("sum: %.1f" % total)
