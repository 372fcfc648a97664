"""How good the rule is by which `hopper_gemm` chooses a configuration: those that it thinks cheap, timed beside each other and cuBLAS.

    python benchmarks/hopper_configs.py                               the shapes of benchmarks/gemm.py
    python benchmarks/hopper_configs.py --shapes 3000,2000,1000       others
    python benchmarks/hopper_configs.py --within 1                    all that cost at most twice what the cheapest does, not 1.15 times

For each shape a table, the fastest first: TFLOP/s, and what the rule says that it costs, the cheapest 1; then how far behind the fastest
the chosen one is. The last line says how well times follow the rule, over all. Times go to results/hopper_configs.json, which a test holds
the rule to. The GPU's clock moves in steps of 15 MHz, 1%, and power decides on which it stays: less is no difference.
"""

import argparse
import sys
from datetime import UTC, datetime
from math import log, sqrt
from pathlib import Path
from statistics import mean

from gemm import SHAPES, Problem, shape, time_groups

from ladder import binding
from ladder.errors import LadderError
from ladder.hopper_gemm import choose, configs, gemm_with
from ladder.preflight import preflight
from ladder.record import read_json, write_json
from ladder.timing import Timing

PATH = Path(__file__).resolve().parent.parent / "results/hopper_configs.json"


def candidates(mnk, sms: int, within: float) -> dict:
    """By configuration what the rule says that it costs, the cheapest 1, where it is at most 1 + within."""
    costs = {config: config.cost(*mnk, sms) for config in configs()}
    least = min(costs.values())
    return {config: cost / least for config, cost in costs.items() if cost <= (1 + within) * least}


def measure(problem: Problem, found, rounds: int) -> dict[object, Timing]:
    """Time these configurations and "cublas". Raises LadderError for a wrong result."""
    calls = {"cublas": lambda a, b, c: problem.torch.mm(a, b.T, out=c)}
    calls |= {config: binding.compile_for_gpu(gemm_with(config), problem.operands) for config in found}
    for name, call in calls.items():
        if fault := problem.fault(call):
            raise LadderError(f"{name} at {problem.mnk}: {fault}")
    times = time_groups(problem, calls, rounds)
    for name in times:
        if fault := problem.fault_after(name):
            raise LadderError(f"{name} at {problem.mnk}: {fault}")
    return times


def show(problem: Problem, times: dict, costs: dict, chosen) -> None:
    M, N, K = problem.mnk
    print(f"{M} x {N} x {K}")
    for name, time in sorted(times.items(), key=lambda item: item[1].ms):
        cost = f"cost {costs[name]:.3f}" if name in costs else ""
        print(
            f"  {name!s:<34}{2 * M * N * K / time.ms / 1e9:7.1f} TFLOP/s  +-{50 * time.spread:4.1f}%  {cost}{'  chosen' * (name == chosen)}"
        )
    behind = times[chosen].ms / min(times[config].ms for config in costs) - 1
    print(
        f"  chosen: {100 * behind:.1f}% behind the fastest configuration, {times['cublas'].ms / times[chosen].ms:.3f}x cuBLAS\n", flush=True
    )


def misfit(rows: list[dict], sms: int) -> float:
    """How far the times in these rows of PATH are from what the rule says: the root of the mean square of the relative difference.

    What a cost is in milliseconds, each shape says for itself.
    """
    known, logs = {str(config): config for config in configs()}, {}
    for row in rows:
        mnk = row["m"], row["n"], row["k"]
        logs.setdefault(mnk, []).append(log(row["ms"] / known[row["config"]].cost(*mnk, sms)))
    return sqrt(mean((each - mean(of_one_shape)) ** 2 for of_one_shape in logs.values() for each in of_one_shape))


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", type=shape, default=SHAPES, metavar="M,N,K")
    parser.add_argument("--within", type=float, default=0.15)
    parser.add_argument("--rounds", type=int, default=7)
    options, machine = parser.parse_args(arguments), preflight()
    if not machine.can_run or machine.arch != "sm_90a":
        print(f"nothing was timed, this needs a Hopper GPU: {machine.verdict}", file=sys.stderr)
        return 2
    import torch

    sms = torch.cuda.get_device_properties(0).multi_processor_count
    about = {"gpu": machine.gpu, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    for mnk in options.shapes:
        costs, problem = candidates(mnk, sms, options.within), Problem(mnk, "TN", "float16")
        times = measure(problem, costs, options.rounds)
        show(problem, times, costs, choose(*mnk, sms))
        what = dict(zip("mnk", mnk, strict=True))
        new = [what | {"config": str(config), "ms": times[config].ms, "spread": times[config].spread} | about for config in costs]
        old = [row for row in read_json(PATH, []) if any(row[mode] != size for mode, size in what.items())]
        write_json(PATH, old + new)
    rows = read_json(PATH, [])
    print(f"the times of {len(rows)} in {PATH.name} follow the rule to {100 * misfit(rows, sms):.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
