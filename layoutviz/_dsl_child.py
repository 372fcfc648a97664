"""The process behind `layoutviz.cute.in_dsl`: it takes questions from a pipe and asks the DSL. Run by `cute._Child`, never imported by it.

Layouts exist only while a jit function is traced, and a trace costs far more than a question. So many questions are answered inside one.
"""

import os
import signal
import sys
from multiprocessing.connection import Connection

from layoutviz.composed import ComposedLayout, Swizzle, Tensor
from layoutviz.cute import Said, cleaned, from_dsl, to_dsl
from layoutviz.errors import LayoutError
from layoutviz.layout import CoordinateFunction
from layoutviz.notation import format_tuple

QUESTIONS = 500  # answered in one trace, whose code grows with each
MEMORY = 2**33  # bytes, 50 times what the DSL needs: append(L, L, 2**30) must not fill the machine
GRACE = 5  # seconds after which a stuck question ends the process even if nobody is left to end it


class Enough(Exception):
    """Ends a trace before anything is compiled."""


def main(link: Connection) -> None:
    try:
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an abort leaves no core file
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        import cutlass.cute as cute
    except Exception as problem:
        link.send(f"the DSL is installed but can't be imported: {cleaned(problem)}")
        return
    link.send(None)

    @cute.jit
    def trace():
        answer_questions(link)
        raise Enough

    while True:
        try:
            trace()
        except Enough:
            pass


def answer_questions(link: Connection) -> None:
    for _ in range(QUESTIONS):
        try:
            op, args, seconds = link.recv()
        except (EOFError, ConnectionError):
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        said = answer(op, args)
        signal.setitimer(signal.ITIMER_REAL, 0)
        link.send(said)


def answer(op: str, args: tuple) -> Said:
    """Ask the DSL one thing."""
    try:
        theirs = call(op, *map(_theirs, args))
    except Exception as problem:  # whatever it raises is its refusal
        return Said("refusal", None, cleaned(problem))
    try:
        ours = _ours(theirs)
    except Exception as problem:
        return Said("answer", None, _printed(theirs), str(problem))
    return Said("answer", ours, format_tuple(ours))


def call(op: str, *args):
    """`op` under the DSL's name and in its order of arguments."""
    import cutlass.cute as cute
    from cutlass import Int32

    first, rest = args[0], args[1:]
    if op == "coalesce":
        return cute.coalesce(first, target_profile=rest[0] if rest else None)
    if op in ("select", "get", "size", "cosize", "rank", "depth"):
        return getattr(cute, op)(first, **({"mode": rest[0]} if rest and rest[0] is not None else {}))
    if op == "tile_to_shape":  # its order has no default; in C++ it is the order of the modes
        shape, *order = rest
        default = tuple(range(len(shape))) if isinstance(shape, tuple) else 0
        return cute.tile_to_shape(first, shape, order[0] if order and order[0] is not None else default)
    if op == "local_partition":
        threads, index, *proj = rest
        if not isinstance(index, int) or not -(2**31) <= index < 2**31:  # Int32 would wrap it without a word
            raise LayoutError(f"the DSL's index is one number of 32 bits, not {format_tuple(index)}")
        threads = cute.make_layout(threads) if isinstance(threads, tuple) else threads
        return cute.local_partition(first, threads, Int32(index), *(p for p in proj if p is not None))
    return getattr(cute, {"group": "group_modes"}.get(op, op))(*args)


def _theirs(value):
    if isinstance(value, tuple):
        return tuple(map(_theirs, value))
    if isinstance(value, Tensor) and isinstance(value.layout, ComposedLayout):  # one that counts from an int aborts the process
        from cutlass.cute import Int8, make_ptr, make_tensor

        return make_tensor(make_ptr(Int8, value.offset), to_dsl(value.layout))
    return to_dsl(value) if isinstance(value, (CoordinateFunction, Swizzle)) else value


def _ours(value):
    if isinstance(value, tuple):
        return tuple(map(_ours, value))
    return value if isinstance(value, int) else from_dsl(value)


def _printed(value) -> str:
    if isinstance(value, tuple):
        return "(" + ",".join(map(_printed, value)) + ")"
    try:
        return cleaned(value.type)  # str() of a swizzle leaves off its end
    except (AttributeError, ValueError):
        return str(value)


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
