"""Where a GEMM runs: `Host` with numpy buffers, `Gpu` with torch ones. Both take and give flat fp16 numpy arrays."""

from contextlib import contextmanager

from ladder.errors import LadderError
from ladder.operands import Operand
from layoutviz.int_tuple import leaf_values


class Host:
    """The CPU. It has no cuBLAS."""

    name = "CPU"

    def put(self, flat):
        return flat.copy()

    def get(self, buffer):
        return buffer

    def sync(self):
        pass

    def cublas(self, a, b, operands):
        return None


class Gpu:
    """The first GPU that torch sees."""

    def __init__(self):
        import torch

        self.torch = torch
        self.name = torch.cuda.get_device_name(0)

    def put(self, flat):
        return self.torch.from_numpy(flat).cuda()

    def get(self, buffer):
        return buffer.cpu().numpy()

    def sync(self):
        """Wait for the GPU. Raises LadderError if a kernel failed: from then on this process cannot use the GPU."""
        try:
            self.torch.cuda.synchronize()
        except RuntimeError as error:
            first = str(error).splitlines()[0]
            raise LadderError(f"the kernel failed on the GPU ({first}); nothing runs there until this process is restarted") from error

    def cublas(self, a, b, operands):
        """float16[M,N] by cuBLAS from the same buffers."""
        C = operands[2]
        c = self.put(C.blank())
        self.cublas_call(a, b, c, operands)()
        return C.read(self.get(c))

    def cublas_call(self, a, b, c, operands):
        """A function that has cuBLAS compute C on these buffers, in the operand mode that the layouts are; fp32 accumulation.

        A nested layout is none of cuBLAS's four modes: it gets a packed copy of that operand, made here and not in the call.
        """
        A, B, C = (self._view(flat, operand) for flat, operand in zip((a, b, c), operands, strict=True))
        Bt = B.T

        def call():
            with self._full_precision():
                self.torch.mm(A, Bt, out=C)

        return call

    def _view(self, flat, operand: Operand):
        stride = operand.layout.stride
        if leaf_values(stride) == stride and min(stride) >= 0:
            return self.torch.as_strided(flat, (operand.rows, operand.cols), stride, operand.base)
        if operand.name == "C":
            raise LadderError(f"cuBLAS cannot write C with layout {operand.layout}: its modes must be flat")
        return flat[self.torch.from_numpy(operand.table.copy()).to(flat.device)]

    @contextmanager
    def _full_precision(self):
        matmul = self.torch.backends.cuda.matmul
        before = matmul.allow_fp16_reduced_precision_reduction
        matmul.allow_fp16_reduced_precision_reduction = False
        try:
            yield
        finally:
            matmul.allow_fp16_reduced_precision_reduction = before
