"""What a verdict says of right and wrong results: published ones, mutated ones, and against brute force in plain Python."""

import contextlib
import functools
import itertools
import warnings
from math import prod

import pytest
from generated import CALLS, compact_layouts, layouts, spread_layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutviz import Layout, LayoutError, algebra
from layoutviz.composed import ComposedLayout, Swizzle, Tensor
from layoutviz.int_tuple import leaf_values, nest
from layoutviz.laws import LAWS, Verdict, check

A46 = "(4,6,8):(2,3,5)"
TV = "((8,4),(2,2)):((16,2),(8,1))"
SW = "S<3,4,3> o 0 o (8,128):(128,1)"

# op, arguments, all of these right. Several are answers that different libraries print for one question.
RIGHT = [
    ("coalesce", ("(2,(1,6)):(1,(6,2))",), ["12:1", "(12):(1)"]),
    ("coalesce", ("(2,3):(3,1)",), ["(2,3):(3,1)"]),
    ("coalesce", ("(1,1):(5,7)",), ["1:0", "1:9"]),
    ("coalesce", ("((2,2),(2,3))", (1, 1)), ["(4,6):(1,4)"]),
    ("coalesce", ("((2,2),(2,3))", (1,)), ["(4,(2,3)):(1,(4,8))"]),
    ("coalesce", ("((2,2),((2,3),1))", (1, (1, 1))), ["(4,(6,1)):(1,(4,0))"]),
    ("coalesce", ("S<2,0,3> o 0 o (8,8):(1,8)",), ["S<2,0,3> o 0 o 64:1"]),
    ("flatten", ("(8,(2,3))",), ["(8,2,3):(1,8,16)"]),
    ("flatten", (8,), ["8:1", "(8):(1)"]),
    ("group", ((8, 2, 3, 4), 1, 3), ["(8,(2,3),4):(1,(8,16),48)"]),
    ("group", ("(8,(2,3))", 1, 2), ["(8,((2,3))):(1,((8,16)))"]),
    ("select", ("(8,2,3)", (2, 0)), ["(3,8):(16,1)"]),
    ("select", ("(8,(2,3))", 1), ["((2,3)):((8,16))"]),
    ("get", ("(4,(2,3)):(6,(3,1))", (1, 0)), ["2:3"]),
    ("get", ("(4,(2,3)):(6,(3,1))", 1), ["(2,3):(3,1)"]),
    ("append", (8, "(3,2):(2,1)"), ["(8,(3,2)):(1,(2,1))"]),
    ("append", (8, 3, 4), ["(8,3,3,3):(1,1,1,1)"]),
    ("append", ("(8,2)", 3, 2), ["(8,2):(1,8)"]),
    ("prepend", (8, 3), ["(3,8):(1,1)"]),
    ("filter_zeros", ("(8,(8,8)):(0,(1,0))",), ["(1,(8,1)):(0,(1,0))"]),
    ("slice_", ("(8,(4,16)):(64,(16,1))", (3, (None, 5))), [Tensor("4:16", 197), Tensor("(4):(16)", 197)]),
    ("slice_", ("(8,(4,16)):(64,(16,1))", (0, (None, 0))), ["4:16"]),
    ("slice_", ("(8,(4,16)):(64,(16,1))", (None, 5)), [Tensor("8:64", 17)]),
    ("slice_", ("(4,6):(6,1)", (1, 2)), [Tensor(1, 8)]),
    ("slice_", ("S<2,0,3> o 0 o (8,8):(8,1)", (None, 3)), ["S<2,0,3> o 3 o 8:8", "S<2,0,3> o 3 o (8):(8)"]),
    ("composition", ("(10,2):(16,4)", "(3,4):(1,5)"), ["(3,(2,2)):(16,(80,4))", "(3,(2,1,2)):(16,(80,9,4))"]),
    ("composition", ("(4,1):(1,42)", "12:1"), ["(4,3):(1,42)"]),
    ("composition", ("(5,3):(7,1)", "2:3"), ["2:21"]),
    ("composition", ("(4,6,1):(2,3,0)", "30:4"), ["(6,5):(3,0)"]),
    ("composition", ("(10,7):(7,1)", (5, None)), ["(5,7):(7,1)"]),
    ("composition", ("(10,7):(7,1)", 5), ["5:7"]),
    ("composition", ("(10,7):(7,1)", "(5,7)"), ["(5,7):(7,1)"]),
    ("composition", ("((4,4),8)", ((2, None), "4:2")), ["((2,4),4):((1,4),32)"]),
    ("composition", (Swizzle(2, 0, 3), "(8,8):(8,1)"), ["S<2,0,3> o 0 o (8,8):(8,1)"]),
    ("composition", (Swizzle(2, 0, 3), "4:8"), ["S<2,0,3> o 0 o 4:8", "4:9"]),
    ("composition", ("16:3", "S<2,0,2> o 0 o 16:1"), [ComposedLayout("16:3", 0, "S<2,0,2> o 0 o 16:1")]),
    ("complement", ("4:2", 8), ["2:1", "(2,1):(1,8)", "(1,2):(5,1)"]),
    ("complement", ("4:2", 24), ["(2,3):(1,8)"]),
    ("complement", ("(2,2):(1,6)", 24), ["(3,2):(2,12)"]),
    ("complement", ("(4,2):(1,5)", 24), ["3:10"]),
    ("complement", ("4:1", 6), ["2:4"]),
    ("complement", ("4:2", 23), ["(2,3):(1,8)"]),
    ("complement", ("4:2", 49), ["(2,7):(1,8)"]),
    ("complement", ("4:8", 1), ["8:1"]),
    ("complement", ("(1,4):(3,2)", (4, 2)), ["2:1"]),
    ("complement", ("1:0", "(4,6):(9,9)"), ["24:1", "(4,6):(1,4)"]),
    ("right_inverse", ("(2,4,6):(4,1,8)",), ["(4,2,6):(2,1,8)"]),
    ("right_inverse", ("(2,2):(0,1)",), ["2:2"]),
    ("right_inverse", ("(4,3):(1,2)",), ["(4,2):(1,8)"]),
    ("right_inverse", ("4:2",), ["1:0"]),
    ("right_inverse", ("(3,4,2):(8,1,3)",), ["(3,2):(3,12)"]),  # a first leaf of 4 fits too, but nothing after it
    ("right_inverse", ("S<1,0,2> o 0 o 8:1",), ["S<1,0,2> o 0 o 8:1"]),
    ("left_inverse", ("4:2",), ["(2,4):(0,1)", "(2,4):(4,1)"]),
    ("left_inverse", ("(4,2):(1,16)",), ["(16,2):(1,4)", "(4,4,2):(1,8,4)"]),
    ("left_inverse", ("(4,8):(1,5)",), ["(5,8):(1,4)"]),
    ("logical_divide", ("(12,32)", "(4,8):(1,4)"), ["((4,8),12):((1,4),32)", "(32,12):(1,32)"]),
    ("logical_divide", ("(12,32)", (4, 8)), ["((4,3),(8,4)):((1,4),(12,96))"]),
    ("logical_divide", ("24:1", 5), ["(5,5):(1,5)"]),
    ("logical_divide", ("(10,7):(7,1)", (None, 4)), ["(10,(4,2)):(7,(1,4))"]),
    ("logical_divide", ("(10,7):(7,1)", (4,)), ["((4,3),7):((7,28),1)"]),
    ("logical_divide", ("((4,4),8)", ((2, 2), 4)), ["(((2,2),(2,2)),(4,2)):(((1,2),(4,8)),(16,64))"]),
    ("zipped_divide", ("(12,32)", (4, 8)), ["((4,8),(3,4)):((1,12),(4,96))"]),
    ("zipped_divide", ("(2,6):(6,1)", (1, 2)), ["((1,2),(2,3)):((0,1),(6,2))"]),
    ("zipped_divide", ("(10,7):(7,1)", (4,)), ["((4),(3,7)):((7),(28,1))"]),
    ("zipped_divide", ("((4,4),8)", ((2, 2), 4)), ["(((2,2),4),((2,2),2)):(((1,4),16),((2,8),64))"]),
    ("zipped_divide", ("(8,8):(8,1)", "(2,4):(1,16)"), ["((2,4),(4,2)):((8,2),(16,1))"]),
    ("zipped_divide", ("S<2,0,3> o 0 o (8,8):(8,1)", (4, 2)), ["S<2,0,3> o 0 o ((4,2),(2,4)):((8,1),(32,2))"]),
    ("tiled_divide", ("(12,32)", (4, 8)), ["((4,8),3,4):((1,12),4,96)"]),
    ("tiled_divide", ("(8,8):(8,1)", "(2,4):(1,16)"), ["((2,4),4,2):((8,2),16,1)"]),
    ("flat_divide", ("(12,32)", (4, 8)), ["(4,8,3,4):(1,12,4,96)"]),
    ("flat_divide", ("(8,8):(8,1)", "(2,4):(1,16)"), ["(2,4,4,2):(8,2,16,1)"]),
    ("logical_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["((2,5),(3,4)):((5,1),(10,30))", "((2,5),12):((5,1),10)"]),
    ("logical_product", ("(2,5):(5,1)", (3, 4)), ["((2,3),(5,4)):((5,1),(1,5))"]),
    ("logical_product", ("4:2", 6), ["(4,(2,3)):(2,(1,8))"]),
    ("logical_product", ("4:2", "2:3"), ["(4,2):(2,9)"]),
    ("zipped_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["((2,5),(3,4)):((5,1),(10,30))"]),
    ("zipped_product", ("(2,5):(5,1)", (3,)), ["((2),(3,5)):((5),(1,1))"]),
    ("tiled_product", ("(2,5):(5,1)", (3, 4)), ["((2,5),3,4):((5,1),1,5)"]),
    ("tiled_product", ("4:2", 6), ["(4,2,3):(2,1,8)"]),
    ("flat_product", ("(2,5):(5,1)", (None, 4)), ["(2,5,1,4):(5,1,0,5)"]),
    ("tiled_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["((2,5),3,4):((5,1),10,30)"]),
    ("flat_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["(2,5,3,4):(5,1,10,30)"]),
    ("blocked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["((2,3),(5,4)):((5,10),(1,30))", "(6,(5,4)):(5,(1,30))"]),
    ("raked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), ["((3,2),(4,5)):((10,5),(30,1))"]),
    ("make_layout_tv", ("(4,8):(8,1)", "(2,2):(2,1)"), [((8, 16), TV), ["(8,16)", TV]]),
    ("tile_to_shape", ("(8,64):(64,1)", (128, 128), (0, 1)), ["((8,16),(64,2)):((64,512),(1,8192))", "(128,(64,2)):(64,(1,8192))"]),
    ("tile_to_shape", ("S<3,4,3> o 0 o (8,64):(64,1)", (128, 128), (1, 0)), ["S<3,4,3> o 0 o ((8,16),(64,2)):((64,1024),(1,512))"]),
    ("tile_to_shape", ("(4,2):(2,8)", (8, 4)), ["((4,2),(2,2)):((2,1),(8,16))"]),
    ("local_tile", ("(8,12):(12,1)", (4, 3), (1, 2)), [Tensor("(4,3):(12,1)", 54)]),
    ("local_tile", ("(8,12):(12,1)", (4, 3), (1, None)), [Tensor("(4,3,4):(12,1,3)", 48)]),
    ("local_tile", ("(8,12):(12,1)", (4, 5, 3), (1, None, 2), (1, None, 1)), [Tensor("(4,3):(12,1)", 54)]),
    ("local_tile", ("(8,12):(12,1)", (4, 3), (0, 0)), ["(4,3):(12,1)"]),
    ("local_tile", ("(8,12):(12,1)", (4, 3), 5), [Tensor("(4,3):(12,1)", 54)]),
    ("local_partition", ("(8,12):(12,1)", "(2,4):(4,1)", 5), [Tensor("(4,3):(24,4)", 13)]),
    ("local_partition", ("12:1", "(2,4):(4,1)", 5, (1, None)), [Tensor("(6):(2)", 1), Tensor("6:2", 1)]),
    ("recast_layout", (16, 8, SW), ["S<3,3,3> o 0 o (8,64):(64,1)"]),
    ("recast_layout", (8, 16, "S<3,3,3> o 0 o (8,64):(64,1)"), [SW]),
    ("recast_layout", (16, 8, "(4,4):(4,1)"), ["(4,2):(2,1)"]),
    ("recast_layout", (16, 16, "(4,4):(4,1)"), ["(4,4):(4,1)"]),
    ("recast_layout", (16, 8, Swizzle(3, 4, 3)), [Swizzle(3, 3, 3), "S<3,3,3>"]),
    ("recast_layout", (8, 32, Swizzle(2, 1, -3)), [Swizzle(2, 3, -3)]),
]

# op, arguments, a wrong result, what the verdict says of it, and the coordinate that it shows.
WRONG = [
    ("composition", ("(4,4)", "(2,2):(1,2)"), "(2,2,1):(1,2,0)", "does not refine (2,2)", None),
    ("composition", (A46, "6:3"), "(2,3):(6,3)", "at index 2, coordinate (0,1): A(B(2)) = A(6) gives 7, the result 3", (0, 1)),
    ("composition", ("(4,4):(16,1)", "6:1"), "4:16", "does not refine 6", None),
    ("composition", ("(5,3):(7,1)", "7:1"), "(5,1):(7,1)", "does not refine 7", None),
    ("composition", ("(5,3):(7,1)", "7:1"), "7:7", "at index 5: A(B(5)) = A(5) gives 1, the result 35", 5),
    ("composition", ("(4,1):(1,42)", "12:1"), "12:1", "at index 4: A(B(4)) = A(4) gives 42, the result 4", 4),
    ("composition", ("(4,6,1):(2,3,0)", "30:4"), "30:3", "at index 6: A(B(6)) = A(24) gives 0, the result 18", 6),
    ("composition", ("(3,3):(10,10)", "(2,2):(1,2)"), "(2,2):(10,20)", "A(B(3)) = A(3) gives 10, the result 30", (1, 1)),
    ("composition", ("8:2", "4:-1"), "4:-2", "B gives -1, and A has no negative index", 1),
    ("composition", ("(10,7):(7,1)", (5, None)), "(5,7):(1,5)", "at index 1, coordinate (1,0): the law gives 7, the result 1", (1, 0)),
    ("composition", ("(10,7):(7,1)", (5, None)), "35:7", "does not refine (5,7)", None),
    ("composition", (Swizzle(2, 0, 3), "4:8"), "4:8", "A(B(1)) = A(8) gives 9, the result 8", 1),
    ("coalesce", ("(2,(1,6)):(1,(6,2))",), "(2,6):(1,2)", "two neighbours that merge", None),
    ("coalesce", ("(2,(1,6)):(1,(6,2))",), "(12,1):(1,0)", "has an extent 1", None),
    ("coalesce", ("(2,3):(3,1)",), "(3,2):(1,3)", "the law gives 3, the result 1", (1, 0)),
    ("coalesce", ("(2,(3,2)):(5,(1,3))",), "(2,(6)):(5,(1))", "is nested", None),
    ("coalesce", ("((2,2),(2,3))", (1, 1)), "24:1", "the result's modes have the sizes (24), the law gives (4,6)", None),
    ("coalesce", ("((2,2),(2,3))", (1,)), "(4,6):(1,4)", "has shape 6, the law gives (2,3)", None),
    ("coalesce", ("((2,2),(2,3))", (1, (1, 1))), "(4,6):(1,4)", "sizes (6), the law gives (2,3)", None),
    ("flatten", ("(8,(2,3))",), "(8,3,2):(1,8,24)", "has shape (8,3,2), the law gives (8,2,3)", None),
    ("flatten", ("(8,(2,3))",), "(8,(2,3)):(1,(8,16))", "has rank 2, the law gives 3", None),
    ("group", ((8, 2, 3), 1, 3), "(8,6):(1,8)", "has shape (8,6), the law gives (8,(2,3))", None),
    ("group", ((8, 2, 3), 1, 3), "((8,2),3):((1,8),16)", "has shape ((8,2),3), the law gives (8,(2,3))", None),
    ("select", ("(4,6):(6,1)", (1, 0)), "(4,6):(6,1)", "the law gives (6,4)", None),
    ("select", ("(8,(2,3))", 1), "(2,3):(8,16)", "has rank 2, the law gives 1", None),
    ("get", ("(4,(2,3)):(6,(3,1))", 1), "6:1", "rank", None),
    ("append", (8, 3), "(3,8):(1,1)", "the law gives (8,3)", None),
    ("filter_zeros", ("(8,4):(0,1)",), "4:1", "rank", None),
    ("slice_", ("(8,(4,16)):(64,(16,1))", (3, (None, 5))), "4:16", "the layout is right, but its offset 197 is lost", 0),
    ("slice_", ("(8,(4,16)):(64,(16,1))", (3, (None, 5))), Tensor("4:16", 196), "the law gives 197, the result 196", 0),
    ("slice_", ("(4,6):(6,1)", (None, None)), "24:1", "has shape 24, the law gives (4,6)", None),
    ("complement", ("4:2", 24), "1:0", "cover 4 of 24 slots; holes at 1, 3, 5, 7, ...", None),
    ("complement", ("1:0", 24), "1:0", "a complement of 24 elements fits", None),
    ("complement", ("4:2", 24), "(3,2):(8,1)", "offset 1 comes after 16; a complement is ordered", (0, 1)),
    ("complement", ("4:2", 24), "(2,4):(1,8)", "to cover 24 slots, 16 is far enough", (1, 3)),
    ("complement", ("4:2", 8), "(2,2):(1,8)", "it reaches offset 9", (1, 1)),
    ("complement", ("4:1", 10), "2:6", "holes at 4, 5", None),
    ("complement", ("4:2", 24), "2:2", "A(1) + R(0) = A(0) + R(1) = 2", 1),
    ("complement", ("(4,2):(1,5)", 24), "2:10", "a complement of 3 elements fits", None),
    ("complement", ("(4,2):(1,5)", 24), "4:10", "it reaches offset 30", 3),
    ("complement", ("(2,2):(2,3)", 8), "1:0", "A fits at 4, 6, 7 too", None),
    ("complement", ("(2,2):(1,1)", 24), "(0,12):(2,2)", "has offset 1 twice", (0, 1)),
    ("complement", ("(4,2):(1,3)", 24), "(0,4):(4,6)", "has offset 3 twice, at (3,0) and (0,1)", (0, 1)),
    ("complement", ("4:-1", 24), "(-1,-6):(1,-4)", "has the negative offset -1", 1),
    ("complement", ("4:2", 24), "S<1,0,1> o 0 o (2,3):(1,8)", "a complement is a plain layout", None),
    ("right_inverse", ("(2,2):(0,1)",), "1:0", "(2):(2) has at least 2 elements", None),
    ("right_inverse", ("(4,3):(1,2)",), "4:1", "has at least 8 elements", None),
    ("right_inverse", ("(3,4,2):(8,1,3)",), "4:3", "(3,2):(3,12) has at least 6 elements", None),
    ("right_inverse", ("(2,4,6):(4,1,8)",), "(4,2):(2,1)", "has at least", None),
    ("right_inverse", ("(2,4,6):(4,1,8)",), "(4,2,6):(2,1,9)", "at index 8", (0, 0, 1)),
    ("right_inverse", ("(4,4):(4,1)",), "(4,5):(4,1)", "more than A, which has 16", None),
    ("right_inverse", ("(4,4):(4,1)",), "(4,4):(4,-1)", "R(4) = -1 is no index of A", (0, 1)),
    ("left_inverse", ("4:2",), "8:1", "R(A(1)) = R(2) is 2, which should be 1", 1),
    ("left_inverse", ("(4,8):(1,5)",), "4:1", "should be 4", (0, 1)),
    ("left_inverse", ("(4,2):(1,3)",), "4:1", "so none exists", (0, 1)),
    ("logical_divide", ("(12,32)", (4, 8)), "((4,8),12):((1,4),32)", "sizes (32,12), the law gives (12,32)", None),
    ("logical_divide", ("(10,7):(7,1)", 4), "(4,18):(7,28)", "the law gives 1, the result 70", (2, 2)),
    ("logical_divide", (24, "(4,2):(1,3)"), "(8,3):(1,8)", "the result should not exist: (4,2):(1,3) has no complement", None),
    ("zipped_divide", ("(12,32)", (4, 8)), "((4,3),(8,4)):((1,4),(12,96))", "sizes (12,32), the law gives (32,12)", None),
    ("zipped_divide", ("(12,32)", (4, 8)), "((4,8),12):((1,12),4)", "should split into ((4,8),(3,4))", None),
    ("zipped_divide", ("(2,6):(6,1)", (1, 2)), "((1,2),(2,3)):((0,1),(2,6))", "the law gives 6, the result 2", ((0, 0), (1, 0))),
    ("tiled_divide", ("(12,32)", (4, 8)), "(4,8,3,4):(1,12,4,96)", "the law gives (32,3,4)", None),
    ("tiled_divide", ("(12,32)", (4, 8)), "((4,8),3,4,1):((1,12),4,96,0)", "the law gives (32,3,4)", None),
    ("flat_divide", ("(8,8):(8,1)", "(2,4):(1,16)"), "(2,4,8):(8,2,1)", "the law gives 16, the result 1", None),
    ("flat_divide", ("(12,32)", (4, 8)), "((4,8),3,4):((1,12),4,96)", "the law gives (4,8,3,4)", None),
    ("flat_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "((2,5),3,4):((5,1),10,30)", "the law gives (2,5,3,4)", None),
    ("logical_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "((2,5),(3,4)):((5,1),(1,3))", "the law gives 10, the result 1", ((0, 0), (1, 0))),
    ("logical_product", ("(4,2):(1,3)", 2), "((4,2),2):((1,3),10)", "the result should not exist", None),
    ("blocked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "((3,2),(4,5)):((10,5),(30,1))", "the law gives 5, the result 10", None),
    ("raked_product", ("(2,5):(5,1)", "(3,4):(1,3)"), "((2,3),(5,4)):((5,10),(1,30))", "the law gives 10, the result 5", None),
    ("make_layout_tv", ("(4,8):(8,1)", "(2,2):(2,1)"), ((8, 16), "((8,4),(2,2)):((16,2),(1,8))"), "thread 0, value 1", None),
    ("make_layout_tv", ("(4,8):(8,1)", "(2,2):(2,1)"), ((16, 8), "((8,4),(2,2)):((16,2),(8,1))"), "the law gives (8,16)", None),
    ("make_layout_tv", ("(4,8):(8,1)", "(2,2):(2,1)"), ((8, 16), "(8,(4,2,2)):(16,(2,8,1))"), "the law gives (32,4)", None),
    ("make_layout_tv", ("(4,8):(8,1)", "(2,2):(2,1)"), "((8,4),(2,2)):((16,2),(8,1))", "two things", None),
    ("make_layout_tv", ("2:1", "2:2"), (4, "(2,2):(2,1)"), "none is number 1", None),
    ("tile_to_shape", ("(8,64):(64,1)", (128, 128), (0, 1)), "((8,16),(64,2)):((64,1024),(1,512))", "the law gives 512", None),
    ("local_tile", ("(8,12):(12,1)", (4, 3), (1, 2)), "(4,3):(12,1)", "its offset 54 is lost", (0, 0)),
    ("local_tile", ("(8,12):(12,1)", (4, 3), (1, 2)), Tensor("(3,4):(1,12)", 54), "the law gives (4,3)", None),
    ("local_partition", ("(8,12):(12,1)", "(2,4):(4,1)", 5), Tensor("(4,3):(24,4)", 12), "the law gives 13", (0, 0)),
    ("recast_layout", (16, 8, SW), "S<3,4,3> o 0 o (8,64):(64,1)", "the wide element is at", None),
    ("recast_layout", (16, 8, "(4,4):(2,8)"), "(4,4):(1,4)", "elements of 16 bits do not make", None),
    ("recast_layout", (16, 8, "4:2"), "2:2", "at index 0: the wide element is at 0, its 2 parts at 0, 2", 0),
    ("recast_layout", (16, 8, "(4,4):(4,1)"), "(2,4):(2,1)", "the wide element is at", None),
    ("recast_layout", (16, 8, Tensor("4:1", 1)), "2:1", "the wide element is at 0, its 2 parts at 1, 2", 0),
    ("recast_layout", (16, 8, "(4,4):(4,1)"), "8:1", "does not nest as", None),
    ("recast_layout", (16, 8, Swizzle(3, 4, 3)), Swizzle(3, 4, 3), "narrow element 128 moves to 144, its wide element 64 to 64", 128),
    ("recast_layout", (16, 8, Swizzle(3, 4, 3)), "8:1", "the result is no Layout", None),
]


def identify(case):
    return f"{case[0]}{case[1]}"


@pytest.mark.parametrize(("op", "args", "results"), RIGHT, ids=map(identify, RIGHT))
def test_every_right_form_holds(op, args, results):
    for result in results:
        verdict = check(op, *args, result=result)
        assert verdict and verdict.counterexample is None, verdict


@pytest.mark.parametrize(("op", "args", "result", "says", "at"), WRONG, ids=map(identify, WRONG))
def test_a_wrong_result_is_shown_where_it_departs(op, args, result, says, at):
    verdict = check(op, *args, result=result)
    assert not verdict and says in verdict.note, verdict
    assert at is None or verdict.counterexample == at


def test_every_law_has_right_and_wrong_results_here():
    assert {case[0] for case in RIGHT} == set(LAWS)
    assert set(LAWS) - {case[0] for case in WRONG} <= {"prepend", "zipped_product", "tiled_product"}  # mutated below


def values(layout):
    """The table in plain Python: one function call for each index."""
    return [layout(i) for i in range(layout.size)]


def top(shape):
    return [prod(leaf_values(mode)) for mode in shape] if isinstance(shape, tuple) else [shape]


@st.composite
def mutated(draw, right):
    """Another result: a step changed, two modes swapped, one dropped, an extent more, a constant, an offset moved."""
    if isinstance(right, tuple):
        return right[0], draw(mutated(right[1]))
    if isinstance(right, Swizzle):
        return Swizzle(right.b, right.m + 1, right.s)
    if isinstance(right, Tensor):
        moved = draw(st.sampled_from((0, 1, -right.offset)))
        return Tensor(draw(mutated(right.layout)) if moved == 0 else right.layout, right.offset + moved)
    if isinstance(right, ComposedLayout):
        moved = draw(st.sampled_from((0, 0, 1)))
        return ComposedLayout(right.outer, right.offset + moved, right.inner if moved else draw(mutated(right.inner)))
    extents, strides, k = list(leaf_values(right.shape)), list(leaf_values(right.stride)), draw(st.integers(0, len(right.leaves) - 1))
    how = draw(st.sampled_from(("step", "step", "extent", "constant", "swap", "drop")))
    modes = list(right)
    if how == "swap":
        modes = draw(st.permutations(modes))
    if how == "drop" and len(modes) > 1:
        modes.pop(draw(st.integers(0, len(modes) - 1)))
    if how in ("swap", "drop"):
        return Layout(tuple(m.shape for m in modes), tuple(m.stride for m in modes))
    strides[k] += draw(st.sampled_from((1, -1, 7))) if how == "step" else 0
    extents[k] += how == "extent"
    return Layout(nest(extents, right.shape), nest([0] * len(strides) if how == "constant" else strides, right.shape))


LOOSE = {"complement", "right_inverse", "left_inverse"}  # these laws allow more than one function


@pytest.mark.parametrize("op", sorted(set(LAWS) - LOOSE))
@settings(max_examples=60)
@given(data=st.data())
def test_a_mutated_result_holds_only_if_function_and_modes_are_the_same(op, data):
    args = data.draw(CALLS[op])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = getattr(algebra, op)(*args)
        wrong = data.draw(mutated(right))
    except LayoutError:
        return
    assert check(op, *args, result=right), "ours"
    verdict = check(op, *args, result=wrong)
    a, b = (right[1], wrong[1]) if isinstance(right, tuple) else (right, wrong)
    if isinstance(a, Swizzle):
        assert not verdict or a.b == 0
        return
    same = a.size == b.size and values(a) == values(b)
    assert not verdict or same and top(a.shape) == top(b.shape), verdict
    assert verdict or not same or a.shape != b.shape, verdict
    if verdict.counterexample is not None and op != "recast_layout":
        shown = [b.coordinate(i) for i in range(b.size)].index(verdict.counterexample)
        assert values(a)[:shown] == values(b)[:shown] and a(shown) != b(shown)


# Brute force in plain Python, written apart from the laws.


@given(layouts(48, negative=True), layouts(12), st.data())
def test_composition_against_the_definition(a, b, data):
    goal = [a(b(i)) for i in range(b.size)]
    units = [int(goal[prod(leaf_values(b.shape)[:k])]) if s > 1 else 0 for k, s in enumerate(leaf_values(b.shape))]
    nearest = Layout(b.shape, nest([unit - goal[0] for unit in units], b.shape))
    result = data.draw(st.one_of(st.just(nearest), mutated(nearest)))
    verdict = check("composition", a, b, result=result)
    refines = top(result.shape) == top(b.shape)
    if values(result) != goal or not refines:
        assert not verdict
    elif result.shape == b.shape:
        assert verdict
    if verdict.counterexample is not None:
        assert result(verdict.counterexample) != a(b(verdict.counterexample))


@given(spread_layouts(24), layouts(40))
def test_left_inverse_against_the_definition(a, r):
    results = [r]
    with contextlib.suppress(LayoutError):  # where the strides do not chain, ours may find none
        results.append(algebra.left_inverse(a))
    for result in results:
        assert bool(check("left_inverse", a, result=result)) == all(result(a(i)) == i for i in range(a.size))


def leaves_up_to(size, most):
    """Every list of (extent, stride) with extents from 2 and a product of at most `size`, strides below `most`."""
    yield []
    for extent in range(2, size + 1):
        for stride, rest in itertools.product(range(most), leaves_up_to(size // extent, most)):
            yield [(extent, stride), *rest]


def plain_table(leaves):
    table = [0]
    for extent, stride in leaves:
        table = [base + k * stride for k in range(extent) for base in table]
    return table


@settings(max_examples=60)
@given(layouts(8), st.data())
def test_right_inverse_against_an_exhaustive_search(a, data):
    def inverts(table):
        return all(0 <= r < a.size and a(r) == i for i, r in enumerate(table))

    found = [leaves for leaves in leaves_up_to(a.size, a.size) if inverts(plain_table(leaves))]
    largest = max(prod(extent for extent, _ in leaves) for leaves in found)
    others = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 8)), max_size=2)
    for leaves in [*found, data.draw(others), data.draw(others)]:
        table = plain_table(leaves)
        result = Layout(*zip(*leaves, strict=True)) if leaves else Layout(1)
        assert bool(check("right_inverse", a, result=result)) == (inverts(table) and len(table) == largest)


@settings(max_examples=60)
@given(compact_layouts(16), st.integers(1, 3), st.integers(1, 3), st.data())
def test_complement_of_whole_periods_against_sets(compact, gap, copies, data):
    """A compact layout stretched by a gap: right is what tiles all slots exactly once, in order, and no more."""
    a = Layout(compact.shape, nest([d * gap for d in leaf_values(compact.stride)], compact.shape))
    n = a.size * gap * copies
    right = algebra.complement(a, n)
    leaves = data.draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), min_size=1, max_size=2))
    for result in (right, data.draw(mutated(right)), Layout(*zip(*leaves, strict=True))):
        table = values(result)
        tiled = sorted(x + r for x in values(a) for r in table) == list(range(n)) and table == sorted(table)
        assert bool(check("complement", a, n, result=result)) == tiled


@pytest.mark.parametrize("kind", ["logical", "zipped", "tiled", "flat"])
@given(compact_layouts(24), st.data())
def test_divides_by_ints_against_the_definition(kind, a, data):
    """Ragged too: the rest has enough tiles to cover each mode."""
    tile = tuple(data.draw(st.integers(1, mode.size)) for mode in a)
    extents = {(m, part): n for m, t in enumerate(tile) for part, n in enumerate((t, -(-a[m].size // t)))}
    axes = sorted(extents, key=None if kind == "logical" else lambda axis: axis[::-1])
    table = []
    for flipped in itertools.product(*(range(extents[axis]) for axis in reversed(axes))):
        at = dict(zip(axes, reversed(flipped), strict=True))
        table.append(sum(mode(at[m, 0] + tile[m] * at[m, 1]) for m, mode in enumerate(a)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = getattr(algebra, f"{kind}_divide")(a, tile)
    except LayoutError:
        return  # a ragged tile of a nested mode may have no layout
    for result in (right, data.draw(mutated(right))):
        holds = check(f"{kind}_divide", a, tile, result=result)
        assert bool(holds) == (values(result) == table and top(result.shape) == top(right.shape)), holds


# Asking


def test_without_a_result_our_own_is_judged(monkeypatch):
    assert check("coalesce", "(2,3):(1,2)")
    monkeypatch.setattr(algebra, "coalesce", lambda layout: Layout(6, 2))
    verdict = check("coalesce", "(2,3):(1,2)")
    assert not verdict and verdict.counterexample == 1


@pytest.mark.parametrize(("op", "args", "results"), RIGHT, ids=map(identify, RIGHT))
def test_no_law_asks_the_algebra_for_its_answer(monkeypatch, op, args, results):
    for name in set(LAWS) if op == "complement" else set(LAWS) - {"complement", "coalesce"}:  # tiles are placed by the complement
        def asked(*args):
            pytest.fail("the law asked the algebra for its answer")

        monkeypatch.setattr(algebra, name, functools.wraps(getattr(algebra, name))(asked))
    assert check(op, *args, result=results[0])


@pytest.mark.parametrize("result", ["?", "(4,4):(1,", (4, None), ("4:1", "4:1"), object(), 3.5, True, (), "4:0:0", 10**30, "S<3,4,3>"])
@pytest.mark.parametrize("op", sorted(LAWS))
def test_a_result_of_the_wrong_kind_does_not_hold_and_says_so(op, result):
    args = next(case[1] for case in RIGHT if case[0] == op)
    verdict = check(op, *args, result=result)
    assert not verdict and "the result" in verdict.note, verdict


@pytest.mark.parametrize(
    ("op", "args", "says"),
    [
        ("compose", ("4:1", "4:1"), "no law for 'compose'; there are laws for append, blocked_product"),
        ("composition", ("4:1",), "composition takes a, b; 1 were given"),
        ("select", ("4:1",), "select takes layout, modes; 1 were given"),
        ("coalesce", ("4:1", 1, 2), "coalesce takes layout, profile"),
        ("append", ("4:1", "2:1", 0), "4:1 has rank 1; up to rank 0 there are -1 modes to add"),
        ("append", ("4:1", "2:1", 2**40), "has rank 1"),
        ("composition", ("4:x", "4:1"), "cannot read this layout"),
        ("composition", ("4:1", (2, 2)), "2 tilers for 4:1, which has rank 1"),
        ("composition", (Swizzle(1, 0, 1), (2, 2)), "has no modes"),
        ("coalesce", ("4:1", (1, 1)), "has 2 entries"),
        ("complement", ("4:1", 0), "extent 0"),
        ("complement", ("S<1,0,1> o 0 o 4:1", 8), "is a plain layout"),
        ("zipped_divide", ("4:1", None), "None is no tiler"),
        ("zipped_divide", ("4:1", ()), "an empty tuple is no tiler"),
        ("zipped_divide", ("4:1", "S<1,0,1> o 0 o 4:1"), "a tiler is a plain layout"),
        ("group", ((4, 4), 1, 3), "no modes 1 to 2"),
        ("group", ((4, 4), "x", 3), "first mode is not a whole number"),
        ("get", ("4:1", 3), "has no mode 3"),
        ("slice_", ("(4,4):(1,4)", (4, None)), "is outside the modes"),
        ("slice_", ("(4,4):(1,4)", (None,)), "a slice with 1 entries"),
        ("local_tile", ("(8,8):(8,1)", (4, 4), (2, 0)), "is outside the modes"),
        ("local_tile", ("(8,8):(8,1)", (4, 4), (-1, 0)), "is outside the modes"),
        ("local_tile", ("(8,8):(8,1)", (4, 4), ((0, 1), 0)), "is outside the modes"),
        ("local_tile", ("(8,8):(8,1)", (4, 4), (0, 0), (1,)), "tuples of one length"),
        ("local_partition", ("(8,8):(8,1)", "(2,4):(4,1)", 8), "0 places of (2,4):(4,1) have index 8"),
        ("local_partition", ("(8,8):(8,1)", "(2,4):(1,0)", 1), "4 places of (2,4):(1,0) have index 1"),
        ("tile_to_shape", ("4:1", 8, (0, 1)), "should rank 1 modes"),
        ("recast_layout", (12, 8, "4:1"), "one width should be a multiple of the other"),
        ("recast_layout", (0, 8, "4:1"), "one width"),
        ("recast_layout", (24, 8, Swizzle(1, 0, 1)), "undecided"),
        ("coalesce", ((2**11, 2**10),), "undecided: (2048,1024):(1,2048) has 2,097,152 elements"),
        ("complement", ("4:2", 2**21), "undecided: the cotarget has 2,097,152"),
    ],
)
def test_bad_arguments_say_what_is_wrong(op, args, says):
    with pytest.raises(LayoutError) as error:
        check(op, *args, result="4:1")
    assert says in str(error.value)


def test_a_verdict_reads_and_counts_as_it_says():
    right, wrong = check("complement", "(4,2):(1,5)", 24, result="3:10"), check("composition", "(4,1):(1,42)", "12:1", result="12:1")
    assert str(right) == "right: together A and the complement cover 20 of 24 slots; holes at 4, 9, 14, 19"
    assert str(wrong) == "not right: at index 4: A(B(4)) = A(4) gives 42, the result 4"
    assert wrong == Verdict(False, 4, "at index 4: A(B(4)) = A(4) gives 42, the result 4") and right != wrong
    assert str(check("flatten", 8, result="8:1")) == "right"
    assert check("composition", "(4,1):(1,42)", "12:1", result="(4,3):(1,42)").note.startswith("8 of 12 indices are past A's size, 4")
    assert "2 of 8 slots lie outside the layout: 1 alias its elements, 1 run past its largest offset, 0 lie" in str(
        check("logical_divide", "(3,2):(1,1)", (2,), result="((2,2),2):((1,2),1)")
    )
    note = check("zipped_divide", "(10,7):(7,1)", (4, 4), result="((4,4),(3,2)):((7,1),(28,4))").note
    a = [7 * i + j for i in range(10) for j in range(7)]
    out = [7 * i + j for i in range(12) for j in range(8) if i >= 10 or j >= 7]
    alias, past = sum(x in a for x in out), sum(x > 69 for x in out)
    assert f"{len(out)} of 96 slots" in note and f"{alias} alias its elements, {past} run past" in note


def test_large_right_results_are_judged_quickly():
    big = Layout((1024, 1024), (1024, 1))
    assert check("right_inverse", big, result=big)
    assert not check("right_inverse", big, result="1024:1024")
    assert check("composition", (8192, 8192), "(128,64):(1,8192)", result="(128,64):(1,8192)")
    undecided = check("right_inverse", "S<5,0,5> o 0 o (1024,512):(1,2048)", result="1:0")
    assert undecided.holds or "has at least" in undecided.note
