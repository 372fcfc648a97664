"""Call a kernel that takes tensors with pointers instead, so that any layout can be used. Imports the DSL: import it late.

DLPack carries flat shapes only, so tensors of nested layouts are made inside the traced call, from a pointer and the layout.
"""

import cuda.bindings.driver as cuda
import cutlass.cute as cute
from cutlass import Float16
from cutlass.cute.runtime import make_ptr, nullptr
from cutlass.cute.typing import AddressSpace

from ladder.errors import LadderError


def _tensors(pointers, layouts):
    return [cute.make_tensor(p, cute.make_layout(L.shape, stride=L.stride)) for p, L in zip(pointers, layouts, strict=True)]


def with_pointers(kernel, layouts):
    """A jit function of a pointer for each layout (and a stream, if `kernel` takes one) that calls `kernel` on tensors of these layouts."""

    @cute.jit
    def call(*arguments):
        pointers, stream = arguments[: len(layouts)], arguments[len(layouts) :]
        kernel(*_tensors(pointers, layouts), *stream)

    return call


def any_pointers(dtype=Float16, count: int = 3):
    """Pointers that stand for device buffers while compiling."""
    return [nullptr(dtype, AddressSpace.gmem, assumed_align=16) for _ in range(count)]


def compile_for_host(kernel, operands):
    """Compile host code and return run(*buffers) on the flat numpy buffers of the operands."""

    def pointers(buffers):
        return [make_ptr(Float16, x.ctypes.data + 2 * o.base, AddressSpace.generic) for x, o in zip(buffers, operands, strict=True)]

    compiled = cute.compile(with_pointers(kernel, [o.layout for o in operands]), *pointers([o.blank() for o in operands]))
    return lambda *buffers: compiled(*pointers(buffers))


def _start(number: int, buffer, base: int, dtype) -> int:
    """The address of element `base` of a torch buffer of torch's type `dtype`.

    Raises LadderError for one that a kernel would misread or could not reach.
    """
    if not buffer.is_cuda:
        raise LadderError(f"operand {number} is on the {buffer.device}; the kernel needs it on the GPU: .cuda() puts it there")
    if buffer.dtype != dtype:
        raise LadderError(f"operand {number} holds {buffer.dtype}; the kernel was compiled for {dtype}")
    start = buffer.data_ptr() + 2 * base
    if start % 16:
        raise LadderError(f"operand {number} begins {start % 16} bytes past a multiple of 16, where vectors of 16 bytes cannot begin")
    return start


def compile_for_gpu(kernel, operands, dtype=Float16):
    """Compile for the GPU that is here and return launch(*buffers) on flat torch buffers, on torch's current stream.

    operands: each with a .layout, and a .base, where offset 0 lies in its buffer. dtype: one of two bytes.
    """
    import torch

    torch.zeros(1, device="cuda")  # the DSL finds the GPU only once there is a context
    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
    compiled = cute.compile(with_pointers(kernel, [o.layout for o in operands]), *any_pointers(dtype, len(operands)), stream)

    its = getattr(torch, dtype.__name__.lower())

    def launch(*buffers):
        starts = [_start(i, x, o.base, its) for i, (x, o) in enumerate(zip(buffers, operands, strict=True), 1)]
        pointers = [make_ptr(dtype, start, AddressSpace.gmem, assumed_align=16) for start in starts]
        compiled(*pointers, cuda.CUstream(torch.cuda.current_stream().cuda_stream))

    return launch
