# SPDX-License-Identifier: Apache-2.0
"""As lines.py, with the extension tinympi, whose folder is the argument; also coroutines."""
import inspect
import sys

sys.path.insert(0, sys.argv[1])
import tinympi  # noqa: E402

lines = []


def at(name):
    lines.append("%d:%s" % (inspect.currentframe().f_back.f_lineno, name))


def f():
    at("f"); tinympi.held()
    at("f"); tinympi.released()


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
    del code
print("lines", *lines)
tinympi.finalize()
