"""Shared-memory loads as the hardware counts them, beside `layoutviz.memory`'s model of bank conflicts.

    python -m ladder.bank_counters        on a GPU with Nsight Compute (ncu): measure, and show both (`make gpu` records it)

Each of ACCESSES is one kernel that loads once through a layout (`ladder.shared_access`); then `ladder.tiled_swizzled` runs at GEMM_MNK
with each of its three storages. What is recorded are the profiler's counts alone; predictions are computed by whoever shows them.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ladder.errors import LadderError
from ladder.preflight import preflight
from layoutviz.composed import as_layout
from layoutviz.memory import BankConflicts, bank_conflicts

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "results/bank_conflicts.json"
KERNELS = ("shared_load", "swizzled_kernel")
COUNTERS = {  # our name -> ncu's
    "loads": "smsp__inst_executed_op_shared_ld.sum",  # instructions of a warp
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "stores": "smsp__inst_executed_op_shared_st.sum",
    "store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
GEMM_MNK = (512, 512, 512)
STORAGES = ("none", "padding", "swizzle")
SECONDS = 600


@dataclass(frozen=True)
class Access:
    """One load by one block: `layout`, `threads` (in notation), `bits` and `vector` are those of `layoutviz.memory.bank_conflicts`."""

    name: str
    layout: str
    threads: str
    bits: int
    vector: int = 1

    def predicted(self) -> BankConflicts:
        return bank_conflicts(self.layout, self.threads, self.bits, self.vector)


_HALVES = "(8,64):(64,1)"  # 8 rows of 64 fp16, 128 bytes each
ACCESSES = [
    Access("fp32, a row", "(32,32):(32,1)", "32:32", 32),
    Access("fp32, a column", "(32,32):(32,1)", "32:1", 32),
    Access("fp32, a column, rows padded to 33", "(32,32):(33,1)", "32:1", 32),
    Access("fp32, a column, rows padded to 36", "(32,32):(36,1)", "32:1", 32),
    Access("fp32, a column of rows of 16", "(32,16):(16,1)", "32:1", 32),
    Access("fp32, a column of rows of 64", "(32,64):(64,1)", "32:1", 32),
    Access("fp32, a column, S<5,0,5>", "S<5,0,5> o 0 o (32,32):(32,1)", "32:1", 32),
    Access("fp32, a column, S<3,0,5>", "S<3,0,5> o 0 o (32,32):(32,1)", "32:1", 32),
    Access("fp32, a column, S<2,0,5>", "S<2,0,5> o 0 o (32,32):(32,1)", "32:1", 32),
    Access("fp32, all threads the same element", "(32,32):(32,1)", "32:0", 32),
    Access("fp32, the diagonal", "(32,32):(32,1)", "32:33", 32),
    Access("fp32, every second element", "64:1", "32:2", 32),
    Access("fp32, every third element", "96:1", "32:3", 32),
    Access("fp16, a row", "(32,64):(64,1)", "32:32", 16),
    Access("fp16, a column", "(32,64):(64,1)", "32:1", 16),
    Access("fp16, a column, rows padded to 66", "(32,64):(66,1)", "32:1", 16),
    Access("fp16, a column, S<5,1,5>", "S<5,1,5> o 0 o (32,64):(64,1)", "32:1", 16),
    Access("fp16, a column, S<3,3,3>", "S<3,3,3> o 0 o (32,64):(64,1)", "32:1", 16),
    Access("bytes, a row", "(32,128):(128,1)", "32:32", 8),
    Access("bytes, a column", "(32,128):(128,1)", "32:1", 8),
    Access("8 x fp16, 8 rows", _HALVES, "(8,8):(1,8)", 16, 8),
    Access("8 x fp16, 8 rows, S<3,3,3>", f"S<3,3,3> o 0 o {_HALVES}", "(8,8):(1,8)", 16, 8),
    Access("8 x fp16, 8 rows, S<2,3,3>", f"S<2,3,3> o 0 o {_HALVES}", "(8,8):(1,8)", 16, 8),
    Access("8 x fp16, 8 rows, S<3,4,3> on elements", f"S<3,4,3> o 0 o {_HALVES}", "(8,8):(1,8)", 16, 8),
    Access("8 x fp16, 8 rows, rows padded to 72", "(8,64):(72,1)", "(8,8):(1,8)", 16, 8),
    Access("8 x fp16, 32 rows", "(32,64):(64,1)", "(32,8):(1,32)", 16, 8),
    Access("8 x fp16, 32 rows, S<3,3,3>", "S<3,3,3> o 0 o (32,64):(64,1)", "(32,8):(1,32)", 16, 8),
    Access("8 x fp16, 32 rows of 32, S<2,3,3>", "S<2,3,3> o 0 o (32,32):(32,1)", "(32,8):(1,32)", 16, 8),
    Access("8 x fp16, 4 whole rows", "(4,64):(64,1)", "((8,4),8):((32,1),4)", 16, 8),
    Access("4 x fp16, 16 rows", "(16,64):(64,1)", "(16,4):(1,16)", 16, 4),
    Access("4 x fp16, 32 rows, S<4,2,4>", "S<4,2,4> o 0 o (32,64):(64,1)", "(32,4):(1,32)", 16, 4),
    Access("2 x fp32, 16 rows padded to 34", "(16,32):(34,1)", "(16,2):(1,16)", 32, 2),
    Access("4 x fp32, a row each, 32 rows", "(32,32):(32,1)", "(32,4):(1,32)", 32, 4),
    Access("4 x fp32, a row each, S<3,2,3>", "S<3,2,3> o 0 o (32,32):(32,1)", "(32,4):(1,32)", 32, 4),
    Access("fp64, a column", "(32,16):(16,1)", "32:1", 64),
    Access("fp64, a column, rows padded to 17", "(32,16):(17,1)", "32:1", 64),
    Access("two values a thread, fp32, columns 0 and 2", "(32,32):(32,1)", "(32,2):(1,64)", 32),
    Access("tile of the tiled GEMM, A, by columns", "(64,16):(1,64)", "((16,2),16):((1,0),64)", 16),
    Access("tile of the swizzled GEMM, A, none", "(64,64):(64,1)", "((16,2),8):((1,0),64)", 16, 8),
    Access("tile of the swizzled GEMM, A, swizzle", "S<3,3,3> o 0 o (64,64):(64,1)", "((16,2),8):((1,0),64)", 16, 8),
    Access("tile of the swizzled GEMM, B, none", "(64,64):(64,1)", "((16,2),8):((0,1),64)", 16, 8),
]


@dataclass(frozen=True)
class Counted:
    """What the profiler counted for one kernel: instructions of a warp, and the wavefronts that they took; and where and when."""

    what: Access | str  # an access, or a storage of ladder.tiled_swizzled
    loads: int
    wavefronts: int
    conflicts: int
    stores: int
    store_wavefronts: int
    store_conflicts: int
    gpu: str
    date: str


def recorded(path: Path = PATH) -> tuple[list[Counted], list[Counted]]:
    """What results/ holds of ACCESSES, and of the GEMM's three storages; two empty lists if nobody has measured."""
    return from_record(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else ([], [])


def from_record(record: dict) -> tuple[list[Counted], list[Counted]]:
    """As `recorded`. Accesses that are no longer in ACCESSES as they were measured are left out."""
    about = {name: record[name] for name in ("gpu", "date")}
    known = {row["name"]: Counted(Access(row["name"], **row["access"]), **row["counts"], **about) for row in record["accesses"]}
    accesses = [known[each.name] for each in ACCESSES if each.name in known and known[each.name].what == each]
    return accesses, [Counted(name, **counts, **about) for name, counts in record["gemm"].items()]


def measure() -> dict:
    """Have ncu count every kernel on this GPU: the content of results/bank_conflicts.json. Takes about a minute.

    Raises LadderError, in words, without a GPU, without ncu, or where it may not read the counters.
    """
    machine = preflight()
    if not machine.can_run:
        raise LadderError(f"the counters are a GPU's: {machine.verdict}")
    if not (ncu := shutil.which("ncu")):
        raise LadderError("the counters are read with Nsight Compute: there is no program ncu here; it comes with the CUDA toolkit")
    counted = _count(ncu)
    if len(counted) != len(ACCESSES) + len(STORAGES):
        raise LadderError(f"ncu counted {len(counted)} kernels where {len(ACCESSES) + len(STORAGES)} ran")
    rows = [
        {"name": each.name, "access": {k: v for k, v in asdict(each).items() if k != "name"}, "counts": counts}
        for each, counts in zip(ACCESSES, counted, strict=False)
    ]
    about = {"gpu": machine.gpu, "driver": machine.driver, "date": datetime.now(UTC).isoformat(timespec="seconds"), "gemm_mnk": GEMM_MNK}
    return about | {"accesses": rows, "gemm": dict(zip(STORAGES, counted[len(ACCESSES) :], strict=True))}


def _count(ncu: str) -> list[dict[str, int]]:
    """One dict of COUNTERS for each kernel, in the order in which they ran."""
    watched = [sys.executable, "-c", "from ladder.bank_counters import launch_all; launch_all()"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        # --clock-control none: counts do not depend on the clock, and the card's settings stay as they are
        options = ["--csv", "--clock-control", "none", "--kernel-name", f"regex:.*({'|'.join(KERNELS)}).*", "--log-file", str(log)]
        command = [ncu, *options, "--metrics", ",".join(COUNTERS.values()), *watched]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
        said = log.read_text(encoding="utf-8") if log.exists() else ""
    if done.returncode or "ERR_NVGPUCTRPERM" in said:
        hint = "; reading the counters needs administrator's rights here" if "ERR_NVGPUCTRPERM" in said else ""
        raise LadderError(f"ncu failed{hint}: {(done.stderr or said or done.stdout).strip().splitlines()[-1:]}")
    return parsed(said)


def parsed(log: str) -> list[dict[str, int]]:
    """The counts in ncu's CSV, one dict for each kernel, in the order of their ids."""
    names = {theirs: ours for ours, theirs in COUNTERS.items()}
    kernels = defaultdict(dict)
    for row in csv.DictReader(line for line in log.splitlines() if line.startswith('"')):
        kernels[int(row["ID"])][names[row["Metric Name"]]] = int(row["Metric Value"].replace(",", ""))
    return [kernels[id] for id in sorted(kernels)]


def launch_all() -> None:
    """Run every kernel that is counted, in order: what ncu watches. Their results are checked, each in its own way."""
    from ladder import binding
    from ladder.checks import BOUND, relative_error, trial
    from ladder.devices import Gpu
    from ladder.operands import make_operands, operand_pairs
    from ladder.shared_access import load_through
    from ladder.tiled_swizzled import STORAGE, gemm_with

    for access in ACCESSES:
        load_through(as_layout(access.layout), as_layout(access.threads), access.bits, access.vector)
    operands, random = make_operands(*operand_pairs(*GEMM_MNK)["TN"]), np.random.default_rng()
    for storage in STORAGES:
        launch = binding.compile_for_gpu(gemm_with(STORAGE[storage]), operands)
        run = trial(launch, operands, Gpu(), lambda *shape: random.standard_normal(shape))
        if not relative_error(run.got, run.want) <= BOUND:
            raise LadderError(f"the GEMM with storage {storage} is wrong")


def table(accesses: list[Counted]) -> str:
    """The model beside the counters, a line for each access: wavefronts, and conflicts, predicted and counted."""
    words = f"{'predicted':>11} {'counted':>9}"
    lines = [f"{'access':44} {'wavefronts':>21} {'conflicts':>21}", f"{'':44} {words} {words}"]
    for each in accesses:
        model = each.what.predicted()
        same = (model.wavefronts, model.conflicts) == (each.wavefronts, each.conflicts)
        numbers = f"{model.wavefronts:11} {each.wavefronts:9} {model.conflicts:11} {each.conflicts:9}"
        lines.append(f"{each.what.name:44} {numbers}{'' if same else '   <- they differ'}")
    return "\n".join(lines)


def main() -> int:
    """Measure and print; exit status 1 with a reason where it cannot be done."""
    argparse.ArgumentParser(prog="python -m ladder.bank_counters", description=__doc__.splitlines()[0]).parse_args()
    try:
        record = measure()
    except LadderError as error:
        print(f"nothing was measured: {error}", file=sys.stderr)
        return 1
    accesses, gemms = from_record(record)
    print(table(accesses))
    for each in gemms:
        print(f"GEMM {each.what}: {each}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
