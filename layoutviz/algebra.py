"""Operations on layouts, named as CuTe names them. Each returns a new layout, or raises LayoutError."""

from layoutviz.errors import LayoutError
from layoutviz.int_tuple import int_tuple
from layoutviz.layout import Layout
from layoutviz.notation import format_tuple


def select(layout: Layout, modes) -> Layout:
    """The layout made of some top-level modes, in the order asked for. CuTe: `select<...>`, DSL: `cute.select(L, mode=...)`.

    Pre: each mode is in range(layout.rank), none twice.
    Post: for select(L, (1, 0)) of a rank-2 L: result(j, i) == L(i, j). This is the transpose; no data moves.

    >>> A = Layout((4, 6), (6, 1))
    >>> str(select(A, (1, 0)))
    '(6,4):(1,6)'
    """
    layout, modes = Layout(layout), int_tuple(list(modes) if isinstance(modes, range) else modes, "modes")
    modes = modes if isinstance(modes, tuple) else (modes,)
    if len(set(modes)) < len(modes) or not all(m in range(layout.rank) for m in modes):
        raise LayoutError(f"cannot select modes {format_tuple(modes)} of {layout}: each of 0 to {layout.rank - 1} can be named once")
    parts = layout.modes()
    return Layout(tuple(parts[m].shape for m in modes), tuple(parts[m].stride for m in modes))
