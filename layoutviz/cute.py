"""The bridge to the CuTe Python DSL: its layouts as ours, ours as its, and what it says itself when it is asked.

The DSL is imported only when it is needed. A call into it can abort the process, so `in_dsl` asks in a child process.
"""

import atexit
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from math import prod
from multiprocessing import Pipe
from pathlib import Path
from textwrap import shorten

from layoutviz import algebra
from layoutviz.composed import ComposedLayout, Swizzle, Tensor, as_function, as_layout
from layoutviz.errors import COURSE, LayoutError, RaggedWarning
from layoutviz.int_tuple import int_tuple
from layoutviz.layout import CoordinateFunction, Layout
from layoutviz.notation import format_tuple, parse

NEEDS_DSL = "this needs the CuTe Python DSL (nvidia-cutlass-dsl, Linux only): pip install -e '.[dsl]' in the course's folder"
START_SECONDS = 120  # for the child's start: the first import of the DSL on a new machine is slow

_LAYOUTS = {"layout", "a", "block", "threads", "values", "atom", "target"}  # parameters where a shape means its compact layout


def has_dsl() -> bool:
    """Whether the DSL is installed, without importing it."""
    found = find_spec("cutlass")  # an older, different package has this name too, but no cute
    return found is not None and any((Path(folder) / "cute").is_dir() for folder in found.submodule_search_locations or ())


def _cute():
    if not has_dsl():
        raise LayoutError(NEEDS_DSL)
    import cutlass.cute as cute

    return cute


def from_dsl(thing) -> Layout | ComposedLayout | Swizzle | Tensor:
    """A layout of the DSL as ours. A tensor gives its layout; one that counts from an int, as `make_tensor(7, L)`, a Tensor with it.

    Pre: static, strides are ints; layouts are read inside the `@cute.jit` function that made them, tensors made by `from_dlpack`
    anywhere. The layout of no modes, `():()`, is 1:0 here. What the DSL calls `outer`, the layout that is seen, is `inner` here.
    Raises LayoutError for dynamic extents, coordinate strides (1@0), functions that are no layout, and layouts of an ended trace.
    Example: inside `@cute.jit`, str(from_dsl(cute.make_layout((4, 8)))) is "(4,8):(1,4)".
    """
    cute = _cute()
    _check_alive(thing)
    if isinstance(thing, cute.Swizzle):
        return Swizzle(thing.num_bits, thing.num_base, thing.num_shift)
    if isinstance(thing, cute.ComposedLayout):
        return ComposedLayout(from_dsl(thing.inner), _static(thing.offset, thing), from_dsl(thing.outer))
    if isinstance(thing, cute.Tensor):
        try:
            layout, start = thing.layout, thing.iterator
        except NotImplementedError:  # one made outside jit, as by from_dlpack: it has a shape and a stride only
            return Layout(_static(thing.shape, thing), _static(thing.stride, thing))
        return Tensor(from_dsl(layout), start) if isinstance(start, int) else from_dsl(layout)
    if isinstance(thing, cute.Layout):
        shape, stride = _static(thing.shape, thing), _static(thing.stride, thing)
        return Layout(1, 0) if shape == () else Layout(shape, stride)
    raise LayoutError(f"a {type(thing).__name__} of the DSL is no layout; layouts, swizzles and tensors can be taken")


def tv_of(thing, operand: str | None = None) -> tuple[tuple[int, ...], Layout]:
    """The tile and the TV layout of a tiled copy or MMA of the DSL: TV(thread, value) is the (colexicographic) index in the tile.

    operand: "A" (M x K), "B" (N x K) or "C" (M x N, the default) of a tiled MMA or an MMA atom; "src" (the default) or "dst" of a tiled
    copy. The TV layout is the DSL's own, in its form. Where a copy's tiler has gaps, the tile is what it picks out.
    Call it inside the `@cute.jit` function that made the thing. Raises LayoutError for anything else, for no such operand, and where
    the DSL's layout leaves its tile, as under a permutation with gaps.
    Example: with the fp16 16x8x16 atom of Ampere, tv_of(tiled_mma, "C") is ((16, 8), ((4,8),((2,2),(1,1))):((32,1),((16,8),(0,0)))).
    """
    cute = _cute()
    if isinstance(thing, cute.MmaAtom):
        tiled, modes = isinstance(thing, cute.TiledMma), {"C": (0, 1), "A": (0, 2), "B": (1, 2)}
    elif isinstance(thing, cute.TiledCopy):
        tiled, modes = True, {"src": (), "dst": ()}
    else:
        raise LayoutError(f"a {type(thing).__name__} has no TV layout of a tile; tiled copies, tiled MMAs and MMA atoms have")
    _check_alive(thing._trait)
    operand = next(iter(modes)) if operand is None else operand
    if operand not in modes:
        raise LayoutError(f"a {type(thing).__name__} has the operands {', '.join(modes)}, not {operand!r}")
    if isinstance(thing, cute.TiledCopy):
        tiler, tv = thing.tiler_mn, getattr(thing, f"layout_{operand}_tv_tiled")
        tile = tuple(map(cute.size, tiler if isinstance(tiler, tuple) else (tiler,)))
    else:
        tile = tuple(thing.get_tile_size(m) if tiled else cute.size(thing.shape_mnk, mode=[m]) for m in modes[operand])
        tv = getattr(thing, f"tv_layout_{operand}" + "_tiled" * tiled)
    tv = from_dsl(tv)
    if tv.offset_range[1] >= prod(tile):
        raise LayoutError(f"the TV layout of {operand}, {tv}, has indices up to {tv.offset_range[1]} in a tile of {format_tuple(tile)}")
    return tile, tv


def _check_alive(thing) -> None:
    """Reading a layout whose trace has ended crashes Python, so that must be found out first."""
    from cutlass._mlir.ir import Context

    context = getattr(getattr(thing, "value", thing), "context", None)
    if context is not None and context is not Context.current:
        raise LayoutError("this DSL layout belongs to a @cute.jit function that has ended; take it inside the function")


def _static(value, whole):
    if isinstance(value, tuple):
        return tuple(_static(entry, whole) for entry in value)
    if type(value) is int:
        return value
    if hasattr(value, "ir_value") or "?" in str(value):
        raise LayoutError(f"{whole} is dynamic: what is written ? is known only when the kernel runs")
    raise LayoutError(f"{whole} gives coordinates (strides like 1@0), not offsets; a layout here has whole numbers as strides")


def to_dsl(layout):
    """Our layout, swizzle, tensor (or notation) as the DSL's; a Tensor counts from its offset. Call it inside `@cute.jit`.

    Post: from_dsl(to_dsl(x)) == x, but for S<0,m,s>, the identity, which the DSL turns into S<0,4,3>. Raises LayoutError with the DSL's
    words where it has no such form, as for a composed layout whose inner part is composed too.
    Example: inside `@cute.jit`, to_dsl("S<3,4,3> o 0 o (8,64):(64,1)") can go to make_tensor.
    """
    cute, ours = _cute(), as_function(layout)
    try:
        if isinstance(ours, Swizzle):
            return cute.make_swizzle(ours.b, ours.m, ours.s)
        if isinstance(ours, ComposedLayout):
            return cute.make_composed_layout(to_dsl(ours.outer), ours.offset, to_dsl(ours.inner))
        if isinstance(ours, Tensor):
            return cute.make_tensor(ours.offset, to_dsl(ours.layout))
        return cute.make_layout(ours.shape, stride=ours.stride)
    except LayoutError:
        raise
    except Exception as problem:
        raise LayoutError(f"the DSL cannot make {ours}: {cleaned(problem)}") from problem


def cleaned(problem: Exception) -> str:
    """The DSL's message in one line, without colours, preambles and the wrapping of its types."""
    text = re.sub(r"\x1b\[[\d;]*m|Operation creation failed:|error: unknown:", "", str(problem))
    text = re.sub(r"'?[!#]cute\.\w+<\"(.*?)\">'?", r"\1", text)
    return shorten(text, 300) or type(problem).__name__


@dataclass(frozen=True)
class Said:
    """What the DSL said. kind: "answer", "refusal", "crash", "timeout" or "missing" (no DSL here).

    result: of an answer, ours (a layout, an int, a tuple); None for an answer that is no layout, as one with a mode of size 0.
    text: the answer as printed, the DSL's own message, or what happened. why: the reason why an answer is no layout.
    """

    kind: str
    result: object
    text: str
    why: str = ""


def in_dsl(op: str, *args, seconds: float = 60) -> Said:
    """What the DSL itself answers to `op(*args)`, which takes what it takes in layoutviz.algebra.

    It runs in a child process, which starts with the first question and is replaced after a crash or after `seconds` without an answer.
    local_tile, local_partition and slice_ of a Tensor answer with a Tensor, but for a composed layout: then the DSL keeps the offset in a
    pointer, and the layout is all there is. slice_ of a layout gives no offset. An int tiler n is handed over as n:1, which it means.
    Raises LayoutError for an unknown op or an argument that can't be read.

    >>> said = in_dsl("composition", "(4,6,8):(2,3,5)", "6:3")      # its function is 0,6,7,8,9,15
    >>> said.text if said.kind != "missing" else "(2,3):(6,3)"
    '(2,3):(6,3)'
    """
    arguments = _arguments(op, args)
    if not isinstance(seconds, (int, float)) or not 0 < seconds < 1e6:
        raise LayoutError(f"seconds is how long to wait for an answer, a positive number, not {seconds!r}")
    if not has_dsl():
        return Said("missing", None, NEEDS_DSL)
    return _CHILD.ask(op, arguments, seconds)


def _arguments(op: str, args) -> tuple:
    """The arguments as ours, each of the kind that its place asks for."""
    named = algebra.named_arguments(op, args)
    return tuple(_argument(op, name, value) for name, value in named.items())


def _argument(op: str, name: str, value):
    if name in _LAYOUTS or (name == "mode" and op in ("append", "prepend")):
        return as_function(value)
    if name == "tensor":
        return Tensor(as_layout(value))
    value = _entry(value)
    return Layout(value, 1) if name in ("tiler", "b") and isinstance(value, int) else value


def _entry(value):
    """A tiler, coordinate or the like: text with a colon is a layout, without one a shape."""
    if value is None or (isinstance(value, slice) and value == slice(None)):
        return None
    if isinstance(value, (tuple, list, range)) and value:
        return tuple(map(_entry, value))
    if isinstance(value, str) and ":" not in value and "<" not in value:
        return parse(value)[0]
    known = isinstance(value, (str, CoordinateFunction, Swizzle)) or type(value).__module__.startswith("cutlass")
    return as_function(value) if known else int_tuple(value, "arguments")


class _Child:
    """The process that asks the DSL. One question at a time, whichever thread asks."""

    def __init__(self):
        self.forget()
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Have no child. After a fork it is the parent's; our end of the pipe closes, so that the child sees when the parent ends."""
        self.lock, self.process, self.link = threading.Lock(), None, None

    def ask(self, op: str, args: tuple, seconds: float) -> Said:
        with self.lock:
            try:
                if (self.process is None or self.process.poll() is not None) and (problem := self.start()):
                    self.stop()
                    return Said("missing", None, problem)
                self.link.send((op, args, seconds))
                if self.link.poll(seconds):
                    return self.link.recv()
                self.stop()
                return Said("timeout", None, f"no answer in {seconds:g} s")
            except (EOFError, ConnectionError):
                return Said("crash", None, f"the process died: {self.stop(patience=5)}")
            except BaseException:  # Ctrl-C in the middle: the next question must not get this one's answer
                self.stop()
                raise

    def start(self) -> str | None:
        """Start a child and wait until it has the DSL; what went wrong, in words, if it has not."""
        self.link, theirs = Pipe()
        path = [str(COURSE), *filter(None, [os.environ.get("PYTHONPATH")])]
        # without the caller's settings of the DSL, which may dump files, and without a GPU
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTE_DSL_")}
        environment |= {"PYTHONPATH": os.pathsep.join(path), "CUDA_VISIBLE_DEVICES": "", "CUTE_DSL_ARCH": "sm_90a"}
        command = [sys.executable, "-P", "-m", "layoutviz._dsl_child", str(theirs.fileno())]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        with theirs:
            self.process = subprocess.Popen(
                command, **quiet, pass_fds=[theirs.fileno()], env=environment, cwd=tempfile.gettempdir(), start_new_session=True
            )
        try:
            return self.link.recv() if self.link.poll(START_SECONDS) else f"the DSL did not start in {START_SECONDS} s"
        except (EOFError, ConnectionError):
            return f"the DSL died while it started: {self.stop(patience=5)}"

    def stop(self, patience: float = 0) -> str:
        """End the child, if there is one, and say how it ended. `patience`: seconds to let it end by itself."""
        process, link, self.process, self.link = self.process, self.link, None, None
        if link:
            link.close()
        if process is None:
            return "it had not started"
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
        code = process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


_CHILD = _Child()


@dataclass(frozen=True)
class Comparison:
    """The law, ours and the DSL on one question. rows: (who, what it gives, verdict in a word, why)."""

    question: str
    rows: tuple[tuple[str, str, str, str], ...]

    def __str__(self):
        rows = [[shorten(cell, 70, placeholder=" ...") for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.question, *lines])

    def _repr_html_(self):
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        head = "".join(f"<th>{title}</th>" for title in ("who", "gives", "verdict", "why"))
        return f"<table><caption>{escape(self.question)}</caption><tr>{head}</tr>{body}</table>"


def what_each_says(op: str, *args, seconds: float = 60) -> Comparison:
    """The law, ours and the DSL on `op(*args)`, each answer judged by `laws.check`. Raises LayoutError as in_dsl does.

    A refusal, a crash and the like are told, not judged; where ours shows that there is a right answer, the DSL's row says so.
    """
    from layoutviz import laws

    arguments = _arguments(op, args)
    if op not in laws.LAWS:
        raise LayoutError(f"{op} has no law to judge by; ask in_dsl for it")
    operation = getattr(algebra, op)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RaggedWarning)  # the verdict's note tells it
            result = operation(*arguments)
        ours = Said("answer", result, format_tuple(result))
    except LayoutError as problem:
        ours = Said("refusal", None, str(problem))
    law = re.search(r"Post: (.*?)(?:\.\s|\n\s*\n|\Z)", operation.__doc__, re.S) or re.match(r"(.*?)(?:\.\s|\Z)", operation.__doc__, re.S)
    rows = [("law", " ".join(law[1].replace("`", "").split()), "", "")]
    for who, said in (("ours", ours), ("DSL", in_dsl(op, *arguments, seconds=seconds))):
        verdict, why = _judge(laws, op, arguments, said)
        beaten = said.kind != "answer" and rows[-1][2] == "right"
        rows.append((who, said.text, verdict, "a right answer exists" if beaten else why))
    return Comparison(f"{op}({', '.join(map(format_tuple, arguments))})", tuple(rows))


def _judge(laws, op: str, args: tuple, said: Said) -> tuple[str, str]:
    """A verdict in a word, and why."""
    if said.kind != "answer":
        return {"refusal": "refuses", "crash": "crashes", "timeout": "does not end", "missing": "not here"}[said.kind], ""
    if said.result is None:
        return ("undecided" if "2^62" in said.why else "wrong"), said.why
    if any(isinstance(arg, Tensor) for arg in args) and not isinstance(said.result, Tensor):
        return "undecided", "the offset is in a pointer, known at run time only"
    try:
        verdict = laws.check(op, *args, result=said.result)
    except LayoutError as problem:
        return "undecided", str(problem)
    return ("right" if verdict.holds else "wrong"), verdict.note
