"""The cost of a call from mpi4py: CPU time per call, including the interpreter. make bench-languages runs it."""
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_SELF
n = int(sys.argv[1]) if len(sys.argv) > 1 else 500000


def held():  # mpi4py keeps the interpreter's lock
    f = comm.Get_rank
    for _ in range(n):
        f()


def released():
    f = comm.Iprobe
    for _ in range(n):
        f()


for loop in held, released:
    loop()
    begin = time.process_time_ns()
    loop()
    print(f"{loop.__name__} {(time.process_time_ns() - begin) / n:.1f}")
