"""What a kernel asks of its operands, checked while it is traced: before anything is compiled for the GPU or launched there."""

from ladder.errors import LadderError

VECTOR_BYTES = 16  # what cp.async, TMA and the widest load move at once: rows must start at a multiple of it
MODES = {"A": "MK", "B": "NK", "C": "MN"}
LONGEST = 2**31 - 2**14  # slots that an operand may span: kernels count in 32 bits, and a little past the end


def need_hopper() -> None:
    """Raise LadderError where what is being compiled is for no Hopper GPU: TMA came with Hopper, and WGMMA is Hopper's alone."""
    from cutlass.cutlass_dsl import CuTeDSL

    arch = CuTeDSL._get_dsl().get_arch_enum().name  # as the DSL's own modules ask; there is no public name for it
    if arch != "sm_90a":
        hint = "; on Ampere and Ada the ladder goes up to simple_gemm" if arch < "sm_90" else ""
        raise LadderError(f"this kernel needs Hopper, sm_90a, and is being compiled for {arch}{hint}")


def need(mA, mB, mC, *, A: str | None = "any", B: str | None = "any", C: str | None = "any", dtypes=("Float16",)) -> None:
    """Raise LadderError unless A (M,K), B (N,K) and C (M,N) fit a kernel that moves 16 bytes at once.

    mA, mB, mC: tensors, as a @cute.jit function gets them. A, B, C: the mode that must be contiguous ("k", "m", "n"), "any" for either of
    the two, or None for an operand that is moved element by element: any layout will do. dtypes: names of the DSL's types; A, B and C
    must be of one of them, the same one. What is known only at run time (a dynamic size or stride) is not looked at.
    """
    tensors = {"A": mA, "B": mB, "C": mC}
    types = {name: tensor.element_type.__name__ for name, tensor in tensors.items()}
    for name, dtype in types.items():
        if dtype not in dtypes:
            raise LadderError(f"{name} holds {dtype}; this kernel takes {' or '.join(dtypes)}")
        if dtype != types["A"]:
            raise LadderError(f"{name} holds {dtype} and A {types['A']}; they must be of one type")
    for (name, tensor), contiguous in zip(tensors.items(), (A, B, C), strict=True):
        if contiguous is not None:
            need_matrix(name, tensor.shape, tensor.stride, contiguous, tensor.element_type.width // 8)
    for name, mode, other, its in (("B", 1, "A", 1), ("C", 0, "A", 0), ("C", 1, "B", 0)):
        want, got = tensors[other].shape[its], tensors[name].shape[mode]
        if all(isinstance(size, int) for size in (want, got)) and want != got:
            raise LadderError(f"{name} has {MODES[name][mode]} = {got} and {other} has {want}; they must be the same")


def need_operands(**operands) -> None:
    """Raise LadderError unless these operands, of any names, fit each other and a kernel that moves 16 bytes at once.

    operands: name=(tensor, modes) for one of a single mode, as x=(mX, "K"): contiguous, of any length, perhaps known only at run time.
    name=(tensor, modes, contiguous) for a matrix, as A=(mA, "MK", "k"): as for `need_matrix`, and known while tracing. All are fp16,
    start at a multiple of 16 bytes and span at most LONGEST slots; modes of one letter have one size.
    """
    sizes = {}
    for name, (tensor, modes, *contiguous) in operands.items():
        dtype, start = tensor.element_type.__name__, tensor.iterator.alignment
        if dtype != "Float16":
            raise LadderError(f"{name} holds {dtype}; this kernel takes Float16")
        shape, stride = ((mode,) if not isinstance(mode, tuple) else mode for mode in (tensor.shape, tensor.stride))
        need_matrix(name, shape, stride, *contiguous, modes=modes) if contiguous else need_line(name, shape, stride, modes)
        if start % VECTOR_BYTES:
            known = f"{name} is only known to start at a multiple of {start} byte{'s' * (start != 1)}"
            raise LadderError(f"{known}; this kernel moves {VECTOR_BYTES} at once, so tell the tensor assumed_align={VECTOR_BYTES}")
        if all(isinstance(number, int) for number in (*shape, *stride)):
            spans = 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
            if spans > LONGEST:
                raise LadderError(f"{name} spans {spans} slots; this kernel counts in 32 bits, so at most {LONGEST}")
        elif contiguous:
            late = f"{name} has layout {_text(shape)}:{_text(stride)}, some of it known only at run time"
            raise LadderError(f"{late}; this kernel takes matrices that are known when it is compiled")
        for mode, size in zip(modes, shape, strict=True):
            other, want = sizes.setdefault(mode, (name, size))
            if all(isinstance(known, int) for known in (size, want)) and size != want:
                raise LadderError(f"{name} has {mode} = {size} and {other} has {want}; they must be the same")


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


def need_matrix(name: str, shape, stride, contiguous: str = "any", width: int = 2, modes: str | None = None) -> None:
    """Raise LadderError unless one mode of a matrix is contiguous and both its size and the other's stride are multiples of 16 bytes.

    width: bytes of an element. modes: MODES[name] if not given. contiguous: the mode that must be, of these in small letters, or "any".

    >>> need_matrix("A", (128, 72), (72, 1))
    >>> need_matrix("A", (128, 20), (20, 1))
    Traceback (most recent call last):
    ladder.errors.LadderError: A has K = 20 contiguous, 40 bytes; this kernel moves 16 bytes at once, so K must be a multiple of 8: 16 or 24
    """
    modes = modes or MODES[name]
    if len(shape) != 2 or any(isinstance(mode, tuple) for mode in (*shape, *stride)):
        wants = f"a matrix of two flat modes, ({','.join(modes)})"
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; this kernel takes {wants}")
    for mode, size in zip(modes, shape, strict=True):
        if isinstance(size, int) and size < 1:
            raise LadderError(f"{name} has {mode} = {size}; it must be 1 or more")
    if not all(isinstance(step, int) for step in stride):
        return
    ones = [mode for mode, step in enumerate(stride) if step == 1]
    wanted = [mode for mode in ones if contiguous in ("any", modes[mode].lower())]
    if not wanted:
        right = modes[0] + " or " + modes[1] if contiguous == "any" else contiguous.upper()
        raise LadderError(f"{name} has layout {_text(shape)}:{_text(stride)}; its {right} must be contiguous, of stride 1")
    faults = [_misaligned(name, modes, shape, stride, mode, VECTOR_BYTES // width, width) for mode in wanted]
    if all(faults):
        raise LadderError(faults[0])


def _misaligned(name, modes, shape, stride, mode, vector, width) -> str:
    """What keeps rows along this mode from being moved in whole vectors; "" if nothing does."""
    moves = f"this kernel moves {VECTOR_BYTES} bytes at once"
    size, step = shape[mode], stride[1 - mode]
    if isinstance(size, int) and size % vector:
        must = f"{modes[mode]} must be {_multiple(size, vector)}"
        return f"{name} has {modes[mode]} = {size} contiguous, {size * width} bytes; {moves}, so {must}"
    if step % vector or step < 1:
        return f"{name} has stride {step} along {modes[1 - mode]}, {step * width} bytes; {moves}, so it must be {_multiple(step, vector)}"
    return ""


def _is_one(number) -> bool:
    return isinstance(number, int) and number == 1  # a number of the DSL's compares to one of the DSL's


def _multiple(value: int, vector: int) -> str:
    """In words, the multiples of `vector` beside a value that is none; never 0."""
    below = value // vector * vector
    return f"a multiple of {vector}: {f'{below} or ' if below > 0 else ''}{max(below, 0) + vector}"


def _text(mode) -> str:
    return f"({','.join(map(_text, mode))})" if isinstance(mode, tuple) else str(mode)
