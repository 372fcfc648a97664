"""One access to shared memory as a kernel of its own: what `ladder.bank_counters` has a profiler count. Imports the DSL and torch."""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import numpy as np
from cutlass.cute.runtime import make_ptr
from cutlass.cute.typing import AddressSpace
from cutlass.memory import SmemAllocator

from ladder.errors import LadderError
from layoutviz.cute import to_dsl

TYPES = {8: cutlass.Uint8, 16: cutlass.Uint16, 32: cutlass.Uint32, 64: cutlass.Uint64}


def load_through(layout, threads, bits: int, vector: int) -> None:
    """Have one block on the GPU load elements of `bits` bits through a layout, `vector` at a time, in the one kernel `shared_load`.

    layout, threads: layoutviz's, as for `layoutviz.memory.bank_conflicts`. Each slot holds its own number, so the loads are checked:
    LadderError if a thread did not get what the layout says. Needs a GPU.
    """
    import torch

    torch.zeros(1, device="cuda")  # the DSL finds the GPU only once there is a context
    out = torch.zeros(threads.size * bits // 8, dtype=torch.uint8, device="cuda")
    stream = cuda.CUstream(torch.cuda.current_stream().cuda_stream)
    pointer = make_ptr(TYPES[bits], out.data_ptr(), AddressSpace.gmem, assumed_align=16)
    cute.compile(launcher(layout, threads, bits, vector), pointer, stream)(pointer, stream)
    torch.cuda.synchronize()
    got, want = out.cpu().numpy().view(f"uint{bits}"), layout.at(threads.offsets()).astype(f"uint{bits}")
    if not np.array_equal(got, want):
        place = int(np.flatnonzero(got != want)[0])
        raise LadderError(f"index {place} of {threads} got slot {got[place]} of {layout}; it lies in slot {want[place]}")


def launcher(layout, threads, bits: int, vector: int):
    """The jit function of a pointer to threads.size results, and a stream."""
    count, slots = threads[0].size, layout.cosize
    values = threads.size // count

    @cute.kernel
    def shared_load(results: cute.Pointer):
        thread, _, _ = cute.arch.thread_idx()
        L, T = to_dsl(layout), to_dsl(threads)
        memory = SmemAllocator().allocate_tensor(TYPES[bits], cute.make_layout(slots), 128)
        for slot in range(thread, slots, count):
            memory[slot] = TYPES[bits](slot)
        cute.arch.sync_threads()
        mine = cute.make_tensor(results, cute.make_layout((count, (vector, values // vector)), stride=(1, (count, count * vector))))
        for step in cutlass.range_constexpr(values // vector):
            first = L(T(thread + count * vector * step))
            piece = cute.make_tensor((memory.iterator + first).align(bits * vector // 8), cute.make_layout(vector))
            mine[thread, (None, step)].store(piece.load())

    @cute.jit
    def launch(results: cute.Pointer, stream: cuda.CUstream):
        shared_load(results).launch(grid=(1, 1, 1), block=(count, 1, 1), stream=stream)

    return launch
