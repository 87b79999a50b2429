# SPDX-License-Identifier: Apache-2.0
"""As lines.py, with the extension tinympi and the library layers, whose folder is the argument; also coroutines."""
import ctypes
import inspect
import sys

sys.path.insert(0, sys.argv[1])
import tinympi  # noqa: E402

layers, locked = (kind(sys.argv[1] + "/layers.so") for kind in (ctypes.CDLL, ctypes.PyDLL))
lines = []


def at(name):
    lines.append("%d:%s" % (inspect.currentframe().f_back.f_lineno, name))


def f():
    at("f"); tinympi.held()
    at("f"); tinympi.released()
    at("f"); layers.outer()
    at("f"); locked.outer()


def generate():
    at("generate"); yield tinympi.released()


async def coroutine():
    at("coroutine"); tinympi.released()


tinympi.initialize()
f()
list(generate())
try:
    coroutine().send(None)
except StopIteration:
    pass
for i in range(200):
    code = compile("\n" * (i * 37 % 101) + "at('<module>'); tinympi.released()", "made.py", "exec")
    exec(code)
    at("<module>"); layers.outer()
    del code
print("lines", *lines)
tinympi.finalize()
