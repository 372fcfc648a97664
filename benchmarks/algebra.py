"""How fast the algebra is, beside PyPI's `tensor-layouts` in the same run. Prints a table; `make bench` runs it.

Each time is the best of several loops, ours and theirs taken in turns. Both are given their own layouts, made before; where the two
name an operation differently, theirs is in brackets.
"""

import time

import tensor_layouts as peer

import layoutviz as ours

LOOPS = 7
LOOP_SECONDS = 0.01


def pair(what: str, ours_call, peer_call, at_most: float):
    """(what, microseconds of ours, of the peer, the most that ours may take as a multiple of the peer's)."""
    times = {call: [] for call in (ours_call, peer_call)}
    for call in times:
        call()
    for _ in range(LOOPS):
        for call, seen in times.items():
            seen.append(per_call(call))
    return what, 1e6 * min(times[ours_call]), 1e6 * min(times[peer_call]), at_most


def per_call(call) -> float:
    """Seconds for one call, over as many as fill a loop."""
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < LOOP_SECONDS:
        call()
        count += 1
    return spent / count


def small_layouts():
    """The operations on layouts of a few modes: at most twice the peer's time."""
    L, P = ours.Layout, peer.Layout
    same = [
        ("coalesce", [((2, (1, 6)), (1, (7, 2)))], ()),
        ("complement", [((2, 2), (1, 6))], (24,)),
        ("right_inverse", [((2, 4, 6), (4, 1, 8))], ()),
        ("left_inverse", [((4, 8), (1, 5))], ()),
        ("logical_divide", [((8, 12), (12, 1))], ((4, 3),)),
        ("zipped_divide", [((8, 12), (12, 1))], ((4, 3),)),
        ("tiled_divide", [((8, 12), (12, 1))], ((4, 3),)),
        ("flat_divide", [((8, 12), (12, 1))], ((4, 3),)),
        ("logical_product", [((2, 5), (5, 1)), ((3, 4), (1, 3))], ()),
        ("blocked_product", [((2, 5), (5, 1)), ((3, 4), (1, 3))], ()),
        ("raked_product", [((2, 5), (5, 1)), ((3, 4), (1, 3))], ()),
    ]
    yield pair("Layout(shape, stride)", lambda: L((8, (4, 2)), (1, (16, 8))), lambda: P((8, (4, 2)), (1, (16, 8))), 2)
    a, b = L((10, 2), (16, 4)), P((10, 2), (16, 4))
    yield pair("L(3, 1)", lambda: a(3, 1), lambda: b(3, 1), 2)
    x, y = L((3, 4), (1, 5)), P((3, 4), (1, 5))
    yield pair("composition [compose]", lambda: ours.composition(a, x), lambda: peer.compose(b, y), 2)
    for op, layouts, rest in same:
        mine, theirs = [L(*each) for each in layouts], [P(*each) for each in layouts]
        call, other = getattr(ours, op), getattr(peer, op)
        yield pair(op, lambda c=call, m=mine, r=rest: c(*m, *r), lambda c=other, m=theirs, r=rest: c(*m, *r), 2)


def tables():
    """The offset table of a swizzled 128x128 layout: at least 20 times as fast. The peer has no table, so it is asked each element."""
    mine = ours.ComposedLayout(ours.Swizzle(3, 3, 3), 0, ours.Layout((128, 128), (128, 1)))
    theirs = peer.compose(peer.Swizzle(3, 3, 3), peer.Layout((128, 128), (128, 1)))
    assert mine.offsets().tolist() == [theirs(i) for i in range(128 * 128)]
    yield pair("offset table of a swizzled 128x128", mine.offsets, lambda: [theirs(i) for i in range(128 * 128)], 1 / 20)


def large():
    """A composition on 8192x8192: under 10 ms, and no table of 67 million."""
    square, tile = ((8192, 8192), (8192, 1)), ((128, 64, 64, 128), (64, 1, 8192, 8192 * 64))
    a, b, x, y = ours.Layout(*square), ours.Layout(*tile), peer.Layout(*square), peer.Layout(*tile)
    yield pair("composition on 8192x8192", lambda: ours.composition(a, b), lambda: peer.compose(x, y), 2)
    yield pair("logical_divide of 8192x8192", lambda: ours.logical_divide(a, (128, 64)), lambda: peer.logical_divide(x, (128, 64)), 2)


def main() -> None:
    print(f"{'what':<40}{'ours, us':>12}{'peer, us':>12}{'ratio':>8}{'at most':>9}")
    for part in (small_layouts, tables, large):
        for what, mine, theirs, at_most in part():
            missed = "   MISSED" if mine > at_most * theirs else ""
            missed = "   MISSED" if part is large and mine > 10_000 else missed  # microseconds
            print(f"{what:<40}{mine:>12.1f}{theirs:>12.1f}{mine / theirs:>8.4f}{at_most:>9.2f}{missed}", flush=True)


if __name__ == "__main__":
    main()
