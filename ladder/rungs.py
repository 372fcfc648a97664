"""The GEMMs of the ladder, from the first to the fastest. Needs neither the DSL nor torch until one is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ladder.operands import k_contiguous, operand_pairs, padded_output, row_major_output

SIZE = 4096, 4096, 4096  # at which all of them are compared


@dataclass(frozen=True)
class Rung:
    """name: its module in ladder, and its name in results/ladder.json. arch: the oldest architecture that it is for.

    pairs(M, N, K): the layouts of A and B that it takes, by the names of `operand_pairs`. output(M, N): the layout of C
    that it is checked with.
    """

    name: str
    arch: str = "sm_80"
    pairs: Callable = operand_pairs
    output: Callable = padded_output

    @property
    def gemm(self):
        """The @cute.jit function gemm(mA, mB, mC, stream). Importing its module needs the DSL."""
        return getattr(import_module(f"ladder.{self.name}"), self.name if self.name.endswith("_gemm") else f"{self.name}_gemm")


def _hopper(name: str, pairs=k_contiguous) -> Rung:
    return Rung(name, "sm_90a", pairs, row_major_output)


RUNGS = {
    rung.name: rung
    for rung in (
        Rung("naive"),
        Rung("tiled"),
        Rung("tiled_swizzled"),
        Rung("tensor_core", output=row_major_output),
        Rung("simple_gemm", output=row_major_output),
        _hopper("wgmma"),
        _hopper("multistage"),
        _hopper("warp_specialized"),
        _hopper("cooperative"),
        _hopper("persistent"),
        _hopper("multicast"),
        _hopper("pingpong"),
        _hopper("full_gemm"),
        _hopper("hopper_gemm", operand_pairs),
    )
}


def rungs_for(arch: str) -> list[str]:
    """The names of the rungs that run on a GPU of this architecture, "sm_80" or newer.

    >>> rungs_for("sm_89")[-1], rungs_for("sm_90a")[-1]
    ('simple_gemm', 'hopper_gemm')
    """
    return [name for name, rung in RUNGS.items() if rung.arch in ("sm_80", arch)]


def ladder_of(rows: list[dict]) -> list[dict]:
    """Of the rows of results/ladder.json, those that show the ladder: of one run of all rungs, on the GPU that was recorded last."""
    whole = [row for row in rows if row.get("ladder")]
    newest = max(whole, key=lambda row: row["date"], default={"gpu": None})
    return [row for row in whole if row["gpu"] == newest["gpu"]]
