"""The modes of a layout: asking about them, picking, editing and merging them, and working on them one by one."""

from functools import wraps

from layoutviz.composed import ComposedLayout, Tensor, as_layout
from layoutviz.errors import LayoutError
from layoutviz.int_tuple import int_tuple, leaf_values, nest, whole_number
from layoutviz.layout import SEARCH_LIMIT, Layout, merge
from layoutviz.notation import DEEPEST, format_tuple, parse

__all__ = ["size", "cosize", "rank", "depth", "get", "select", "group", "flatten", "append", "prepend", "filter_zeros", "coalesce"]

ONE = Layout(1)  # the mode that changes nothing


def on_inner(op):
    """Let an operation written for a Layout work on the inner layout of a ComposedLayout or a Tensor too."""

    @wraps(op)
    def run(target, *args, **kwargs):
        target = as_layout(target)
        if isinstance(target, ComposedLayout):
            return ComposedLayout(target.outer, target.offset, run(target.inner, *args, **kwargs))
        if isinstance(target, Tensor):
            return Tensor(run(target.layout, *args, **kwargs), target.offset)
        return op(target, *args, **kwargs)

    return run


def size(layout, mode=None) -> int:
    """The number of coordinates, of a layout or of one mode of it: size(L), size(L, mode=0), size(L, mode=(1, 0))."""
    return _part(layout, mode).size


def cosize(layout, mode=None) -> int:
    """The slots of memory that a layout, or one mode of it, needs: the largest offset minus the smallest (or 0) plus 1."""
    return _part(layout, mode).cosize


def rank(layout, mode=None) -> int:
    """The number of top-level modes of a layout, or of one mode of it."""
    return _part(layout, mode).rank


def depth(layout, mode=None) -> int:
    """How deep the shape of a layout, or of one mode of it, nests: 0 for an int."""
    return _part(layout, mode).depth


def _part(layout, mode):
    whole = mode is None or (isinstance(mode, (tuple, list)) and not mode)
    return as_layout(layout) if whole else get(layout, mode)


@on_inner
def get(layout, mode) -> Layout:
    """One mode: get(L, 1) is L[1], and get(L, (1, 0)) is mode 0 of mode 1. CuTe: `get<1,0>`.

    >>> str(get("(4,(2,3)):(6,(3,1))", (1, 0)))
    '2:3'
    """
    return layout[tuple(mode) if isinstance(mode, (tuple, list)) else mode]


@on_inner
def select(layout, modes) -> Layout:
    """The layout made of some top-level modes, in the order asked for. CuTe: `select<...>`, DSL: `cute.select(L, mode=...)`.

    Pre: each mode is in range(layout.rank), none twice.
    Post: for select(L, (1, 0)) of a rank-2 L: result(j, i) == L(i, j). This is the transpose; no data moves.

    >>> str(select("(4,6):(6,1)", (1, 0)))
    '(6,4):(1,6)'
    """
    modes = int_tuple(list(modes) if isinstance(modes, range) else modes, "modes")
    modes = modes if isinstance(modes, tuple) else (modes,)
    if len(set(modes)) < len(modes) or not all(m in range(layout.rank) for m in modes):
        raise LayoutError(f"cannot select modes {format_tuple(modes)} of {layout}: each of 0 to {layout.rank - 1} can be named once")
    parts = layout.modes()
    return stack(parts[m] for m in modes)


@on_inner
def group(layout, begin: int, end: int) -> Layout:
    """Modes begin to end - 1 as one mode; the function stays. CuTe: `group<begin,end>`, DSL: `group_modes`.

    >>> str(group("(2,3,5,7)", 1, 3))
    '(2,(3,5),7):(1,(2,6),30)'
    """
    begin, end, modes = whole_number(begin, "first mode"), whole_number(end, "end of the modes"), layout.modes()
    if not 0 <= begin < end <= layout.rank:
        raise LayoutError(f"cannot group modes {begin} to {end - 1} of {layout}, which has modes 0 to {layout.rank - 1}")
    return stack([*modes[:begin], stack(modes[begin:end]), *modes[end:]])


@on_inner
def flatten(layout) -> Layout:
    """All leaves as top-level modes; the function stays.

    >>> str(flatten("((2,3),5)"))
    '(2,3,5):(1,2,6)'
    """
    return Layout.of(leaf_values(layout.shape), leaf_values(layout.stride)) if layout.depth else layout


@on_inner
def append(layout, mode, up_to_rank: int | None = None) -> Layout:
    """The layout with one more mode at the end; with `up_to_rank`, as many times as it takes to have that rank.

    >>> str(append("(8,2)", "3:100")), str(append("8", "1", up_to_rank=3))
    ('(8,2,3):(1,8,100)', '(8,1,1):(1,0,0)')
    """
    return stack([*layout.modes(), *[plain(mode, "a mode")] * _missing(layout, up_to_rank)])


@on_inner
def prepend(layout, mode, up_to_rank: int | None = None) -> Layout:
    """As `append`, at the front.

    >>> str(prepend("(8,2)", "3:100"))
    '(3,8,2):(100,1,8)'
    """
    return stack([*[plain(mode, "a mode")] * _missing(layout, up_to_rank), *layout.modes()])


def _missing(layout, up_to_rank) -> int:
    if up_to_rank is None:
        return 1
    if not 0 <= (wanted := whole_number(up_to_rank, "rank")) - layout.rank <= 100:
        raise LayoutError(f"{layout} has rank {layout.rank}, and is to have rank {wanted}")
    return wanted - layout.rank


@on_inner
def filter_zeros(layout) -> Layout:
    """Extent 1 where the stride is 0, so that each element counts once.

    >>> str(filter_zeros("(4,(2,3)):(1,(0,8))"))
    '(4,(1,3)):(1,(0,8))'
    """
    return Layout.of(nest([s if d else 1 for s, d in layout.leaves], layout.shape), layout.stride)


@on_inner
def coalesce(layout, profile=None) -> Layout:
    """The same function of the index in the fewest modes; natural coordinates may go. With a profile, mode by mode.

    Post: same_function(result, layout). Each entry of a profile stands for a mode: an int coalesces it, a tuple goes inside.

    >>> str(coalesce("(2,(1,6)):(1,(7,2))")), str(coalesce("((2,2),(2,3))", (1, 1)))
    ('12:1', '(4,6):(1,4)')
    """
    if profile is not None and isinstance(profile := int_tuple(profile, "profile"), tuple):
        return by_mode(coalesce, layout, profile, "profile")
    return from_leaves(merge(layout.leaves))


# --- helpers of the algebra


def plain(thing, what: str) -> Layout:
    layout = as_layout(thing)
    if not isinstance(layout, Layout):
        raise LayoutError(f"{what} must be a plain shape:stride layout, not {layout}")
    return layout


def stack(modes) -> Layout:
    """The layout that has these modes."""
    modes = list(modes)
    return Layout.of(tuple([mode.shape for mode in modes]), tuple([mode.stride for mode in modes]))


def widened(layout: Layout, wide: int) -> Layout:
    """The layout with modes of extent 1 at the end, up to a rank."""
    return layout if layout.rank == wide and layout.depth else stack(layout.modes() + [ONE] * (wide - layout.rank))


def from_leaves(leaves) -> Layout:
    if len(leaves) < 2:
        return Layout.of(*(leaves[0] if leaves else (1, 0)))
    return Layout.of(tuple(s for s, _ in leaves), tuple(d for _, d in leaves))


def by_mode(op, layout: Layout, entries: tuple, what: str = "tiler") -> Layout:
    """op(mode, entry) for each mode that has an entry; None and missing entries leave their mode alone."""
    modes = layout.modes()
    if len(entries) > len(modes):
        raise LayoutError(f"a {what} of {len(entries)} entries for {layout}, which has {len(modes)} mode{'s' * (len(modes) != 1)}")
    done = []
    for m, (mode, entry) in enumerate(zip(modes, entries, strict=False)):
        try:
            done.append(mode if entry is None else op(mode, entry))
        except LayoutError as error:
            raise LayoutError(f"mode {m}: {error}") from None
    return stack([*done, *modes[len(entries) :]])


def as_tiler(tiler, depth: int = 0):
    """A tiler as a layout, or as a tuple of tilers, one a mode. LayoutError for what is neither."""
    if isinstance(tiler, str) and ":" not in tiler and "<" not in tiler:
        tiler = parse(tiler)[0]
    if isinstance(tiler, (tuple, list)):
        if not tiler or depth == DEEPEST:
            deep = f"a tiler nested more than {DEEPEST} deep"
            raise LayoutError(deep if tiler else "an empty tuple is no tiler: it needs an entry for each mode")
        return tuple(None if entry is None else as_tiler(entry, depth + 1) for entry in tiler)
    if tiler is None:
        raise LayoutError("None is no tiler; inside a tuple it leaves a mode alone")
    return Layout.of(tiler, 1) if type(tiler) is int and 1 < tiler <= SEARCH_LIMIT else as_layout(tiler)


def tiler_text(tiler) -> str:
    """A tiler, coordinate or the like as it would be written."""
    if isinstance(tiler, (tuple, list)):
        return "(" + ",".join(map(tiler_text, tiler)) + ")"
    return str(tiler.shape) if isinstance(tiler, Layout) and tiler == Layout(tiler.size) else str(tiler)


def project(entries, proj, what: str):
    """The entries of a tuple where proj is not None; all of them without a proj."""
    if proj is None:
        return entries
    if not all(isinstance(each, (tuple, list)) for each in (entries, proj)) or len(entries) != len(proj):
        raise LayoutError(f"proj and the {what} should be tuples of one length, not {proj!r} and {tiler_text(entries)}")
    return tuple(entry for entry, keep in zip(entries, proj, strict=True) if keep is not None)
