"""One request for each view, as a reader would make it: what every view is tried with, in every backend and in Lab."""

SAMPLES = {
    "grid": {"layout": "(4,(2,3)):(6,(3,1))"},
    "transpose": {"layout": "(4,6):(6,1)"},
    "memory_strip": {"layout": "(4,6):(8,1)"},
    "tiles": {"layout": "(10,7):(7,1)", "tiler": (4, 4)},
    "divide": {"layout": "(8,12):(12,1)", "tiler": (4, 3)},
    "composition": {"a": "(8,8):(8,1)", "b": "(4,8):(1,4)"},
    "complement": {"layout": "(2,2):(1,6)", "cotarget": 24},
    "product": {"block": "(2,4):(4,1)", "tiler": "(3,2):(1,3)"},
    "swizzle": {"layout": "(8,64):(64,1)", "b": 3, "m": 3, "s": 3},
    "banks": {"layout": "(8,64):(64,1)", "threads": "(8,8):(1,8)", "vector": 8},
    "coalescing": {"layout": "(32,32):(32,1)", "threads": "32:1"},
    "tv": {"tile": (16, 8), "tv": "((4,8),(2,2)):((16,1),(8,64))"},
    "blank": {"layout": "(4,4):(4,1)"},
}
