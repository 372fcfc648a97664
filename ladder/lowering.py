"""Compile a kernel for a GPU that need not be here, and read what came out: PTX, SASS, registers."""

import glob
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ladder.errors import LadderError
from layoutviz.cute import has_dsl
from layoutviz.int_tuple import leaf_values

ARCHS = {"sm_80": "Ampere (A100)", "sm_89": "Ada (L4, RTX 40)", "sm_90a": "Hopper (H100, H200)"}
NEEDS_DSL = "this needs the CuTe Python DSL (nvidia-cutlass-dsl, Linux only): pip install -e '.[dsl]' in the course's folder"
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?(([A-Z][A-Z0-9_.]*).*?)\s*;", re.M)


@dataclass(frozen=True)
class Compiled:
    """One function compiled for one architecture. `ptx` is text; `cubin` is the ELF image of its kernels."""

    arch: str
    ptx: str
    cubin: bytes

    @cached_property
    def sass(self) -> str:
        """The machine code as text. Raises LadderError without a disassembler that knows this cubin."""
        return _disassemble(self.cubin, "-c")

    @cached_property
    def instructions(self) -> list[str]:
        """The machine instructions in order, without address and predicate."""
        return [whole for whole, _ in _INSTRUCTION.findall(self.sass)]

    @cached_property
    def opcodes(self) -> Counter:
        """How often each opcode stands in the code, as in {"LDG.E.U16": 8, "FFMA": 4}."""
        return Counter(opcode for _, opcode in _INSTRUCTION.findall(self.sass))

    @property
    def spills(self) -> int:
        """How many instructions store to or load from a thread's local memory: 0 in a healthy kernel."""
        return sum(n for opcode, n in self.opcodes.items() if opcode.split(".")[0] in ("STL", "LDL"))

    @cached_property
    def registers(self) -> int:
        """Registers a thread uses; the most of any kernel in it."""
        counts = re.findall(r"EIATTR_REGCOUNT.*?index@\(.*?\.word\s+(0x[0-9a-f]+)", _disassemble(self.cubin), re.S)
        if not counts:
            raise LadderError("the disassembler's listing names no register count")
        return max(int(count, 16) for count in counts)


def compile_for(fn, *args, arch: str = "sm_90a") -> Compiled:
    """Compile the jit function `fn` for `arch`, in this process and without a GPU. Nothing is left in the current folder.

    args are as for cute.compile; stand-ins for device tensors come from `fake_tensor`, for a stream from make_fake_stream.
    Pre: fn launches at least one kernel. Raises LadderError for an unknown arch, a missing DSL, or no kernel; a fault in the
    kernel itself raises the DSL's own error, which names its line.
    """
    if arch not in ARCHS:
        hint = "; Hopper's tensor cores need the a: sm_90a" if arch == "sm_90" else ""
        raise LadderError(f"no arch {arch!r} here{hint}. Known: " + ", ".join(f"{a}, {name}" for a, name in ARCHS.items()))
    if not has_dsl():
        raise LadderError(NEEDS_DSL)
    import cutlass.cute as cute

    with tempfile.TemporaryDirectory() as folder:
        options = f"--gpu-arch={arch} --keep-ptx --keep-cubin --dump-dir={shlex.quote(folder)}"
        compiled = cute.compile(fn, *args, options=options)
        ptx, cubin = compiled.__ptx__, compiled.__cubin__
    if not cubin or ".entry" not in (ptx or ""):
        raise LadderError(f"{getattr(fn, '__name__', fn)} launches no kernel, so there is nothing to lower")
    return Compiled(arch, ptx, cubin)


def compile_gemm_for(gemm, layouts, arch: str = "sm_90a") -> Compiled:
    """`compile_for` of a GEMM gemm(mA, mB, mC, stream), or a kernel of any number of operands, for their layouts, nested ones too."""
    if not has_dsl():
        raise LadderError(NEEDS_DSL)
    from cutlass.cute.runtime import make_fake_stream

    from ladder import binding

    return compile_for(binding.with_pointers(gemm, layouts), *binding.any_pointers(count=len(layouts)), make_fake_stream(), arch=arch)


def fake_tensor(layout, dtype=None, assumed_align: int = 16):
    """A stand-in for a device tensor with this layout (fp16 if no dtype is given), to compile with.

    Raises LadderError for a nested layout: the DSL's stand-ins are flat. `compile_gemm_for` takes nested ones.
    """
    if not has_dsl():
        raise LadderError(NEEDS_DSL)
    from cutlass import Float16
    from cutlass.cute.runtime import make_fake_tensor

    shape, stride = ((v,) if isinstance(v, int) else v for v in (layout.shape, layout.stride))
    if leaf_values(shape) != shape:
        raise LadderError(f"{layout} is nested; a stand-in tensor must be flat. Flatten it, or use compile_gemm_for")
    return make_fake_tensor(dtype or Float16, shape, stride, assumed_align=assumed_align)


def _disassemble(cubin: bytes, *options: str) -> str:
    program = _nvdisasm()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([program, *options, str(path)], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise LadderError(f"{program} cannot read this cubin ({done.stderr.strip()}); nvidia-cuda-nvdisasm 13.5 or newer can")
    return done.stdout


def _nvdisasm() -> str:
    """The wheel's program first: a CUDA toolkit's own is often older than the DSL's cubins."""
    for folder in sys.path:
        for found in glob.glob(f"{glob.escape(folder)}/nvidia/*/bin/nvdisasm"):
            return found
    found = shutil.which("nvdisasm")
    if not found:
        raise LadderError("SASS needs a disassembler, the package nvidia-cuda-nvdisasm: pip install -e '.[dsl]' in the course's folder")
    return found
