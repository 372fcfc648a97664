# %% [markdown]
# # 05 · Swizzle
#
# After this lesson you can count the passes that a warp needs in shared memory, bring them down by padding or by a swizzle, read
# `S<3,4,3>`, and find the swizzle that fits a tile. Sixty minutes; guess first, read second.

# %% tags=["setup"]
from exercises import ask_cells, ask_choice
from layoutviz import ComposedLayout, Layout, LayoutError, Swizzle, composition, draw, explore, recast_layout, tile_to_shape
from layoutviz.memory import bank_conflicts, find_swizzle
from layoutviz.views.banks import banks as banks_view
from layoutviz.views.swizzle import swizzle as swizzle_view

# %% [markdown]
# ## A bet, and two questions
#
# You need not know how yet.

# %% jupyter={"source_hidden": true}
square = Layout((32, 32), (32, 1))
row, column = Layout(32, 32), Layout(32, 1)  # which index thread t reads: t steps to the right, or t steps down
ask_choice(
    "A tile of 32 by 32 fp32 numbers lies row by row in shared memory. The 32 threads of a warp read one row, a number each; then one "
    "column. How many times as long does the column keep the memory busy?",
    options={
        1: "Shared memory has no cache lines, so why should it matter? It does: section 1.",
        4: "More than that. All 32 numbers of the column come out of one narrow door: section 1.",
        32: "And that can be mended without one byte more. Sections 1 and 4 show both.",
    },
    answer=bank_conflicts(square, column, bits=32).wavefronts // bank_conflicts(square, row, bits=32).wavefronts,
)

# %% [markdown]
# The first question is on padding (chapter 01), the first mend. The second is on composition (chapter 03): the second mend is one.

# %% jupyter={"source_hidden": true}
ask_choice(
    "One unused number after each row: (32,32):(33,1). How many slots must be allocated?",
    options={
        1024: "That is the size, the number of elements. They no longer lie side by side.",
        1055: "31 rows down and 31 columns to the right: 31*33 + 31 is the last offset, and slot 0 counts too.",
        1056: "32 rows of 33. But after the last row nothing follows, so its gap is not needed.",
    },
    answer=Layout("(32,32):(33,1)").cosize,
)

# %% jupyter={"source_hidden": true}
P, L = Layout("(2,4):(4,1)"), Layout("(4,2):(2,1)")
ask_choice(
    "P is (2,4):(4,1), L is (4,2):(2,1). What is (P o L) at (1,0)?",
    options={
        2: "That is L alone. Then P comes, and takes this 2 as its index.",
        1: "L gives 2. Index 2 of P is the top of its column 1, and that is offset 1.",
        4: "That is P alone at (1,0). In P o L the right one, L, is first.",
    },
    answer=composition(P, L)(1, 0),
)

# %% [markdown]
# ## 1. 32 banks
#
# Shared memory is made of 32 **banks**. Words of 4 bytes are dealt out to them in turn, as cards are: word 0 lies in bank 0, word 31 in
# bank 31, word 32 in bank 0 again.

# %% jupyter={"source_hidden": true}
small = Layout((3, 24), (24, 1))
ask_cells(
    "A tile of fp32 numbers, (3,24):(24,1), so each element is one word. Click the three elements that lie in bank 3.",
    small,
    offsets=[offset for offset in range(small.size) if offset % 32 == 3],
    why="Bank 3 holds every 32nd word, from word 3 on: 3, 35, 67. In which column an element stands says nothing.",
)

# %% [markdown]
# In one **pass** each bank gives one word: up to 32 words, 128 bytes. (A profiler calls a pass a *wavefront*, and so does the line under
# a board. What a phase is, section 2 says; here there is only one.) Here is the bet's column. On the right each column of the board is
# a bank, each row a pass. How many banks have work?

# %%
square = Layout((32, 32), (32, 1))
column = Layout(32, 1)  # thread t reads the element of index t: t steps down
draw(square, "banks", threads=column, bits=32)

# %% [markdown]
# Slide *stride 0* from 48 down to 32; the title of the right board counts. Which strides need only one pass? What have 48, 40 and 36 to
# do with their numbers of passes? And 0, where all threads read one word?

# %%
explore("(32,32):(48,1)", "banks", threads=column, bits=32)

# %% [markdown]
# **The rule.** Threads that ask for different words of one bank must wait for each other, one pass each: a **bank conflict**. If the
# busiest bank has to give n words, it is *n-way*; 1-way is free of conflicts. Threads that ask for the same word get it in the same
# pass. If the stride is not 0, the number of ways for a column of 32 fp32 is the greatest common divisor of 32 and the stride, so every
# odd stride is free.
#
# $$\text{word} = \lfloor \text{byte address} / 4 \rfloor \qquad \text{bank} = \text{word} \bmod 32$$

# %%
for stride in (32, 48, 36, 33, 0):
    strided = Layout((32, 32), (stride, 1))
    print(f"layoutviz {strided}, column 0: {bank_conflicts(strided, column, bits=32)}")

# %% [markdown]
# The DSL gives the offsets; the rest is the rule above.

# %% needs="dsl"
import cutlass.cute as cute


@cute.jit
def banks_in_the_dsl():
    for stride in (32, 48, 36, 33, 0):
        strided = cute.make_layout((32, 32), stride=(stride, 1))
        words = {strided((i, 0)) for i in range(32)}
        print("DSL", strided, "column 0: words", len(words), " banks", len({word % 32 for word in words}))


banks_in_the_dsl()

# %% [markdown]
# ## 2. Who waits for whom
#
# From here on the tile is the one that a Hopper GEMM keeps in shared memory: rows of 64 fp16 numbers, 128 bytes. Call what a thread
# reads at once a **piece**: here 16 bytes, 8 numbers, the most it can. A row has 8 pieces.

# %% jupyter={"source_hidden": true}
tile = Layout((8, 64), (64, 1))
along_rows = Layout(((8, 4), 8), ((64, 1), 8))  # thread t: row t // 8, piece t % 8 of that row
down_columns = Layout(((8, 4), 8), ((1, 64), 8))  # thread t: row t % 8, piece t // 8 of that row
ask_choice(
    "A warp reads 16 bytes a thread. How many passes does that take, if there is no conflict at all?",
    options={
        1: "32 banks give 4 bytes each, 128 bytes in all. The warp asks for 512.",
        4: "512 bytes, 128 a pass. Which threads share a pass is fixed.",
        32: "One thread at a time would leave 28 of the 32 banks idle.",
    },
    answer=bank_conflicts(tile, along_rows, bits=16, vector=8).wavefronts,
)

# %% [markdown]
# Who reads what is a layout as well: from (thread, value) to the index of an element in the tile. One row down is 1 index on, one
# column 8, one piece 64. So thread 9, at row 1, piece 1, begins at index 1 + 64 = 65. Here 8 neighbouring threads read one piece each,
# from 8 rows, as in a GEMM. Labels and colours are threads. Which threads are in phase 0, and which banks do they ask?

# %%
tile = Layout((8, 64), (64, 1))
down_columns = Layout(((8, 4), 8), ((1, 64), 8))  # thread t: row t % 8, piece t // 8 of that row
draw(tile, "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# Slide *phase*: which threads are served together? Then set *vector* to 4, to 2 and to 1. With fewer elements at once, a thread needs
# more reads; the board calls each one an instruction. Read the sum of all passes ("In all") each time. Only the last step costs more:
# why? How many threads are in a phase then?

# %%
explore(tile, "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# **The rule.** The warp is served in **phases**: groups of neighbouring threads that together ask for 128 bytes at most. Only threads
# of one phase get into each other's way.
#
# | bytes a thread reads at once | 16 | 8 | 4 or fewer |
# | --- | --- | --- | --- |
# | threads in a phase | 8 | 16 | 32 |
#
# A phase costs as many passes as its ways; an access, the sum over its phases. On a board, *conflicts* are the passes that remain when
# one for each phase is taken away. Two fp16 numbers share a word: read one by one, every word is fetched twice.

# %%
along_rows = Layout(((8, 4), 8), ((64, 1), 8))  # thread t: row t // 8, piece t % 8 of that row
for name, threads in (("8 threads in one row", along_rows), ("8 threads in 8 rows", down_columns)):
    print(f"layoutviz {name}: {bank_conflicts(tile, threads, bits=16, vector=8)}")

# %% needs="dsl"
@cute.jit
def phase_in_the_dsl():
    tile = cute.make_layout((8, 64), stride=(64, 1))
    for name, places in (("one row", [(0, 8 * t) for t in range(8)]), ("8 rows", [(t, 0) for t in range(8)])):
        print("DSL first banks of phase 0,", name, [tile(place) * 2 // 4 % 32 for place in places])


phase_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 05.1 · Who lives in bank 3? ★
#
# Given: a tile of fp16 numbers, `(4,24):(24,1)`, which begins at byte 0. Wanted: `cells`, a list of all elements that lie in bank 3,
# each as a coordinate such as `(0, 0)`. Predict them without `Layout`. Run the cell as it is to click them on a board. Judged by the
# cells; their order does not count.

# %% exercise="05.1" tags=["exercise", "inline"]
### BEGIN SOLUTION
cells = [(0, 6), (0, 7), (2, 22), (2, 23)]
### STARTER
# cells = ...
### END SOLUTION

# %% [markdown]
# ## 3. The first mend: padding
#
# In section 1 one number more in each row was enough.

# %% jupyter={"source_hidden": true}
def free(stride):
    """Whether 8 threads can read 16 bytes each from 8 rows, this many fp16 apart, without conflict."""
    try:
        return bank_conflicts(Layout((8, 64), (stride, 1)), down_columns, bits=16, vector=8).ways == 1
    except LayoutError:
        return False


ask_choice(
    "The tile of fp16, 16 bytes a thread. Which is the smallest row stride that makes the read of 8 rows free of conflicts?",
    options={
        65: "Row 1 would start at byte 130. A 16-byte read must start at a multiple of 16 bytes: no instruction reads it there.",
        66: "One word more, and row 1 starts at byte 132: one bank on. But a 16-byte read must start at a multiple of 16 bytes.",
        72: "One piece of 16 bytes more. Each row starts 4 banks further than the one before.",
        128: "Twice 128 bytes: each row starts in bank 0 again.",
    },
    answer=next(stride for stride in range(64, 129) if free(stride)),
    picture=lambda: banks_view(Layout((8, 64), (72, 1)), down_columns, 16, 8),
)

# %% [markdown]
# Slide *stride 0* from 128 down to 64. Most strides are refused, and the board says why. Which of the others are free? Count them in
# pieces of 8 elements: what kind of numbers are they?

# %%
explore("(8,64):(128,1)", "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# **The rule.** Make the row stride an *odd* number of pieces. Then 8 rows start in 8 different groups of banks. It costs a piece for
# every row but the last. And the tile now has gaps, which TMA and WGMMA (chapter 10) do not accept.

# %%
for stride in (64, 72, 80, 88):
    wider = Layout((8, 64), (stride, 1))
    conflicts = bank_conflicts(wider, down_columns, bits=16, vector=8)
    print(f"layoutviz {wider}, {stride // 8} pieces a row, {2 * wider.cosize} bytes: {conflicts}")

# %% needs="dsl"
@cute.jit
def padding_in_the_dsl():
    for stride in (64, 72, 80, 88):
        wider = cute.make_layout((8, 64), stride=(stride, 1))
        first = [wider((t, 0)) * 2 // 4 % 32 for t in range(8)]
        print("DSL", wider, 2 * cute.cosize(wider), "bytes, rows begin in banks", first)


padding_in_the_dsl()

# %% [markdown]
# ## 4. The second mend: shuffle each row differently
#
# Leave the rows where they are, and shuffle each one inside, in its own way. The way is XOR: write two numbers in bits, and put a 1 where
# they differ. In Python it is `^`.

# %% jupyter={"source_hidden": true}
ask_choice(
    "In row 3, the element of column 5 goes to place 5 XOR 3 of its row. Which one is that?",
    options={
        8: "That is the sum. XOR carries nothing: 101 and 011 differ in the first two bits.",
        6: "101 and 011 differ in the first two bits and agree in the last: 110.",
        7: "That is OR, a 1 where either has one. In the last bit both have a 1, so they do not differ.",
        1: "That is AND, a 1 where both have one.",
    },
    answer=5 ^ 3,
)

# %% [markdown]
# A corner of the bet's tile, 4 rows and 8 columns, before and after. A label is the bank of that element. Which banks has column 0
# before, and which after? Has any row lost or gained a bank?

# %%
four_rows = Layout((4, 8), (32, 1))
draw(four_rows, "swizzle", b=2, m=0, s=5, bits=32, label="bank")

# %% [markdown]
# Slide *b* to 1. Which rows are now shuffled alike? Then to 0. What is left?

# %%
explore(four_rows, "swizzle", b=2, m=0, s=5, bits=32, label="bank")

# %% [markdown]
# **The rule.** A **swizzle** is a function on offsets. Here the low five bits of an offset are the column, the next two the row.
# `S<2,0,5>` reads the two row bits and XORs them onto the lowest two of the column. Each row keeps its own slots, so nothing is
# overwritten and not one byte is added. The coordinates stay as they are: who asks for (3,5) gets element (3,5), from another slot. The
# same swizzle again gives the old offset back.
#
# $$S\langle b,m,s\rangle(x) = x \oplus \big((x \gg s) \mathbin{\&} \text{mask}\big) \qquad \text{mask: } b \text{ ones from bit } m$$
#
# A layout with a swizzle after it is written `S o 0 o L`; the number between them is added to the offset before the swizzle.

# %%
shuffled = ComposedLayout(Swizzle(2, 0, 5), 0, four_rows)
print("layoutviz", shuffled, [shuffled(i, 5) for i in range(4)], "cosize", shuffled.cosize)

# %% needs="dsl"
@cute.jit
def swizzle_in_the_dsl():
    four_rows = cute.make_layout((4, 8), stride=(32, 1))
    shuffled = cute.make_composed_layout(cute.make_swizzle(2, 0, 5), 0, four_rows)
    print("DSL", shuffled, [shuffled((i, 5)) for i in range(4)], "cosize", cute.cosize(shuffled))


swizzle_in_the_dsl()

# %% [markdown]
# The bet, settled: 32 rows are told apart by 5 bits, and `S<5,0,5>` reads 5.

# %%
settled = ComposedLayout(Swizzle(5, 0, 5), 0, square)
print(f"column of {settled}: {bank_conflicts(settled, column, bits=32)}; {4 * settled.cosize} bytes, without it {4 * square.cosize}")
draw(settled, "banks", threads=column, bits=32)

# %% [markdown]
# ## 5. B, M and S, one at a time
#
# Back to the tile of fp16. Its offsets have 9 bits, three each for row, piece, place in the piece. The lowest `m` bits are never changed.

# %% jupyter={"source_hidden": true}
ask_choice(
    "A thread reads a piece of 8 numbers at once, so they must stay side by side and in order. Which is the smallest m that does that?",
    options={
        8: "m counts bits, not elements. 8 bits would keep 256 elements together.",
        4: "2^4 are 16 elements. Two pieces would always move together. A smaller m does.",
        3: "The low 3 bits, the place in the piece, are not touched: 2^3 = 8 elements stay together.",
        0: "Then the numbers inside a piece are shuffled, and one read of 16 bytes gets them in the wrong order.",
    },
    answer=(8).bit_length() - 1,
)

# %% [markdown]
# The left half of the tile, before and after. (In rows 4 to 7 the swizzle exchanges it with the right half, which is not drawn.) The
# labels are banks; a colour is 16 bytes wide, 4 banks. How many colours has column 0 before, how many after?

# %%
draw(Layout((8, 32), (64, 1)), "swizzle", b=3, m=3, s=3)

# %% [markdown]
# First *b*: how many ways has phase 0 for 1, 2, 3? Set it back to 2. Then *s* to 4 and 5: which threads meet now, and why these? Last *m*
# to 2, with *s* at 4: why is this refused?

# %%
explore("S<1,3,3> o 0 o (8,64):(64,1)", "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# **The rule.**
#
# - `m`: the low `m` bits stay. Let $2^m$ be the elements that a thread moves at once.
# - `b`: how many bits are read and changed. $2^b$ is the number of ways that this read has before: 8-way takes `b` = 3, 4-way 2.
# - `s`: the bits that are read start at `m + s`. These must be the bits in which the rows that meet differ. A row of 64 elements ends
#   at bit 6, so `s` = 3.
#
# What is read and what is changed may not overlap: `s` is at least `b`. For `S<3,2,1>` the DSL makes, without a word, a swizzle that
# changes nothing: right results, all conflicts.

# %%
def column_read(b, m, s):
    try:
        return bank_conflicts(ComposedLayout(Swizzle(b, m, s), 0, tile), down_columns, bits=16, vector=8)
    except LayoutError as refused:
        return f"refused: {refused}"


for b, m, s in ((3, 3, 3), (2, 3, 3), (1, 3, 3), (3, 3, 4), (3, 4, 3), (3, 2, 4), (3, 2, 1)):
    print(f"layoutviz S<{b},{m},{s}>: {column_read(b, m, s)}")

# %% needs="dsl"
@cute.jit
def overlap_in_the_dsl():
    print("DSL S<3,3,3> is", cute.make_swizzle(3, 3, 3), " S<3,2,1> is", cute.make_swizzle(3, 2, 1))


overlap_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 05.2 · A swizzle by hand ★
#
# Given: `S<1,1,2> o 0 o (4,4):(4,1)`. Wanted: `offsets`, a list of its 16 offsets, those of index 0, 1, 2 and so on, down the columns.
# Use paper: write an offset in 4 bits, and ask which bit is read, and onto which one it goes. Run the cell as it is to fill them in on
# a board. Judged number by number.

# %% exercise="05.2" tags=["exercise", "inline"]
### BEGIN SOLUTION
offsets = [0, 4, 10, 14, 1, 5, 11, 15, 2, 6, 8, 12, 3, 7, 9, 13]
### STARTER
# offsets = ...
### END SOLUTION

# %% [markdown]
# ## 6. Elements or bytes?
#
# The hardware counts bytes, a layout counts elements. The swizzle that Hopper calls "128B" is `S<3,4,3>` on byte addresses.

# %% jupyter={"source_hidden": true}
ask_choice(
    "Which swizzle is S<3,4,3> on bytes, if offsets count fp16 elements?",
    options={
        "S<3,4,3>": "Then 16 elements would stay together, 32 bytes. On bytes it is 16 bytes.",
        "S<3,3,3>": "An element is 2 bytes, so every bit of its offset stands one place lower than in the byte address.",
        "S<2,3,2>": "m falls by one. How many bits are read, and how far up, stays.",
    },
    answer=recast_layout(16, 8, Swizzle(3, 4, 3)),
)

# %% [markdown]
# Here somebody took the number from the manual as it is: `S<3,4,3>` on elements of fp16. No error, no wrong result. Only: which threads
# now meet?

# %%
draw("S<3,4,3> o 0 o (8,64):(64,1)", "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# Here an element is a byte, and the swizzle puts column 0 into 8 banks. Choose *bits* 16 and slide *stride 0* to 64: rows of 128 bytes
# again. Which `m` brings the 8 banks back? What is the swizzle on bytes then? Do the same for 32 bits (stride 32) and 64 (16).

# %%
explore(Layout((8, 16), (128, 1)), "swizzle", b=3, m=4, s=3, bits=8)

# %% [markdown]
# **The rule.** If an element has $2^k$ bytes, each bit of its offset stands $k$ places lower than in the byte address: `m` falls by $k$;
# `b` and `s` stay. Changing the unit of a layout is called **recasting**: `recast_layout(new bits, old bits, layout)`; a swizzle in it
# goes along. Whenever you see a swizzle, ask: of what?

# %%
in_bytes = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1)))
for bits in (8, 16, 32):
    print(f"layoutviz {bits:2} bits: {recast_layout(bits, 8, in_bytes)}")

# %% needs="dsl"
@cute.jit
def recast_in_the_dsl():
    in_bytes = cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_layout((8, 128), stride=(128, 1)))
    for bits in (8, 16, 32):
        print("DSL", bits, "bits:", cute.recast_layout(bits, 8, in_bytes))


recast_in_the_dsl()

# %% [markdown]
# ## 7. Rows shorter than 128 bytes
#
# If a row has 64 bytes, two rows share one round of the banks.

# %% jupyter={"source_hidden": true}
narrow = Layout((8, 32), (32, 1))
eight_rows = Layout((8, 8), (1, 8))  # 8 threads: thread t reads the first 8 elements of row t
ask_choice(
    "fp16, rows of 64 bytes: (8,32):(32,1). The read of 8 rows is 4-way. Which swizzle makes it free?",
    options={
        "S<2,3,2>": "It reads from bit 5 on, where a row ends. But rows 0 and 1 never meet: one has banks 0 to 15, the other 16 to 31.",
        "S<2,3,3>": "It reads from bit 6 on, where 128 bytes end. Rows 0 and 1 are shuffled alike: they have different halves of banks.",
        "S<1,3,3>": "It reads the right bit, but one bit tells only two pairs of rows apart, and there are four.",
    },
    answer=next(f"S<{b},3,{s}>" for b, s in ((2, 2), (2, 3), (1, 3))
                if bank_conflicts(ComposedLayout(Swizzle(b, 3, s), 0, narrow), eight_rows, 16, 8).ways == 1),
    picture=lambda: swizzle_view(narrow, 2, 3, 3),
)

# %% [markdown]
# `m + s` stays where 128 bytes end, and `b` follows the ways: the three swizzles of the hardware. In CuTe's names, for rows of 32, 64 and
# 128 bytes:

# %%
for name, b, width in (("SW32", 1, 32), ("SW64", 2, 64), ("SW128", 3, 128)):
    in_bytes = ComposedLayout(Swizzle(b, 4, 3), 0, Layout((8, width), (width, 1)))
    atom = recast_layout(16, 8, in_bytes)
    before, after = (bank_conflicts(layout, eight_rows, bits=16, vector=8).ways for layout in (atom.inner, atom))
    print(f"{name}: on bytes {in_bytes.outer}; fp16: {atom}, (7,0) at {atom(7, 0)}; 8 rows were {before}-way, are {after}-way")

# %% [markdown]
# Here is the wrong `S<2,3,2>`. Which threads meet? Slide *s* to 3. Then *b* to 1: the same threads meet as before. Which bit does
# neither of these two swizzles read?

# %%
explore("S<2,3,2> o 0 o (8,32):(32,1)", "banks", threads=down_columns, bits=16, vector=8)

# %% [markdown]
# **The rule.** Rows 0 and 4 differ in bit 7 alone. `S<2,3,2>` reads bits 5 and 6, `S<1,3,3>` bit 6, `S<2,3,3>` bits 6 and 7.
#
# Such a small swizzled tile is called a **layout atom** (chapter 08 has another kind of atom). A larger tile is the layout atom repeated
# (`tile_to_shape`). Take the widest that fits your tile. The hardware XORs bits of the *address*, so a tile for it must begin where those
# bits are 0: with SW128 at a multiple of 8 rows of 128 bytes, 1024. TMA and WGMMA (chapter 10) take these three, or a tile without a
# swizzle, and no others.

# %%
print("layoutviz", tile_to_shape(atom, (64, 128)))

# %% [markdown]
# The DSL has the layout atoms ready made. For fp16 the layout counts elements, but the swizzle counts bytes. A kernel puts it on the
# address, and all is well. But asked for an offset, as that of (7,0), a layout atom mixes the two units, and gives another slot than the
# list above.

# %% needs="dsl"
import cutlass
from cutlass.cute.nvgpu import warpgroup


@cute.jit
def atoms_in_the_dsl():
    for kind in ("K_SW32", "K_SW64", "K_SW128"):
        atom = warpgroup.make_smem_layout_atom(getattr(warpgroup.SmemLayoutAtomKind, kind), cutlass.Float16)
        print("DSL", kind, atom, " (7,0) at", atom((7, 0)))
    print("DSL", cute.tile_to_shape(atom, (64, 128), (0, 1)))


atoms_in_the_dsl()

# %% [markdown] tags=["exercise", "inline"]
# ### Exercise 05.5 · A narrow tile of fp32 ★★
#
# Given: a tile of fp32 numbers, `(16,16):(16,1)`, rows of 64 bytes. Eight neighbouring threads read 16 bytes each from rows 0 to 7, or
# from rows 8 to 15, at any piece of the row. Wanted: `swizzle`, on elements, written as in `Swizzle(3, 4, 5)`, that makes all these
# reads free of conflicts and needs no slot beyond those of the tile. More than one is right. Judged by counting.

# %% exercise="05.5" tags=["exercise", "inline"]
### BEGIN SOLUTION
swizzle = Swizzle(2, 2, 3)
### STARTER
# swizzle = Swizzle(..., ..., ...)
### END SOLUTION

# %% [markdown]
# ## 8. Two accesses, one layout
#
# A tile is often written along its rows and read down its columns.

# %% jupyter={"source_hidden": true}
ask_choice(
    "S<3,3,3> has mended the read of 8 rows. How many ways does the write of one row by 8 threads have now? It was free before.",
    options={
        8: "That would be so if the pieces of a row went into one bank. They are only shuffled in their own row.",
        2: "No two pieces of a row share a slot, and the row still fills the same 128 bytes.",
        1: "A row keeps its 128 bytes, one word of each bank. In which order they lie does not matter.",
    },
    answer=bank_conflicts(atom, along_rows, bits=16, vector=8).ways,
)

# %% [markdown]
# A machine can try every swizzle and padding. The best for both accesses:

# %%
both = [(along_rows, 8), (down_columns, 8)]
for candidate in find_swizzle(tile, both, bits=16)[:8]:
    print(candidate)

# %% [markdown]
# Leave out `down_columns` in `both`, and run the cell again: what comes first, and why? Then leave out `along_rows` instead.

# %% [markdown]
# **The rule.** The rows alone need nothing, and every swizzle that keeps the pieces whole leaves them free. The columns alone need
# `S<3,3,3>` or padding. So here the read decides. To design the layout of a tile:
#
# 1. Write down each access: who moves what, and how wide.
# 2. `m` from the widest: what one thread moves at once, a piece, stays together.
# 3. `m + s`: the lowest bit in which rows that meet (begin in the same bank) differ. It is never below the bit where 128 bytes end.
# 4. `b`: $2^b$ are the most ways that an access has before, but no more than there are pieces in 128 bytes.
# 5. Count.
#
# Then let every read and every write go through this one *layout*. If they differ in the swizzle, the numbers are wrong.

# %% [markdown]
# ## On the GPU
#
# First the model against the machine. NVIDIA's profiler, Nsight Compute, reads counters in the GPU. Each line is one access, run alone,
# by one warp or a part of one: the passes that `bank_conflicts` predicts, and those that the hardware counted when the course was
# recorded. Pick three lines, cover their numbers, and predict.

# %%
from ladder.bank_counters import ACCESSES, recorded  # python -m ladder.bank_counters counts on your GPU, with Nsight Compute

counted, counted_gemms = recorded()
passes = {each.what.name: each.wavefronts for each in counted}
agree = 0
print(f"{'access':46}{'layout':38}{'predicted':>9}{'counted':>9}")
for each in ACCESSES:
    predicted, found = bank_conflicts(each.layout, each.threads, each.bits, each.vector).wavefronts, passes.get(each.name)
    agree += predicted == found
    print(f"{each.name:46}{each.layout:38}{predicted:9}{found or '-':>9}{'' if found in (predicted, None) else '  <- not the same'}")
if counted:
    print(f"{agree} of {len(counted)} agree; counted on {counted[0].gpu}, {counted[0].date[:10]}")
else:
    print("nothing is recorded yet: python -m ladder.bank_counters counts, on a GPU with Nsight Compute")

# %% [markdown]
# Where they are not the same, neighbouring threads read the same 16 bytes. The hardware can then serve two phases at once; NVIDIA does
# not say when, so the model counts each phase.

# %% [markdown]
# Now a GEMM. It is the tiled one of chapter 04, with two changes: its tiles lie row by row and are 64 fp16 long along `K`, not 16; and a
# thread reads 8 numbers at once. `STORAGE` has three layouts for the tiles; nothing else in the kernel knows which.

# %% include="ladder/tiled_swizzled.py:TILE_K,VECTOR,by_rows,padded,swizzled,STORAGE,swizzled_kernel,gemm_with" needs="dsl"
from ladder.tiled_swizzled import STORAGE, gemm_with

# %% [markdown]
# In this kernel thread `t` of a warp reads a piece in row `t % 16` of the tile of `A`, and one in row `t // 16` of that of `B`. It
# stores single elements, at row `t % 16`, column `t // 16`. First predict: which of the two reads has no conflict even without a
# swizzle? (Two passes for a store are the best that pieces of 16 bytes allow. Exercise 05.7 asks why.)

# %%
stored = {
    "none": Layout((64, 64), (64, 1)),
    "padding": Layout((64, 64), (72, 1)),
    "swizzle": ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64), (64, 1))),
}
read_A, read_B = Layout(((16, 2), 8), ((1, 0), 64)), Layout(((16, 2), 8), ((0, 1), 64))
store = Layout(((16, 2), 1), ((1, 64), 0))
gemms = {each.what: each for each in counted_gemms}
for name, layout in stored.items():
    a, b = (bank_conflicts(layout, threads, bits=16, vector=8).wavefronts for threads in (read_A, read_B))
    s = bank_conflicts(layout, store, bits=16).wavefronts
    print(f"{name:8} predicted: a read of A {a:2}, of B {b}, on average {(a + b) / 2:4}; a store {s:2}", end="")
    each = gemms.get(name)
    print(f"    counted: a read {each.wavefronts / each.loads:.2f}, a store {each.store_wavefronts / each.stores:.2f}" if each else "")

# %% [markdown]
# 4 passes for 4 phases are no conflict: that read is B's. Counted is less on average, because a read of `B` takes 2 passes, not 4: the
# last line of the first table.

# %% [markdown]
# Now run it. Without a GPU it is compiled: in the line `SASS`, `LDS.128` is a read of a whole piece. Then write a function like `padded`
# with a layout of your own, and add it to `STORAGE`.

# %% needs="dsl"
from ladder import harness


def named(storage):
    """One pair of layouts for the harness, named after how the tiles are stored."""
    return lambda M, N, K: {storage: harness.operand_pairs(M, N, K)["TN"]}


checks = []
for storage, tile_layout in STORAGE.items():
    look = "the time beside the other two: same sums, same reads, other banks"
    chapter = "05" if storage == "swizzle" else None  # what was recorded, once
    loops = "chapter 01's loops, not this kernel"
    checks += harness.gemm_through_layouts(gemm_with(tile_layout), named(storage), chapter=chapter, look=look, loops=loops)

# %% [markdown]
# What the banks cost: compare the times of "none" and "swizzle" above. The kernel of chapter 04 differs from this one in more: its tiles
# are shorter and its reads narrower. Guess: how much faster is this one?

# %%
from ladder.thermometer import thermometer

figure = thermometer("tiled_swizzled")
print(f"{figure.rows['tiled_swizzled']['tflops'] / figure.rows['tiled']['tflops']:.2f} times as fast as the kernel of chapter 04")
figure

# %% [markdown]
# ## Common mistakes
#
# - **Counting over the warp.** Conflicts happen inside a phase.
# - **A swizzle without its unit.** `S<3,4,3>` on bytes is `S<3,3,3>` on fp16 and `S<3,2,3>` on fp32. The wrong one gives right results,
#   slowly.
#
# ## In short
#
# - Bank = byte address / 4, modulo 32. Different words of one bank wait; equal words don't.
# - A phase is as many neighbouring threads as ask for 128 bytes.
# - Padding: a row stride of an odd number of pieces. It costs memory and leaves gaps.
# - `S<b,m,s>` XORs the b bits at `m + s` onto those at `m`: each row is shuffled in its own slots, at no cost in memory.
# - `m` from the widest access, `m + s` from where rows that meet differ; `2^b` ways before, at most the pieces in 128 bytes.
# - SW32, SW64, SW128 are `S<1,4,3>`, `S<2,4,3>`, `S<3,4,3>` on bytes; `recast_layout` gives them in elements.
#
# **The way on.** You can now read every layout of a GEMM. In chapter 06 you write the kernel yourself.

# %% [markdown] tags=["exercise"]
# ### Exercise 05.3 · As little padding as possible ★
#
# Given: a tile of 8 rows with 108 fp16 columns, row by row; it begins at byte 0. Eight threads read 16 bytes each: thread `t` the first
# 8 elements of row `t`. Two are wanted: `stride`, the smallest row stride, in elements, at which this read is possible and free of
# conflicts; and `needed`, how many bytes the 8 rows take up then, from the first element to the last. Judged by the two numbers.

# %% exercise="05.3" tags=["exercise"]
### BEGIN SOLUTION
stride = 15 * 8
needed = 2 * Layout((8, 108), (stride, 1)).cosize
### STARTER
# stride = ...
# needed = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 05.4 · Mend a swizzle ★★
#
# Given: `S<2,4,3> o 0 o (8,128):(128,1)` on fp16. Other elements, of 8, 16, 32 or 64 bits, shall lie in the same memory: 8 rows of the
# same 256 bytes, each byte where it is now. A colleague wrote the line in the cell. It is right for one width only. Wanted: a function
# `same_bytes(bits)` that gives the layout, offsets in elements, for every width. Judged by the shape and the offsets of what it gives.

# %% exercise="05.4" tags=["exercise"]
### BEGIN SOLUTION
def same_bytes(bits):
    in_fp16 = ComposedLayout(Swizzle(2, 4, 3), 0, Layout((8, 128), (128, 1)))
    return recast_layout(bits, 16, in_fp16)
### STARTER
# # the colleague's: return ComposedLayout(Swizzle(2, 4, 3), 0, Layout((8, columns), (columns, 1)))
# def same_bytes(bits):
#     columns = 2048 // bits
#     return ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 05.6 · Half as wide ★★
#
# Given: a tile of fp16 with 16 rows and 64 columns; this time a thread moves 8 bytes at once, 4 elements. It is written along its rows
# (neighbouring threads at neighbouring pieces of a row), and read down its columns (16 neighbouring threads at one piece of 16 rows).
# Wanted: `layout`, any layout of 16 rows and 64 columns for which both are free of conflicts, in at most 2,500 bytes. With padding or
# with a swizzle, as you like. Judged by counting. (`find_swizzle` can check what you have found.)

# %% exercise="05.6" tags=["exercise"]
### BEGIN SOLUTION
layout = ComposedLayout(Swizzle(4, 2, 4), 0, Layout((16, 64), (64, 1)))
### STARTER
# layout = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 05.7 · As few as can be ★★★
#
# Given: a tile of fp32, 32 by 32. A warp writes rows, 16 bytes a thread: 4 elements at once. Then it reads a column, one element a
# thread. Two are wanted: `ways`, the fewest possible ways of the read of a column, whatever the layout, if the write is possible; and
# `layout`, of 32 rows and 32 columns, in at most 8,192 bytes, for which the write is free of conflicts and the read has so few ways.
# Judged first by `ways`, then by counting, for every column.

# %% exercise="05.7" tags=["exercise"]
### BEGIN SOLUTION
ways = 32 // (32 // 4)
layout = ComposedLayout(Swizzle(3, 2, 3), 0, Layout((32, 32), (32, 1)))
### STARTER
# ways = ...
# layout = ...
### END SOLUTION

# %% [markdown] tags=["exercise"]
# ### Exercise 05.8 · A swizzle for every row ★★★
#
# Given: tiles of fp16 with 64 rows, in a memory whose rows have 32, 64, 128 or 256 elements. The first elements of each row are the
# tile, 64 or as many as there are: `(64,min(row,64)):(row,1)`. The rest of a row belongs to other tiles, and must stay untouched. A
# thread reads 16 bytes, 8 neighbouring threads in 8 neighbouring rows. Wanted: a function `swizzle_for(row)` that gives the swizzle, on
# elements, which makes these reads free of conflicts, for each of the four rows.
#
# Judged first by counting. If it is right, the lesson's kernel runs with tiles in rows of 128, `(64,64):(128,1)`, and is checked against
# cuBLAS. Without a GPU the kernel is only compiled, and the verdict says so. This cell runs by itself: it knows the notebook's first
# code cell, and none of your other cells.

# %% exercise="05.8" tags=["exercise"]
### BEGIN SOLUTION
def swizzle_for(row):
    ways = 8 * min(row, 64) // 64  # before the swizzle: rows of 32 elements lie two in 128 bytes
    b, m = ways.bit_length() - 1, 3
    first = max(row, 64).bit_length() - 1  # the lowest bit in which rows that meet differ
    return Swizzle(b, m, first - m)
### STARTER
# def swizzle_for(row):
#     return Swizzle(..., ..., ...)
### END SOLUTION
