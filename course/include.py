"""The code behind include="ladder/naive.py:naive_gemm": taken from its file by name, so that there is one source and it is tested."""
import ast
import symtable
from pathlib import Path

from course.chapter import ChapterError

IMPORTS = (ast.Import, ast.ImportFrom)


def included(spec: str, root: Path) -> str:
    """The code that `include="FILE:name,name"` stands for: verbatim, in the file's order, under the imports it uses.

    Without names it is the whole file less its docstring and its __main__ part. Raises ChapterError if the file or a name isn't
    there, or if the code uses a top-level name of that file which is not included.
    """
    file, _, names = spec.partition(":")
    path = root / file
    if not path.is_file():
        raise ChapterError(f"there is no file {file} to include")
    text = path.read_text(encoding="utf-8")
    lines, body = text.splitlines(), _parsed(text, file)
    if not names:
        taken = [node for node in body if not _is_docstring(node) and not _is_main(node)]
        source = _without(lines, [node for node in body if node not in taken])
    else:
        taken = _with_imports(lines, body, [name.strip() for name in names.split(",")], file)
        source = _picked(lines, taken)
    relative = next((node for node in taken if isinstance(node, ast.ImportFrom) and node.level), None)
    if relative:
        raise ChapterError(f"{file}:{relative.lineno} imports relatively, which a notebook cannot: {lines[relative.lineno - 1]}")
    return source


def _parsed(text: str, file: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError) as wrong:
        raise ChapterError(f"{file} is no Python: {wrong}") from None


def _with_imports(lines: list[str], body: list[ast.stmt], names: list[str], file: str) -> list[ast.stmt]:
    """The statements that define these names and the imports that they use, in the file's order."""
    asked = [node for node in body if not isinstance(node, IMPORTS) and _defines(node) & set(names)]
    missing = set(names) - set().union(*map(_defines, asked))
    if missing:
        raise ChapterError(f"{file} has no top-level {', '.join(sorted(missing))} to include")
    used = _globals_used(symtable.symtable(_picked(lines, asked), file, "exec"))
    taken = [node for node in body if node in asked or isinstance(node, IMPORTS) and _defines(node) & used]
    left_out = used & set().union(*map(_defines, body)) - set().union(*map(_defines, taken))
    if left_out:
        raise ChapterError(f"{', '.join(names)} in {file} use {', '.join(sorted(left_out))}, defined there too: include it as well")
    return taken


def _globals_used(scope: symtable.SymbolTable) -> set[str]:
    """The module's names that this code reads; a local variable of the same name is none of them."""
    outermost = scope.get_type() == "module"
    here = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_referenced() and (outermost or symbol.is_global())}
    return here.union(*map(_globals_used, scope.get_children()))


def _defines(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, IMPORTS):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store)}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in {leaf.id for leaf in ast.walk(node.test) if isinstance(leaf, ast.Name)}


def _picked(lines: list[str], nodes: list[ast.stmt]) -> str:
    """The source of these statements, each with its decorators and the comment lines right above it; imports stand together."""
    text, previous = "", None
    for node in nodes:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))]) - 1
        while first and lines[first - 1].startswith("#"):
            first -= 1
        if previous is not None:
            text += "\n" if isinstance(previous, IMPORTS) and isinstance(node, IMPORTS) else "\n\n\n"
        text += "\n".join(lines[first:node.end_lineno])
        previous = node
    return text


def _without(lines: list[str], nodes: list[ast.stmt]) -> str:
    """The source less these statements."""
    dropped = {number for node in nodes for number in range(node.lineno, node.end_lineno + 1)}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in dropped).strip("\n")
