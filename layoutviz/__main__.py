"""`python -m layoutviz LAYOUT`: a picture of a layout on the terminal, or in a file."""

import argparse
import os
import shutil
import sys
from inspect import signature
from pathlib import Path

from layoutviz.api import VIEWS, scene_of, to_figure, to_svg, to_text
from layoutviz.errors import LayoutError
from layoutviz.scene import Scene
from layoutviz.views.grid import LABELS

EXAMPLES = """examples:
  python -m layoutviz "(4,(2,2)):(2,(1,8))"
  python -m layoutviz "S<3,3,3> o 0 o (8,64):(64,1)" --view memory_strip -o strip.svg"""

WRITERS = {
    ".svg": lambda scene, path: path.write_text(to_svg(scene), encoding="utf-8"),
    ".png": lambda scene, path: to_figure(scene).savefig(path),
    ".pdf": lambda scene, path: to_figure(scene).savefig(path),
    ".txt": lambda scene, path: path.write_text(to_text(scene) + "\n", encoding="utf-8"),
}


def main(arguments: list[str] | None = None) -> None:
    """Draw what the command line asks for. What cannot be drawn or written ends with status 2 and one message."""
    parser = argparse.ArgumentParser(
        "python -m layoutviz", description="Draw a layout.", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("layout", help='notation: "shape:stride", a shape, or "S<b,m,s> o offset o shape:stride"')
    alone = [name for name, view in VIEWS.items() if sum(p.default is p.empty for p in signature(view).parameters.values()) <= 1]
    parser.add_argument("--view", choices=alone, default="grid", help="default: grid")
    parser.add_argument("--label", choices=LABELS, help="what stands in the cells; default: the view's own")
    parser.add_argument("-o", dest="file", type=Path, metavar="FILE", help=f"write a file: {', '.join(WRITERS)}; default: text, here")
    asked = parser.parse_args(arguments)
    if asked.file and asked.file.suffix.lower() not in WRITERS:
        parser.error(f'"{asked.file}" must end in one of {", ".join(WRITERS)}')
    try:
        scene = scene_of(asked.layout, asked.view, **({"label": asked.label} if asked.label else {}))
        if asked.file:
            WRITERS[asked.file.suffix.lower()](scene, asked.file)
        else:
            _show(scene)
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LayoutError, OSError) as error:
        parser.exit(2, f"cannot write {asked.file or 'here'}: {error.strerror}\n" if isinstance(error, OSError) else f"{error}\n")


def _show(scene: Scene) -> None:
    """Print the scene, and say what to do where its rows are wider than the terminal, which then breaks them."""
    sys.stdout.reconfigure(errors="replace")  # where there is no "×" it is a "?"
    print(to_text(scene), flush=True)
    wide, room = max(map(len, to_text(scene.with_caption("")).split("\n"))), shutil.get_terminal_size().columns
    if sys.stdout.isatty() and wide > room:
        print(f"The rows are {wide} characters wide, this terminal {room}: append `| less -S`, or write a file with -o.", file=sys.stderr)


if __name__ == "__main__":
    main()
