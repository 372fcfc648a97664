"""The rungs for Hopper: who waits for whom. What their PTX holds and in which order, how they are launched, and what they do on a model."""

import random
from functools import cache

import pytest
from hopper_model import Built, simulate

from ladder import hopper_gemm, lowering
from ladder.hopper_gemm import Config, choose
from ladder.rungs import RUNGS
from ladder.stress import told_of
from layoutviz import Layout

RAGGED, LONG, ONE_STEP = (328, 264, 200), (328, 264, 520), (328, 520, 40)  # 4, 9 and 1 steps of 64 along k; rings have 4 stages or more
GEMMS = {name: rung.gemm for name, rung in RUNGS.items() if rung.arch == "sm_90a"}
COOPERATIVE = Config(), Config((64, 256), (1, 2)), Config((128, 160), (2, 1)), Config((128, 160), (1, 1))
PINGPONG = [Config(*each, cooperative=False) for each in (
    ((128, 128), (2, 1)), ((128, 160), (1, 2)), ((192, 128), (1, 2)), ((64, 128), (1, 1)), ((64, 64), (2, 1)), ((64, 192), (1, 2)),
)]  # fmt: skip
CONFIGS = *COOPERATIVE, *PINGPONG
GEMMS |= {config: hopper_gemm.gemm_with(config) for config in CONFIGS}


@cache
def built(name, mnk=RAGGED, sms=None) -> Built:
    """A GEMM as for a GPU of so many SMs, if it asks; None: an H200's."""
    with told_of(sms):
        return Built(GEMMS[name], mnk)


# ---- what there is ----
# The compiler keeps the order of a kernel's text, and unrolls nothing that says unroll=1. Another version of it may not.

WORDS = [  # an opcode begins with this, is called that, and which of its operands matters
    ("mbarrier.init", "init", -1), ("mbarrier.try_wait", "wait", None), ("mbarrier.arrive.expect_tx", "expect", -1),
    ("mbarrier.arrive.shared::cluster", "release in the cluster", -1), ("mbarrier.arrive", "release", -1),
    ("fence.mbarrier_init", "fence of init", None), ("fence.proxy.async.shared::cta", "fence of proxies", None),
    ("bar.sync", "sync", -1), ("bar.arrive", "arrive", -1), ("barrier.cluster.arrive", "cluster arrives", None),
    ("barrier.cluster.wait", "cluster waits", None), ("setmaxnreg", "registers", -1), ("wgmma.fence", "fence", None),
    ("wgmma.mma", "wgmma", None), ("wgmma.commit", "commit", None), ("wgmma.wait_group", "running", -1),
    ("cp.async.bulk.tensor.2d.global", "store", None), ("cp.async.bulk.tensor.2d.shared::cta", "load", None),
    ("cp.async.bulk.tensor.2d.shared::cluster", "load for", -2), ("stmatrix", "stmatrix", None), ("cp.async.bulk.commit", "commit", None),
    ("cp.async.bulk.wait_group.read", "unread", -1), ("cp.async.bulk.wait_group", "unwritten", -1),
]  # fmt: skip


def trace(built: Built) -> list[str]:
    constants = {x[0]: x[1] for *_, op, x in built.code if op.startswith("mov.b")}
    found = []
    for *_, op, x in built.code:
        for word, name, operand in WORDS:
            if op.startswith(word):
                found.append(name if operand is None else f"{name} {constants.get(x[operand], x[operand])}")
                break
    return found


def ring(stages, arrivals, clustered=False):
    """Each stage has a barrier "full", at which the loading thread arrives, and one "empty" with `arrivals`."""
    start = ["cluster arrives", "cluster waits"] if clustered else ["sync 0"]
    return stages * ["init 1"] + stages * [f"init {arrivals}"] + ["fence of init", *start]


def multiply(rows=128):
    """4 WGMMAs, 16 of k each, for each 64 rows of a warpgroup."""
    return ["wait", "fence", *(rows // 64 * 4 * ["wgmma"]), "commit"]


def specialised(tile, stages, warpgroups=1, cluster=(1, 1), turns=False, pieces=0, overlap=False):
    """The producer's loop, its wait for each stage at the end, and the consumers' loop: one copy of each (unroll=1).

    warpgroups: those that multiply the same stage. Each of their warps releases it, to all blocks that fill it: those in this one's row
    and column of the cluster. pieces: of C, the loop over which is unrolled. overlap: they also leave during the next tile.
    """
    shared = sum(cluster) - 1
    release = "release in the cluster 1" if shared > 1 else "release 1"
    loads = ["load for 3" if copies > 1 else "load" for copies in reversed(cluster)]  # of A and of B, for both blocks: bits 0 and 1
    first, turn, handed = (["arrive 256"], ["sync 256"], ["arrive 256"]) if turns else ([], [], [])  # both warpgroups' threads
    piece = ["sync 128", *4 * ["stmatrix"], "fence of proxies", "sync 128", "store", "commit"]
    # one buffer of two is free; the tile before may have used the first one last
    leave = [word for i in range(pieces) for word in (f"unread {int(i > 0)}", *piece)]
    return [
        *ring(stages, 4 * warpgroups * shared, shared > 1),
        *("registers 40", "wait", f"expect {sum(tile) * 64 * 2}", *loads, *stages * ["wait"]),
        *("registers 232", *first, *turn, *multiply(tile[0] // warpgroups), *(leave if overlap else [])),
        *("running 1", release, *handed, "running 0", release, *leave),
        *(["unwritten 0"] if pieces else []),
    ]


TRACES = {  # wgmma's and multistage's loops are unrolled: K = 200 is 4 steps of 64
    "wgmma": ["init 1", "fence of init", "sync 0", *4 * ["expect 32768", "load", "load", *multiply(), "running 0", "sync 0"]],
    "multistage": ring(6, 4) + 4 * ["wait", "expect 32768", "load", "load"] + multiply()
    + 3 * [*multiply(), "running 1", "release 1"] + ["running 0"],
    "warp_specialized": specialised((128, 128), 6),
    "cooperative": specialised((128, 256), 4, warpgroups=2),
    "persistent": specialised((128, 256), 4, warpgroups=2),
    "multicast": specialised((128, 256), 4, warpgroups=2, cluster=(2, 1)),
    "pingpong": specialised((128, 128), 6, cluster=(2, 1), turns=True),
    "full_gemm": specialised((128, 256), 4, warpgroups=2, cluster=(2, 1), pieces=4, overlap=True),
    COOPERATIVE[0]: specialised((128, 256), 4, warpgroups=2, cluster=(2, 1), pieces=4),
    PINGPONG[0]: specialised((128, 128), 6, cluster=(2, 1), turns=True, pieces=4),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES, ids=str)
def test_it_waits_and_signals_in_the_order_of_its_design(name):
    assert trace(built(name)) == TRACES[name]


def test_a_tile_leaves_under_the_next_where_there_is_one():
    assert trace(built(COOPERATIVE[0], RAGGED, 4)) == TRACES["full_gemm"]
    assert trace(built(COOPERATIVE[2], RAGGED, 4)) == trace(built(COOPERATIVE[2])), "for a tile of 128 x 160 registers do not suffice"


# ---- how it is launched ----


@pytest.mark.parametrize("name, threads, cluster, grid, smem", [
    # 1 KB of barriers, then the stages, 128 bytes a row; and 2 consumers x 2 buffers of 64 x 64 of C
    ("wgmma", 128, (1, 1), [3, 3, 1], 1024 + 256 * 128),
    ("multistage", 128, (1, 1), [3, 3, 1], 1024 + 6 * 256 * 128),
    ("warp_specialized", 256, (1, 1), [3, 3, 1], 1024 + 6 * 256 * 128),
    ("cooperative", 384, (1, 1), [3, 2, 1], 1024 + 4 * 384 * 128),
    ("persistent", 384, (1, 1), [6, 1, 1], 1024 + 4 * 384 * 128),  # a block or a cluster a tile: there are SMs enough
    ("multicast", 384, (2, 1), [2, 1, 4], 1024 + 4 * 384 * 128),
    ("pingpong", 384, (2, 1), [2, 1, 6], 1024 + 6 * 256 * 128),
    ("full_gemm", 384, (2, 1), [2, 1, 4], 1024 + 4 * 384 * 128 + 4 * 64 * 64 * 2),
    (COOPERATIVE[2], 384, (2, 1), [2, 1, 2], 1024 + 4 * 416 * 128 + 4 * 64 * 32 * 2),
    (PINGPONG[-1], 384, (1, 2), [1, 2, 6], 1024 + 6 * 256 * 128 + 4 * 64 * 64 * 2),
])  # fmt: skip
def test_launch(name, threads, cluster, grid, smem):
    done = built(name)
    assert (done.threads, done.cluster, done.grid, done.smem) == (threads, cluster, grid, smem)
    assert done.smem <= 227 * 1024 and f".reqntid {threads}, 1, 1\n" in done.kernel.ptx


@pytest.mark.parametrize("name", [name for name in TRACES if name not in ("wgmma", "multistage")], ids=str)
def test_registers_that_are_taken_were_given_up(name):
    """Each warpgroup starts with what the kernel was compiled for; after that the consumers have 232 and the producer 40."""
    done = built(name)
    wanted = 128 * (40 + 232 * (done.threads // 128 - 1))
    assert wanted <= done.kernel.registers * done.threads <= 64 * 1024
    assert ".minnctapersm 1\n" in done.kernel.ptx, "else the compiler leaves setmaxnreg out"


# ---- hopper_gemm's choices ----


@pytest.mark.parametrize("mnk, picked", [  # the shapes of benchmarks/gemm.py, on 132 SMs
    ((2048, 2048, 2048), Config()), ((4096, 4096, 4096), Config()), ((8192, 8192, 8192), Config()), ((16384, 4096, 1024), Config()),
    ((1024, 8192, 4096), Config()), ((4096, 4096, 14336), Config()), ((8192, 1280, 8192), Config((128, 160), (1, 2))),
])  # fmt: skip
def test_what_is_chosen_for_the_shapes_of_the_benchmark(mnk, picked):
    assert choose(*mnk, 132) == picked


@pytest.mark.parametrize("stride, swapped", [((264, 1), False), ((1, 328), True)])
def test_for_an_m_contiguous_c_its_transpose_is_computed(monkeypatch, stride, swapped):
    given = []
    monkeypatch.setattr(hopper_gemm, "launch", lambda *operands: given.append([(t.shape, t.stride) for t in operands[:3]]))
    layouts = Layout((328, 200), (200, 1)), Layout((264, 200), (200, 1)), Layout((328, 264), stride)
    with pytest.raises(lowering.LadderError, match="launches no kernel"):
        lowering.compile_gemm_for(hopper_gemm.hopper_gemm, layouts)
    A, B, C = ((layout.shape, layout.stride) for layout in layouts)
    assert given == [[B, A, ((264, 328), (328, 1))] if swapped else [A, B, C]]


# ---- what it does on a model of a cluster ----


@pytest.mark.parametrize("mnk", [LONG, ONE_STEP], ids=str)
@pytest.mark.parametrize("name", [*(name for name in TRACES if isinstance(name, str)), *CONFIGS], ids=str)
def test_on_the_model_each_sum_is_whole_and_nothing_comes_too_early(name, mnk):
    """As for so few SMs that each block gets more than a tile, if it is persistent. The seed is in the traceback."""
    done = built(name, mnk, sms=4)
    simulate(done, mnk, done.grid, seed=random.randrange(1 << 32))
