"""Chapter 01, paper layouts."""

from exercises.engine.exercise import Exercise
from exercises.engine.judge import judge_layout, judge_table
from exercises.engine.verdict import Mistake, Verdict
from layoutviz import Layout

BY_HAND = Layout((3, 4), (4, 1))
PADDED = Layout((6, 5), (8, 1))


def check_offsets_by_hand(offsets) -> Verdict:
    """The offsets of (3,4):(4,1) in index order."""
    return judge_table("offsets", offsets, BY_HAND, "All 12 offsets are right, in the order of the index.")


def check_padded_rows(layout) -> Verdict:
    """Row-major, shape (6,5), each row at the next multiple of 8."""
    praise = "Each row starts at a multiple of 8, with as little padding as that allows."
    return judge_layout("layout", layout, PADDED, praise, _padding_mistake)


def _padding_mistake(answer) -> Mistake | None:
    """What is wrong with the distance between rows, where the rows themselves are right; or between neighbours in a row."""
    if answer.shape != PADDED.shape or not isinstance(answer, Layout):
        return None
    down, along = answer.stride
    if 1 < along < down:
        words = f"One step along a row moves {along} elements, so neighbours in a row are not neighbours in memory."
        return Mistake("row with gaps", words, "Where does the second element of a row lie?")
    if along != 1 or down in (0, 1, PADDED.shape[1]):  # no row-major, or no padding: the general recognisers say that
        return None
    if down % 8:
        words = f"Row 1 starts at offset {down}, which is no multiple of 8."
        return Mistake("unaligned rows", words, "What is the first multiple of 8 at which the second row can start?")
    if down > 0:
        words = "Its rows do start at multiples of 8, but there is more padding between them than needed."
        return Mistake("too much padding", words, "Which is the nearest multiple of 8 after the end of a row?")
    return Mistake("backward rows", "Row 1 lies before row 0.", "Which sign has the stride between rows?")


EXERCISES = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="01.1",
            title="Offsets by hand",
            stars=1,
            answers=("offsets",),
            check=check_offsets_by_hand,
            hints=(
                "How far does the offset move when `i` grows by one? And when `j` does?",
                "Index 1: is that one step down or one step along? The first mode runs fastest.",
                "Index 2 is the last one in its column. Where is index 3?",
            ),
            why="The offset of (i,j) is 4·i + 1·j, and the index walks down each column first.",
            also="offsets = [4 * i + j for j in range(4) for i in range(3)]",
            wrong={
                "the starter": ("offsets = ...", "still holds"),
                "the constant": ("offsets = [0] * 12", "same offset"),
                "the transposed": ("offsets = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]", "swapped"),
                "the transposed, as rows": ("offsets = [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]", "count 0, 1, 2"),
                "the off-by-one": ("offsets = [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]", "off by the same amount"),
                "index for offset": ("offsets = list(range(12))", "count 0, 1, 2"),
                "bytes for elements": ("offsets = [0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22]", "bytes"),
                "the last one wrong": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 12]", "Index 11 is coordinate (2,3)"),
                "one missing": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7]", "has 11 numbers"),
                "4 rows of 3": ("offsets = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]", "3 rows of 4"),
                "another form, rows": ("offsets = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]", "row by row"),
                "another form, an array of rows": ("import numpy\noffsets = numpy.arange(12).reshape(3, 4)", "row by row"),
                "a wrong step down": ("offsets = [0, 3, 6, 1, 4, 7, 2, 5, 8, 3, 6, 9]", "one step down moves 3"),
                "words": ("offsets = '0,4,8,1,5,9,2,6,10,3,7,11'", "type str"),
                "fractions": ("offsets = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11.5]", "11.5"),
            },
            right={
                "a tuple": "offsets = (0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)",
                "an array": "import numpy\noffsets = numpy.arange(12).reshape(3, 4).T.ravel()",
                "numpy numbers": "import numpy\noffsets = [numpy.int32(4 * (n % 3) + n // 3) for n in range(12)]",
                "by the library": "from layoutviz import Layout\noffsets = Layout('(3,4):(4,1)').offsets()",
            },
        ),
        Exercise(
            id="01.2",
            title="Rows padded to a multiple of 8",
            stars=2,
            answers=("layout",),
            check=check_padded_rows,
            hints=(
                "Which of the two modes has stride 1 in a row-major layout?",
                "A row has 5 elements. Where is the nearest place after them that is a multiple of 8?",
                "How far is it from the start of one row to the start of the next? Which mode makes that step?",
            ),
            why="Padding changes only the stride between rows; the shape still has only the elements that exist.",
            also='layout = "(6,5):(8,1)"',
            wrong={
                "the starter": ("from layoutviz import Layout\nlayout = Layout((6, 5), (..., ...))", "Line 3"),
                "the constant": ("layout = '(6,5):(0,0)'", "same offset"),
                "no padding": ("layout = ((6, 5), (5, 1))", "without padding"),
                "the transposed": ("layout = '(6,5):(1,8)'", "column-major"),
                "the transposed shape": ("layout = '(5,6):(1,8)'", "modes are swapped"),
                "the off-by-one": ("layout = '(6,5):(9,1)'", "offset 9"),
                "the one-short": ("layout = '(6,5):(7,1)'", "offset 7"),
                "twice the padding": ("layout = '(6,5):(16,1)'", "more padding"),
                "backward rows": ("layout = '(6,5):(8,-1)'", "runs backwards"),
                "strided rows": ("layout = '(6,5):(8,2)'", "moves 2 elements"),
                "the padding as elements": ("layout = '(6,8):(8,1)'", "only elements that exist"),
                "another form": ("layout = '((2,3),5):((8,16),1)'", "has shape ((2,3),5)"),
                "only the strides": ("layout = (8, 1)", "has shape 8"),
                "not closed": ("layout = '(6,5:(8,1)'", "is not a layout"),
                "a number": ("layout = 8", "type int"),
            },
            right={
                "notation": "layout = '(6,5):(8,1)'",
                "a pair": "layout = ((6, 5), (8, 1))",
                "lists": "layout = [[6, 5], [8, 1]]",
                "numpy numbers": "import numpy\nlayout = numpy.array([[6, 5], [8, 1]])",
                "a Layout": "from layoutviz import Layout\nlayout = Layout((6, 5), (8, 1))",
            },
        ),
    )
}
