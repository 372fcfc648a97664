"""Call a kernel that takes tensors with pointers instead, so that any layout can be used. Imports the DSL: import it late.

DLPack carries flat shapes only, so tensors of nested layouts are made inside the traced call, from a pointer and the layout.
"""

import cuda.bindings.driver as cuda
import cutlass.cute as cute
from cutlass import Float16
from cutlass.cute.runtime import make_ptr, nullptr
from cutlass.cute.typing import AddressSpace


def _tensors(pointers, layouts):
    return [cute.make_tensor(p, cute.make_layout(L.shape, stride=L.stride)) for p, L in zip(pointers, layouts, strict=True)]


def with_pointers(kernel, layouts, stream=True):
    """A jit function of a tuple of fp16 pointers (and a stream) that calls `kernel` on tensors with these layouts."""
    if stream:

        @cute.jit
        def call(pointers: tuple[cute.Pointer, ...], stream: cuda.CUstream):
            kernel(*_tensors(pointers, layouts), stream)

    else:

        @cute.jit
        def call(pointers: tuple[cute.Pointer, ...]):
            kernel(*_tensors(pointers, layouts))

    return call


def any_pointers(count: int = 3):
    """Pointers that stand for device buffers while compiling."""
    return tuple(nullptr(Float16, AddressSpace.gmem, assumed_align=16) for _ in range(count))


def compile_for_host(kernel, operands):
    """Compile host code and return run(*buffers) on the flat numpy buffers of the operands."""

    def pointers(buffers):
        starts = (x.ctypes.data + 2 * o.base for x, o in zip(buffers, operands, strict=True))
        return tuple(make_ptr(Float16, start, AddressSpace.generic) for start in starts)

    compiled = cute.compile(with_pointers(kernel, [o.layout for o in operands], stream=False), pointers([o.blank() for o in operands]))
    return lambda *buffers: compiled(pointers(buffers))


def compile_for_gpu(kernel, operands):
    """Compile for the GPU that is here and return launch(*buffers) on flat torch buffers, on torch's current stream."""
    import torch

    torch.zeros(1, device="cuda")  # the DSL finds the GPU only once there is a context
    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
    compiled = cute.compile(with_pointers(kernel, [o.layout for o in operands]), any_pointers(len(operands)), stream)

    def launch(*buffers):
        starts = (x.data_ptr() + 2 * o.base for x, o in zip(buffers, operands, strict=True))
        pointers = tuple(make_ptr(Float16, start, AddressSpace.gmem, assumed_align=16) for start in starts)
        compiled(pointers, cuda.CUstream(torch.cuda.current_stream().cuda_stream))

    return launch
