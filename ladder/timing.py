"""Time kernels against each other on the GPU, so that the ratio means something.

All candidates run in one loop, round by round, on inputs that rotate past twice the L2 cache; each candidate's rotation is one CUDA
graph, so that the host's launches are not what is measured. Where power limits the clock, what runs before a candidate shows in its
time: so each runs for a while before it is timed, and each round has an order of its own. Medians, with their spread and the GPU's
clock and power.
"""

import math
import random
import subprocess
import threading
import time
from dataclasses import dataclass

import numpy as np

from ladder.errors import LadderError

MOST_SETS = 4096
ALONE_MS = 100.0  # a candidate that ran for so long before it is timed has a clock of its own


@dataclass(frozen=True)
class Timing:
    """ms: median of one call. spread: from the 10th to the 90th percentile, as a part of the median. rounds: samples taken.

    clock_mhz, watts, celsius: medians of what nvidia-smi said while this candidate ran alone, or where that is too short, of the whole
    run; None where it said nothing.
    """

    name: str
    ms: float
    spread: float
    rounds: int
    clock_mhz: float | None
    watts: float | None
    celsius: float | None

    def row(self) -> dict:
        """As rows of results/ladder.json hold it."""
        state = {"clock_mhz": self.clock_mhz, "watts": self.watts, "celsius": self.celsius, "rounds": self.rounds}
        return {"ms": round(self.ms, 6), "spread": round(self.spread, 4)} | state


def timed(
    candidates: dict,
    set_bytes: int,
    *,
    rounds: int = 11,
    settle: float = 1.0,
    lead_ms: float = 10.0,
    sample_ms: float = 2.0,
    captured=lambda: None,
) -> dict[str, Timing]:
    """Time candidates against each other.

    candidates: name -> make(i), which returns call(), one launch on the i-th set of inputs, compiled already. The calls must not
    wait for the GPU: they are captured into a graph. set_bytes: what one call reads and writes. settle: seconds of warm-up. lead_ms:
    how long a candidate runs before it is timed; with ALONE_MS or more, the clock of the second half of it on is told as its own.
    sample_ms: how long it is timed at once, at the least. captured(): called before the graphs run, to spoil what making them wrote.
    Raises LadderError without a GPU, or where inputs are too small to rotate past the L2.
    """
    import torch

    if not torch.cuda.is_available():
        raise LadderError("timing needs a GPU that torch sees")
    sets = _sets(set_bytes, getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20))
    calls = {name: [make(i) for i in range(sets)] for name, make in candidates.items()}  # kept: a graph does not hold its buffers
    graphs = {name: _graph(torch, each) for name, each in calls.items()}
    captured()
    with _Sampler(str(torch.cuda.get_device_properties(0).uuid)) as sampler:
        once = _settle(torch, graphs, settle)
        lead, repeats = ({name: max(1, math.ceil(least / ms)) for name, ms in once.items()} for least in (lead_ms, sample_ms))
        sampler.start()
        samples, windows = {name: [] for name in graphs}, {name: [] for name in graphs}
        for _ in range(rounds):
            for name, (ms, (begin, end)) in _round(torch, graphs, lead, repeats).items():
                samples[name].append(ms / (repeats[name] * sets))
                windows[name].append((begin + lead_ms / 2000, end))
        states = {name: sampler.medians(windows[name] if lead_ms >= ALONE_MS else None) for name in graphs}
    return {name: _timing(name, np.array(ms), states[name]) for name, ms in samples.items()}


def _sets(set_bytes: int, l2_bytes: int) -> int:
    """How many sets of inputs it takes to exceed twice the L2.

    >>> _sets(10 << 20, 60 << 20)
    13
    """
    sets = max(2, 2 * l2_bytes // set_bytes + 1)
    if sets > MOST_SETS:
        raise LadderError(f"inputs of {set_bytes} bytes are too small to time: it takes {sets} sets of them to pass the L2 cache twice")
    return sets


def _graph(torch, calls):
    """All calls as one CUDA graph. They run once before: the first launch of a kernel loads it, which a graph cannot hold."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph


def _settle(torch, graphs, seconds: float) -> dict[str, float]:
    """Run all candidates until the clock has settled; return the milliseconds of one replay of each."""
    end, once = time.monotonic() + seconds, None
    while once is None or time.monotonic() < end:
        once = {name: ms for name, (ms, _) in _round(torch, graphs, dict.fromkeys(graphs, 0), dict.fromkeys(graphs, 1)).items()}
    return once


def _round(torch, graphs, lead, repeats) -> dict[str, tuple[float, tuple[float, float]]]:
    """Replay each graph, in random order, `lead` times untimed and then `repeats` times: the milliseconds of these, and (begin, end).

    begin, end: when all replays of this graph ran, in seconds of time.monotonic.
    """
    done = {}
    for name in random.sample(list(graphs), len(graphs)):
        begin = time.monotonic()
        for _ in range(lead[name]):
            graphs[name].replay()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeats[name]):
            graphs[name].replay()
        stop.record()
        torch.cuda.synchronize()
        done[name] = start.elapsed_time(stop), (begin, time.monotonic())
    return done


def _timing(name: str, ms: np.ndarray, state) -> Timing:
    low, high = np.percentile(ms, (10, 90))
    median = float(np.median(ms))
    return Timing(name, median, float(high - low) / median, len(ms), *state)


class _Sampler:
    """SM clock, power and temperature, asked of nvidia-smi over and over by a thread while the block runs.

    rows: (when it was asked, when it had answered, in seconds of time.monotonic; [MHz, watts, celsius]).
    """

    def __init__(self, uuid: str):
        self.gpu = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        self.power = ["power.draw.instant", "power.draw"]  # the second is a mean over a second: all that older drivers know
        self.rows, self.done = [], threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def start(self):
        """Forget what was read so far."""
        self.rows.clear()

    def medians(self, windows=None) -> tuple[float | None, float | None, float | None]:
        """(MHz, watts, celsius): of what was asked and answered within one of these (begin, end); of all without them.

        None for what nvidia-smi did not say.
        """
        windows = [(-math.inf, math.inf)] if windows is None else windows
        inside = [row for asked, told, row in self.rows if any(begin <= asked and told <= end for begin, end in windows)]
        columns = list(zip(*inside, strict=True)) or [()] * 3
        return tuple(float(np.median(known)) if (known := [x for x in column if x is not None]) else None for column in columns)

    def _sample(self):
        while self.power and not self.done.wait(0.02):
            query = f"--query-gpu=clocks.sm,{self.power[0]},temperature.gpu"
            asked = time.monotonic()
            try:
                said = subprocess.run(
                    ["nvidia-smi", "-i", self.gpu, query, "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=10
                )
            except (OSError, subprocess.TimeoutExpired):
                return
            row = [_number(field) for field in said.stdout.strip().split(",")]
            if "not a valid field" in said.stdout:
                self.power.pop(0)
            elif len(row) == 3:
                self.rows.append((asked, time.monotonic(), row))


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None  # "[N/A]"
