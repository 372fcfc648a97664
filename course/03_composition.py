# %% [markdown]
# # 03 · Composition
#
# After this lesson you can put one layout after another: to take every second column, to reshape, to read a buffer that was stored in
# pieces, all without moving data. You can say when no layout does it, and turn a layout around. Sixty minutes; guess first.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import Layout, LayoutError, coalesce, compare, composition, draw, explain, explore, laws, left_inverse, right_inverse
from layoutviz.views.composition import composition as composed_view

# %% [markdown]
# ## A bet, and two questions
#
# First a bet: you need not know how.

# %% jupyter={"source_hidden": true}
ask_choice(
    "A 3 by 4 matrix lies row by row, (3,4):(4,1). NVIDIA's DSL is asked for a layout of every second element, in the order of the index. "
    "It answers (2,3):(8,1). Is that layout right?",
    options={
        "yes": "Look at the third element, index 4. That is row 1 of column 1, and (2,3):(8,1) says slot 1, which is in row 0.",
        "no": "It is wrong from the third element on. Section 4 shows why, and how to notice.",
    },
    answer="yes" if laws.check("composition", "(3,4):(4,1)", "6:2", result="(2,3):(8,1)") else "no",
)

# %% [markdown]
# Both questions are about index and offset: in this chapter the output of one layout becomes the *index* of another.

# %% jupyter={"source_hidden": true}
A = Layout((4, 6), (6, 1))
ask_choice(
    "A is (4,6):(6,1). What is its offset at index 9?",
    options={
        9: "That takes the index for the offset, or counts along the rows. An index runs down the columns.",
        8: f"Index 9 is coordinate {A.coordinate(9)}: 1*6 + 2*1 = {A(9)}.",
        54: "9 steps of mode 0 would be 54 slots, but mode 0 ends after 4.",
    },
    answer=A(9),
)

# %% jupyter={"source_hidden": true}
nested = Layout("((2,3),4):((1,2),6)")
ask_choice(
    "And ((2,3),4):((1,2),6), at index 7?",
    options={
        7: "Coordinate ((1,0),1): 1*1 + 0*2 + 1*6. Every index of this layout is its own offset. So why three strides?",
        8: "Six indices fill the first mode, so index 7 is ((1,0),1). Add up what its three numbers move.",
        13: "Index 6 starts column 1, at offset 6. Index 7 is one step down from there, and that moves 1.",
    },
    answer=nested(7),
)

# %% [markdown]
# ## 1. Fewer modes, same offsets
#
# A layout can be longer than it must be.

# %% jupyter={"source_hidden": true}
long = Layout("((2,3),4):((1,2),8)")
ask_choice(
    "The layout is ((2,3),4):((1,2),8). Which is the shortest one with the same offset at every index?",
    options={
        "24:1": "Up to index 5 it fits. Index 6 starts the second column, and that is at offset 8.",
        "(6,4):(1,8)": "2:1 takes two slots, 3:2 continues right behind them: together 6:1. 4:8 jumps over two slots, and stays.",
        "(2,12):(1,2)": "3:2 and 4:8 do not belong together: 3 steps of 2 end at 6, and the next column starts at 8.",
    },
    answer=coalesce(long),
)

# %% [markdown]
# The same offsets in the same cells. What is the coordinate of the cell in slot 12 on the left, and what on the right?

# %%
compare({"long": long, "short": coalesce(long)})

# %% [markdown]
# Below is one row of 12 cells, in the order of the index. Slide *stride 0.1* until all steps along the row are equal: then one mode is
# enough. How do 4 and 2 make that stride?

# %%
explore("((4,3)):((2,9))")

# %% [markdown]
# **The rule.** A mode *continues* the one before it if its stride is where that one ends: that one's extent times stride. Two such
# modes are **merged** into one. Modes of extent 1 are left out. This is **coalescing**. Every index keeps its offset; the nested
# coordinates are lost.
#
# $$(s_0,s_1):(d_0,\,s_0 d_0) \;\to\; s_0 s_1 : d_0$$
#
# Coalescing the whole may merge rows with columns. To keep a matrix a matrix, coalesce **by mode**: give one entry for each mode that
# is to stay (any number; in the DSL as `target_profile`).

# %%
tiled = Layout("((2,3),(2,4)):((1,2),(6,12))")
print("layoutviz", coalesce(long), " whole:", coalesce(tiled), " by mode:", coalesce(tiled, (1, 1)))
print(explain("coalesce", long))

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def coalesce_in_the_dsl():
    long = cute.make_layout(((2, 3), 4), stride=((1, 2), 8))
    tiled = cute.make_layout(((2, 3), (2, 4)), stride=((1, 2), (6, 12)))
    print("DSL", cute.coalesce(long), " whole:", cute.coalesce(tiled), " by mode:", cute.coalesce(tiled, target_profile=(1, 1)))


coalesce_in_the_dsl()

# %% [markdown]
# ## 2. One layout after another
#
# A layout takes an index and gives a number. What if that number is used as an index, too?

# %% jupyter={"source_hidden": true}
ask_cells(
    "A is (4,6):(6,1), B is 3:8. B gives three numbers. Take them as indices of A, and click these three cells of A.",
    A,
    offsets=[A(Layout(3, 8)(i)) for i in range(3)],
    why="B gives 0, 8 and 16. A column of A has 4 cells, so 8 indices further is two columns further.",
)

# %% [markdown]
# On the board of `A` each cell says *index → offset*. `B` gives an index; find it left of an arrow in `A`; what stands right of it is
# in `A o B`. Which columns of `A` are taken?

# %%
B = Layout((4, 3), (1, 8))
draw(A, "composition", b=B)

# %% [markdown]
# Set the shape and the strides of `B`. Can you pick rows 0 and 2 of columns 0, 1 and 2? Then go back, and make the second stride
# of `B` 12: which cells are hatched, and why? (Where a cell is crossed there is no such layout: section 4.)

# %%
explore(A, "composition", b=B)

# %% [markdown]
# **The rule.** `A o B`, read "A after B", is the **composition** of `A` and `B`: first `B`, then `A`. It has as many elements as `B`,
# named as `B` names them (a mode may split, section 3). `B` chooses and names, `A` knows where they lie. So every layout that reads a
# part of a matrix is a composition, and no data moves. What `B` gives is an index of `A`, never a slot. If it goes past `A`'s last
# index, `A`'s last mode continues: the slot may be another element's, or none's. This is the **law** of composition:
#
# $$(A \circ B)(i) = A(B(i))$$

# %%
print("layoutviz", composition(A, B), " at (1,2):", composition(A, B)(1, 2), "= A of index", B(1, 2), "=", A(B(1, 2)))

# %% needs="dsl"
@cute.jit
def composition_in_the_dsl():
    A = cute.make_layout((4, 6), stride=(6, 1))
    B = cute.make_layout((4, 3), stride=(1, 8))
    print("DSL", cute.composition(A, B))


composition_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 03.1 · A after B, by hand ★
#
# Given: `A = (6,4):(4,1)` and `B = (3,2):(2,12)`. Wanted: `offsets`, a list of the 6 offsets of `A o B`, those of index 0, 1, 2 and
# so on to 5. Use paper, not `Layout`. Run the cell as it is to fill them in on a board. Judged number by number.

# %% exercise="03.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [0, 8, 16, 2, 10, 18]
### STARTER
# offsets = ...
### END SOLUTION

# %% [markdown]
# ## 3. The rule by strides
#
# A kernel wants strides, not a table of `A(B(i))`. How does one find them?

# %% jupyter={"source_hidden": true}
ask_choice(
    "A is (4,6):(6,1), B is 8:2. Which layout is A o B?",
    options={
        "(2,4):(12,1)": "2 cells in each column, 2 rows (12 slots) apart; then on to the next column, 1 slot further; 4 columns make 8.",
        "8:12": f"The first two are right. But the third index, 4, is the top of column 1, at offset {A(4)}.",
        "(4,2):(12,1)": "A column of A has 4 cells. In steps of 2 only 2 of them are met.",
    },
    answer=composition(A, "8:2"),
    picture=lambda: composed_view(A, "8:2"),
)

# %% [markdown]
# `B` has one mode, `A o B` has two. Slide the stride of `B` through 1, 2, 3, 4. For which does one mode do? For which is there no
# layout at all, and why that one? (At 4 two cells are hatched: past the last index, as in section 2.)

# %%
explore(A, "composition", b="8:2")

# %% [markdown]
# **The rule.** `B = n:d` takes `n` indices, `d` apart. Go through the modes of `A`, `s:t`, from the first one on:
#
# - The steps stay inside this mode (the last one, `(n-1)*d`, is below `s`), or it is `A`'s last, which continues: `n:d*t`, done.
# - `d` is a multiple of `s`: the steps jump over this mode. Divide `d` by `s` and take the next mode.
# - `d` divides `s`: the steps meet `s/d` cells of this mode, `d*t` slots apart, and go on through the next one with step 1. So `n` must
#   be a multiple of `s/d`; the rest of the count is `n/(s/d)`.
# - Neither: the steps meet other cells in every column, and mostly no strides describe that. (A few elements may fit all the same:
#   `4:5` is the diagonal, `4:7`.)
#
# If `B` has several modes, each is composed by itself and keeps its place. A mode of `B` may split; it is never merged with another.
#
# $$(4,6):(6,1) \,\circ\, 8:2 \;=\; (4/2,\; 8/(4/2)):(2\cdot 6,\; 1) \;=\; (2,4):(12,1)$$

# %%
for b in ("8:1", "8:2", "6:4", "(2,4):(2,4)"):
    print(f"layoutviz {A} o {b} = {composition(A, b)}")
print(explain("composition", A, "(2,4):(2,4)"))

# %% needs="dsl"
@cute.jit
def rule_in_the_dsl():
    A = cute.make_layout((4, 6), stride=(6, 1))
    for shape, stride in ((8, 1), (8, 2), (6, 4), ((2, 4), (2, 4))):
        B = cute.make_layout(shape, stride=stride)
        print("DSL", A, "o", B, "=", cute.composition(A, B))


rule_in_the_dsl()

# %% [markdown]
# ## 4. Does it always work?
#
# The stride 3 of section 3 was no accident.

# %% jupyter={"source_hidden": true}
small = Layout((3, 4), (4, 1))


def exists(A, B):
    try:
        return bool(composition(A, B))
    except LayoutError:
        return False


columns, row = composition(small, "6:1"), composition(small, "4:3")
options = {
    "6:1": f"Those are two whole columns: {columns}.",
    "6:2": "It is the one of the bet. A column has 3 cells: steps of 2 meet rows 0 and 2 of a column, then row 1 of the next.",
    "4:3": f"Steps of 3 jump over a column of 3 cells. They stay in row 0: {row}.",
}
ask_choice(
    "A is (3,4):(4,1). For which of these B is there no layout A o B?",
    options=options,
    answer=next(B for B in options if not exists(small, B)),
    picture=lambda: composed_view(small, "6:2"),
)

# %% [markdown]
# Beside the function is the layout that comes nearest. Crossed cells are wrong. Slide the stride of `B`: at which of 1, 2 and 3 do the
# crosses go away?

# %%
explore(small, "composition", b="6:2")

# %% [markdown]
# A second way to fail, though each mode of `B` composes well by itself. Which cell is wrong, and which steps meet there?

# %%
draw("(6,2):(2,1)", "composition", b="(3,2):(2,3)")

# %% [markdown]
# **The rule.** `A(B(i))` is always a function, but not always a layout. It surely is one if (1) each mode of `B` fits the modes of `A`,
# as in section 3, and (2) the modes of `B` add up: the offset of steps along both is the sum of the two offsets. On the last board
# the steps to `(2,1)` are 4 + 3 = 7 indices. That carries into `A`'s next column, and `A(7)` is not `A(4) + A(3)`.
#
# `composition` in layoutviz looks at the table: it gives a layout whenever there is one, else it names the first wrong coordinate.
# The DSL (4.8.1) does not. It refuses some that exist, and where none exists it may give a layout that computes something else,
# without a word. Four questions, all within `A`'s indices (the third is one where both agree):

# %%
asked = [
    ("(3,4):(4,1)", "6:2"),
    ("(6,2):(2,1)", "(3,2):(2,3)"),
    ("(10,2):(16,4)", "(3,4):(1,5)"),
    ("(2,2):(8,1)", "2:3"),
]
for a, b in asked:
    try:
        print(f"layoutviz {a} o {b} = {composition(a, b)}")
    except LayoutError as refused:
        print(f"layoutviz refuses: {refused}")

# %% [markdown]
# What the DSL says to each, judged by the law `A(B(i))`:

# %% needs="dsl"
from layoutviz.cute import in_dsl

for a, b in asked:
    said = in_dsl("composition", a, b)
    verdict = laws.check("composition", a, b, result=said.result) if said.kind == "answer" else "refused"
    print(f"DSL {a} o {b}: {said.text}\n    {verdict}")

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 03.2 · Which ones exist? ★
#
# Given: `A = (4,6):(6,1)`, and `B = n:2`, `n` elements in steps of 2. Wanted: `counts`, a set or list of all `n` from 1 to 12 for which
# there is a layout `A o B`. Find out by the rule, not by trying. Judged number by number.

# %% exercise="03.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
counts = {1, 2, 4, 6, 8, 10, 12}
### STARTER
# counts = {...}
### END SOLUTION

# %% [markdown]
# ## 5. Mode by mode
#
# To take a block, must one count indices?

# %% jupyter={"source_hidden": true}
ask_choice(
    "A is (4,6):(6,1). You want its top left block of 2 rows and 3 columns. Which B gives A o B = (2,3):(6,1)?",
    options={
        "(2,3):(1,4)": "One column further is 4 indices further: A has 4 rows. You had to know that.",
        "(2,3):(1,2)": "Its indices are 0 to 5. Those are column 0 of A and the top of column 1.",
        "(2,3):(6,1)": "Those are offsets of A. B has to give indices, and an index runs down the columns.",
    },
    answer="(2,3):(1,4)",
    picture=lambda: composed_view(A, "(2,3):(1,4)"),
)

# %% [markdown]
# A tuple in place of `B` works **by mode**: its first entry on the rows, its second on the columns. `2` stands for `2:1`, the first 2.
# Which tuple took which cells of `A`?

# %%
every_second = Layout(3, 2)
compare(
    {
        "A": A,
        "A o (2, 3)": composition(A, (2, 3)),
        "A o (4, 3:2)": composition(A, (4, every_second)),
        "A o (2:2, 3:2)": composition(A, (Layout(2, 2), every_second)),
    },
    caption="the colour is the slot.",
)

# %% [markdown]
# Do by one layout what the last tuple did: slide both strides of `B` until `A o B` shows 0, 2, 4 over 12, 14, 16.

# %%
explore(A, "composition", b="(2,3):(1,2)")

# %% [markdown]
# **The rule.** A layout `B` counts along the whole index of `A`. A tuple has one entry for each mode, which counts inside that mode
# only. `None` leaves a mode as it is. A shape and a tuple look alike: `(2, 3)` is two entries, `Layout((2, 3))` is one layout,
# `(2,3):(1,2)`, and `A o (2,3):(1,2)` does not even exist. The tile of a thread block (chapter 04) is taken by mode.
#
# $$(A_0, A_1) \circ (B_0, B_1) = (A_0 \circ B_0,\; A_1 \circ B_1)$$

# %%
print("layoutviz", composition(A, (2, 3)), composition(A, (None, every_second)))

# %% needs="dsl"
@cute.jit
def by_mode_in_the_dsl():
    A = cute.make_layout((4, 6), stride=(6, 1))
    print("DSL", cute.composition(A, (2, 3)), cute.composition(A, (None, cute.make_layout(3, stride=2))))


by_mode_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 03.4 · Every second column ★★
#
# Given: any layout `A` of two modes, in any order in memory, perhaps padded. Its modes may be nested, as in
# `((3,2),(4,2)):((4,24),(1,12))`, 6 rows and 8 columns. So the number of columns is `A[1].size`: `A[1]` is mode 1 as a layout. That
# number is even, and if the columns are nested, so is their first part. Wanted: a function `even_columns(A)` that gives the layout of
# columns 0, 2, 4 and so on, in the same slots. Judged on layouts that are new and random each time: by the sizes of its two modes, and
# by the offset of every coordinate.

# %% exercise="03.4" tags=["exercise", "inline"]
### BEGIN SOLUTION
def even_columns(A):
    columns = A[1].size
    return composition(A, (None, Layout(columns // 2, 2)))
### STARTER
# def even_columns(A):
#     columns = A[1].size
#     return composition(A, ...)
### END SOLUTION

# %% [markdown]
# ## 6. A reshape is a composition
#
# A matrix `M` of 4 rows and 6 columns was stored in 3 chunks of 2 columns, each chunk row by row. As an array that is `(chunk, row, c)`,
# where `c` is the column inside the chunk, 0 or 1: `(3,4,2):(8,2,1)`.

# %% jupyter={"source_hidden": true}
stored = Layout((3, 4, 2), (8, 2, 1))
names = Layout((4, (2, 3)), (3, (12, 1)))
ask_choice(
    "In which slot lies M(1,3), row 1 and column 3?",
    options={
        9: "That would be row-major, 1*6 + 3. But here the rows are not whole.",
        11: f"Column 3 is the second one of chunk 1, so it is stored(1,1,1) = 8 + 2 + 1 = {stored(1, 1, 1)}.",
        13: "That is column-major, 1 + 3*4. But here two columns lie together.",
    },
    answer=composition(stored, names)(1, 3),
)

# %% [markdown]
# One layout says it for the whole matrix (in NumPy: a transpose, then a reshape): a `B` that gives for each `M(i,j)` its index in the
# stored array. There the chunk is mode 0, so it runs fastest in the index, whatever lies next in memory: one chunk further is 1 index,
# one row 3, one step of `c` 12. `A` has three modes, so it is drawn as one board for each `c`: `(:,:,0)` is `c` = 0. There a row is a
# chunk, and a column is a row of `M`. Which index of `A` is `M(1,3)`?

# %%
draw(stored, "composition", b=names)

# %% [markdown]
# Someone pads each chunk to 10 slots. Change that one number of `A`. Which number of `B` must change with it? And which stride of the
# result has changed?

# %%
explore(stored, "composition", b=names)

# %% [markdown]
# **The rule.** A reshape is a `B` that says in the new shape which element is meant. `A` knows the memory. If the memory changes, `B`
# stays. A layout of the new shape alone, without `A o`, does not know the memory. Where does it put `M(1,3)`?

# %%
print("layoutviz", composition(stored, names), " padded:", composition("(3,4,2):(10,2,1)", names))
print("M(1,3): A o B", composition(stored, names)(1, 3), " the shape alone", Layout(names.shape)(1, 3))

# %% needs="dsl"
@cute.jit
def reshape_in_the_dsl():
    names = cute.make_layout((4, (2, 3)), stride=(3, (12, 1)))
    stored = cute.make_layout((3, 4, 2), stride=(8, 2, 1))
    padded = cute.make_layout((3, 4, 2), stride=(10, 2, 1))
    print("DSL", cute.composition(stored, names), " padded:", cute.composition(padded, names))


reshape_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 03.6 · The transpose is a composition ★★
#
# Given: `A = (3,5):(8,1)`, rows padded to 8. Its transpose is `(5,3):(1,8)`. Wanted: `B`, a layout of shape `(5,3)` with `A o B` =
# `(5,3):(1,8)`. It names only `A`'s own indices, 0 to 14. Judged by its shape, and by which element of `A` each coordinate names.

# %% exercise="03.6" tags=["exercise", "inline"]
### BEGIN SOLUTION
B = Layout((5, 3), (3, 1))
### STARTER
# B = Layout((5, 3), (..., ...))
### END SOLUTION

# %% [markdown]
# ## 7. Turning a layout around
#
# A layout says where an element lies. The other way round: who lives in this slot?

# %% jupyter={"source_hidden": true}
ask_choice(
    "A is (4,6):(6,1). Which index has the element in slot 7?",
    options={
        7: "That takes the offset for the index.",
        5: f"Slot 7 is row 1, column 1. Its index is 1 + 1*4 = {right_inverse(A)(7)}.",
        19: f"That is A(7) = {A(7)}, the slot of index 7. Asked is the index of slot 7.",
    },
    answer=right_inverse(A)(7),
)

# %% [markdown]
# The layout `R`, on the board as `B`, takes a slot and gives the index of its element. What does `A o B` hold
# down its columns, and why?

# %%
R = right_inverse(A)
draw(A, "composition", b=R)

# %% [markdown]
# Pad the rows of `A`: slide its first stride to 8. How many cells of `A o B`, from the first one on, still hold their own index?

# %%
explore(A, "composition", b=R)

# %% [markdown]
# **The rule.** A **right inverse** `R` has `A(R(o)) = o` for each slot `o` that it takes. It goes up from slot 0, at most to the first
# slot that nobody uses. So (if no slot is shared) its size says how many elements lie side by side (6 when padded), and a wide load can
# take no more (chapter 07). A **left inverse** has `R(A(i)) = i` for each index `i`. Where two elements share a slot there is none. It
# works over gaps, and what it says of an unused slot does not matter. So several layouts are right: judge an inverse by its law, never by
# its form.
#
# To build one, take the modes of `A` in the order of their strides. Each gives its extent, and as stride how far one step of it moves in
# the *index*. In `(4,6):(6,1)` mode 1 comes first, 6 steps of 4 indices; then mode 0, 4 steps of 1. Without gaps this is both.
#
# $$R = (6,4):(4,1)$$
#
# Over gaps the extent in a left inverse is how many steps fit until the next stride begins: 8, not 6, for `(4,6):(8,1)`. If the
# smallest stride is above 1, a first mode stands for the slots between, and its stride is free: `(2,4):(0,1)` for `4:2`.

# %%
padded = Layout((4, 6), (8, 1))
print("layoutviz right", right_inverse(A), right_inverse(padded), " left", left_inverse(A), left_inverse(padded))
for answer in ("(2,4):(0,1)", "(2,4):(4,1)", "8:1"):
    print("left_inverse of 4:2,", answer, "is", laws.check("left_inverse", "4:2", result=answer))

# %% needs="dsl"
@cute.jit
def inverses_in_the_dsl():
    A = cute.make_layout((4, 6), stride=(6, 1))
    padded = cute.make_layout((4, 6), stride=(8, 1))
    print("DSL right", cute.right_inverse(A), cute.right_inverse(padded), " left", cute.left_inverse(A), cute.left_inverse(padded))


inverses_in_the_dsl()

# %% [markdown]
# ## On the GPU
#
# The kernel of chapter 01. It asks for `mA[m, k]` and `mB[n, k]`, so it reads through any layout of two modes.

# %% include="ladder/naive.py:TILE,dot,naive_kernel,naive_gemm" needs="dsl"
from ladder.naive import naive_gemm

# %% [markdown]
# Two buffers, read in three ways; the last two are compositions:
#
# - **rows**: as in chapter 01, `(M,K):(K,1)`.
# - **chunks**: stored as `(K/8, M, 8)`, section 6 with chunks of 8 columns. 8 fp16 numbers are 16 bytes, what one thread can load at
#   once.
# - **dealt**: the buffer of **rows**, its rows taken from the first and the second half in turn, as cards are dealt: 0, M/2, 1, M/2+1, ...

# %%
def in_chunks(rows, K):
    """(rows, K) out of a buffer that was stored as (K/8, rows, 8)."""
    stored = Layout((K // 8, rows, 8), (8 * rows, 8, 1))
    names = Layout((rows, (8, K // 8)), (K // 8, (rows * (K // 8), 1)))
    return composition(stored, names)


def pairs(M, N, K):
    """name -> (layout of A, layout of B); M is even, K a multiple of 8."""
    A_rows, B_rows = Layout((M, K), (K, 1)), Layout((N, K), (K, 1))
    in_turn = Layout((2, M // 2), (M // 2, 1))
    return {
        "rows": (A_rows, B_rows),
        "chunks": (in_chunks(M, K), in_chunks(N, K)),
        "dealt": (composition(A_rows, (in_turn, None)), B_rows),
    }


small_pairs = pairs(4, 4, 16)
compare({f"A, {name}": small_pairs[name][0] for name in ("chunks", "dealt")})

# %% [markdown]
# Where are the cells of one *row* in one piece? Where do neighbours in a *column* lie nearer?
#
# On a GPU each is checked against cuBLAS and timed. Without one the kernel is compiled, and the same sums run on the CPU.

# %% needs="dsl"
from ladder import harness

look = "neighbouring threads read neighbouring rows of A, which lie K elements apart by rows, 8 in chunks: does the time tell?"
checks = harness.gemm_through_layouts(naive_gemm, pairs, host_mnk=(12, 10, 16), chapter="03", look=look)

# %% [markdown]
# Deal the rows of `B` too: in `pairs` compose `B_rows` with such a tuple, made for `N`, and run the cells from there on. What
# happens to the columns of `C`? (They come out dealt as well: column 1 of `C` belongs to row `N/2` of the buffer.)
#
# None of them makes the kernel fast. How much faster is cuBLAS?

# %%
from ladder.thermometer import thermometer

thermometer("naive")

# %% [markdown]
# ## Common mistakes
#
# - **B in slots.** What `B` gives is an index of `A`. In `(4,6):(6,1)` the next column is 4 indices on, but 1 slot.
# - **The order.** `A o B` is `B` first. `B o A` is another function.
# - **A shape alone.** `Layout(new_shape)` does not know the memory.
# - **A wrong layout believed.** The DSL says that `(3,4):(4,1) o 6:2` is `(2,3):(8,1)`. Check what is new to you:
#   `laws.check("composition", A, B, result=C)` names the first coordinate that is wrong.
#
# ## In short
#
# - Coalescing: a mode that continues the one before it is merged with it. The function of the index stays.
# - `(A o B)(i) = A(B(i))`: `B` names elements by index, `A` knows where they lie.
# - By strides: jump over the modes that divide the step; split where the step divides the mode. If neither: mostly no layout.
# - A tuple composes by mode.
# - A reshape is a `B`. It moves no data.
# - Right inverse: from slot to index, up to the first gap. Left inverse: from every used slot to its index.
#
# Next: [04 · Tiling](04_tiling.ipynb). A tile is a composition; new there is the layout of all that a tile leaves over.

# %% [markdown] tags=["exercise"]
# ### Exercise 03.3 · As few modes as possible ★
#
# Given: the layout `((2,3),(2,4)):((1,2),(12,d))`, in which one stride is open. Wanted: `d`, a stride with which two modes are enough,
# and `layout`, the two modes, with the same offset at every index. Do it by hand, then type it. Judged by `d`, then by the shape of
# `layout` and the offset of every coordinate.

# %% exercise="03.3" tags=["exercise"]
### BEGIN SOLUTION
d = 24
layout = Layout((6, 8), (1, 12))
### STARTER
# d = ...
# layout = Layout(..., ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 03.5 · Mend a reshape ★★
#
# Given: any layout `A`, of the same kind as in 03.4. A colleague wants the columns in pairs: shape `(rows,(columns/2,2))`, where
# `(i,(q,p))` is row `i`, column `p + 2q`: `q` is the pair, `p` the column in it. The code in the cell gives the right shape, but wrong
# slots. Wanted: `paired(A)`, mended, so that every element is found where `A` has it. Judged as 03.4. Where `A` is nested, a part of
# the new shape may split further.

# %% exercise="03.5" tags=["exercise"]
### BEGIN SOLUTION
def paired(A):
    columns = A[1].size
    return composition(A, (None, Layout((columns // 2, 2), (2, 1))))
### STARTER
# # the colleague's line: return Layout((rows, (columns // 2, 2)))
# def paired(A):
#     rows, columns = A[0].size, A[1].size
#     return ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 03.7 · Who lives here? ★★★
#
# Given: the layout `L = (3,2):(2,12)`. Its 6 elements lie in slots 0, 2, 4, 12, 14 and 16; the slots between them are unused. Wanted:
# two layouts `R1` and `R2`. Each is a left inverse: it gives `i` at slot `L(i)`, for each of the 6 indices `i`. And they differ at slot
# 1. Each has 17 elements or more, so that it answers for each slot, and at most 24. Design them by hand: think of a layout as a counter
# whose first mode runs fastest. Many layouts are right. Judged by that law, then by what they say of slot 1.

# %% exercise="03.7" tags=["exercise"]
### BEGIN SOLUTION
R1 = Layout((2, 6, 2), (0, 1, 3))
R2 = Layout((2, 6, 2), (1, 1, 3))
### STARTER
# R1 = Layout(..., ...)
# R2 = Layout(..., ...)
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 03.8 · A matrix in blocks of rows ★★★
#
# Given: a buffer, and how it was written. Someone wrote `A`, `M` rows and `K` columns, element by element, in blocks of `w` rows: the
# `w` rows of column 0, then the same rows of column 1, and so on; after `K` columns the next block. `w` divides `M`, and may be 1. The
# buffer may have gaps. `stored` knows them: it is a layout of `M*K` elements, and `stored(n)` is the slot of the `n`-th element that was
# written, counted from 0. Wanted: a function `A_view(stored, M, K, w)` that gives the layout through which the lesson's kernel finds
# each `mA[m, k]` where it lies. Its shape is `((w,M/w),K)`, where the gaps may split a part further.
#
# Judged first by its shape and offsets, for new random sizes and gaps. If they are right, the kernel runs through it and is
# checked against cuBLAS. Without a GPU the kernel is only compiled, and the verdict says so. This cell runs by itself: it knows the
# notebook's first code cell, and none of your other cells.

# %% exercise="03.8" tags=["exercise"]
### BEGIN SOLUTION
def A_view(stored, M, K, w):
    names = Layout(((w, M // w), K), ((1, w * K), w))
    return composition(stored, names)
### STARTER
# def A_view(stored, M, K, w):
#     names = Layout(((w, M // w), K), ...)
#     return composition(..., ...)
### END SOLUTION
