"""The timing loop and what it reads of the GPU, on stand-ins for torch and nvidia-smi. Real times take a GPU: `make gpu`."""

import os
import sys
import types
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from ladder import timing
from ladder.errors import LadderError


class StandInTorch(types.SimpleNamespace):
    """Just enough of torch.cuda for `timed`: a clock that each launch moves on, and graphs that replay what was captured."""

    def __init__(self, l2=10_000):
        self.clock, self.launched, self.capturing, self.timed = 0.0, Counter(), None, []
        outer = self

        class Graph:
            def replay(self):
                for name, ms in self.work:
                    outer.clock += ms
                    outer.launched[name] += 1

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = outer.clock
                outer.timed.append(dict(outer.launched))

            def elapsed_time(self, stop):
                return stop.at - self.at

        @contextmanager
        def graph(into):
            outer.capturing = into.work = []
            yield
            outer.capturing = None

        properties = types.SimpleNamespace(L2_cache_size=l2, uuid="1234")
        self.cuda = types.SimpleNamespace(
            is_available=lambda: True,
            get_device_properties=lambda i: properties,
            synchronize=lambda: None,
            CUDAGraph=Graph,
            graph=graph,
            Event=Event,
        )

    def candidate(self, name, ms):
        return lambda i: lambda: self.capturing.append((name, ms)) if self.capturing is not None else None


def test_timed_interleaves_and_takes_medians(monkeypatch, fake_smi):
    fake_smi("1500, 650.5, 60")
    torch = StandInTorch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    slow_and_fast = {"slow": torch.candidate("slow", 4.0), "fast": torch.candidate("fast", 0.1)}
    times = timing.timed(slow_and_fast, set_bytes=3000, rounds=5, settle=0.5)
    assert times["slow"].ms == pytest.approx(4) and times["fast"].ms == pytest.approx(0.1) and times["fast"].rounds == 5
    assert times["slow"].spread == pytest.approx(0)
    assert times["fast"].clock_mhz in (1500, None), "read while timing; the stand-in run may be over before nvidia-smi is asked"
    orders = set()
    for start, before in zip(torch.timed[-20::2], [*torch.timed[-21:-1:2]], strict=True):
        ran = {name: n - before.get(name, 0) for name, n in start.items() if n != before.get(name, 0)}
        assert len(ran) == 1, "between two timed stretches runs the candidate that is timed next, and only it"
        orders.add(next(iter(ran)))
    assert orders == {"slow", "fast"}
    with pytest.raises(LadderError, match="too small to time"):
        timing.timed(slow_and_fast, set_bytes=2)


def test_what_making_the_graphs_wrote_can_be_spoilt_before_they_run(monkeypatch, fake_smi):
    fake_smi("1500, 650.5, 60")
    torch, seen = StandInTorch(), []
    monkeypatch.setitem(sys.modules, "torch", torch)
    timing.timed({"one": torch.candidate("one", 1.0)}, 3000, rounds=1, settle=0, captured=lambda: seen.append(list(torch.timed)))
    assert seen == [[]] and torch.timed, "after the capture, before anything is timed"


def test_sampler_takes_medians(fake_smi):
    fake_smi("1500, 650.5, [N/A]")
    with timing._Sampler("1234") as sampler:
        sampler.start()
        for _ in range(100):
            if sampler.rows:
                break
            sampler.done.wait(0.05)
    assert sampler.medians() == (1500, 650.5, None)
    sampler.rows[:] = [(0.9, 1.0, [1500, 600, 50]), (1.9, 2.0, [1200, 700, 52]), (2.9, 3.0, [1300, 690, 54])]
    assert sampler.medians([(1.5, 2.5)]) == (1200, 700, 52) and sampler.medians([(0, 1), (1.9, 3)]) == (1300, 690, 52)
    assert sampler.medians([(1.95, 2.5), (2, 2.95)]) == (None, None, None), "nothing was read in these"
    assert sampler.medians() == (1300, 690, 52), "of the whole run"
    assert timing._Sampler("1234").medians() == (None, None, None)


@pytest.mark.parametrize("knows, watts", [("power.draw.instant", 1.0), ("power.draw,", 2.0), ("nothing", None)])
def test_sampler_asks_older_drivers_for_the_mean_power(fake_smi, knows, watts):
    fake_smi("")
    answers = f"""#!/bin/sh
case "$3" in
*{knows}*) case "$3" in *instant*) echo 1500, 1, 50;; *) echo 1500, 2, 50;; esac;;
*) echo "This is not a valid field to query."; exit 2;;
esac
"""
    Path(os.environ["PATH"].split(":")[0], "nvidia-smi").write_text(answers)
    with timing._Sampler("1234") as sampler:
        for _ in range(100):
            if sampler.rows or not sampler.power:
                break
            sampler.done.wait(0.05)
    assert sampler.medians()[1] == watts and len(sampler.power) == {1.0: 2, 2.0: 1, None: 0}[watts]


def test_timed_without_a_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: False)))
    with pytest.raises(LadderError, match="needs a GPU"):
        timing.timed({}, 1)
