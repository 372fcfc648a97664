"""What checkers share: judging a layout by its function and shape, a table, a number, a choice, chosen cells, a function over layouts.

Each looks at the kind of an answer first, then at its shape, then at its values. No message and no picture tells the right value.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import unwrap
from random import Random, SystemRandom
from traceback import extract_tb

import numpy as np

from exercises.engine.answers import as_cells, as_choice, as_function, as_layout, as_number, as_table, as_tiler, plain, shorten
from exercises.engine.exercise import one_line
from exercises.engine.mistakes import recognise_layout, recognise_number, recognise_table, recognise_tiler
from exercises.engine.verdict import BadAnswer, Mistake, State, Verdict
from layoutviz import Layout, LayoutError, composed, same_function, zipped_divide
from layoutviz.layout import CoordinateFunction
from layoutviz.notation import IntTuple, format_tuple
from layoutviz.scene import Panel, Scene
from layoutviz.views.blank import blank
from layoutviz.views.grid import grid
from layoutviz.views.tiles import tiles

COPY = Mistake("copy of the input", "Here your function gives its input back as it came.", "How should input and result differ?")
ALWAYS_THE_SAME = Mistake("a constant", "It gives the same layout whatever it is given.", "Which parts of the result depend on the input?")
CHOSEN = "●"


def judge_layout(
    name: str, value, wanted, praise: str, own: Callable[[CoordinateFunction], Mistake | None] = lambda answer: None,
    *, shape_counts: bool = True, gives: str = "offset",
) -> Verdict:  # fmt: skip
    """Judge a layout of any kind by its shape, then by its offsets. own(answer) recognises mistakes of this one exercise, first.

    gives: what the numbers of this layout are, in words: "index" for one that gives indices of another.

    RIGHT: the same function in the wanted shape. RIGHT_NOT_FORM: the same function in another shape, where `shape_counts`. WRONG: the
    shape that differs, or the first coordinate whose offset does, with what the answer computes there.

    >>> judge_layout("layout", "(2,3):(1,2)", "(2,3):(3,1)", "Row-major.").mistake.name
    'column for row'
    """
    return _judge_layout(name, as_layout(name, value), composed.as_layout(wanted), praise, own, shape_counts, "your layout", gives)


def _judge_layout(name, answer, wanted, praise, own, shape_counts, it, gives="offset") -> Verdict:
    right_shape = answer.shape == wanted.shape
    # by index alone every column-major layout without gaps is the same function: modes of other sizes are no matter of form
    if same_function(answer, wanted) and (not shape_counts or answer.rank != wanted.rank or _mode_sizes(answer) == _mode_sizes(wanted)):
        if right_shape or not shape_counts:
            return Verdict(State.RIGHT, praise, picture(answer))
        right = "Every index has the right offset" if gives == "offset" else "All its numbers are right"
        but = f"{right}, but {_shape_fault(name, answer, wanted)}"
        return Verdict(State.RIGHT_NOT_FORM, but, picture(answer))
    mistake = own(answer) or (recognise_layout(answer, wanted) if gives == "offset" else None)  # known mistakes speak of offsets
    if shape_counts and not right_shape:
        return not_right(_shape_fault(name, answer, wanted), mistake, picture(answer))
    if answer.size != wanted.size:
        return not_right(f"`{name}` has {answer.size} elements, and that is not how many it should have.", mistake, picture(answer))
    if answer.rank == wanted.rank and not right_shape and _mode_sizes(answer) != _mode_sizes(wanted):  # an index names another (i,j)
        return not_right(_shape_fault(name, answer, wanted), mistake, picture(answer))
    bad = int(np.argmax(answer.offsets() != wanted.offsets()))
    where = format_tuple(answer.coordinate(bad))
    message = f"At coordinate {where} {it} gives {gives} {answer(bad)}, and that is not where this element belongs."
    return not_right(message, mistake, picture(answer, bad))


def _mode_sizes(layout: CoordinateFunction) -> list[int]:
    return [mode.size for mode in Layout(layout.shape)]


def judge_tiler(name: str, value, layout, wanted, praise: str) -> Verdict:
    """Judge a tiler by how it cuts a layout: RIGHT where its tiles hold the same elements in the same order as those of `wanted`.

    >>> judge_tiler("tiler", (8, 4), "(12,32)", (4, 8), "Each tile has 4 rows.").mistake.name
    'transposed tiler'
    """
    tiler, layout = as_tiler(name, value), composed.as_layout(layout)
    try:
        with warnings.catch_warnings(action="ignore"):  # ragged tiles are drawn as such
            right, mine = zipped_divide(layout, wanted), zipped_divide(layout, tiler)
            scene = tiles(layout, tiler)
    except LayoutError as error:
        raise BadAnswer(f"`{name}` does not cut {layout}: {error}") from None
    (tile, count), mistake = (mode.size for mode in Layout(mine.shape)), recognise_tiler(tiler, wanted, layout)
    if [mode.size for mode in Layout(right.shape)] != [tile, count]:
        return not_right(f"Your tiler makes {count} tiles of {tile} elements each, and that is not what is asked for.", mistake, scene)
    if same_function(mine, right):
        return Verdict(State.RIGHT, praise, scene)
    bad = int(np.argmax(mine.offsets() != right.offsets()))
    message = f"Element {bad % tile} of your tile {bad // tile} has offset {mine(bad)}, and that is not the one that belongs there."
    return not_right(message, mistake, scene)


def judge_table(
    name: str, value, wanted, praise: str, own: Callable[[list[int]], Mistake | None] = lambda numbers: None, *, rows_will_do: bool = False
) -> Verdict:
    """Judge the offsets of a layout of rank 2, written down in index order. own(numbers) recognises mistakes of this one exercise, first.

    RIGHT_NOT_FORM where they come as rows, unless `rows_will_do`. WRONG: the first number that is not right.

    >>> judge_table("offsets", [0, 1, 2, 3, 4, 5], "(2,3):(3,1)", "All six are right.").mistake.name
    'index for offset'
    """
    wanted = composed.as_layout(wanted)
    rows, columns = (mode.size for mode in Layout(wanted.shape))
    numbers = as_table(name, value, rows, columns)
    right = wanted.offsets().tolist()
    if numbers != right:
        bad = next(i for i in range(wanted.size) if numbers[i] != right[i])
        where = f"Index {bad} is coordinate {format_tuple(wanted.coordinate(bad))}."
        mistake = own(numbers) or recognise_table(numbers, wanted)
        message = f"{where} Your number for it, {numbers[bad]}, is not its offset."
        return not_right(message, mistake, table_picture(numbers, rows, columns, bad))
    if not rows_will_do and any(isinstance(entry, (list, tuple)) for entry in plain(value)):
        words = "Every offset is right, row by row. Asked for was one list in the order of the index, which runs down the columns."
        return Verdict(State.RIGHT_NOT_FORM, words, table_picture(numbers, rows, columns))
    return Verdict(State.RIGHT, praise, table_picture(numbers, rows, columns))


def judge_number(
    name: str, value, wanted: int, praise: str, scene: Callable[[], Scene] | None = None,
    own: Callable[[int], Mistake | None] = lambda number: None,
) -> Verdict:  # fmt: skip
    """Judge one whole number. `scene` draws what is shown with a right answer; own(number) recognises mistakes of this exercise, first.

    >>> judge_number("slots", 15, 16, "The last offset is 15.").message
    '`slots` is 15, and that is not right. It is off by one.'
    """
    number = as_number(name, value)
    if number != wanted:
        return not_right(f"`{name}` is {shorten(number)}, and that is not right.", own(number) or recognise_number(number, wanted))
    return Verdict(State.RIGHT, praise, scene and scene())


def judge_choice(name: str, value, options: Mapping[object, str], wanted, scene: Callable[[], Scene] | None = None) -> Verdict:
    """Judge a choice; `options` maps each to what is said when it is chosen. `scene` draws what is shown with the right one.

    Pre: `wanted` is one of `options`, computed by the checker, so that it cannot be out of step with their words; ValueError otherwise.

    >>> slots = {16: "That is the size.", 19: "The last offset is 18."}
    >>> judge_choice("slots", "16", slots, Layout("(4,4):(1,5)").cosize).message
    '`slots` is 16. That is the size.'
    """
    if wanted not in options:
        raise ValueError(f"the answer {wanted} is not among the options {list(options)}")
    choice = as_choice(name, value, options)
    if choice != wanted:
        return not_right(f"`{name}` is {choice}. {options[choice]}")
    return Verdict(State.RIGHT, options[choice], scene and scene())


def judge_cells(
    name: str, value, layout, wanted: Iterable[int], praise: str, own: Callable[[frozenset[int]], Mistake | None] = lambda cells: None
) -> Verdict:
    """Judge chosen cells of a layout; `wanted` are their indices, in any order. own(indices) recognises mistakes of this exercise.

    WRONG marks the chosen cells that are not asked for; of those that are missed it says only that there are some.

    >>> judge_cells("cells", [(0, 0), (1, 0)], "(2,3):(3,1)", [0, 2], "They are neighbours in memory.").message
    'The cell (1,0) is not asked for.'
    """
    layout, wanted = composed.as_layout(layout), frozenset(wanted)
    cells = as_cells(name, value, layout)
    if cells == wanted:
        labels = [f"{CHOSEN} {offset}" if i in cells else str(offset) for i, offset in enumerate(layout.offsets().tolist())]
        return Verdict(State.RIGHT, praise, grid(layout, labels=labels))
    wrong = sorted(cells - wanted)
    if not wrong:
        message = "Each cell that you chose is right, but some are still missing." if cells else f"`{name}` holds no cell yet."
    elif len(wrong) == 1:
        message = f"The cell {format_tuple(layout.coordinate(wrong[0]))} is not asked for."
    else:
        first = format_tuple(layout.coordinate(wrong[0]))
        message = f"{len(wrong)} of your {len(cells)} cells are not asked for. One of them is {first}."
    return not_right(message, own(cells), cells_picture(layout, cells, wrong))


def judge_function(
    name: str, value, wanted: Callable, cases: Callable[[Random], list[tuple]], praise: str,
    *, slips: Iterable[tuple[Callable, Mistake]] = (), shape_counts: bool = True, seed: int | None = None, form: Callable | None = None,
) -> Verdict:  # fmt: skip
    """Judge a function over layouts on new inputs, by what `wanted` (a right function) gives for them: layouts or whole numbers.

    cases(random) -> the tuples of arguments to call it with, new ones each time; the first ones come again last. Of those that fail
    first the message says the arguments, and what the result computes where it departs. RAISED where the learner's code raises.
    slips: (function, mistake); an answer that gives what such a function gives for all the arguments has that mistake.
    form(*arguments): the shape asked for, where its numbers may be split further than `wanted` splits them.

    >>> def cases(random): return [(random_layout(random),) for _ in range(8)]
    >>> judge_function("f", lambda layout: layout, lambda layout: layout.size, cases, "All right.", seed=1).message
    '`f((3,6):(7,1))` is of type Layout; wanted is one whole number.'
    """
    arguments = cases(SystemRandom() if seed is None else Random(seed))
    function = as_function(name, value, len(arguments[0]))
    verdicts = []
    for given in (*arguments, arguments[0]):
        call = f"{name}({', '.join(map(format_tuple, given))})"
        try:
            verdict = _judge_call(call, function, given, plain(wanted(*given)), praise, shape_counts, form and form(*given))
        except BadAnswer as refused:
            verdict = not_right(str(refused))
        if verdict.state not in (State.RIGHT, State.RIGHT_NOT_FORM):
            if verdict.state is State.WRONG and (mistake := _slip(function, slips, arguments)):
                verdict = retold(verdict, mistake)
            return verdict
        verdicts.append(verdict)
    return next((verdict for verdict in verdicts if not verdict.ok), verdicts[0])


def _slip(function: Callable, slips, arguments: list[tuple]) -> Mistake | None:
    """The mistake of an answer that is a known wrong function, or the same whatever it is given."""
    try:
        answers = [as_layout("answer", function(*given)) for given in arguments]
    except KeyboardInterrupt:
        raise
    except BaseException:  # no layouts, or it raises or exits: the verdict says so
        return None
    if all(answer == answers[0] for answer in answers):
        return ALWAYS_THE_SAME
    return next((mistake for slip, mistake in slips if answers == [slip(*given) for given in arguments]), None)


def _judge_call(call: str, function: Callable, given: tuple, wanted, praise: str, shape_counts: bool, form=None) -> Verdict:
    try:
        result = function(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Verdict(State.RAISED, f"`{call}` raised{_line_of(error, function)} {one_line(error)}")
    if result is None:
        raise BadAnswer(f"`{call}` gives None. A function gives back what stands after its `return`.")
    if isinstance(wanted, int):
        return judge_number(call, result, wanted, praise)
    answer = as_layout(call, result)
    copy = COPY if answer in given else None
    shape_counts = shape_counts and not (form and refines(answer.shape, form))
    return _judge_layout(call, answer, composed.as_layout(wanted), praise, lambda _: copy, shape_counts, f"`{call}` = {answer}")


def refines(shape: IntTuple, form: IntTuple) -> bool:
    """Whether a shape is the form, of which numbers may be split into more.

    >>> refines(((3, 2), (2, 4)), (6, (2, 4))), refines((6, 8), (6, (2, 4)))
    (True, False)
    """
    if not isinstance(form, tuple):
        return Layout(shape).size == form
    return isinstance(shape, tuple) and len(shape) == len(form) and all(map(refines, shape, form))


def _line_of(error: BaseException, function: Callable) -> str:
    """Where in the learner's own file an error arose, as " in line 3:"; ":" if that cannot be told."""
    file = getattr(getattr(unwrap(function), "__code__", None), "co_filename", None)
    own = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f" in line {own[-1]}:" if own else ":"


def random_layout(random: Random, rank: int = 2) -> Layout:
    """A layout with an injective function, extents of 2 to 7, no two alike, its modes in any order in memory, some padded.

    Its smallest stride is 1, 2 or 3.

    >>> str(random_layout(Random(1)))
    '(3,6):(7,1)'
    """
    extents = random.sample(range(2, 8), rank)
    strides, step = [0] * rank, random.randrange(1, 4)
    for mode in random.sample(range(rank), rank):
        strides[mode] = step
        step = step * extents[mode] + random.randrange(3)
    return Layout(tuple(extents), tuple(strides)) if rank > 1 else Layout(extents[0], strides[0])


# --- words and pictures


def not_right(message: str, mistake: Mistake | None = None, scene: Scene | None = None) -> Verdict:
    """The verdict on a wrong answer: what is wrong, and the words of a mistake that was recognised."""
    return Verdict(State.WRONG, f"{message} {mistake.words}" if mistake else message, scene, mistake)


def retold(verdict: Verdict, mistake: Mistake | None) -> Verdict:
    """A wrong verdict with this mistake in place of the one that was recognised, or with none.

    >>> off_by_one = judge_number("slots", 15, 16, "Right.")
    >>> retold(off_by_one, None).message
    '`slots` is 15, and that is not right.'
    """
    said = verdict.message.removesuffix(f" {verdict.mistake.words}") if verdict.mistake else verdict.message
    return not_right(said, mistake, verdict.scene)


def _shape_fault(name: str, answer: CoordinateFunction, wanted: CoordinateFunction) -> str:
    """Where a shape departs from the one wanted, in the learner's numbers only."""
    sizes = _mode_sizes(answer), _mode_sizes(wanted)
    why = "the sizes of its modes are right, but not how they nest"
    if answer.rank != wanted.rank:
        why = "that is not the number of modes asked for"
    elif sizes[0] != sizes[1]:
        mode = next(m for m in range(answer.rank) if sizes[0][m] != sizes[1][m])
        why = f"mode {mode} has {sizes[0][mode]} element{'s' * (sizes[0][mode] != 1)}, and that is not what is asked for"
    return f"`{name}` has shape {format_tuple(answer.shape)}: {why}."


def picture(layout: CoordinateFunction, bad: int | None = None) -> Scene | None:
    """The layout's grid, with index `bad` marked; None where it cannot be drawn."""
    try:
        return grid(layout, marks={} if bad is None else {bad: "wrong"})
    except LayoutError:
        return None


def cells_picture(layout: CoordinateFunction, cells: Iterable[int], wrong: Iterable[int]) -> Scene:
    """The grid without offsets, a dot in each chosen cell, the wrong ones marked. What is linked or coloured alike tells nothing."""
    scene = blank(layout, caption=f"{CHOSEN}: the cells that you chose. ✗: those that are not asked for.")

    def shown(panel: Panel) -> Panel:
        indices = panel.keys["index"].tolist()
        marks = {cell: "wrong" for cell, index in enumerate(indices) if index in wrong}
        labels = [CHOSEN if index in cells else "" for index in indices]
        return replace(panel, labels=labels, marks=marks, keys={"index": panel.keys["index"]})

    return replace(scene, panels=tuple(tuple(map(shown, row)) for row in scene.panels))


def table_picture(numbers: list[int], rows: int, columns: int, bad: int | None = None) -> Scene:
    """A grid of a learner's own numbers, given in index order, with index `bad` marked."""
    row, col = np.divmod(np.arange(rows * columns), columns)
    index = row + col * rows
    shown = [numbers[i] for i in index]
    panel = Panel(
        rows, columns, row.tolist(), col.tolist(), list(map(str, shown)),
        tips=[f"index {i} · coordinate ({r},{c}) · you wrote {n}" for i, r, c, n in zip(index, row, col, shown, strict=True)],
        keys={"index": index, "offset": np.array(shown, np.int64)},
        title="your numbers", row_axis="i", col_axis="j",
        row_labels=list(map(str, range(rows))), col_labels=list(map(str, range(columns))),
        marks={} if bad is None else {int(np.flatnonzero(index == bad)[0]): "wrong"},
    )  # fmt: skip
    return Scene(((panel,),), caption="Each number of yours at the coordinate of its index.")
