"""The process of its own in which a kernel exercise runs: it is made ready ahead, does one job, and ends.

A job comes pickled on its standard input: the Exercise, the source of the setup cells, that of the cell, and a folder to work in. What
the cell prints, from Python, C or the GPU, goes to this process's standard output. The verdict goes, pickled, to folder/verdict; a signal
(SIGUSR1) makes it write where it is to folder/where. Whatever happens here, the notebook goes on: sandbox.py sees to that.
"""

import ctypes
import faulthandler
import os
import pickle
import signal
import sys
import threading
import traceback
import types
from contextlib import suppress
from pathlib import Path

from exercises.engine.exercise import Exercise, attempt, one_line
from exercises.engine.verdict import State, Verdict

SIGKILL_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG


def main() -> None:
    """Get ready, wait for the job, do it. Ends at once if the notebook goes away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SIGKILL_WITH_PARENT, signal.SIGKILL)
        Path("/proc/self/oom_score_adj").write_text("1000")  # where memory runs out, this process goes and not the notebook
    _get_ready()
    try:
        exercise, setup, cell, folder = pickle.load(sys.stdin.buffer)
    except EOFError:
        os._exit(0)
    threading.Thread(target=_end_with_parent, args=(os.dup(0),), daemon=True).start()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # what asks for input here finds its end
    where = open(folder / "where", "w")  # noqa: SIM115 - open as long as this process
    faulthandler.register(signal.SIGUSR1, file=where, all_threads=False)
    faulthandler.enable(file=where, all_threads=False)
    verdict = _judge(exercise, setup, cell, folder)
    for flush in (lambda: sys.stdout.flush(), lambda: sys.stderr.flush(), lambda: ctypes.CDLL(None).fflush(None)):  # C's and the GPU's too
        with suppress(Exception):  # the cell may have closed them
            flush()
    (folder / "part").write_bytes(pickle.dumps(verdict))
    os.replace(folder / "part", folder / "verdict")
    os._exit(0)  # nothing of the learner's runs after its verdict


def _end_with_parent(pipe: int) -> None:
    """When the notebook's end of a pipe closes, end this process with all that it has started."""
    while os.read(pipe, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def _get_ready() -> None:
    """Import what takes seconds, and make the GPU's context."""
    import exercises.engine.kernel  # noqa: F401
    import ladder.binding  # noqa: F401 - the DSL
    from ladder.preflight import preflight

    if preflight().can_run:
        import torch

        torch.zeros(1, device="cuda")


def _judge(exercise: Exercise, setup: str, cell: str, folder: Path) -> Verdict:
    """The verdict on a cell, after the setup cells and nothing else have run."""
    module = types.ModuleType("__main__")
    module.__file__ = str(folder / f"exercise_{exercise.id}.py")
    sys.modules["__main__"] = module
    module.display, module.get_ipython = print, _no_ipython
    failed = _run(setup, folder / "setup.py", module.__dict__)
    if failed is not None:
        return Verdict(State.FAULT, f"The setup cell of this chapter failed, so that nothing was judged. `{one_line(failed)}`")
    try:
        return attempt(exercise, cell, module.__dict__, lambda: _run(cell, Path(module.__file__), module.__dict__))
    except BaseException as broken:
        traceback.print_exc()
        return Verdict(State.FAULT, f"The checker of this exercise failed. That is our fault, not yours. `{one_line(broken)}`")


def _no_ipython():
    raise RuntimeError("magics and ! do not work in a kernel exercise, which runs in a process of its own; put them in another cell")


def _run(source: str, path: Path, namespace: dict) -> BaseException | None:
    """Run a source as if it stood in the file `path`, where the DSL finds it again; the exception, its traceback shown, if it raises."""
    path.write_text(source, encoding="utf-8")
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except BaseException as error:
        show_traceback(error, path.parent)
        return error
    return None


def show_traceback(error: BaseException, folder: Path) -> None:
    """Print a traceback, of each error in it only the learner's own lines, and call their file by what it is to them."""
    whole = one = traceback.TracebackException.from_exception(error)
    while one:
        one.stack = traceback.StackSummary.from_list([frame for frame in one.stack if frame.filename.startswith(str(folder))])
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    print("".join(whole.format()).replace(f"{folder}{os.sep}", ""), file=sys.stderr, flush=True)
