"""How fast the ladder's GEMMs are, beside cuBLAS and its rivals in the same run, on an NVIDIA GPU with torch.

    python benchmarks/gemm.py                                        hopper_gemm over the shapes that it is judged by
    python benchmarks/gemm.py --rungs all --shapes 4096,4096,4096    the whole ladder at one size, and its picture
    python benchmarks/gemm.py --peers quack,triton                   the rivals that are installed, too: the first tuning takes a minute
    python benchmarks/gemm.py --pairs NN,NT,TN,TT --dtype bfloat16   other operand majors (BLAS's names, see ladder.operands) and types
    python benchmarks/gemm.py --compile                              also how long a fresh process takes to compile each

All candidates of a shape are timed in one interleaved run by CUDA graphs (ladder.timing), on random normal data, after they are
checked: against the fp32 product by norm and, on small integers, to the last bit; and by norm once more after the timing. Prints a
table, adds rows to results/ladder.json, and draws the ladder in results/ladder.png where the run holds more than five rungs. Exit
status 1 if a result is wrong.
"""

import argparse
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean
from uuid import uuid4

from ladder.errors import LadderError
from ladder.harness import preflight, result_row, timed
from ladder.operands import bare_gemm, operand_pairs
from ladder.record import merged, read_json, rung_code, write_json
from ladder.rungs import RUNGS, SIZE

ROOT = Path(__file__).resolve().parent.parent
SHAPES = [
    (2048, 2048, 2048), SIZE, (8192, 8192, 8192), (16384, 4096, 1024), (1024, 8192, 4096), (4096, 4096, 14336), (8192, 1280, 8192),
]  # fmt: skip
BOUND = {"float16": 1e-3, "bfloat16": 4e-3}  # relative Frobenius error; rounding a right result gives 2e-4 and 1.7e-3
FLOPS_PER_CLOCK = 4096  # of one Hopper SM's tensor cores, fp16 or bf16, dense
PEERS = ("quack", "triton")


class Problem:
    """One shape, pair and type: its operands, buffers of random data, and what is right."""

    def __init__(self, mnk, pair: str, dtype: str):
        import torch

        self.torch, self.mnk, self.pair, self.dtype = torch, mnk, pair, getattr(torch, dtype)
        self.bound = BOUND[dtype]
        self.operands = bare_gemm(*mnk, pair)
        self.sets = []

    @property
    def set_bytes(self) -> int:
        M, N, K = self.mnk
        return 2 * (M * K + N * K + M * N)

    def matrices(self, i: int):
        """(A, B, C) of the i-th set, as torch sees them: (M,K), (N,K), (M,N)."""
        while len(self.sets) <= i:
            self.sets.append([self._empty(each.layout).normal_() for each in self.operands])
        return self.sets[i]

    def _empty(self, layout):
        return self.torch.empty_strided(layout.shape, layout.stride, dtype=self.dtype, device="cuda")

    def error(self, call) -> float:
        """The relative Frobenius error of call(A, B, C) on the first set, whose C is NaN before."""
        a, b, c = self.matrices(0)
        want = a.float() @ b.float().T
        return ((self._run(call, a, b, c) - want).norm() / want.norm()).item()

    def exact(self, call) -> bool:
        """Whether call(A, B, C) gives the product of small integers, rounded once."""
        a, b = (self._empty(each.layout).random_(-2, 3) for each in self.operands[:2])
        want = (a.float() @ b.float().T).to(self.dtype).float()
        return self.torch.equal(self._run(call, a, b, self._empty(self.operands[2].layout)), want)

    def _run(self, call, a, b, c):
        c.fill_(float("nan"))
        out = call(a, b, c)
        self.torch.cuda.synchronize()
        return (c if out is None else out).float()


def rung_call(name: str, problem: Problem, dtype: str):
    import cutlass

    from ladder import binding

    types = {"float16": cutlass.Float16, "bfloat16": cutlass.BFloat16}
    return binding.compile_for_gpu(RUNGS[name].gemm, problem.operands, types[dtype])


def peer_calls(names, problem: Problem) -> dict:
    """The rivals that are installed, tuned for this problem. A rival may return its C instead of writing ours."""
    import torch

    calls = {}
    if "quack" in names:
        from quack.gemm_interface import gemm

        calls["quack"] = lambda a, b, c: gemm(a, b.T, out=c, tuned=True)
    if "triton" in names:
        import torch._inductor.config as inductor

        inductor.max_autotune_gemm_backends = "TRITON"
        torch._dynamo.reset()
        product = torch.compile(lambda a, b: torch.mm(a, b.T), mode="max-autotune-no-cudagraphs", dynamic=False)
        calls["triton"] = lambda a, b, c: product(a, b)
    for name, call in calls.items():
        print(f"       tuning {name} ...", flush=True)
        problem.error(call)
    return calls


def measure(problem: Problem, rungs, peers, dtype: str, rounds: int) -> tuple[dict, list[str]]:
    """(times by name, what was wrong)."""

    def cublas(a, b, c):
        problem.torch.mm(a, b.T, out=c)

    calls = {"cublas": cublas}
    calls |= {name: rung_call(name, problem, dtype) for name in rungs} | peer_calls(peers, problem)
    wrong = []
    for name, call in calls.items():
        error = problem.error(call)
        if not error <= problem.bound or not (name in PEERS or problem.exact(call)):
            wrong.append(f"{name} is wrong at {problem.mnk} {problem.pair}: relative error {error:.1e}, or not exact on small integers")
    times = timed({name: (lambda i, call=call: lambda: call(*problem.matrices(i))) for name, call in calls.items()},
                  problem.set_bytes, rounds=rounds, settle=3.0, lead_ms=100)  # fmt: skip
    wrong += [f"{name} is wrong after the timing" for name, call in calls.items() if not problem.error(call) <= problem.bound]
    return times, wrong


COMPILE = """\
import time
began = time.perf_counter()
import sys
import torch
from ladder import binding
from ladder.operands import bare_gemm
from ladder.rungs import RUNGS
torch.zeros(1, device="cuda")
gemm, operands = RUNGS[sys.argv[1]].gemm, bare_gemm(*map(int, sys.argv[2:]))
imported = time.perf_counter()
binding.compile_for_gpu(gemm, operands)
print(imported - began, time.perf_counter() - imported)
"""


def show_compile_times(rungs, mnk) -> None:
    """How long it takes in a process that does nothing else: the imports, and the compile itself."""
    for name in rungs:
        command = [sys.executable, "-c", COMPILE, name, *map(str, mnk)]
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        imports, compiles = (float(part) for part in done.stdout.split()[-2:])
        print(f"{name:<18} compiled in {compiles:.2f} s by a fresh process, after {imports:.1f} s of imports", flush=True)


def show(problem: Problem, times: dict, sms: int) -> None:
    """A line for each candidate, the fastest first: speed, the clock and power at which it ran, and what part of the peak at that clock."""
    M, N, K = problem.mnk
    print(f"{M} x {N} x {K}, {problem.pair}, {str(problem.dtype).split('.')[1]}")
    for name, time in sorted(times.items(), key=lambda item: item[1].ms):
        flops = 2 * M * N * K / time.ms * 1e3
        state, peak = "no clock seen", ""
        if time.clock_mhz:
            state = f"{time.clock_mhz:4.0f} MHz" + (f" {time.watts:3.0f} W" if time.watts else "")
            peak = f"  {100 * flops / (sms * FLOPS_PER_CLOCK * time.clock_mhz * 1e6):5.1f}% of peak"
        speed = f"{flops / 1e12:7.1f} TFLOP/s  {times['cublas'].ms / time.ms:6.3f}x cuBLAS  {state}{peak}"
        print(f"  {name:<18}{time.ms:9.4f} ms  +-{50 * time.spread:4.1f}%  {speed}")
    print(flush=True)


def summarise(results: list[dict], peers) -> None:
    """Geometric means over the shapes, against cuBLAS and against the best of cuBLAS and the peers on each shape."""
    for name in results[0]:
        if name == "cublas" or not all(name in times for times in results):
            continue
        ratios = [times["cublas"].ms / times[name].ms for times in results]
        line = f"{name:<18} over {len(ratios)} shapes: {geometric_mean(ratios):.3f}x cuBLAS, lowest {min(ratios):.3f}x"
        if name in RUNGS and peers:
            best = [min(times[rival].ms for rival in times if rival == "cublas" or rival in PEERS) / times[name].ms for times in results]
            line += f"; {geometric_mean(best):.3f}x the best rival of each shape, lowest {min(best):.3f}x"
        print(line)


def draw(times: dict, path: Path, machine) -> None:
    """The ladder as one picture: TFLOP/s of each rung at one size, and below them those of cuBLAS and of the peers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    M, N, K = SIZE
    tflops = {name: 2 * M * N * K / times[name].ms / 1e9 for name in (*RUNGS, "cublas", *PEERS) if name in times}
    figure, axes = plt.subplots(figsize=(9, 0.34 * len(tflops) + 0.8), layout="constrained")
    colors = ["#0072B2" if name in RUNGS else "#595959" for name in tflops]
    axes.axvline(tflops["cublas"], color="#595959", linestyle="--", linewidth=1, zorder=0)
    axes.barh(["cuBLAS" if name == "cublas" else name for name in tflops], list(tflops.values()), color=colors)
    for place, speed in enumerate(tflops.values()):
        inside = speed > 0.1 * max(tflops.values())
        where = {"ha": "right" if inside else "left", "color": "white" if inside else "black"}
        axes.annotate(f"{speed:.3g}", (speed, place), (-6 if inside else 6, 0), textcoords="offset points", va="center", **where)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel(f"TFLOP/s at {M} x {N} x {K}, fp16 in, fp32 sums; {machine.gpu}, one interleaved run")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=160)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", type=_shape, default=SHAPES, metavar="M,N,K")
    parser.add_argument("--rungs", default="hopper_gemm", help="names with commas between them, or all")
    parser.add_argument("--peers", default="", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--pairs", default="TN", help="operand pairs, of NN, NT, TN, TT")
    parser.add_argument("--dtype", choices=BOUND, default="float16")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--compile", action="store_true", help="also time the compile of each rung, in processes of their own")
    options = parser.parse_args(arguments)
    options.rungs = list(RUNGS) if options.rungs == "all" else options.rungs.split(",")
    options.peers, options.pairs = [name for name in options.peers.split(",") if name], options.pairs.split(",")
    for what, given, known in (
        ("rung", options.rungs, RUNGS),
        ("peer", options.peers, PEERS),
        ("pair", options.pairs, operand_pairs(1, 1, 1)),
    ):
        for name in set(given) - set(known):
            parser.error(f"no {what} {name!r}; there are {', '.join(known)}")
    return options


def _shape(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(",") if part.isdigit() and int(part))
    if len(sizes) != 3 or text.count(",") != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not three whole numbers M,N,K of 1 or more")
    return sizes


def main(arguments=None) -> int:
    options, machine = parse(arguments), preflight()
    if not machine.can_run:
        print(f"nothing was timed: {machine.verdict}", file=sys.stderr)
        return 2
    import torch

    sms = torch.cuda.get_device_properties(0).multi_processor_count
    run, now, path = uuid4().hex[:12], datetime.now(UTC).isoformat(timespec="seconds"), ROOT / "results/ladder.json"
    results, faults = [], []
    for mnk in options.shapes:
        for pair in options.pairs:
            rungs = [name for name in options.rungs if pair in RUNGS[name].pairs(8, 8, 8)]
            try:
                problem = Problem(mnk, pair, options.dtype)
                times, wrong = measure(problem, rungs, options.peers, options.dtype, options.rounds)
            except LadderError as error:
                print(f"{mnk} {pair}: {error}", flush=True)
                faults.append(str(error))
                continue
            show(problem, times, sms)
            faults += wrong
            results.append(times)
            suffix = "" if pair == "TN" else f" {pair}"
            new = [result_row(name + suffix, time, times["cublas"], mnk, machine, now, run, options.dtype) for name, time in times.items()]
            new = [row | {"code": rung_code(name)} if name in RUNGS else row for name, row in zip(times, new, strict=True)]
            write_json(path, merged(read_json(path, []), new))
            if mnk == SIZE and pair == "TN" and len(rungs) > 5:
                draw(times, ROOT / "results/ladder.png", machine)
    if results:
        summarise(results, options.peers)
    if options.compile:
        show_compile_times(options.rungs, options.shapes[0])
    if faults:
        print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
