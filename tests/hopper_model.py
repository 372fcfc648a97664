"""A model of a cluster of Hopper SMs that runs a kernel's PTX, to see who waits for whom. For tests of the rungs.

Its threads, two of each warp, run in random order; copies and WGMMAs take until they are waited for. A place in shared memory holds which
rows of which tile lie there, a sum holds which products it is of. So a stage filled too early or multiplied too soon, a sum read before
it is done, a wait without end and a tile that is left out are seen. Not modelled: how a tile lies inside its rows (swizzle, majors other
than k), and the order in which memory becomes visible, but for what TMA reads. A GPU has to show these.
"""

import random
import re
from collections import Counter, defaultdict

import cutlass.cute as cute
import pytest
from cutlass.base_dsl.dsl import BaseDSL

from ladder import lowering
from ladder.operands import k_contiguous, row_major_output

LANES = 0, 1  # of each warp the one that `elect` takes, and one more; in a cluster of two each releases a stage to one block
INTEGER = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul.lo": lambda a, b: a * b, "mul.wide": lambda a, b: a * b,
    "mul.hi": lambda a, b: a * b >> 32, "mad.lo": lambda a, b, c: a * b + c, "div": lambda a, b: int(a / b),
    "rem": lambda a, b: a - b * int(a / b), "shl": lambda a, b: a << b, "shr": lambda a, b: a >> b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "not": lambda a: ~a, "neg": lambda a: -a, "min": min, "max": max,
    "selp": lambda a, b, p: a if p else b, "setp.eq": lambda a, b: a == b, "setp.ne": lambda a, b: a != b,
    "setp.lt": lambda a, b: a < b, "setp.le": lambda a, b: a <= b, "setp.gt": lambda a, b: a > b, "setp.ge": lambda a, b: a >= b,
}  # fmt: skip
NOTED = "mbarrier", "bar", "cp.async", "wgmma", "stmatrix", "fence", "elect"  # what other threads notice: before these any may run
NO_EFFECT = "setmaxnreg", "fence.mbarrier_init", "wgmma.fence", "barrier.cluster.wait"  # here; TRACES has them


class Built:
    """A GEMM compiled for one problem: `kernel`, and from the code that launches it what else matters here."""

    def __init__(self, gemm, mnk):
        real, compiled, started = BaseDSL.LaunchConfig.__post_init__, [], []
        with pytest.MonkeyPatch.context() as patch:
            keep = cute.compile
            patch.setattr(cute, "compile", lambda *given, **options: compiled.append(keep(*given, **options)) or compiled[-1])
            patch.setattr(BaseDSL.LaunchConfig, "__post_init__", lambda launch: started.append(launch) or real(launch))
            self.kernel = lowering.compile_gemm_for(gemm, (*k_contiguous(*mnk)["TN"], row_major_output(*mnk[:2])))
        launch = started[-1]
        self.grid, self.threads, self.cluster = launch.grid, launch.block[0], tuple(launch.cluster[:2]) if launch.has_cluster else (1, 1)
        # The host's code, as LLVM IR, stores constants in cudaLaunchConfig_t, whose field 2 is the dynamic shared memory, and in TMA's
        # descriptors: the top byte of word 6 is the columns of a box - 1, word 7 its rows - 1. The only bool is the MMA's ACCUMULATE.
        host = str(compiled[-1].ir_module).split("@cutlass_call")[1]
        constants = re.findall(r"(%\d+) = llvm.mlir.constant\((true|false|-?\d+)\W", host)
        number = {x: int({"true": 1, "false": 0}.get(n, n)) for x, n in constants}
        stored = {place: number.get(x) for x, place in re.findall(r"llvm.store (%\d+), (%\d+) ", host)}
        field = r"(%\d+) = llvm.getelementptr %\d+\[0, {}\] : .* !llvm.{}"
        (self.smem,) = (stored[place] for place in re.findall(field.format(2, r"struct<\(array<3 x i32>, array"), host) if place in stored)
        columns, rows = ([stored[place] for place in re.findall(field.format(word, "array<16 x i64>"), host)] for word in (6, 7))
        self.boxes = {f"param_{i}": ((c >> 56) + 1, r + 1) for i, (c, r) in enumerate(zip(columns, rows, strict=True))}
        self.accumulate = number[re.findall(r"llvm.insertvalue (%\d+), %\d+\[0\] : !llvm.struct<\(i1\)>", host)[-1]]
        self.code, self.labels = parsed(self.kernel.ptx)


def parsed(ptx: str):
    """[(predicate, its value with which the instruction runs, opcode, operands)], {label: place in that list}."""
    code, labels = [], {}
    for line in re.sub(r"\bkernel_\w+_(param_\d)", r"\1", ptx.split("\n{", 1)[1]).splitlines():
        if found := re.match(r"(\$\w+):", line):
            labels[found[1]] = len(code)
        found = re.match(r"\s*(?:@(!?)(%\w+) )?([a-z][\w.:]*)\s*(.*);", line)
        if found and found[4] not in ("DONE", "LAB_WAIT"):  # the loop around a try_wait
            code.append((found[2], not found[1], found[3], re.findall(r"\{.*?\}|\[.*?\]|[^,\s]+", found[4])))
    return code, labels


class Mbarrier:
    def __init__(self, count):
        self.count = self.pending = count
        self.bytes = self.phase = 0

    def arrive(self, count, expected):
        self.pending, self.bytes = self.pending - count, self.bytes + expected
        assert self.pending >= 0, "more arrivals than are counted"
        if self.pending == self.bytes == 0:
            self.pending, self.phase = self.count, 1 - self.phase


class Cluster:
    """Blocks at `places` of the grid. Shared memory is counted in 8 rows of 128 bytes."""

    def __init__(self, built: Built, places, grid):
        self.built, self.sums = built, []  # what was written to C: (address or place, what a sum holds)
        self.mbarriers, self.bars = {}, defaultdict(lambda: [0, 0])  # of a named barrier: arrivals, rounds
        self.tiles, self.readers, self.flights = {}, Counter(), []  # of TMA
        self.staged = {}  # what stmatrix wrote, and who
        warps = [(rank, place, warp) for rank, place in enumerate(places) for warp in range(built.threads // 32)]
        self.threads = [Thread(self, rank, place, grid, 32 * warp + lane) for rank, place, warp in warps for lane in LANES]

    def run(self, rng):
        running = self.threads
        while running:
            able = [thread for thread in running if thread.may_go()]
            assert able or self.flights, "all wait for each other"
            picked = rng.randrange(len(able) + len(self.flights))
            if picked >= len(able):
                self.land(*self.flights.pop(picked - len(able)))
                continue
            thread = able[picked]
            for _ in range(rng.choice((1, 2, 20, 200))):
                next(thread.steps, None)
                if thread.gone or not thread.may_go():
                    break
            running = [thread for thread in running if not thread.gone]
        return self.sums

    def land(self, rank, tiles, barrier):
        self.tiles |= tiles
        self.barrier(rank, barrier).arrive(0, -1024 * len(tiles))

    def barrier(self, rank, address) -> Mbarrier:
        assert any(not thread.gone for thread in self.threads if thread.rank == rank), "that block has left"
        return self.mbarriers[rank, address]


class Thread:
    def __init__(self, cluster: Cluster, rank, block, grid, number):
        self.cluster, self.rank, self.number, self.lane = cluster, rank, number, number % 32
        self.registers = {"%tid.x": number, "%cluster_ctarank": rank, "__dynamic_shmem__0": 0}
        self.registers |= {f"%ctaid.{c}": n for c, n in zip("xyz", block, strict=True)}
        self.registers |= {f"%nctaid.{c}": n for c, n in zip("xyz", grid, strict=True)}
        self.registers |= {f"param_{i}": f"param_{i}" for i in range(3)}  # A, B and C, as TMA's descriptors of them
        self.at, self.gone, self.may_go = 0, False, lambda: True
        self.groups, self.group = [], (set(), [])  # WGMMAs that run: registers of their sums, tiles that they read
        self.stores, self.store, self.unfenced, self.waits = [], [], set(), 0
        self.steps = self.go()

    def go(self):
        code, labels = self.cluster.built.code, self.cluster.built.labels
        while not self.gone:
            predicate, wanted, op, x = code[self.at]
            self.at += 1
            if predicate and bool(self.registers[predicate]) != wanted:
                continue
            if op.startswith("bra"):
                self.at = labels[x[0]]
            elif op == "ret":
                assert not sum(self.stores, self.store), "left before TMA had stored"
                self.gone = True
            elif op.startswith(NO_EFFECT):
                pass
            elif op.startswith(NOTED):
                yield
                yield from self.noted(op, x)
            else:
                self.alone(op, x)

    def until(self, ready):
        self.may_go = ready
        while not ready():
            yield
        self.may_go = lambda: True

    def get(self, name: str, kind: str = "u64"):
        value = () if name == "0f00000000" else int(name) if name[0] in "-0123456789" else self.registers[name]
        if not isinstance(value, int):
            return value  # a sum, an operand of the kernel
        bits = 1 if kind == "pred" else int(kind[1:])
        value &= (1 << bits) - 1
        return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value

    def address(self, text: str):
        """(block of the cluster, address in its shared memory)."""
        register, _, offset = text.strip("[]").partition("+")
        address = self.get(register) + int(offset or 0)
        return (address >> 24) - 1 if address >> 24 else self.rank, address & 0xFFFFFF

    def alone(self, op, x):
        """What no other thread notices."""
        name, _, kind = op.rpartition(".")
        inside = re.findall(r"[^{},\s]+", x[1]) if len(x) > 1 else []
        if op.startswith("mapa"):
            result = self.get(x[2]) + 1 << 24 | self.get(x[1])
        elif op.startswith("ld.param"):
            result = self.cluster.built.accumulate if kind == "b8" else 0  # else C's address
        elif op == "cvt.rn.f16x2.f32":
            assert not any({x[1], x[2]} & sums for sums, _ in self.groups), "sums are read before they are done"
            result = self.get(x[2]), self.get(x[1])
        elif op.startswith("st.global"):
            register, _, offset = x[0].strip("[]").partition("+")
            self.cluster.sums += enumerate(self.get(x[1]), (self.get(register) + int(offset or 0)) // 2)
            return
        elif x[0][0] == "{":
            for i, register in enumerate(re.findall(r"[^{},\s]+", x[0])):
                self.registers[register] = self.get(x[1]) >> 32 * i
            return
        elif name == "mov" and len(inside) == 2:
            result = self.get(inside[1], "u32") << 32 | self.get(inside[0], "u32")
        elif op.startswith(("mov.", "shfl.", "cvta.", "cvt.")):
            result = self.get(x[1], kind if name.startswith("cvt.") else "u64")
        else:
            result = INTEGER[name](*(self.get(each, kind) for each in x[1:]))
        self.registers[x[0]] = result & 1 if kind == "pred" else result

    def noted(self, op, x):
        cluster = self.cluster
        if op.startswith("mbarrier.init"):
            cluster.mbarriers[self.address(x[0])] = Mbarrier(self.get(x[1]))
        elif op.startswith("mbarrier.try_wait"):
            barrier, phase = cluster.barrier(*self.address(x[1])), self.get(x[2])
            yield from self.until(lambda: barrier.phase != phase)
        elif op.startswith("mbarrier.arrive"):
            count, expected = (1, self.get(x[2])) if "expect_tx" in op else (self.get(x[2]), 0)
            cluster.barrier(*self.address(x[1])).arrive(count, expected)
        elif op.startswith("bar"):
            whole = op.startswith("barrier.cluster")
            bar = cluster.bars["cluster" if whole else (self.rank, self.get(x[0]))]
            threads = int(x[1]) if len(x) > 1 else cluster.built.threads
            bar[0], now = bar[0] + 1, bar[1]
            if bar[0] == (len(cluster.threads) if whole else threads // 32 * len(LANES)):
                bar[:] = 0, now + 1
            if not op.startswith("bar.arrive"):
                yield from self.until(lambda: bar[1] != now)
        elif op.startswith("elect"):  # .sync: no lane goes on before all have come
            yield from self.together()
            self.registers[x[0].split("|")[1]] = self.lane == 0
        elif op.startswith("wgmma.commit"):
            self.groups.append(self.group)
            self.group = set(), []
        elif op.startswith("wgmma.wait"):
            yield from self.wait_group(self.get(x[0]))
        elif op.startswith("wgmma.mma"):
            self.multiply(int(re.search(r"m64n(\d+)k16", op)[1]), *x[:3])
        elif op.startswith("stmatrix"):
            place = self.address(x[0])
            reading = [stored for thread in cluster.threads for stored in sum(thread.stores, thread.store)]
            assert place not in reading, "TMA still reads this buffer"
            cluster.staged[place] = self, [each for register in re.findall(r"%\w+", x[1]) for each in self.get(register) or ()]
            self.unfenced.add(place)
        elif op.startswith("fence.proxy"):
            self.unfenced.clear()
        elif op.startswith("cp.async.bulk.commit"):
            self.stores.append(self.store)
            self.store = []
        elif op.startswith("cp.async.bulk.wait"):
            del self.stores[: max(0, len(self.stores) - self.get(x[0]))]
        elif "tensor.2d.shared" in op:
            self.load(x, self.get(x[3]) if "multicast" in op else 1 << self.rank)
        elif self.lane == 0:  # a store, one a warp (UTMASTG)
            self.store_piece(x)

    def load(self, x, blocks):
        (_, to), (_, barrier) = self.address(x[0]), self.address(x[2])
        operand, k, row = (self.get(name, "s32") for name in re.findall(r"[%\w]+", x[1]))
        for rank in (rank for rank in range(16) if blocks >> rank & 1):
            tiles = {(rank, to // 1024 + i): (operand, row + 8 * i, k) for i in range(self.cluster.built.boxes[operand][1] // 8)}
            assert not any(self.cluster.readers[place] for place in tiles), "a stage is filled while it is multiplied"
            self.cluster.tiles |= dict.fromkeys(tiles)
            self.cluster.flights.append((rank, tiles, barrier))

    def multiply(self, columns, registers, a, b):
        corners = []
        for operand, rows, descriptor in (("param_0", 64, a), ("param_1", columns, b)):
            start = (self.get(descriptor) & 0x3FFF) << 4
            places = [(self.rank, start // 1024 + i) for i in range(rows // 8)]
            tiles = [self.cluster.tiles.get(place) for place in places]
            assert None not in tiles, "a stage is multiplied before it is full"
            _, row, k = tiles[0]
            assert tiles == [(operand, row + 8 * i, k) for i in range(rows // 8)]
            self.group[1].extend(places)
            self.cluster.readers.update(places)
            corners.append((row, k + start % 128 // 2))
        (m, k), (n, k_of_b) = corners
        assert k == k_of_b
        m, n = m + self.number // 32 % 4 * 16 + self.lane // 4, n + self.lane % 4 * 2
        for i, register in enumerate(re.findall(r"%\w+", registers)):
            place = m + i % 4 // 2 * 8, n + i // 4 * 8 + i % 2
            before = self.get(register) if self.registers["p"] else ()
            assert not before or before[:2] == place, "the sums of two tiles"
            self.registers[register] = *place, *(before or ())[2:], k
            self.group[0].add(register)

    def wait_group(self, most):
        def end_groups(warp):
            for thread in warp:
                while len(thread.groups) > most:
                    self.cluster.readers.subtract(thread.groups.pop(0)[1])

        yield from self.together(end_groups)

    def together(self, then=lambda warp: None):
        """The lanes of a warp wait for each other; when the last has come, `then` happens."""
        self.waits, now = self.waits + 1, self.waits + 1
        warp = [thread for thread in self.cluster.threads if (thread.rank, thread.number // 32) == (self.rank, self.number // 32)]
        if all(thread.waits == now for thread in warp):
            then(warp)
        yield from self.until(lambda: all(thread.waits >= now for thread in warp))

    def store_piece(self, x):
        operand, column, row = (self.get(name) for name in re.findall(r"[%\w]+", x[0]))
        columns, rows = self.cluster.built.boxes[operand]
        rank, start = self.address(x[1])
        places = [place for place in self.cluster.staged if place[0] == rank and 0 <= place[1] - start < rows * columns * 2]
        found = []
        for place in places:
            thread, sums = self.cluster.staged.pop(place)
            assert place not in thread.unfenced, "TMA does not see it"
            found += sums
        own = [(row + m, column + n) for m in range(0, rows, 8) for n in range(columns) if n % 8 < 4]
        assert sorted(each[:2] for each in found) == own, "not the whole piece"
        self.cluster.sums += ((each[:2], each) for each in found)
        self.store += places


def simulate(done: Built, mnk, grid, seed: int):
    """Run all clusters of a grid; check that each element of C that these lanes write is whole, once."""
    (M, N, K), (across, down), rng, sums = mnk, done.cluster, random.Random(seed), []
    for x, y, z in ((x, y, z) for z in range(grid[2]) for y in range(0, grid[1], down) for x in range(0, grid[0], across)):
        sums += Cluster(done, [(x + i, y + j, z) for j in range(down) for i in range(across)], grid).run(rng)
    pitch = row_major_output(M, N).stride[0]
    places = [place if isinstance(place, tuple) else divmod(place, pitch) for place, _ in sums]
    assert len(set(places)) == len(places), "written twice"
    assert not {(m, n) for m in range(0, M, 8) for n in range(N) if n % 8 < 4} - set(places), "left out"
    steps = range(0, -(-K // 64) * 64, 16)
    assert all(each == (*place, *steps) for place, (_, each) in zip(places, sums, strict=True)), "not the whole sum, or another's"
