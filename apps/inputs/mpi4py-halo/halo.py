# Jacobi iterations with neighborhood collectives; the reduction is that of pickled objects.
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
cart = world.Create_cart([world.size], periods=[True])
width = 20000
field = numpy.zeros(width)
field[0] = world.rank + 1
send, receive = numpy.empty(2), numpy.empty(2)
for step in range(300):
    send[:] = field[0], field[-1]
    cart.Neighbor_alltoall(send, receive)
    padded = numpy.concatenate(([receive[0]], field, [receive[1]]))
    field = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    if step % 50 == 0:
        total = cart.allreduce({"sum": float(field.sum())}["sum"])
        if cart.rank == 0:
            print("step %d: %.8f" % (step, total))
