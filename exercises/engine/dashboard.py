"""What is done and what is next, as a page that stays in a saved notebook, and as plain text."""

import html
import os
import re
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

from exercises.engine.exercise import ROOT, Exercise, all_exercises
from exercises.engine.progress import efforts, is_done, known_state, new_entry, read, state_word
from exercises.engine.show import BADGES, COLOURS
from exercises.engine.verdict import State
from layoutviz.color import RIGHT

FROM_NEWER = ("◇", "#57606a")  # the badge of a state that only a newer version of the course knows
LEGEND = "Stars say how hard: ☆ is to be earned, ★ is earned. ☆ the lesson once more, ☆☆ two ideas joined, ☆☆☆ a small discovery."
SOLUTION_SEEN = (
    "An exercise that was solved after its solution was seen is done, but its stars are still to be earned: "
    'exercises.reset("{id}") lets you try it anew.'
)


def progress() -> "Dashboard":
    """The reader's progress over all exercises; typed last in a cell, it shows itself."""
    entries, note = read()
    return Dashboard(all_exercises().values(), entries, note)


class Dashboard:
    """What is done of `exercises`, in their order, by the `entries` of the progress file (id -> entry), and what is next.

    `note` is one line about the progress file, or "". `here` is the folder of the reader's notebook, from which links lead on.

    >>> import re
    >>> from exercises.engine.exercise import ROOT, find
    >>> board = Dashboard([find("01.2")], {"01.2": new_entry() | {"state": "right", "tries": 3}}, here=ROOT / "notebooks")
    >>> print(re.sub(" +", " ", repr(board)).partition("\\n\\nStars")[0])
    1 of 1 exercise done · 2 of 2 stars.
    All exercises are done.
    <BLANKLINE>
    01 paper layouts: 1 of 1 done
     ✓ 01.2 ★★ Rows padded to a multiple of 8 tries 3 Right
    """

    def __init__(self, exercises: Iterable[Exercise], entries: dict[str, dict], note: str = "", here: Path | None = None):
        self.exercises, self.note, self.here = list(exercises), note, here or _here()
        self.entries = {e.id: entries.get(e.id, new_entry()) for e in self.exercises}

    def done(self, exercise: Exercise) -> bool:
        return is_done(self.entries[exercise.id])

    def earned(self, exercise: Exercise) -> bool:
        """Whether its stars are earned: right, and not after the solution was seen."""
        return self.done(exercise) and not self.entries[exercise.id]["solution_seen"]

    def next(self) -> Exercise | None:
        """The first exercise that is not right yet. What was compiled waits for a GPU and comes last."""
        left = [e for e in self.exercises if not self.done(e)]
        return min(left, key=lambda e: self._state(e) is State.COMPILED, default=None)

    def chapters(self) -> list[tuple[str, list[Exercise]]]:
        """Each chapter's number with its exercises."""
        return [(number, list(group)) for number, group in groupby(self.exercises, key=lambda e: e.id.partition(".")[0])]

    def _state(self, exercise: Exercise) -> State | None:
        return known_state(self.entries[exercise.id])

    def _counts(self) -> str:
        done, every = sum(map(self.done, self.exercises)), len(self.exercises)
        earned, stars = sum(e.stars for e in self.exercises if self.earned(e)), sum(e.stars for e in self.exercises)
        return f"{done} of {every} exercise{'s' * (every != 1)} done · {earned} of {stars} stars"

    def _chapter_name(self, number: str) -> str:
        file = find_notebook("notebooks", number, self.here) or find_notebook("exercises", number, self.here)
        return Path(file).stem.replace("_", " ") if file else f"chapter {number}"

    def _stars(self, exercise: Exercise) -> str:
        return ("★" if self.earned(exercise) else "☆") * exercise.stars

    def _badge(self, exercise: Exercise) -> tuple[str, str]:
        return BADGES.get(self._state(exercise), FROM_NEWER)

    def _remarks(self) -> list[str]:
        unearned = [e.id for e in self.exercises if self.done(e) and not self.earned(e)]
        return [LEGEND, SOLUTION_SEEN.format(id=unearned[0])] if unearned else [LEGEND]

    def __repr__(self):
        following = self._next_line(lambda name, path: f"{name}, in {path}" if path else name)
        lines = [self.note] * bool(self.note) + [f"{self._counts()}.", following]
        for number, exercises in self.chapters():
            lines += ["", f"{self._chapter_name(number)}: {sum(map(self.done, exercises))} of {len(exercises)} done"]
            lines += [self._line(exercise) for exercise in exercises]
        return "\n".join([*lines, "", *self._remarks()])

    def _line(self, exercise: Exercise) -> str:
        entry, width = self.entries[exercise.id], max(len(e.title) for e in self.exercises)
        start = f"  {self._badge(exercise)[0]} {exercise.id:5} {self._stars(exercise):3} {exercise.title:{width}}"
        return f"{start}  {', '.join(efforts(entry | {'tries': 0})):22}  tries {entry['tries']:2}  {state_word(entry)}"

    def _next_line(self, link: Callable[[str, str], str]) -> str:
        """What is next, in words, its name as `link(name, path of its notebook or "")` says it."""
        following = self.next()
        if following is None:
            return "All exercises are done." if self.exercises else "There are no exercises yet."
        path = find_notebook("exercises", following.id.partition(".")[0], self.here)
        waits = ": it was compiled, and waits for a machine with a GPU" if self._state(following) is State.COMPILED else ""
        return f"Next: {link(f'{following.id} {following.title}', path)}{waits}."

    def _repr_html_(self):
        share = round(100 * sum(map(self.done, self.exercises)) / max(len(self.exercises), 1))
        bar = f'<div style="width:{share}%;height:100%;background:{RIGHT}"></div>'
        parts = [
            f"<div>{html.escape(self.note)}</div>" if self.note else "",
            f'<div style="font-size:1.2em;font-weight:600">{self._counts()}</div>',
            f'<div style="height:6px;margin:4px 0 8px;border:1px solid var(--jp-border-color1,#999)">{bar}</div>',
            f"<div>{self._next_line(_link)}</div>",
            *(self._chapter_html(number, exercises) for number, exercises in self.chapters()),
            *(f'<div style="margin-top:10px">{html.escape(remark)}</div>' for remark in self._remarks()),
        ]
        return f'<div style="max-width:1200px;padding:6px 12px;line-height:1.5;{COLOURS}">{"".join(parts)}</div>'

    def _chapter_html(self, number: str, exercises: list[Exercise]) -> str:
        """A chapter's cards; folded away while nothing of it is begun or next."""
        name = _link(self._chapter_name(number), find_notebook("notebooks", number, self.here))
        cards = "".join(map(self._card, exercises))
        grid = "display:grid;grid-template-columns:repeat(auto-fill,minmax(165px,1fr));gap:6px"
        said = f"{sum(map(self.done, exercises))} of {len(exercises)} done"
        begun = self.next() in exercises or any(self.entries[each.id] != new_entry() for each in exercises)
        summary = f'<summary style="margin:12px 0 4px;cursor:pointer"><b>{name}</b> · {said}</summary>'
        opened = ' open=""' if begun else ""
        return f'<details{opened}>{summary}<div style="{grid}">{cards}</div></details>'

    def _card(self, exercise: Exercise) -> str:
        entry, (icon, fill) = self.entries[exercise.id], self._badge(exercise)
        badge = f"background:{fill};color:#fff;padding:0 7px;border-radius:3px;font-weight:600;display:inline-block"
        box = f"border:1px solid var(--jp-border-color1,#bbb);border-left:5px solid {fill};border-radius:3px;padding:4px 9px"
        lines = [
            f'<div style="display:flex;justify-content:space-between"><b>{exercise.id}</b><span>{self._stars(exercise)}</span></div>',
            f"<div>{html.escape(exercise.title)}</div>",
            f'<span style="{badge}">{icon} {html.escape(state_word(entry))}</span>',
            f"<div>{' · '.join(efforts(entry))}</div>",
        ]
        return f'<div style="{box}">{"".join(lines)}</div>'


def _here() -> Path:
    """The folder of the notebook; the course's own where that is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return ROOT


def find_notebook(kind: str, chapter: str, here: Path) -> str:
    """The path of a chapter's notebook ("exercises", "01") from the notebook that lies in the folder `here`; "" if it is not near.

    The three folders of notebooks are neighbours, in the course as in the reader's my/. Copies that were kept under longer names
    ("01_x.2026-01-31-120000.ipynb", "01_x-Copy1.ipynb") are not meant.
    """
    for base in (here.parent, here):
        names = [path.name for path in (base / kind).glob(f"{chapter}_*.ipynb") if re.fullmatch(r"\w+", path.stem)]
        if names:
            return Path(os.path.relpath(base / kind / min(names), here)).as_posix()
    return ""


def _link(words: str, path: str) -> str:
    return f'<a href="{html.escape(path)}" style="text-decoration:underline">{html.escape(words)}</a>' if path else html.escape(words)
