"""GPU kernels, one rung a file, and the harness that checks and times them.

`rungs.py` names the GEMMs in order, from `naive.py` to `hopper_gemm.py`. `harness.py` is what a chapter calls; for `elementwise.py`,
`gemv.py` and `transpose.py`, which memory limits, `streaming.py`. `lowering.py` compiles for a GPU that is not here.
Importing `ladder` or `ladder.harness` needs neither the DSL nor torch; running a kernel needs both.
"""
