"""What an exercise still lacks, in words for its author."""

import re

from exercises.engine.exercise import Exercise

WRONG = ("the starter", "the constant", "the transposed", "the off-by-one")


def missing(exercise: Exercise) -> list[str]:
    """One line for each thing that an exercise lacks, in the order of its fields; [] when it is complete.

    >>> from dataclasses import replace
    >>> from exercises.engine.exercise import find
    >>> missing(find("01.2")), missing(replace(find("01.2"), stars=4, hints=("Multiply by 8.",)))
    ([], ['stars: 1, 2 or 3', 'hints: at least 2, which are shown one at a time', 'hints: each asks, with a "?"'])
    """
    hints, wrong, right = exercise.hints, exercise.wrong, exercise.right
    rules = [
        (re.fullmatch(r"\d\d\.[1-9]\d*", exercise.id), 'id: the chapter and a number, such as "01.2"'),
        (exercise.title.strip(), "title: a few words"),
        (exercise.stars in (1, 2, 3), "stars: 1, 2 or 3"),
        (_texts(exercise.answers) and all(map(str.isidentifier, exercise.answers)), "answers: the names that the cell must set"),
        (_texts(hints) and len(hints) >= 2, "hints: at least 2, which are shown one at a time"),
        (_texts(hints) and all("?" in hint for hint in hints), 'hints: each asks, with a "?"'),
        (exercise.why.strip() and "\n" not in exercise.why, "why: one line, shown with the solution"),
        (exercise.also.strip(), "also: the source of another right answer"),
        *((name in wrong, f'wrong: the answer "{name}"') for name in WRONG),
        (all(_texts(answer) and len(answer) == 2 for answer in wrong.values()), "wrong: each is (source, words its message must hold)"),
        (len({*right.values(), exercise.also}) >= 3, "right: at least 2 other right answers, none of them twice and none the one in also"),
        (_texts(tuple(right.values())), "right: each is a source"),
    ]
    return [lacking for there, lacking in rules if not there]


def _texts(values) -> bool:
    """Whether it is a tuple of texts that say something, and at least one of them."""
    return isinstance(values, tuple) and len(values) > 0 and all(isinstance(text, str) and text.strip() for text in values)
