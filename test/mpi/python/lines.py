# SPDX-License-Identifier: Apache-2.0
"""Calls of MPI from known lines: prints "lines 12:f 15:<module> ..." for its calls of MPI_Barrier, in their order."""
import gc
import inspect

from mpi4py import MPI

world = MPI.COMM_WORLD
lines = []


def at(name):
    lines.append(f"{inspect.currentframe().f_back.f_lineno}:{name}")


def f():
    at("f"); world.Barrier()
    for _ in range(3):
        at("f"); world.Barrier()


class C:
    def g(self):
        (lambda: (at("C.g.<locals>.<lambda>"), world.Barrier()))()
        at("C.g"); world.Barrier()

    def generate(self):
        at("C.generate"); yield world.Barrier()


at("<module>"); world.Barrier()
f()
C().g()
list(C().generate())

# Code that comes and goes: the next one is often made where the last one was.
places = set()
for i in range(200):
    code = compile("\n" * (i * 37 % 101) + "at('<module>'); world.Barrier()", "made.py", "exec")
    places.add(id(code))
    exec(code)
    del code
    gc.collect()
if len(places) > 100:
    raise SystemExit("no address was used twice: this shows nothing")

if world.Get_rank() == 0:
    print("lines", *lines)
