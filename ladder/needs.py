"""What a kernel asks of its operands, checked while it is traced: before anything is compiled for the GPU or launched there."""

import re
from math import gcd, prod

from ladder.errors import LadderError
from layoutviz.int_tuple import leaf_values

VECTOR_BYTES = 16  # what cp.async, TMA and the widest load move at once: rows must start at a multiple of it
MOST_BLOCKS = 65535  # of a grid, along its second mode
LONGEST = 2**31 - 2**14  # slots that an operand may span: kernels count in 32 bits, and a little past the end


def need_hopper() -> None:
    """Raise LadderError where what is being compiled is for no Hopper GPU: TMA came with Hopper, and WGMMA is Hopper's alone."""
    from cutlass.cutlass_dsl import CuTeDSL

    arch = CuTeDSL._get_dsl().get_arch_enum().name  # as the DSL's own modules ask; there is no public name for it
    if arch != "sm_90a":
        older = int(re.search(r"\d+", arch).group()) < 90
        hint = "; on Ampere and Ada the ladder goes up to simple_gemm" if older else ""
        raise LadderError(f"this kernel needs Hopper, sm_90a, and is being compiled for {arch}{hint}")


def need_grid(grid):
    """Return the grid of a launch. Raises LadderError where it has more than MOST_BLOCKS along its second mode."""
    if isinstance(grid[1], int) and grid[1] > MOST_BLOCKS:
        raise LadderError(f"C takes {grid[1]} blocks along N; a launch has at most {MOST_BLOCKS} there")
    return grid


def need(mA, mB, mC, *, A="any", B="any", C="any", dtypes=("Float16",), by_tma="") -> None:
    """Raise LadderError unless A (M,K), B (N,K) and C (M,N) fit each other and a kernel that moves 16 bytes at once.

    mA, mB, mC: tensors, as a @cute.jit function gets them. A, B, C: the mode that must be contiguous ("k", "m", "n"), "any" for either of
    the two, or None for an operand that is moved element by element. The rest is as for `need_operands`.
    """
    need_operands(dtypes=dtypes, by_tma=by_tma, A=(mA, "MK", A), B=(mB, "NK", B), C=(mC, "MN", C))


def need_operands(*, dtypes=("Float16",), by_tma="", **operands) -> None:
    """Raise LadderError unless these operands, of any names, fit each other and a kernel that moves 16 bytes at once.

    operands: name=(tensor, modes) for one of a single mode, as x=(mX, "K"): contiguous, of any length, perhaps known only at run time.
    name=(tensor, modes, contiguous) for a matrix, as A=(mA, "MK", "k"): as for `need_matrix`, and known while tracing; with None in
    place of a mode it may have any layout, nested too. The last is the result: its elements must not share slots. All but those with None
    start at a multiple of 16 bytes; all are of one of `dtypes`, the same; modes of one letter have one size. by_tma: names of those that
    TMA moves, by coordinates; others span at most LONGEST slots.
    """
    first, last, sizes = next(iter(operands)), list(operands)[-1], {}
    for name, (tensor, modes, *contiguous) in operands.items():
        need_type(name, tensor, dtypes, first, operands[first][0])
        shape, stride = ((mode,) if not isinstance(mode, tuple) else mode for mode in (tensor.shape, tensor.stride))
        if not contiguous:
            need_line(name, shape, stride, modes)
        elif contiguous == [None]:
            need_modes(name, shape, stride, modes, is_result=name == last)
        else:
            need_matrix(name, modes, shape, stride, *contiguous, tensor.element_type.width // 8, is_result=name == last)
        if contiguous != [None]:
            need_start(name, tensor.iterator.alignment)
        need_span(name, shape, stride, name in by_tma)
        for mode, size in zip(modes, map(_size, shape), strict=True):
            other, want = sizes.setdefault(mode, (name, size))
            if all(isinstance(known, int) for known in (size, want)) and size != want:
                raise LadderError(f"{name} has {mode} = {size} and {other} has {want}; they must be the same")


def need_type(name: str, tensor, dtypes, first: str, its) -> None:
    """Raise LadderError unless this tensor is of one of these types of the DSL's, by name, and of the first one's."""
    dtype, wanted = tensor.element_type.__name__, its.element_type.__name__
    if dtype not in dtypes:
        raise LadderError(f"{name} holds {dtype}; this kernel takes {' or '.join(dtypes)}")
    if dtype != wanted:
        raise LadderError(f"{name} holds {dtype} and {first} {wanted}; they must be of one type")


def need_start(name: str, alignment: int) -> None:
    """Raise LadderError unless a tensor is known to start where vectors can."""
    if alignment % VECTOR_BYTES:
        known = f"{name} is only known to start at a multiple of {alignment} byte{'s' * (alignment != 1)}"
        raise LadderError(f"{known}; this kernel moves {VECTOR_BYTES} at once, so tell the tensor assumed_align={VECTOR_BYTES}")


def need_span(name: str, shape, stride, by_tma: bool) -> None:
    """Raise LadderError where 32 bits do not count what a kernel counts: slots or, if TMA moves them, coordinates."""
    shape, stride = leaf_values(tuple(shape)), leaf_values(tuple(stride))
    if all(isinstance(number, int) for number in (*shape, *stride)):
        spans = max(shape) if by_tma else 1 + sum((size - 1) * abs(step) for size, step in zip(shape, stride, strict=True))
        if spans > LONGEST:
            what = f"has a mode of {spans}" if by_tma else f"spans {spans} slots"
            raise LadderError(f"{name} {what}; this kernel counts in 32 bits, so at most {LONGEST}")


def need_modes(name: str, shape, stride, modes: str, is_result: bool = False) -> None:
    """Raise LadderError unless there are as many modes as letters; each may be nested. is_result: no two elements of two flat modes may
    share a slot, either.

    >>> need_modes("A", ((4, 2), 8), ((2, 64), 8), "MK")
    >>> need_modes("A", (64,), (1,), "MK")
    Traceback (most recent call last):
    ladder.errors.LadderError: A has layout (64):(1), of 1 mode; this kernel takes 2, (M,K)
    """
    if len(shape) != len(modes):
        has = f"{name} has layout {_text(shape)}:{_text(stride)}, of {len(shape)} mode{'s' * (len(shape) != 1)}"
        raise LadderError(f"{has}; this kernel takes {len(modes)}, ({','.join(modes)})")
    if is_result and all(isinstance(number, int) for number in (*shape, *stride)):
        # i steps along one mode are as long as j along the other first for these, the least but none at all
        i, j = (abs(step) // gcd(*stride) for step in stride[::-1]) if any(stride) else (0, 0)
        if prod(shape) > 1 and i < shape[0] and j < shape[1]:
            raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}, in which elements share a slot; each needs its own")


def need_line(name: str, shape, stride, modes: str) -> None:
    """Raise LadderError unless this is one flat mode of contiguous elements, or of one element, whose stride means nothing.

    >>> need_line("x", (7,), (2,), "K")
    Traceback (most recent call last):
    ladder.errors.LadderError: x has layout (7):(2); its K must be contiguous, of stride 1
    """
    if len(shape) != 1 or isinstance(shape[0], tuple):
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; this kernel takes one flat mode, ({modes})")
    if isinstance(shape[0], int) and shape[0] < 1:
        raise LadderError(f"{name} has {modes} = {shape[0]}; it must be 1 or more")
    if not _is_one(shape[0]) and not _is_one(stride[0]):  # a stride that is known only at run time makes no vectors
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; its {modes} must be contiguous, of stride 1")


def need_matrix(name: str, modes: str, shape, stride, contiguous="any", width: int = 2, is_result: bool = False) -> None:
    """Raise LadderError unless one mode of a matrix is contiguous and both its size and the other's stride are multiples of 16 bytes.

    modes: their letters, as "MK". contiguous: the mode that must be, in a small letter, or "any". width: bytes of an element. is_result:
    its rows must not overlap, either.

    >>> need_matrix("A", "MK", (128, 72), (72, 1))
    >>> need_matrix("A", "MK", (128, 20), (20, 1))
    Traceback (most recent call last):
    ladder.errors.LadderError: A has K = 20 contiguous, 40 bytes; this kernel moves 16 bytes at once, so K must be a multiple of 8: 16 or 24
    """
    if len(shape) != 2 or any(isinstance(mode, tuple) for mode in (*shape, *stride)):
        wants = f"a matrix of two flat modes, ({','.join(modes)})"
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; this kernel takes {wants}")
    if not all(isinstance(number, int) for number in (*shape, *stride)):
        late = f"{name} has layout {_text(shape)}:{_text(stride)}, some of it known only at run time"
        raise LadderError(f"{late}; this kernel takes matrices that are known when it is compiled")
    for mode, size in zip(modes, shape, strict=True):
        if size < 1:
            raise LadderError(f"{name} has {mode} = {size}; it must be 1 or more")
    ones = [mode for mode, step in enumerate(stride) if step == 1]
    wanted = [mode for mode in ones if contiguous in ("any", modes[mode].lower())]
    if not wanted:
        right = modes[0] + " or " + modes[1] if contiguous == "any" else contiguous.upper()
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; its {right} must be contiguous, of stride 1")
    faults = [_misaligned(name, modes, shape, stride, mode, VECTOR_BYTES // width, width) for mode in wanted]
    if all(faults):
        raise LadderError(faults[0])
    mode = wanted[faults.index("")]
    if is_result and shape[1 - mode] > 1 and stride[1 - mode] < shape[mode]:
        overlap = f"{name} has {modes[mode]} = {shape[mode]} contiguous and stride {stride[1 - mode]} along {modes[1 - mode]}"
        raise LadderError(f"{overlap}, so its rows overlap; the stride must be {shape[mode]} or more")


def _misaligned(name, modes, shape, stride, mode, vector, width) -> str:
    """What keeps rows along this mode from being moved in whole vectors; "" if nothing does."""
    moves = f"this kernel moves {VECTOR_BYTES} bytes at once"
    size, step = shape[mode], stride[1 - mode]
    if size % vector:
        must = f"{modes[mode]} must be {_multiple(size, vector)}"
        return f"{name} has {modes[mode]} = {size} contiguous, {size * width} bytes; {moves}, so {must}"
    if step % vector or step < 1:
        return f"{name} has stride {step} along {modes[1 - mode]}, {step * width} bytes; {moves}, so it must be {_multiple(step, vector)}"
    return ""


def _size(mode):
    """The size of a mode that may be nested; of one that is known only at run time, itself."""
    sizes = leaf_values(mode)
    return prod(sizes) if all(isinstance(size, int) for size in sizes) else mode


def _is_one(number) -> bool:
    return isinstance(number, int) and number == 1  # a number of the DSL's compares to one of the DSL's


def _multiple(value: int, vector: int) -> str:
    """In words, the multiples of `vector` beside a value that is none; never 0."""
    below = value // vector * vector
    return f"a multiple of {vector}: {f'{below} or ' if below > 0 else ''}{max(below, 0) + vector}"


def _text(mode) -> str:
    return f"({','.join(map(_text, mode))})" if isinstance(mode, tuple) else str(mode)
