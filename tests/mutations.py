"""Wrong answers made out of right ones: of a layout, of a table of offsets, of a number, and of Python source by its syntax tree."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations

from layoutviz import ComposedLayout, Layout, LayoutError, Tensor, append, flatten, select
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.layout import CoordinateFunction


def layout_mutations(layout: CoordinateFunction) -> Iterator[tuple[str, CoordinateFunction]]:
    """(what was done, the layout that came of it); none has the form of the layout itself. Some may be the same function."""
    for name, make in _layout_changes(layout.plain):
        try:
            answer = _inside(layout, make())
        except LayoutError:
            continue  # no layout: a negative extent, or an inner offset that the outer layout does not take
        if answer != layout:
            yield name, answer
    if not isinstance(layout, Layout):
        yield "only the layout inside", layout.plain
    yield "offset by one", Tensor(layout, 1)


def _inside(layout: CoordinateFunction, plain: Layout) -> CoordinateFunction:
    if isinstance(layout, ComposedLayout):
        return ComposedLayout(layout.outer, layout.offset, _inside(layout.inner, plain))
    return Tensor(_inside(layout.layout, plain), layout.offset) if isinstance(layout, Tensor) else plain


def _layout_changes(layout: Layout):
    """(name, a function that makes the mutant or raises LayoutError)."""
    shape, stride = leaf_values(layout.shape), leaf_values(layout.stride)

    def made(extents, steps):
        return lambda: Layout(nest(extents, layout.shape), nest(steps, layout.shape))

    yield "zero strides", made(shape, [0] * len(shape))
    yield "unit strides", made(shape, [1] * len(shape))
    yield "strides reversed", made(shape, stride[::-1])
    yield "shape reversed", made(shape[::-1], stride)
    yield "compact", lambda: Layout(layout.shape)
    yield "flat", lambda: flatten(layout)
    yield "one mode", lambda: Layout(layout.size)
    yield "one more level", lambda: Layout((layout.shape, 1), (layout.stride, 0))
    yield "another mode", lambda: append(layout, Layout(2))
    for one, other in combinations(range(layout.rank), 2) if layout.depth else ():
        order = list(range(layout.rank))
        order[one], order[other] = other, one
        yield f"modes {one} and {other} swapped", lambda order=order: select(layout, order)
    for m in range(layout.rank) if layout.rank > 1 else ():
        yield f"without mode {m}", lambda m=m: select(layout, [other for other in range(layout.rank) if other != m])
    for factor in (2, 4):
        yield f"strides times {factor}", made(shape, [factor * d for d in stride])
    for k in range(len(shape)):
        for name, change in CHANGES.items():
            yield f"stride {k} {name}", made(shape, [change(d) if n == k else d for n, d in enumerate(stride)])
        for name in ("plus 1", "minus 1", "doubled"):
            yield f"extent {k} {name}", made([CHANGES[name](s) if n == k else s for n, s in enumerate(shape)], stride)


CHANGES = {
    "plus 1": lambda d: d + 1, "minus 1": lambda d: d - 1, "doubled": lambda d: 2 * d, "halved": lambda d: d // 2, "negated": lambda d: -d,
    "0": lambda d: 0,
}  # fmt: skip


def table_mutations(numbers: list[int], shape: tuple[int, int]) -> Iterator[tuple[str, list[int]]]:
    """(what was done, other numbers), of numbers in index order for a shape of rank 2."""
    rows, columns = shape
    by_rows = [numbers[r + c * rows] for r in range(rows) for c in range(columns)]
    changed = {
        "zeros": [0] * len(numbers), "constant": [numbers[-1]] * len(numbers), "reversed": numbers[::-1], "row by row": by_rows,
        "counted": list(range(len(numbers))), "sorted": sorted(numbers), "turned": numbers[1:] + numbers[:1], "one short": numbers[:-1],
        "one more": [*numbers, numbers[-1] + 1], **{f"times {f}": [f * n for n in numbers] for f in (2, 4, 8)},
        **{f"shifted by {d}": [n + d for n in numbers] for d in (1, -1)},
    }  # fmt: skip
    for i, j in combinations(range(len(numbers)), 2):
        changed[f"{i} and {j} swapped"] = [numbers[{i: j, j: i}.get(n, n)] for n in range(len(numbers))]
    for i in range(len(numbers)):
        for d in (1, -1):
            changed[f"{i} off by {d}"] = [number + d * (n == i) for n, number in enumerate(numbers)]
    same_length = {name: other for name, other in changed.items() if len(other) == len(numbers)}
    yield from ((name, other) for name, other in same_length.items() if other != numbers)


def number_mutations(number: int) -> Iterator[tuple[str, int]]:
    """(what was done, another number)."""
    for name, change in CHANGES.items():
        if change(number) != number:
            yield name, change(number)


# --- source


def source_mutations(source: str) -> Iterator[tuple[str, str]]:
    """(what was done, other source), one change each: it parses, and does not read the same."""
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for name, change in _node_changes(node):
            copy = deepcopy(tree)
            _put(copy, place, change)
            mutant = ast.unparse(ast.fix_missing_locations(copy))
            if mutant != ast.unparse(tree):
                yield f"line {getattr(node, 'lineno', 0)}: {name}", mutant


def _put(tree: ast.AST, place: int, change) -> None:
    """Change the node that ast.walk meets at a place: `change` works on it, or gives what stands in its stead."""
    target = next(node for n, node in enumerate(ast.walk(tree)) if n == place)
    instead = change(target)
    if instead is None:
        return

    class Replace(ast.NodeTransformer):
        def visit(self, node):
            return instead if node is target else self.generic_visit(node)

    Replace().visit(tree)


OPPOSITES = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def _node_changes(node: ast.AST):
    """(name, change) for one node of a syntax tree."""
    if isinstance(node, (ast.Tuple, ast.List)):
        yield from _swaps(node, "elts")
        for k in range(len(node.elts)):
            yield f"entry {k} dropped", lambda target, k=k: target.elts.pop(k) and None
    if isinstance(node, ast.Call):
        yield from _swaps(node, "args")
        if node.args:
            yield "call replaced by its first argument", lambda target: target.args[0]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for name, change in CHANGES.items():
            yield f"{node.value} {name}", lambda target, change=change: setattr(target, "value", change(target.value))
    if isinstance(node, (ast.If, ast.IfExp)):  # a dropped predicate
        yield "if dropped", lambda target: target.body if isinstance(target, ast.IfExp) else setattr(target, "test", ast.Constant(True))
        yield "if negated", lambda target: setattr(target, "test", ast.UnaryOp(ast.Not(), target.test))
    if isinstance(node, ast.BinOp):
        yield "operands swapped", lambda target: ast.BinOp(target.right, target.op, target.left)
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPPOSITES:
        yield "another operator", lambda target: setattr(target, "op", OPPOSITES[type(target.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITES:
        yield "another comparison", lambda target: target.ops.__setitem__(0, OPPOSITES[type(target.ops[0])]())
    if isinstance(node, (ast.Assign, ast.Return)) and node.value is not None:
        for value in ("0", "1", "[]", "None", "''", "(1, 0)"):
            yield f"value is {value}", lambda target, value=value: setattr(target, "value", ast.parse(value, mode="eval").body)


def _swaps(node: ast.AST, field: str):
    for i, j in combinations(range(len(getattr(node, field))), 2):

        def swap(target, i=i, j=j):
            entries = getattr(target, field)
            entries[i], entries[j] = entries[j], entries[i]

        yield f"{i} and {j} swapped", swap
