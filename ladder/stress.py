"""What one right result cannot show: races, and accesses that happen to do no harm. Needs an NVIDIA GPU with torch.

    python -m ladder.stress          every rung REPEATS times, persistent ones in several ways, then all under compute-sanitizer

A kernel whose threads wait for each other is right by luck if a wait is missing, most of the time. So each rung computes one product
over and over, beside other work on the GPU that upsets its timing, and each result must be the first one to the last bit. A persistent
kernel hands stages, turns and buffers of C on from tile to tile, so its blocks must get many: it is told of FEW SMs and launches no more
blocks. `make gpu` records it in results/stress.json.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from itertools import cycle, product
from pathlib import Path
from unittest.mock import patch

from ladder.checks import BOUND, relative_error_there
from ladder.errors import LadderError
from ladder.operands import bare_gemm, operand_pairs
from ladder.preflight import preflight
from ladder.rungs import RUNGS, rungs_for

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "results/stress.json"
REPEATS = 200
LONG = 776, 1304, 8200  # M, N, K: ragged against every tile; 129 k-tiles of 64
SHORT = (1544, 2056, 72), (1544, 2056, 40)  # many tiles of C, each of two k-tiles, or of one
SMALL = 520, 392, 136  # at which the sanitizer watches
FEW, FEWEST = 4, 2  # SMs; the second under the sanitizer
TOOLS = {"memcheck": r"ERROR SUMMARY: (\d+) error", "racecheck": r"RACECHECK SUMMARY: (\d+) hazard"}
OPTIONS = {"memcheck": ["--report-api-errors", "no"], "racecheck": []}  # the DSL asks the driver for functions that it may not have
SECONDS = 600


@dataclass(frozen=True)
class Run:
    """A rung's GEMM at M, N, K. sms: how many SMs a persistent one is told of; None: of all. pair: as in ladder.operands."""

    rung: str
    gemm: Callable
    mnk: tuple[int, int, int] = LONG
    sms: int | None = None
    pair: str = "TN"


def runs() -> dict[str, Run]:
    """What is repeated, by name: each rung; the persistent ones on FEW SMs, too; each configuration of hopper_gemm, at one size through one
    pair of operands, at the next through another. Needs the DSL.
    """
    from ladder import hopper_gemm

    found = {name: Run(name, rung.gemm) for name, rung in RUNGS.items()}
    for name in persistent_modules():
        found |= {f"{name}, {FEW} SMs, K {mnk[2]}": Run(name, RUNGS[name].gemm, mnk, FEW) for mnk in (LONG, *SHORT)}
    pairs = cycle(operand_pairs(8, 8, 8))  # four, and three sizes: each size gets each
    for config, mnk in product(hopper_gemm.configs(), (LONG, *SHORT)):
        found[f"hopper_gemm, {config}, K {mnk[2]}"] = Run("hopper_gemm", hopper_gemm.gemm_with(config), mnk, FEW, next(pairs))
    return found


def persistent_modules() -> dict:
    """By name, the modules of the rungs that ask how many SMs there are. Needs the DSL."""
    return {name: module for name in RUNGS if hasattr(module := import_module(f"ladder.{name}"), "multiprocessors")}


@contextmanager
def told_of(sms: int | None):
    """In this block the persistent rungs are compiled as for a GPU of `sms` SMs; None: of as many as there are."""
    with ExitStack() as stack:
        for module in persistent_modules().values() if sms else []:
            stack.enter_context(patch.object(module, "multiprocessors", lambda: sms))
        yield


def measure() -> dict:
    """Run what this GPU can: {"rungs": {name: {"repeats", "different", "error"}}, "memcheck": faults, "racecheck": hazards, ...}.

    A tool that is not here is None, one that fails is words that say so. Raises LadderError without a GPU.
    """
    machine = preflight()
    if not machine.can_run:
        raise LadderError(f"races show themselves on a GPU: {machine.verdict}")
    about = {"gpu": machine.gpu, "driver": machine.driver, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    rungs, here = {}, rungs_for(machine.arch)
    todo = {name: run for name, run in runs().items() if run.rung in here}
    for name, run in todo.items():
        print(f"[{len(rungs) + 1}/{len(todo)}] {name}", flush=True)  # before it runs: a kernel that waits for ever is named
        rungs[name] = repeat(run)
    return about | {"rungs": rungs} | {tool: _tried(tool) for tool in TOOLS}


def repeat(run: Run, times: int = REPEATS) -> dict:
    """`times` launches: how many of their results are not the first one, and the first one's relative error."""
    import torch

    launch, (a, b, c), want = _problem(run)
    noise = torch.cuda.Stream()
    first, different = None, torch.zeros((), dtype=torch.int64, device="cuda")
    for i in range(times):
        c.fill_(float("nan"))
        with torch.cuda.stream(noise):  # a fill of another size each time, as other work beside the kernel
            torch.empty(1 << (10 + i % 15), device="cuda").zero_()
        launch(a, b, c)
        if first is None:
            first = c.clone()
        different += ~torch.all(c == first)
    torch.cuda.synchronize()
    return {"mnk": run.mnk, "pair": run.pair, "repeats": times, "different": int(different), "error": relative_error_there(first, want)}


def _problem(run: Run):
    """(launch, [A, B, C], the right C) of a run on random data, n contiguous in C."""
    import torch

    from ladder import binding

    operands = bare_gemm(*run.mnk, run.pair)
    with told_of(run.sms):
        launch = binding.compile_for_gpu(run.gemm, operands)
    layouts = [each.layout for each in operands]
    a, b, c = (torch.empty_strided(each.shape, each.stride, dtype=torch.float16, device="cuda").normal_() for each in layouts)
    return launch, (a, b, c), a.float() @ b.float().T


def run_small() -> None:
    """Each rung once at SMALL, on FEWEST SMs: what the sanitizer watches. Raises LadderError for a wrong product."""
    for name in rungs_for(preflight().arch):
        launch, (a, b, c), want = _problem(Run(name, RUNGS[name].gemm, SMALL, FEWEST))
        launch(a, b, c)
        error = relative_error_there(c, want)
        if not error < BOUND:
            raise LadderError(f"{name} is wrong at {SMALL}: relative error {error:.1e}")


def _tried(tool: str) -> int | str | None:
    print(f"{tool} ...", flush=True)
    try:
        return sanitize(tool)
    except LadderError as error:
        return str(error)


def sanitize(tool: str) -> int | None:
    """How many faults compute-sanitizer finds in `run_small`; None where there is no such program. Raises LadderError if it fails."""
    program = shutil.which("compute-sanitizer")
    if not program:
        return None
    watched = [sys.executable, "-c", "from ladder.stress import run_small; run_small(); print('all ran')"]
    command = [program, "--tool", tool, *OPTIONS[tool], *watched]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise LadderError(f"compute-sanitizer's {tool} was not done after {SECONDS} s") from None
    said = done.stdout + done.stderr
    found = re.search(TOOLS[tool], said)
    if not found or "all ran" not in said:
        raise LadderError(f"compute-sanitizer's {tool} did not run to its end: {said.strip().splitlines()[-3:]}")
    return int(found.group(1))


def faults(record: dict) -> list[str]:
    """What is wrong in a record, in words; empty if nothing is."""
    rungs = record["rungs"].items()
    found = [f"{name}: {each['different']} of {each['repeats']} results differ" for name, each in rungs if each["different"]]
    found += [f"{name}: relative error {each['error']:.1e}" for name, each in rungs if not each["error"] < BOUND]
    return found + [_in_words(tool, record[tool]) for tool in TOOLS if record[tool]]


def _in_words(tool: str, found: int | str | None) -> str:
    if found is None:
        return f"{tool} was not run: there is no compute-sanitizer here"
    return found if isinstance(found, str) else f"{tool} finds {found} faults"


def main() -> int:
    """Measure and print; exit status 1 if something is wrong, or nothing could be measured."""
    try:
        record = measure()
    except LadderError as error:
        print(f"nothing was measured: {error}", file=sys.stderr)
        return 1
    for name, each in record["rungs"].items():
        print(f"{name:<45}{each['repeats']} times: {each['different']} differ, error {each['error']:.1e}")
    for tool in TOOLS:
        print(_in_words(tool, record[tool]))
    print("\n".join(faults(record)))
    return 1 if faults(record) else 0


if __name__ == "__main__":
    sys.exit(main())
