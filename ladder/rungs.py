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


def ladder_of(rows: list[dict]) -> list[dict]:
    """Of the rows of results/ladder.json, those that show the ladder: one run's, since only they can be compared.

    It is the run of the most rungs at SIZE with k-contiguous fp16 operands, of equals the newest: its rungs, cuBLAS and the rivals. Without
    a row of these, [].
    """
    runs: dict = {}
    for row in rows:
        if (row["m"], row["n"], row["k"]) == SIZE and row["dtype"] == "float16" and " " not in row["rung"]:
            runs.setdefault((row["gpu"], row.get("run")), []).append(row)
    return max(runs.values(), key=lambda run: (sum(row["rung"] in RUNGS for row in run), max(row["date"] for row in run)), default=[])
