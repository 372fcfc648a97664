"""The errors of the ladder."""

from layoutviz.errors import ReaderError


class LadderError(ReaderError, RuntimeError):
    """A kernel, an operand or this machine is not as it must be; the message says what, and what would be right."""


class CheckFailed(LadderError):
    """A kernel's result is wrong; the message says where it first departs."""
