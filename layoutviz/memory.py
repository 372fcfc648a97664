"""What the hardware makes of a layout: bank conflicts in shared memory, sectors in global memory, and the swizzle that mends them.

An access is two layouts. `layout`, of any kind, says where each element lives, in elements. `threads` says who moves what:
(thread, value) -> flat index into `layout`, as `make_layout_tv` gives it; rank 1 is one value a thread. A thread moves its values
in order, `vector` of them an instruction. Threads form warps of 32 in order, and offset 0 stands at a multiple of 128 bytes.

The model is NVIDIA's public one. Real GPUs differ a little: loads of 8 or 16 bytes in which every lane n reads what lane n^1 (or n^2)
reads can be served two phases at a time; a profiler may also count waiting for other traffic as conflicts; and sectors already in L1
are not fetched again. `ldmatrix` is an access of 16 bytes a thread, one row each: a phase is an 8x8 matrix of 16-bit elements.
"""

from dataclasses import dataclass

import numpy as np

from layoutviz.composed import ComposedLayout, Swizzle, as_layout, find_alias
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import OFFSET_LIMIT, int_tuple, nest
from layoutviz.layout import Layout

WARP = 32  # threads
BANKS, WORD = 32, 4  # shared memory: each bank gives one word of 4 bytes at a time, all together 128 bytes
SECTOR, LINE = 32, 128  # global memory, in bytes
BITS = (4, 8, 16, 32, 64, 128)  # element widths
ACCESS_LIMIT = 2**18  # values in one access, or in all of a search
TILE_LIMIT = 2**18  # slots of a tile that swizzles are tried on; a block has fewer bytes of shared memory


@dataclass(frozen=True)
class Phase:
    """What shared memory serves at once: neighbouring threads of a warp that together ask for at most 128 bytes."""

    warp: int
    instruction: int
    threads: tuple[int, ...]
    words: tuple[tuple[int, ...], ...]  # for each thread, the words it touches: byte address // 4
    banks: tuple[int, ...]  # for each of the 32 banks, its distinct words: one that several threads touch counts once
    ways = property(lambda self: max(self.banks), doc="The wavefronts it takes.")


@dataclass(frozen=True)
class BankConflicts:
    """An access to shared memory, phase by phase, in order of warps and instructions."""

    phases: tuple[Phase, ...]
    ways = property(lambda self: max(phase.ways for phase in self.phases), doc="The worst phase's; 1 is free of conflicts.")
    wavefronts = property(lambda self: sum(phase.ways for phase in self.phases), doc="The passes over the banks that it takes.")
    ideal = property(lambda self: len(self.phases), doc="The wavefronts without conflicts: one a phase.")
    conflicts = property(lambda self: self.wavefronts - self.ideal, doc="The wavefronts lost.")

    def __str__(self):
        worst = f"the worst phase is {self.ways}-way" if self.conflicts else "no bank conflicts"
        return f"{_count(self.wavefronts, 'wavefront')} for {_count(self.ideal, 'phase')}: {worst}"


@dataclass(frozen=True)
class Request:
    """What one warp asks of global memory with one instruction."""

    warp: int
    instruction: int
    threads: tuple[int, ...]
    asked: int  # distinct bytes
    sectors: tuple[int, ...]  # of 32 bytes: byte address // 32
    lines: tuple[int, ...]  # of 128 bytes: byte address // 128
    fewest = property(lambda self: -(-self.asked // SECTOR), doc="The sectors that as many bytes need at least.")
    efficiency = property(lambda self: self.asked / (SECTOR * len(self.sectors)), doc="Bytes asked over bytes moved; 1 is perfect.")


@dataclass(frozen=True)
class Traffic:
    """An access to global memory, request by request, and the sums. Nothing is remembered from one request to the next."""

    requests: tuple[Request, ...]
    asked = property(lambda self: sum(request.asked for request in self.requests), doc="Distinct bytes asked for.")
    sectors = property(lambda self: sum(len(request.sectors) for request in self.requests), doc="Sectors moved.")
    lines = property(lambda self: sum(len(request.lines) for request in self.requests), doc="Lines touched.")
    fewest = property(lambda self: sum(request.fewest for request in self.requests), doc="The fewest sectors possible.")
    efficiency = property(lambda self: self.asked / (SECTOR * self.sectors), doc="Bytes asked over bytes moved; 1 is perfect.")

    def __str__(self):
        used = f"{self.asked} of {SECTOR * self.sectors} bytes moved are used, {100 * self.efficiency:.3g}%"
        return f"{_count(self.sectors, 'sector')} for {_count(len(self.requests), 'request')}, {self.fewest} at best: {used}"


@dataclass(frozen=True)
class Candidate:
    """A way to lay out a tile in shared memory: its conflicts, summed over the accesses, and the memory it needs."""

    name: str
    layout: Layout | ComposedLayout
    conflicts: int
    bytes: int

    def __str__(self):
        return f"{self.name}: {_count(self.conflicts, 'conflict')}, {self.bytes} bytes"


def bank_conflicts(layout, threads, bits: int, vector: int = 1) -> BankConflicts:
    """The bank conflicts of one access to shared memory.

    Pre: `threads` maps (thread, value) into range(layout.size); elements have `bits` bits; vector * bits is 8, 16, 32, 64 or 128.
    Each vector lies in order, without gaps, at a multiple of its own width: else LayoutError names the thread and its offsets.
    Post: a phase is 32 threads of up to 4 bytes, 16 of 8 or 8 of 16; its ways are the distinct words on its busiest bank.

    >>> print(bank_conflicts("(32,32):(32,1)", "32:1", bits=32))       # thread i reads row i of column 0
    32 wavefronts for 1 phase: the worst phase is 32-way
    >>> rows = "(8,8):(1,8)"                                           # thread i reads the first 8 values of row i
    >>> print(bank_conflicts("S<3,3,3> o 0 o (8,64):(64,1)", rows, bits=16, vector=8))
    1 wavefront for 1 phase: no bank conflicts
    """
    layout = as_layout(layout)
    words = _words(_addresses(layout, layout.at(_indices(layout, threads, bits, vector)), bits), vector * bits)
    lanes, banks = BANKS // words.shape[2], iter(_bank_counts(words).tolist())
    phases = []
    for first in range(0, len(words), lanes):
        group = tuple(range(first, min(first + lanes, len(words))))
        for k, touched in enumerate(words[first : first + lanes].swapaxes(0, 1).tolist()):
            phases.append(Phase(first // WARP, k, group, tuple(map(tuple, touched)), tuple(next(banks))))
    return BankConflicts(tuple(sorted(phases, key=lambda phase: (phase.warp, phase.instruction))))


def sectors(layout, threads, bits: int, vector: int = 1) -> Traffic:
    """The sectors that one access to global memory moves: a request for each warp and instruction.

    Pre and errors: as for `bank_conflicts`. A Tensor's offset shifts the access.
    Post: efficiency = distinct bytes asked / bytes moved, each summed over the requests.

    >>> print(sectors("(32,32):(32,1)", "32:1", bits=32))
    32 sectors for 1 request, 4 at best: 128 of 1024 bytes moved are used, 12.5%
    """
    layout = as_layout(layout)
    addresses = _addresses(layout, layout.at(_indices(layout, threads, bits, vector)), bits)
    requests = []
    for first in range(0, len(addresses), WARP):
        group = tuple(range(first, min(first + WARP, len(addresses))))
        for k, starts in enumerate(addresses[first : first + WARP].T):
            starts = np.unique(starts)  # aligned to their width: they are apart, and none crosses a sector
            touched = [tuple(np.unique(starts // unit).tolist()) for unit in (SECTOR, LINE)]
            requests.append(Request(first // WARP, k, group, len(starts) * vector * bits // 8, *touched))
    return Traffic(tuple(requests))


def find_swizzle(tile, accesses, bits: int) -> list[Candidate]:
    """All ways to lay out a tile that allow every access, best first: fewest conflicts, then least memory, then simplest.

    Pre: `tile` is a plain Layout, offsets from 0, no two elements in one slot; `accesses` is a list of (threads, vector).
    Tried: the tile as it is; each stride above 1 padded, larger ones in proportion, by up to 128 bytes, where the banks repeat;
    each swizzle within the tile's slots, their number rounded up to a power of two. Memory is counted up to the last slot used.
    LayoutError if none allows every access; it says what is wrong with the tile as it is.

    >>> row, rows = ("(8,8):(64,8)", 8), ("(8,8):(1,8)", 8)            # 8 threads along row 0; 8 threads on a row each
    >>> print(*find_swizzle("(8,64):(64,1)", [row, rows], bits=16)[:2], sep="; ")
    S<3,3,3>: 0 conflicts, 1024 bytes; stride 64 padded to 72: 0 conflicts, 1136 bytes
    """
    tile = _storage(tile)
    if not isinstance(accesses, list) or any(not isinstance(access, tuple) or len(access) != 2 for access in accesses):
        raise LayoutError('accesses is a list whose entries are (threads, vector), as in [("(8,8):(1,8)", 8)]')
    moved = [_indices(tile, threads, bits, vector) for threads, vector in accesses]
    if sum(indices.size for indices in moved) > ACCESS_LIMIT:
        raise LayoutError(f"the {len(moved)} accesses move more than {ACCESS_LIMIT:,} values together, too many to try every swizzle on")
    found = []
    for name, layout, table in _ways_to_lay_out(tile, bits):
        offsets = [table[indices] for indices in moved]
        if not any(_broken(part).any() for part in offsets):
            counts = [_bank_counts(_words(part[..., 0] * bits // 8, part.shape[2] * bits)) for part in offsets]
            conflicts = sum(int(count.max(axis=1).sum()) - len(count) for count in counts)
            found.append(Candidate(name, layout, conflicts, -(-(int(table.max()) + 1) * bits // 8)))
    if not found:
        try:
            [_addresses(tile, tile.at(indices), bits) for indices in moved]
        except LayoutError as error:
            raise LayoutError(f"no swizzle or padding of {tile} allows every access; as it is, {error}") from None
    return sorted(found, key=lambda candidate: (candidate.conflicts, candidate.bytes))  # stable: simplest first


def _indices(layout, threads, bits: int, vector: int) -> np.ndarray:
    """The index of every value, int64[threads, instructions, vector]; LayoutError for an access that makes no sense."""
    threads, bits, vector = as_layout(threads), int_tuple(bits, "bits"), int_tuple(vector, "vector")
    if bits not in BITS:
        raise LayoutError(f"an element has {', '.join(map(str, BITS))} bits, not {bits}")
    if vector not in [width // bits for width in (8, 16, 32, 64, 128) if width >= bits]:
        raise LayoutError(f"no instruction moves {vector} x {bits} bits a thread: it moves 1, 2, 4, 8 or 16 bytes")
    if threads.rank > 2:
        raise LayoutError(f"{threads} has {threads.rank} modes; an access has two, (thread, value), which may be nested")
    if threads.size > ACCESS_LIMIT:
        raise LayoutError(f"{threads} moves {threads.size:,} values; an access is judged up to {ACCESS_LIMIT:,}")
    indices = threads.offsets().reshape(-1, Layout(threads.shape).modes()[0].size).T
    if indices.shape[1] % vector:
        raise LayoutError(f"{threads} gives each thread {_count(indices.shape[1], 'value')}, which vectors of {vector} do not divide")
    for thread, value in np.argwhere((indices < 0) | (indices >= layout.size))[:1]:
        where = f"by threads {threads}, thread {thread}, value {value} has index {indices[thread, value]}"
        raise LayoutError(f"{where}; {layout} has indices 0 to {layout.size - 1}")
    return indices.reshape(len(indices), -1, vector)


def _broken(offsets: np.ndarray) -> np.ndarray:
    """bool[threads, instructions]: the vectors that are not neighbours in order, or do not start at a multiple of their length."""
    first, vector = offsets[..., :1], offsets.shape[2]
    return (offsets != first + np.arange(vector)).any(axis=2) | (first[..., 0] % vector != 0)


def _addresses(layout, offsets: np.ndarray, bits: int) -> np.ndarray:
    """The byte address of every vector, int64[threads, instructions]; LayoutError for one that no instruction can move."""
    vector = offsets.shape[2]
    for thread, k in np.argwhere(_broken(offsets))[:1]:
        places = offsets[thread, k].tolist()
        in_order = places == list(range(places[0], places[0] + vector))
        raise LayoutError(
            f"thread {thread} cannot move values {k * vector} to {(k + 1) * vector - 1} as {_count(vector * bits // 8, 'byte')} at once: "
            f"{layout} puts them at {', '.join(map(str, places))}, "
            + (f"and {places[0]} is no multiple of {vector}" if in_order else "which are not neighbours in order")
        )
    if np.abs(offsets).max() > OFFSET_LIMIT // max(BITS):
        raise LayoutError(f"{layout} is used at offset {np.abs(offsets).max()}, too far out to count bytes")
    return offsets[..., 0] * bits // 8


def _words(addresses: np.ndarray, width: int) -> np.ndarray:
    """The 4-byte words that vectors of `width` bits touch: int64[threads, instructions, words of a vector]."""
    return addresses[..., None] // WORD + np.arange(-(-width // (8 * WORD)))


def _bank_counts(words: np.ndarray) -> np.ndarray:
    """How many distinct words a phase asks of each bank: int64[phases, 32]; groups of threads in order, instructions inside."""
    threads, instructions, width = words.shape
    lanes = BANKS // width
    full = np.pad(words, ((0, -threads % lanes), (0, 0), (0, 0)), mode="edge")  # the last thread again: no new word
    words = np.sort(full.reshape(-1, lanes, instructions, width).swapaxes(1, 2).reshape(-1, lanes * width))
    phase, place = np.nonzero(np.diff(words, prepend=words[:, :1] - 1))
    return np.bincount(phase * BANKS + words[phase, place] % BANKS, minlength=len(words) * BANKS).reshape(-1, BANKS)


def _storage(tile) -> Layout:
    """`tile` as a plain Layout that can be storage, or a LayoutError saying why it cannot."""
    tile = as_layout(tile)
    if not isinstance(tile, Layout):
        raise LayoutError(f"find_swizzle takes a plain layout and swizzles it itself; {tile} is a {type(tile).__name__}")
    if tile.offset_range[0] < 0:
        raise LayoutError(f"{tile} reaches offset {tile.offset_range[0]}; a tile's memory starts at 0")
    if tile.cosize > TILE_LIMIT:
        raise LayoutError(f"{tile} spans {tile.cosize:,} slots; swizzles are tried on tiles of up to {TILE_LIMIT:,}")
    if alias := find_alias(tile):
        raise LayoutError(f"indices {alias[0]} and {alias[1]} of {tile} share slot {tile(alias[0])}; in a tile every element has its own")
    return tile


def _ways_to_lay_out(tile: Layout, bits: int):
    """(name, layout, offset table) of every candidate, the simplest first."""
    table = tile.offsets()
    yield "as it is", tile, table
    for step in sorted({stride for extent, stride in tile.leaves if extent > 1 and stride > 1}):
        for more in range(1, BANKS * WORD * 8 // bits + 1):
            padded = Layout.of(tile.shape, nest([stride + stride // step * more for _, stride in tile.leaves], tile.shape))
            if find_alias(padded) is None:
                yield f"stride {step} padded to {step + more}", padded, padded.offsets()
    room = (tile.cosize - 1).bit_length()
    for b in range(1, room // 2 + 1):
        for s in sorted({*range(b, room - b + 1), *range(b - room, 1 - b)}, key=lambda s: (s < 0, abs(s))):
            for m in range(room - b - abs(s), -1, -1):
                swizzled = Swizzle(b, m, s).at(table)
                if not np.array_equal(swizzled, table):
                    yield f"S<{b},{m},{s}>", ComposedLayout(Swizzle(b, m, s), 0, tile), swizzled


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
