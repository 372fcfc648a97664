"""The exercise engine: run a cell, judge its answers, say and draw what came out, remember progress."""
