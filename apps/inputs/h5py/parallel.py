# Every rank writes its rows of a shared data set in one file, collectively and alone, and reads those of its neighbor.
import sys
sys.path.insert(0, "/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
import numpy
from mpi4py import MPI
import h5py

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
rows, columns = 16, 1024
with h5py.File("rows.h5", "w", driver="mpio", comm=comm) as f:
    d = f.create_dataset("rows", (size * rows, columns), dtype="f8")
    for step in range(20):
        values = numpy.full((rows, columns), rank + step, dtype="f8")
        if step % 2:
            with d.collective:
                d[rank * rows:(rank + 1) * rows] = values
        else:
            d[rank * rows:(rank + 1) * rows] = values
with h5py.File("rows.h5", "r", driver="mpio", comm=comm) as f:
    other = (rank + 1) % size
    total = comm.reduce(float(f["rows"][other * rows:(other + 1) * rows].sum()))
if rank == 0:
    print("sum of the file: %.1f" % total)
