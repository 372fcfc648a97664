"""What the tests of refused operands share."""

from layoutviz import Layout


def pair_with(**changed):
    """The layouts of A (64,128), B (72,128) and C (64,72), with some replaced."""
    given = {"A": Layout((64, 128), (128, 1)), "B": Layout((72, 128), (128, 1)), "C": Layout((64, 72), (72, 1))} | changed
    return given["A"], given["B"], given["C"]
