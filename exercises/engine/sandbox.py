"""Runs a kernel exercise in a child process, so that nothing that its code does can take the notebook down.

The child is started ahead, by `get_ready`, while the reader reads; it serves one run. From when it begins with the cell it may take the
exercise's limit in seconds, print 64 MB and use half of the machine's memory; past that it is ended, and the verdict says so.
"""

import atexit
import codecs
import os
import pickle
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from exercises.engine.exercise import ROOT, Exercise
from exercises.engine.verdict import State, Verdict

SHOWN = 20_000  # characters of output that the cell shows
START = 120  # seconds that a child may take to get ready: the first imports on a slow disk
PRINTED = 64 << 20  # bytes of output after which a run is ended
DEATHS = {
    signal.SIGSEGV: "It touched memory that is not its own, outside Python (segmentation fault).",
    signal.SIGABRT: "Native code gave up (abort).",
    signal.SIGBUS: "It touched memory that does not exist (bus error).",
    signal.SIGFPE: "Native code divided by zero (floating point exception).",
    signal.SIGILL: "The processor does not know an instruction in it (illegal instruction).",
    signal.SIGKILL: "The system ended it, most likely since memory ran out.",
}


class Child:
    """A process that waits for its job. Linux and macOS only: where there is no DSL there are no kernels to run."""

    def __init__(self):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
        command = [sys.executable, "-u", "-c", "from exercises.engine.child import main; main()"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, **pipes)
        atexit.register(self.end)

    def end(self) -> None:
        """Kill it with all that it has started, which may outlive it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
        atexit.unregister(self.end)


_ready: Child | None = None


def get_ready() -> None:
    """Have a child wait for the next run; does nothing where one waits already."""
    global _ready
    if _ready is not None and _ready.process.poll() is None:
        return
    for folder in Path(tempfile.gettempdir()).glob("exercise-*-*"):  # of a notebook that was killed during a run
        if (pid := folder.name.split("-")[1]).isdigit() and not _lives(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
    _ready = Child()


def run(exercise: Exercise, setup: str, cell: str, show: Callable[[str], None]) -> Verdict:
    """Run and judge a cell in a child process. `show` gets what it prints, as it comes, up to 20,000 characters.

    Never raises for what the cell does. An interrupt ends the child and goes on to the caller.
    """
    global _ready
    with tempfile.TemporaryDirectory(prefix=f"exercise-{os.getpid()}-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        get_ready()
        child, _ready = _ready, None
        try:
            pickle.dump((exercise, setup, cell, folder), child.process.stdin)
            child.process.stdin.flush()
        except OSError:  # it died while it waited: what it printed says why
            return Verdict(State.FAULT, f"The process for this exercise did not start. {_rest(child, show)}")
        else:
            ended = _watch(child, folder, exercise.limit, show)
            return _verdict(child, folder, ended)
        finally:
            child.end()
            get_ready()


def _watch(child: Child, folder: Path, limit: float, show) -> str:
    """Pass on the output until the verdict is there or the child is gone; why it was ended, or ""."""
    output, most, started = _Output(child, show), _memory_limit(), False
    deadline = time.monotonic() + START
    while True:
        if not started and (started := (folder / "where").exists()):
            deadline = time.monotonic() + limit
        done = (folder / "verdict").exists() or child.process.poll() is not None
        output.read(0 if done else 0.05)
        if done:
            return ""
        if output.bytes > PRINTED:
            return f"It printed more than {PRINTED >> 20} MB."
        if _memory(child.process.pid) > most:
            return f"It used more than {most >> 30} GB of memory, half of what this machine has."
        if time.monotonic() > deadline and not started:
            return f"Its process was not ready after {START} seconds."
        if time.monotonic() > deadline:
            return f"It ran for {limit:g} second{'s' * (limit != 1)}, the limit of this exercise. {_where(child, folder)}".strip()


class _Output:
    """What the child prints: passed on up to a limit, counted and dropped beyond it."""

    def __init__(self, child: Child, show):
        self.pipe, self.show, self.bytes, self.shown = child.process.stdout, show, 0, 0
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        os.set_blocking(self.pipe.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.pipe, selectors.EVENT_READ)

    def read(self, seconds: float) -> None:
        """Read all that is there; wait at most so long for something."""
        if not self.selector.get_map():  # the cell has closed its output
            time.sleep(seconds)
        elif not self.selector.select(seconds):
            return
        while self.bytes <= PRINTED and (part := self._part()):
            self.bytes += len(part)
            text = self.decode(part)[: max(SHOWN - self.shown, 0)]
            if text:
                self.show(text)
            if self.shown < SHOWN <= self.shown + len(text):
                self.show("\n[the rest of what it printed is not shown]\n")
            self.shown += len(text)

    def _part(self) -> bytes:
        try:
            part = os.read(self.pipe.fileno(), 1 << 16)
        except BlockingIOError:
            return b""
        if not part and self.selector.get_map():
            self.selector.unregister(self.pipe)
        return part


def _rest(child: Child, show) -> str:
    child.process.wait()
    _Output(child, show).read(1)
    return _death(child.process.returncode)


def _verdict(child: Child, folder: Path, ended: str) -> Verdict:
    if (folder / "verdict").exists():
        return pickle.loads((folder / "verdict").read_bytes())
    told = ended or _death(child.process.wait())
    line = "" if ended else _line(folder)
    return Verdict(State.DIED, f"{told} {line}".strip() + " Only its own process ended: the notebook goes on.")


def _death(code: int) -> str:
    """What a process's exit status means."""
    if code >= 0:
        return f"It ended its own process, with exit status {code}."
    return DEATHS.get(-code, f"It was ended by signal {-code}.")


def _where(child: Child, folder: Path) -> str:
    """Ask the child where it is, and say so."""
    os.kill(child.process.pid, signal.SIGUSR1)
    for _ in range(20):
        time.sleep(0.05)
        text = (folder / "where").read_text()
        if line := _line(folder):
            return line
        if "in sync" in text:
            return "A kernel was running on the GPU and did not end: does a loop, or a wait at a barrier, never finish?"
    return ""


def _line(folder: Path) -> str:
    """The innermost line of the cell in what the child wrote of where it was."""
    found = re.search(r'exercise_[\d.]+\.py", line (\d+)', (folder / "where").read_text() if (folder / "where").exists() else "")
    return f"It was at line {found[1]} of the cell." if found else ""


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _memory_limit() -> int:
    """Half of the machine's memory, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _memory(pid: int) -> int:
    """The memory that a process uses, in bytes; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
