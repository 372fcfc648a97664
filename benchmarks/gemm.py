"""How fast the ladder's GEMMs are, beside cuBLAS and its rivals in the same run, on an NVIDIA GPU with torch.

    python benchmarks/gemm.py                                        hopper_gemm over the shapes that it is judged by
    python benchmarks/gemm.py --rungs all --shapes 4096,4096,4096    the whole ladder at one size, and its picture
    python benchmarks/gemm.py --peers quack,triton                   rivals, too, if they are installed: the first tuning takes a minute
    python benchmarks/gemm.py --pairs NN,NT,TN,TT --dtype bfloat16   other operand majors (BLAS's names, see ladder.operands) and types
    python benchmarks/gemm.py --compile                              also how long a fresh process takes to compile each

Each rung is first checked at small ragged sizes, inside guard bands. All candidates of a shape are timed in one interleaved run by CUDA
graphs (ladder.timing), on random normal data; the rungs without tensor cores in one of their own, so that the GPU does not cool down
meanwhile, and compared with the cuBLAS of the first. Before the timing each is checked against the fp32 product by norm, and all but the
rivals on small integers to the last bit; after it, by norm, all that the timed launches wrote. Only what is right is shown, and only
where the clock had settled recorded: as rows of results/ladder.json and, of all rungs at the size of the ladder, in results/ladder.png.
cuBLAS adds in fp32 throughout, as our kernels do; `cublas_reduced` is cuBLAS as torch calls it if nothing is said: it may add parts in
fp16. Exit status 1 if something was wrong or did not settle, 2 without a GPU.
"""

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import geometric_mean
from uuid import uuid4

import numpy as np

from ladder.checks import relative_error_there
from ladder.errors import LadderError
from ladder.harness import check_rung, preflight, timed
from ladder.operands import bare_gemm, operand_pairs
from ladder.record import environment, merged, read_json, rung_code, write_json
from ladder.rungs import RUNGS, SIZE, rungs_for
from ladder.stress import FEW, persistent_modules, told_of

ROOT = Path(__file__).resolve().parent.parent
SHAPES = [
    (2048, 2048, 2048), SIZE, (8192, 8192, 8192), (16384, 4096, 1024), (1024, 8192, 4096), (4096, 4096, 14336), (8192, 1280, 8192),
]  # fmt: skip
BOUND = {"float16": 1e-3, "bfloat16": 4e-3}  # relative Frobenius error; rounding a right result gives 2e-4 and 1.7e-3
DSL_TYPES = {"float16": "Float16", "bfloat16": "BFloat16"}
FLOPS_PER_CLOCK = 4096  # of one Hopper SM's tensor cores, fp16 or bf16, dense
PEERS = {"quack": "quack-kernels", "triton": "triton", "cublas_reduced": "torch"}  # and what is to be installed for them
MODULES = {"cublas_reduced": "torch"}  # where it is not named as the peer is
NO_TENSOR_CORES = ("naive", "tiled", "tiled_swizzled")
ALONE = {"settle": 3.0, "lead_ms": 300, "sample_ms": 20}  # for `timed`: each candidate at a clock of its own
UNSETTLED = 0.1  # a spread above this says that the clock was still changing


class Problem:
    """One shape, pair and type: its operands, buffers of random data, what each candidate made of them, and what is right."""

    def __init__(self, mnk, pair: str, dtype: str):
        import torch

        self.torch, self.mnk, self.pair, self.dtype_name, self.dtype = torch, mnk, pair, dtype, getattr(torch, dtype)
        self.bound = BOUND[dtype]
        self.operands = bare_gemm(*mnk, pair)
        self.sets, self.results = [], {}
        add_in_fp32(torch)

    @property
    def set_bytes(self) -> int:
        M, N, K = self.mnk
        return 2 * (M * K + N * K + M * N)

    def inputs(self, i: int):
        """(A, B) of the i-th set, as torch sees them: (M,K), (N,K)."""
        while len(self.sets) <= i:
            self.sets.append([self.empty(each.layout).normal_() for each in self.operands[:2]])
        return self.sets[i]

    def empty(self, layout):
        return self.torch.empty_strided(layout.shape, layout.stride, dtype=self.dtype, device="cuda")

    def rotating(self, name: str, call):
        """make(i), as `timed` takes it, of call(A, B, C): each set has a C of its own, NaN before. A call may return its C instead."""
        made = self.results[name] = []

        def make(i):
            (a, b), c = self.inputs(i), self.empty(self.operands[2].layout).fill_(float("nan"))
            made.append(c)

            def launch():
                out = call(a, b, c)
                if out is not None:
                    made[i] = out  # held, so that the next set's is another

            return launch

        return make

    def fault(self, call, exact: bool = True) -> str:
        """What is wrong with call(A, B, C) by norm, on the first set, or, if it must be exact, on small integers; "" if nothing is."""
        error = self._error(self._run(call, *self.inputs(0)), *self.inputs(0))
        if not error <= self.bound:
            return f"relative error {error:.1e}"
        if not exact:
            return ""
        a, b = (self.empty(each.layout).random_(-2, 3) for each in self.operands[:2])
        same = self.torch.equal(self._run(call, a, b), (a.float() @ b.float().T).to(self.dtype))
        return "" if same else "not exact on small integers"

    def forget(self, names) -> None:
        """Fill what these candidates have made with NaN."""
        for c in (c for name in names for c in self.results[name]):
            c.fill_(float("nan"))

    def fault_after(self, name: str) -> str:
        """What is wrong with what the timed launches of a candidate left; "" if nothing is."""
        errors = [self._error(c, *self.inputs(i)) for i, c in enumerate(self.results[name])]
        wrong = [f"set {i}: relative error {error:.1e}" for i, error in enumerate(errors) if not error <= self.bound]
        return f"after the timing, {wrong[0]}" if wrong else ""

    def _run(self, call, a, b):
        c = self.empty(self.operands[2].layout).fill_(float("nan"))
        out = call(a, b, c)
        self.torch.cuda.synchronize()
        return c if out is None else out

    def _error(self, c, a, b) -> float:
        want = a.float() @ b.float().T
        return relative_error_there(c, want)


def add_in_fp32(torch, reduced: bool = False) -> None:
    """Have cuBLAS add in fp32, or let it add parts of a sum in the type of the operands; and multiply fp32 as fp32, for what is right."""
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = False
    matmul.allow_fp16_reduced_precision_reduction = matmul.allow_bf16_reduced_precision_reduction = reduced


def rung_call(name: str, problem: Problem):
    """A rung, compiled for the problem. Raises LadderError if it does not take it."""
    import cutlass

    from ladder import binding

    if problem.pair not in RUNGS[name].pairs(8, 8, 8):
        raise LadderError(f"it takes no {problem.pair}")
    return binding.compile_for_gpu(RUNGS[name].gemm, problem.operands, getattr(cutlass, DSL_TYPES[problem.dtype_name]))


def peer_call(name: str, torch):
    """A rival, tuned for the problem that it is called with first. It may return its C instead of writing ours."""
    if name == "quack":
        from quack.gemm_interface import gemm

        return lambda a, b, c: gemm(a, b.T, out=c, tuned=True)
    if name == "triton":
        import torch._inductor.config as inductor

        inductor.max_autotune_gemm_backends = "TRITON"
        torch._dynamo.reset()
        compiled = torch.compile(lambda a, b: torch.mm(a, b.T), mode="max-autotune-no-cudagraphs", dynamic=False)
        return lambda a, b, c: compiled(a, b)

    def reduced(a, b, c):
        add_in_fp32(torch, reduced=True)
        torch.mm(a, b.T, out=c)
        add_in_fp32(torch)

    return reduced


def right_calls(problem: Problem, rungs, peers) -> tuple[dict, list[str]]:
    """(cuBLAS and what else is right, by name; what is wrong). A rung that does not take this problem is left out, and told."""
    calls, wrong = {"cublas": lambda a, b, c: problem.torch.mm(a, b.T, out=c)}, []
    if fault := problem.fault(calls["cublas"]):
        raise LadderError(f"cuBLAS itself is wrong: {fault}")
    for name in (*rungs, *peers):
        try:
            if name in PEERS:
                print(f"       tuning {name} ...", flush=True)
                call = peer_call(name, problem.torch)
            else:
                call = rung_call(name, problem)
            fault = problem.fault(call, exact=name in RUNGS)
        except LadderError as error:
            print(f"       {name} is left out: {error}", flush=True)
            continue
        except Exception as error:
            if name not in PEERS:
                raise
            fault = f"{type(error).__name__}: {error}".splitlines()[0]  # a rival's faults are its own
        if fault:
            wrong.append(f"{name} at {problem.mnk} {problem.pair}: {fault}")
        else:
            calls[name] = call
    return calls, wrong


def measure(problem: Problem, rungs, peers, rounds: int) -> tuple[dict, list[str]]:
    """(times by name of what is right before and after, and of rivals what settled; what was wrong).

    Raises LadderError if cuBLAS is wrong, or no rung is left: nothing can be compared then.
    """
    calls, wrong = right_calls(problem, rungs, peers)
    if not any(name in RUNGS for name in calls):
        raise LadderError("; ".join(["no rung is left to be timed", *wrong]))
    times = time_groups(problem, calls, rounds)
    if unsettled(times):
        print(f"       measured again: {'; '.join(unsettled(times).values())}", flush=True)
        times = time_groups(problem, calls, rounds)
    faults = {name: fault for name in times if (fault := problem.fault_after(name))}
    if "cublas" in faults:
        raise LadderError(f"cuBLAS itself is wrong {faults['cublas']}")
    faults |= {name: fault for name, fault in unsettled(times).items() if name in PEERS}  # no reason not to record the others
    wrong += [f"{name} at {problem.mnk} {problem.pair}: {fault}" for name, fault in faults.items()]
    return {name: time for name, time in times.items() if name not in faults}, wrong


def time_groups(problem: Problem, calls: dict, rounds: int) -> dict:
    """Time the candidates with tensor cores beside each other, then those without."""
    times = {}
    for slow in (False, True):
        made = {name: problem.rotating(name, call) for name, call in calls.items() if (name in NO_TENSOR_CORES) == slow}
        if made:
            times |= timed(made, problem.set_bytes, rounds=rounds, captured=partial(problem.forget, list(made)), **ALONE)
    return times


def unsettled(times: dict) -> dict[str, str]:
    """By name, in words, the candidates whose clock was still changing."""
    late = {name: time.spread for name, time in times.items() if time.spread > UNSETTLED}
    return {name: f"the clock did not settle under {name}, its times spread over {100 * spread:.0f}%" for name, spread in late.items()}


COMPILE = """\
import time
began = time.perf_counter()
import sys
import cutlass
import torch
from ladder import binding
from ladder.operands import bare_gemm
from ladder.rungs import RUNGS
torch.zeros(1, device="cuda")
rung, pair, dtype, *mnk = sys.argv[1:]
gemm, operands = RUNGS[rung].gemm, bare_gemm(*map(int, mnk), pair)
imported = time.perf_counter()
binding.compile_for_gpu(gemm, operands, getattr(cutlass, dtype))
print(imported - began, time.perf_counter() - imported)
"""


def show_compile_times(rungs, mnk, pair: str, dtype: str) -> list[str]:
    """Print how long it takes in a process that does nothing else: the imports, and the compile itself. Returns what went wrong."""
    wrong = []
    for name in rungs:
        command = [sys.executable, "-c", COMPILE, name, pair, DSL_TYPES[dtype], *map(str, mnk)]
        done = subprocess.run(command, cwd=ROOT, env=environment(ROOT), capture_output=True, text=True)
        if done.returncode:
            wrong.append(f"{name} is not compiled by a fresh process: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
            continue
        imports, compiles = (float(part) for part in done.stdout.split()[-2:])
        print(f"{name:<18} compiled in {compiles:.2f} s by a fresh process, after {imports:.1f} s of imports", flush=True)
    return wrong


def show(problem: Problem, times: dict, sms: int | None) -> None:
    """A line for each candidate, the fastest first: speed, the clock and power at which it ran, and what part of the peak at that clock.

    sms: of a Hopper GPU, whose peak is known; None for another.
    """
    M, N, K = problem.mnk
    print(f"{M} x {N} x {K}, {problem.pair}, {problem.dtype_name}")
    for name, time in sorted(times.items(), key=lambda item: item[1].ms):
        flops = 2 * M * N * K / time.ms * 1e3
        state, peak = "no clock seen", ""
        if time.clock_mhz:
            state = f"{time.clock_mhz:4.0f} MHz" + (f" {time.watts:3.0f} W" if time.watts else "")
            peak = "" if not sms else f"  {100 * flops / (sms * FLOPS_PER_CLOCK * time.clock_mhz * 1e6):5.1f}% of peak"
        speed = f"{flops / 1e12:7.1f} TFLOP/s  {times['cublas'].ms / time.ms:6.3f}x cuBLAS  {state}{peak}"
        print(f"  {name:<18}{time.ms:9.4f} ms  +-{50 * time.spread:4.1f}%  {speed}")
    print(flush=True)


def summarise(results: dict[tuple, dict], peers) -> None:
    """Geometric means over what was timed, (M, N, K, pair) -> times: against cuBLAS, and against the best of cuBLAS and the peers."""
    for name in dict.fromkeys(name for times in results.values() for name in times if name != "cublas"):
        timed = {what: times for what, times in results.items() if name in times}
        ratios = [times["cublas"].ms / times[name].ms for times in timed.values()]
        shapes, pairs = len({what[:3] for what in timed}), len({what[3] for what in timed})
        over = f"{shapes} shape{'s' * (shapes != 1)}" + (f" and {pairs} operand pairs, {len(timed)} in all" if pairs > 1 else "")
        line = f"{name:<18} over {over}: {geometric_mean(ratios):.3f}x cuBLAS, lowest {min(ratios):.3f}x"
        if name in RUNGS and peers:
            best = [min(t.ms for rival, t in times.items() if rival not in RUNGS) / times[name].ms for times in timed.values()]
            line += f"; {geometric_mean(best):.3f}x the best rival of each, lowest {min(best):.3f}x"
        print(line)


def draw(times: dict, path: Path, machine) -> None:
    """The ladder as one picture: TFLOP/s of each rung at SIZE, and below them those of cuBLAS and of the peers."""
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
    axes.set_xlabel(f"TFLOP/s at {M} x {N} x {K}, fp16 in, fp32 sums; {machine.gpu}, one run")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=160)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", type=shape, default=SHAPES, metavar="M,N,K")
    parser.add_argument("--rungs", default="hopper_gemm", help="names with commas between them, or all")
    parser.add_argument("--peers", default="", help=f"of {', '.join(PEERS)}, with commas between them")
    parser.add_argument("--pairs", default="TN", help="operand pairs, of NN, NT, TN, TT")
    parser.add_argument("--dtype", choices=BOUND, default="float16")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--compile", action="store_true", help="also time the compile of each rung, in processes of their own")
    options = parser.parse_args(arguments)
    options.rungs = list(RUNGS) if options.rungs == "all" else options.rungs.split(",")
    options.peers, options.pairs = [name for name in options.peers.split(",") if name], options.pairs.split(",")
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds} must be 1 or more")
    for what, given, known in (
        ("rung", options.rungs, RUNGS),
        ("peer", options.peers, PEERS),
        ("pair", options.pairs, operand_pairs(1, 1, 1)),
    ):
        for name in set(given) - set(known):
            parser.error(f"no {what} {name!r}; there are {', '.join(known)}")
    return options


def shape(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(",") if part.isdigit() and int(part))
    if len(sizes) != 3 or text.count(",") != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not three whole numbers M,N,K of 1 or more")
    return sizes


def installed(peers) -> list[str]:
    """Those of these rivals that are here; a line about each of the others."""
    here = [name for name in peers if find_spec(MODULES.get(name, name))]
    for name in peers:
        if name not in here:
            print(f"{name} is left out: it is not installed (pip install {PEERS[name]})", flush=True)
    return here


def checked(rungs, arch: str) -> tuple[list[str], list[str]]:
    """(the rungs that are right at small ragged sizes inside guard bands, or not for this arch; what is wrong with the others)."""
    right, wrong = [], []
    for name in rungs:
        try:
            if name in rungs_for(arch):
                print(f"       checking {name} ...", flush=True)
                for sms in (None, FEW) if name in persistent_modules() else (None,):  # on few, each block computes several tiles
                    with told_of(sms):
                        check_rung(name, np.random.default_rng())
            right.append(name)
        except LadderError as error:
            wrong.append(f"{name}: {error}")
    return right, wrong


def write_rows(problem: Problem, times: dict, machine, run: str, whole: bool) -> None:
    """Add the rows of one run to results/ladder.json: each candidate beside cuBLAS. whole: they show the ladder."""
    (M, N, K), path = problem.mnk, ROOT / "results/ladder.json"
    suffix = "" if problem.pair == "TN" else f" {problem.pair}"
    about = {"ladder": True} if whole else {}
    about |= {"run": run, "gpu": machine.gpu, "driver": machine.driver, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    what = {"m": M, "n": N, "k": K, "dtype": problem.dtype_name}
    new = []
    for name, time in times.items():
        speed = {"tflops": round(2 * M * N * K / time.ms / 1e9, 3), "gb_s": None, "cublas_ratio": round(times["cublas"].ms / time.ms, 5)}
        code = {"code": rung_code(name)} if name in RUNGS else {}
        new.append({"rung": name + suffix} | what | time.row() | speed | about | code)
    write_json(path, merged(read_json(path, []), new))


def main(arguments=None) -> int:
    options, machine = parse(arguments), preflight()
    if not machine.can_run:
        print(f"nothing was timed: {machine.verdict}", file=sys.stderr)
        return 2
    import torch

    sms = torch.cuda.get_device_properties(0).multi_processor_count if machine.arch == "sm_90a" else None
    run, results = uuid4().hex[:12], {}
    peers = installed(options.peers)
    rungs, faults = checked(options.rungs, machine.arch)
    for mnk, pair in product(options.shapes, options.pairs):
        try:
            times, wrong = measure(problem := Problem(mnk, pair, options.dtype), rungs, peers, options.rounds)
        except (LadderError, torch.cuda.OutOfMemoryError) as error:
            faults.append(f"{mnk} {pair}: {error}")
            continue
        faults += wrong
        show(problem, times, sms)
        results[*mnk, pair] = times
        if unsettled(times):
            faults.append(f"{mnk} {pair} is not recorded: {'; '.join(unsettled(times).values())}")
            continue
        at_size = (mnk, pair, options.dtype) == (SIZE, "TN", "float16")
        whole = at_size and set(rungs_for(machine.arch)) <= set(times)
        write_rows(problem, times, machine, run, whole)
        if whole:
            draw(times, ROOT / "results/ladder.png", machine)
    summarise(results, peers)
    if options.compile:
        faults += show_compile_times(rungs, options.shapes[0], options.pairs[0], options.dtype)
    if faults:
        print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
