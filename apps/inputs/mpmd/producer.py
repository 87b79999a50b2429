# Rank 0 of two programs: sends pieces of work to the other program and gets the answers.
from mpi4py import MPI

world = MPI.COMM_WORLD
mine = world.Split(0, world.rank)
total = 0
for piece in range(300):
    world.send({"piece": piece, "values": list(range(piece % 7))}, dest=1, tag=piece % 3)
    total += world.recv(source=1)
world.send(None, dest=1)
print("answers: %d, ranks of this program: %d of %d" % (total, mine.size, world.size))
