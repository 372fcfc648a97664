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
    COMPILED = "Compiled, not run"  # a kernel, where there is no GPU: neither right nor wrong
    DIED = "Your code did not come back"  # it crashed its process, hung, or used too much
    FAULT = "Could not be checked"  # the checker broke: our fault, not the learner's


@dataclass(frozen=True)
class Mistake:
    """A known mistake: its name ("bytes for elements"), the sentence that a verdict says of it, and a question that leads on.

    Neither gives the answer. The question is shown as the first hint.
    """

    name: str
    words: str
    hint: str


@dataclass(frozen=True)
class Verdict:
    """The judgement of one run of an exercise cell.

    `message` is for the learner; `code` in backquotes is shown as code. `scene` is a picture of the answer, or None. `mistake` is the
    known mistake that was recognised in it; the message says its words already.

    >>> Verdict(State.RIGHT, "Every offset is right.").ok, Verdict(State.RIGHT_NOT_FORM, "Wanted: shape (6,5).").ok
    (True, False)
    """

    state: State
    message: str
    scene: object = None
    mistake: Mistake | None = None

    @property
    def ok(self) -> bool:
        """True only for RIGHT."""
        return self.state is State.RIGHT


verdicts: dict[str, Verdict] = {}  # the last verdict of each exercise in this process


class AnswerRaised(Exception):
    """The learner's code raised while a checker called it; its traceback has been shown. Verdict RAISED, with these words."""

    def __init__(self, words: str, mistake: Mistake | None = None):
        super().__init__(words)
        self.mistake = mistake


class BadAnswer(Exception):
    """The answer is of the wrong kind or not readable; a checker raises it with words for the learner: verdict WRONG."""
