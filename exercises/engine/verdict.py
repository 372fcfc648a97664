"""What judging an answer can say."""

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """How an exercise cell came out. The value is the word shown to the learner."""

    NOT_ATTEMPTED = "Not attempted yet"
    RAISED = "Your code raised an error"
    WRONG = "Not right yet"
    RIGHT_NOT_FORM = "Right in function, not in form"
    RIGHT = "Right"
    FAULT = "Could not be checked"  # the checker broke: our fault, not the learner's


@dataclass(frozen=True)
class Verdict:
    """The judgement of one run of an exercise cell.

    `message` is for the learner; `code` in backquotes is shown as code. `scene` is a picture of the answer, or None.

    >>> Verdict(State.RIGHT, "Every offset is right.").ok, Verdict(State.RIGHT_NOT_FORM, "Wanted: shape (6,5).").ok
    (True, False)
    """

    state: State
    message: str
    scene: object = None

    @property
    def ok(self) -> bool:
        """True only for RIGHT."""
        return self.state is State.RIGHT


verdicts: dict[str, Verdict] = {}  # the last verdict of each exercise in this process


class BadAnswer(Exception):
    """The answer is of the wrong kind or not readable; a checker raises it with words for the learner: verdict WRONG."""
