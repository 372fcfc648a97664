"""Bank conflicts, sectors and find_swizzle: against a count of single bytes in plain loops, and the values known from elsewhere."""

import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from layoutviz import ComposedLayout, Layout, LayoutError, Swizzle, Tensor
from layoutviz.composed import as_layout, find_alias
from layoutviz.int_tuple import leaf_values
from layoutviz.memory import bank_conflicts, find_swizzle, sectors

ROWS_OF_16_BYTES = ("(8,8):(1,8)", 8)  # fp16, 8 rows: thread i reads the first 8 elements of row i


def bytes_moved(layout, threads, bits, vector):
    """{(warp, instruction): {thread: the bytes it touches}}, bit by bit; None if a vector is no aligned run of bytes."""
    layout, threads = as_layout(layout), as_layout(threads)
    first_mode = threads.shape[0] if isinstance(threads.shape, tuple) else threads.shape
    count = 1
    for extent in leaf_values(first_mode):
        count *= extent
    moved = {}
    for thread in range(count):
        values = [threads(thread + count * value) for value in range(threads.size // count)]
        for instruction in range(len(values) // vector):
            bits_touched = []
            for index in values[instruction * vector : (instruction + 1) * vector]:
                bits_touched += range(layout(index) * bits, layout(index) * bits + bits)
            if any(after != before + 1 for before, after in zip(bits_touched, bits_touched[1:], strict=False)):
                return None
            if bits_touched[0] % len(bits_touched):
                return None
            moved.setdefault((thread // 32, instruction), {})[thread] = {bit // 8 for bit in bits_touched}
    return moved


def phases_by_loops(moved, width):
    """(warp, instruction, threads, words of each thread, distinct words on each bank): one for each phase."""
    together = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[width]
    for (warp, instruction), threads in sorted(moved.items()):
        for start in range(0, 32, together):
            group = {t: {byte // 4 for byte in touched} for t, touched in threads.items() if start <= t % 32 < start + together}
            if group:
                everything = set().union(*group.values())
                yield warp, instruction, group, [sum(word % 32 == bank for word in everything) for bank in range(32)]


def check_banks(layout, threads, bits, vector):
    moved = bytes_moved(layout, threads, bits, vector)
    if moved is None:
        with pytest.raises(LayoutError, match="at once"):
            bank_conflicts(layout, threads, bits, vector)
        return
    found = bank_conflicts(layout, threads, bits, vector)
    expected = list(phases_by_loops(moved, bits * vector // 8))
    assert [(p.warp, p.instruction, dict(zip(p.threads, map(set, p.words), strict=True)), list(p.banks)) for p in found.phases] == expected
    ways = [max(banks) for *_, banks in expected]
    assert [phase.ways for phase in found.phases] == ways
    assert (found.ways, found.wavefronts, found.ideal, found.conflicts) == (max(ways), sum(ways), len(ways), sum(ways) - len(ways))


def check_sectors(layout, threads, bits, vector):
    moved = bytes_moved(layout, threads, bits, vector)
    if moved is None:
        with pytest.raises(LayoutError, match="at once"):
            sectors(layout, threads, bits, vector)
        return
    found = sectors(layout, threads, bits, vector)
    everything = {key: set().union(*by_thread.values()) for key, by_thread in moved.items()}
    assert {(r.warp, r.instruction): r.threads for r in found.requests} == {key: tuple(by_thread) for key, by_thread in moved.items()}
    assert len(found.requests) == len(moved)
    for request in found.requests:
        touched = everything[request.warp, request.instruction]
        assert request.asked == len(touched)
        assert request.sectors == tuple(sorted({byte // 32 for byte in touched}))
        assert request.lines == tuple(sorted({byte // 128 for byte in touched}))
        assert request.fewest == next(n for n in range(1, 999) if 32 * n >= len(touched))
        assert request.efficiency == len(touched) / (32 * len(request.sectors))
    count = sum(len({byte // 32 for byte in touched}) for touched in everything.values())
    assert found.sectors == count
    assert found.lines == sum(len({byte // 128 for byte in touched}) for touched in everything.values())
    assert found.asked == sum(map(len, everything.values()))
    assert found.fewest == sum(request.fewest for request in found.requests)
    assert found.efficiency == found.asked / (32 * count)


@st.composite
def accesses(draw):
    """A layout of any kind, threads of one to a few warps, and a vector: mostly one that can be moved, now and then one that cannot."""
    bits, width = draw(st.sampled_from([(b, w) for b in (4, 8, 16, 32, 64, 128) for w in (8, 16, 32, 64, 128) if b <= w]))
    vector = width // bits
    small, step = st.integers(1, 4), st.sampled_from([0, 1, 1, 2, 3, 5, 8, 16])
    lanes = draw(st.sampled_from([(1,), (7,), (8,), (32,), (4, 8), (3, 5), (8, 9), (2, 3, 11), (33,)]))
    more = draw(st.lists(small, max_size=2))
    threads = Layout(
        (lanes, (vector, *more)),
        (tuple(vector * draw(step) for _ in lanes), (1, *(vector * draw(step) for _ in more))),
    )
    extents = [vector, *draw(st.lists(st.integers(1, 9), max_size=2))]
    last, size = 1, 1
    for extent in extents:
        size *= extent
    while size * last < threads.cosize:
        last += 1
    strides = [1] + [vector * draw(st.sampled_from([0, 1, 2, 3, 4, 8, 9, 32, -1, -8])) for _ in extents]
    if draw(st.integers(0, 5)) == 0:
        strides[draw(st.integers(0, len(extents)))] += 1
    layout = Layout((vector, (*extents[1:], last)), (strides[0], tuple(strides[1:])))
    offset = draw(st.sampled_from([0, vector, 3 * vector, -vector, 1]))
    kind = draw(st.sampled_from(["plain", "tensor", "swizzled", "swizzled tensor"]))
    if kind.startswith("swizzled"):
        b = draw(st.integers(1, 4))
        m = draw(st.integers(0, 6) if draw(st.booleans()) else st.just(vector.bit_length() - 1))
        s = draw(st.integers(b, 5)) * draw(st.sampled_from([1, 1, -1]))
        layout = ComposedLayout(Swizzle(b, m, s), draw(st.sampled_from([0, vector])), layout)
    return Tensor(layout, offset) if kind.endswith("tensor") else layout, threads, bits, vector


@given(accesses())
@example(("(64,64):(64,1)", "(64,3):(1,64)", 32, 1))  # two warps, three instructions
@example(("(64,64):(0,1)", "64:1", 8, 1))  # every thread the same byte
@example(("(64,64):(1,64)", "(40,8):(8,1)", 16, 4))  # a warp and a quarter
def test_phases_and_banks_are_those_of_plain_loops(access):
    check_banks(*access)


@given(accesses())
@example(("(64,64):(64,1)", "(64,3):(1,64)", 32, 1))
@example((Tensor("64:1", 3), "(40):(1)", 32, 1))
def test_sectors_are_those_of_plain_loops(access):
    check_sectors(*access)


@given(st.data())
def test_single_elements_at_any_offset(data):
    """Without vectors nothing is forbidden: strides of any size and sign, threads that meet."""
    bits = data.draw(st.sampled_from([8, 16, 32, 64, 128]))
    strides = st.integers(-70, 200)
    layout = Layout((6, (5, 3)), (data.draw(strides), (data.draw(strides), data.draw(strides))))
    extents = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=2).map(tuple))
    threads = Layout((extents, 2), (tuple(data.draw(st.integers(0, 7)) for _ in extents), data.draw(st.integers(0, 3))))
    assume(threads.cosize <= layout.size)
    check_banks(layout, threads, bits, 1)
    check_sectors(layout, threads, bits, 1)


@pytest.mark.parametrize("layout, bits, vector, ways", [
    ("(32,32):(32,1)", 32, 1, 32), ("(32,32):(64,1)", 32, 1, 32), ("(32,32):(16,1)", 32, 1, 16), ("(32,32):(33,1)", 32, 1, 1),
    ("S<5,0,5> o 0 o (32,32):(32,1)", 32, 1, 1), ("S<3,0,5> o 0 o (32,32):(32,1)", 32, 1, 4), ("S<2,0,5> o 0 o (32,32):(32,1)", 32, 1, 8),
    ("(8,64):(64,1)", 16, 8, 8), ("S<3,3,3> o 0 o (8,64):(64,1)", 16, 8, 1), ("S<2,3,3> o 0 o (8,64):(64,1)", 16, 8, 2),
    ("S<3,4,3> o 0 o (8,64):(64,1)", 16, 8, 2),
])  # fmt: skip
def test_columns_with_known_ways(layout, bits, vector, ways):
    """One phase down the rows: 32 threads of 4 bytes, or 8 of 16."""
    found = bank_conflicts(layout, "32:1" if vector == 1 else ROWS_OF_16_BYTES[0], bits, vector)
    assert (len(found.phases), found.ways, found.wavefronts) == (1, ways, ways)


@pytest.mark.parametrize("swizzle, ways", [(None, 8), ("S<3,3,4>", 1), ("S<3,3,3>", 2)])
def test_column_major_columns_of_16_bytes(swizzle, ways):
    """fp16 (128,8):(1,128): thread k reads the first 8 elements of column k."""
    layout = f"{swizzle} o 0 o (128,8):(1,128)" if swizzle else "(128,8):(1,128)"
    assert bank_conflicts(layout, "(8,8):(128,1)", 16, 8).ways == ways


def test_equal_words_count_once():
    assert bank_conflicts("32:0", "32:1", 32).ways == 1  # one word for all
    assert bank_conflicts("64:1", "32:1", 8).ways == 1  # four threads a word
    assert bank_conflicts("(2,32):(32,1)", "(32):(1)", 32).ways == 2  # half the threads one word further round the banks


def test_threads_decide_not_the_index():
    """The same tile, read along its rows and down its columns."""
    assert [bank_conflicts("(32,32):(32,1)", threads, 32).ways for threads in ("(32,32):(32,1)", "(32,32):(1,32)")] == [1, 32]
    assert [sectors("(32,32):(32,1)", threads, 32).efficiency for threads in ("(32,32):(32,1)", "(32,32):(1,32)")] == [1, 1 / 8]


def test_a_tensor_off_the_line_touches_one_sector_more():
    assert [sectors(Tensor("32:1", at), "32:1", 32).sectors for at in (0, 8, 1)] == [4, 4, 5]
    assert [sectors(Tensor("32:1", at), "32:1", 32).lines for at in (0, 8, 1)] == [1, 2, 2]


def test_in_words():
    rows = bank_conflicts("(8,64):(64,1)", *ROWS_OF_16_BYTES[:1], 16, 8)
    assert str(rows) == "8 wavefronts for 1 phase: the worst phase is 8-way"
    assert str(bank_conflicts("64:1", "(8,8):(8,1)", 16, 4)) == "2 wavefronts for 2 phases: no bank conflicts"
    assert str(sectors("64:1", "64:1", 32)) == "8 sectors for 2 requests, 8 at best: 256 of 256 bytes moved are used, 100%"


@pytest.mark.parametrize("arguments, words", [
    (("(8,64):(1,8)", "(8,8):(1,8)", 16, 8), "thread 0 cannot move values 0 to 7 as 16 bytes.* 0, 8, 16, .*not neighbours in order"),
    (("(8,60):(60,1)", "(8,8):(1,8)", 16, 8), "thread 1 .* 60, 61, .*60 is no multiple of 8"),
    (("S<3,2,4> o 0 o (8,64):(64,1)", "(8,8):(1,8)", 16, 8), "thread 1 .*S<3,2,4>.* 68, 69, 70, 71, 64, .*not neighbours"),
    ((Tensor("64:1", 2), "(8,4):(4,1)", 32, 4), "thread 0 .* 2, 3, 4, 5, and 2 is no multiple of 4"),
    (("64:-1", "(8,4):(4,1)", 8, 4), "0, -1, -2, -3, which are not"),
    (("64:1", "(4,(4,2)):(8,(1,4))", 64, 4), "no instruction moves 4 x 64 bits"),
    (("64:1", "(4,3):(3,1)", 32, 3), "3 x 32"), (("64:1", "64:1", 4), "1 x 4 bits"), (("64:1", "64:1", 32, 0), "0 x 32"),
    (("64:1", "64:1", 32, -1), "-1 x 32"), (("64:1", "64:1", 12), "not 12"), (("64:1", "64:1", (8,)), "not"),
    (("64:1", "64:1", 32, 2.0), "vector"), (("64:1", "64:1", "x"), "bits"), (("64:1", "64:1", True), "bits"),
    (("64:1", "64:1", 32, (1,)), "x 32"), (("64:1", "65:1", 32), "thread 64, value 0 has index 64; .* 0 to 63"),
    (("64:1", "(4,2):(-1,1)", 32), "thread 1, value 0 has index -1|thread 2"), (("64:1", "(4,4,4):(1,4,16)", 32), "3 modes"),
    (("64:1", "(4,3):(3,1)", 16, 2), "3 values, which vectors of 2"), (("64:1", "4:1", 16, 2), "1 value, which"),
    (("(4,4):(1,5", "4:1", 32), "cannot read"), (("64:1", None, 32), "not a whole number"), (("64:1", "S<1,0,1>", 32), "shape"),
    (("64:1", "(1024,2048):(0,0)", 32), "2,097,152 values"), (("(2,2):(4611686018427387000,1)", "4:1", 128), "too far"),
])  # fmt: skip
def test_what_no_hardware_does_is_an_error_in_words(arguments, words):
    for ask in (bank_conflicts, sectors):
        with pytest.raises(LayoutError, match=words):
            ask(*arguments)


def test_large_layouts_need_no_table():
    found = sectors("(1048576,1048576):(1048576,1)", "(128,4):(1,1048576)", 32, 4)
    assert (found.sectors, found.fewest) == (128, 64)


# find_swizzle

ATOMS = [(64, "S<3,3,3>"), (32, "S<2,3,3>"), (16, "S<1,3,3>")]  # fp16 rows of 128, 64 and 32 bytes, on elements


@pytest.mark.parametrize("columns, atom", ATOMS)
def test_the_swizzle_atoms_win_where_they_belong(columns, atom):
    """8 rows, stored along the rows and read by 8x8 matrices: only the atom of that row width is free of conflicts in place."""
    chunks = columns // 8
    store = (f"(({chunks},8),8):((64,1),8)", 8)
    best, *rest = find_swizzle(f"(8,{columns}):({columns},1)", [store, (f"(8,(8,{chunks})):(1,(8,64))", 8)], 16)
    assert (best.name, best.conflicts, best.bytes) == (atom, 0, 16 * columns)
    assert str(best.layout) == f"{atom} o 0 o (8,{columns}):({columns},1)"
    assert all(other.conflicts or other.bytes > best.bytes for other in rest)


def test_a_transpose_in_fp32_is_swizzled_or_padded():
    found = find_swizzle("(32,32):(32,1)", [("(32,32):(32,1)", 1), ("(32,32):(1,32)", 1)], 32)
    assert [(c.name, c.conflicts, c.bytes) for c in found[:2]] == [
        ("S<5,0,5>", 0, 4096), ("stride 32 padded to 33", 0, 4 * (31 * 33 + 32))]  # fmt: skip
    assert next(c for c in found if c.name == "as it is").conflicts == 32 * 31


def test_nothing_to_mend_stays_as_it_is():
    assert find_swizzle("(8,32):(32,1)", [("(32,8):(8,1)", 1)], 32)[0].name == "as it is"


def expected_candidates(tile, moves, bits):
    """{name: (layout, conflicts, slots)} of a row-major tile, each candidate tried on its own, by loops."""
    lead = tile.stride[0]
    layouts = {"as it is": tile}
    for more in range(1, 128 * 8 // bits + 1):
        layouts[f"stride {lead} padded to {lead + more}"] = Layout(tile.shape, (lead + more, 1))
    room = 0
    while 2**room < tile.cosize:
        room += 1
    for b in range(1, room):
        for m in range(room):
            for s in [s for s in range(-room, room + 1) if abs(s) >= b and b + m + abs(s) <= room]:
                swizzled = ComposedLayout(Swizzle(b, m, s), 0, tile)
                if [swizzled(i) for i in range(tile.size)] != [tile(i) for i in range(tile.size)]:
                    layouts[f"S<{b},{m},{s}>"] = swizzled
    totals = {}
    for name, layout in layouts.items():
        moved = [bytes_moved(layout, threads, bits, vector) for threads, vector in moves]
        if None not in moved:
            banks = [phase[-1] for by, (_, vector) in zip(moved, moves, strict=True) for phase in phases_by_loops(by, bits * vector // 8)]
            totals[name] = layout, sum(max(counts) - 1 for counts in banks), max(layout(i) for i in range(tile.size)) + 1
    return totals


ELEMENTS = [(8, 1), (8, 4), (16, 2), (32, 1), (32, 4), (64, 2), (128, 1)]  # bits, vector


@settings(max_examples=settings().max_examples // 5)  # each is some hundred layouts, by loops
@given(st.integers(2, 9), st.integers(1, 5), st.sampled_from(ELEMENTS), st.integers(0, 2))
def test_every_candidate_is_found_and_counted_right(rows, chunks, element, extra):
    bits, vector = element
    columns = vector * chunks
    tile = Layout((rows, columns), (max(2, columns + extra), 1))
    moves = [(f"({rows},{vector}):(1,{rows})", vector), (f"(({rows},{chunks}),{vector}):((1,{rows * vector}),{rows})", vector)]
    expected = expected_candidates(tile, moves, bits)
    if not expected:
        with pytest.raises(LayoutError, match="as it is"):
            find_swizzle(tile, moves, bits)
        return
    found = find_swizzle(tile, moves, bits)
    assert {c.name: (c.layout, c.conflicts, c.bytes) for c in found} == {
        name: (layout, conflicts, slots * bits // 8) for name, (layout, conflicts, slots) in expected.items()}  # fmt: skip
    swizzles = [c.layout.outer if c.name.startswith("S<") else Swizzle(0, 0, 0) for c in found]
    ranks = [(c.conflicts, c.bytes, f.b, f.s < 0, abs(f.s), -f.m) for c, f in zip(found, swizzles, strict=True)]
    assert ranks == sorted(ranks)
    assert len(found) == len({c.name for c in found})


def test_padding_keeps_elements_apart_and_larger_strides_in_proportion():
    found = find_swizzle("(4,(3,8)):(3,(1,12))", [("32:1", 1)], 32)
    padded = [str(c.layout) for c in found if "padded" in c.name]
    assert {"(4,(3,8)):(4,(1,16))", "(4,(3,8)):(3,(1,13))"} <= set(padded) and len(padded) == 64
    found = find_swizzle("(3,3):(3,4)", [("9:1", 1)], 32)  # with strides 3 and 6, (2,0) and (0,1) would meet at 6
    assert all(find_alias(c.layout) is None for c in found)
    stretched = {f"stride {step} padded to {step + more}" for step in (3, 4) for more in range(1, 33)}
    assert {c.name for c in found if "padded" in c.name} == stretched - {"stride 4 padded to 6"}


@pytest.mark.parametrize("tile, accesses, bits, words", [
    ("S<3,3,3> o 0 o (8,64):(64,1)", [ROWS_OF_16_BYTES], 16, "plain layout.*ComposedLayout"),
    (Tensor("8:1", 8), [("8:1", 1)], 32, "Tensor"), ("8:-1", [("8:1", 1)], 32, "offset -7"),
    ("(8,64):(0,1)", [ROWS_OF_16_BYTES], 16, "indices 0 and 1 .*share slot 0"), ("(4,4):(1,3)", [("4:1", 1)], 32, "indices 3 and 4"),
    ("(1024,1024):(1024,1)", [("8:1", 1)], 8, "1,048,576 slots"), ("2:999999999999", [("2:1", 1)], 32, "slots"),
    ("(8,64):(1,8)", [ROWS_OF_16_BYTES], 16, r"no swizzle or padding of \(8,64\):\(1,8\).*as it is, thread 0"),
    ("8:1", "8:1", 32, "a list"), ("8:1", None, 32, "a list"), ("8:1", ("8:1", 1), 32, "a list"), ("8:1", ["8:1"], 32, "a list"),
    ("8:1", [("8:1", 1, 1)], 32, "a list"), ("8:1", [()], 32, "a list"), ("8:1", [("(8,32768):(1,0)", 1)] * 2, 32, "2 accesses"),
    ("8:1", [("9:1", 1)], 32, "index 8"), ("8:1", [("8:1", 1)], 5, "not 5"), ("8:1", [("8:1", 3)], 32, "3 x 32"),
])  # fmt: skip
def test_what_cannot_be_searched_is_an_error_in_words(tile, accesses, bits, words):
    with pytest.raises(LayoutError, match=words):
        find_swizzle(tile, accesses, bits)


def test_a_misaligned_tile_is_mended_by_padding():
    found = find_swizzle("(8,60):(60,1)", [("(8,4):(1,8)", 4), ROWS_OF_16_BYTES], 16)
    assert found[0].name == "stride 60 padded to 72" and all("padded" in c.name for c in found)


def test_quick_enough_to_sit_behind_a_slider():
    start = time.process_time()
    find_swizzle("(8,64):(64,1)", [("((8,8),8):((64,1),8)", 8), ("(8,(8,8)):(1,(8,64))", 8)], 16)
    small = time.process_time() - start
    find_swizzle("(128,64):(64,1)", [("((8,16),(8,8)):((1024,1),(128,16))", 8), ("(128,64):(1,128)", 1)], 16)
    assert small < 0.5 and time.process_time() - start - small < 3
