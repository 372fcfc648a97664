"""The learner's progress, in one JSON file that two notebooks can share and a crash cannot break.

{"version": 1, "exercises": {"01.2": {"state", "tries", "first_right", "hints", "solution_seen"}}}: `state` is the name of the last
verdict in lower case, and stays "right" once it was; `tries` counts runs that were judged; `first_right` is a UTC time or null;
`hints` is how many were opened; `solution_seen` says that the solution was opened before the exercise was solved.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from exercises.engine.exercise import ROOT, Exercise, all_exercises
from exercises.engine.verdict import State, Verdict

VERSION = 1
FIELDS = {"state": (str,), "tries": (int,), "first_right": (str, type(None)), "hints": (int,), "solution_seen": (bool,)}
LOCK_SECONDS = 2.0


def location() -> Path:
    """Where progress is kept: $LAYOUTVIZ_PROGRESS, or my/progress.json in the course's folder."""
    chosen = os.environ.get("LAYOUTVIZ_PROGRESS")
    return (Path(os.path.expanduser(chosen)) if chosen else ROOT / "my" / "progress.json").resolve()


def record_try(exercise: Exercise, verdict: Verdict) -> str:
    """Note a judged run. Returns "" or one line for the learner on what went wrong with saving."""

    def edit(entry):
        entry["tries"] += 1
        if verdict.ok and not entry["first_right"]:
            entry["first_right"] = datetime.now(UTC).isoformat(timespec="seconds")
        entry["state"] = "right" if entry["first_right"] else verdict.state.name.lower()

    if verdict.state in (State.NOT_ATTEMPTED, State.FAULT):
        return ""
    return _update(exercise.id, edit)


def record_hints(exercise: Exercise, opened: int) -> str:
    """Note how many hints have been opened. Returns as `record_try`."""
    return _update(exercise.id, lambda entry: entry.update(hints=max(entry["hints"], opened)))


def record_solution(exercise: Exercise) -> str:
    """Note that the solution was opened; after solving it that no longer counts. Returns as `record_try`."""
    return _update(exercise.id, lambda entry: entry.update(solution_seen=entry["solution_seen"] or not entry["first_right"]))


class Report:
    """What is done and what is not: shows as a table. `entries`: id -> the exercise's entry in the progress file."""

    def __init__(self, entries: dict[str, dict], note: str):
        self.entries, self.note = entries, note

    def __repr__(self):
        lines = [self.note] if self.note else []
        for exercise in all_exercises().values():
            entry = self.entries.get(exercise.id, _new_entry())
            word = State[entry["state"].upper()].value + (" (after the solution was seen)" if entry["solution_seen"] else "")
            lines.append(f"{exercise.id:6} {'*' * exercise.stars:4} {exercise.title:40} tries {entry['tries']:3}   {word}")
        return "\n".join(lines)


def progress() -> Report:
    """The learner's progress over all exercises, as a table."""
    path = location()
    if not path.parent.is_dir():
        return Report({}, "")
    try:
        with _locked(path):
            data, note = _load(path)
        return Report(data["exercises"], note)
    except (OSError, _NotOurs) as error:
        return Report({}, f"Your progress in {path} cannot be read: {error}.")


class _NotOurs(Exception):
    pass


def _new_entry() -> dict:
    return {"state": State.NOT_ATTEMPTED.name.lower(), "tries": 0, "first_right": None, "hints": 0, "solution_seen": False}


def _update(exercise_id: str, edit: Callable[[dict], None]) -> str:
    path = location()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            data, note = _load(path)
            edit(data["exercises"].setdefault(exercise_id, _new_entry()))
            _write(path, data)
        return note
    except (OSError, _NotOurs) as error:
        return f"Judged, but your progress could not be saved in {path}: {error}."


def _load(path: Path) -> tuple[dict, str]:
    """The file's data, and a line to show if the file was no progress file and had to be moved aside."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {"version": VERSION, "exercises": {}}, ""
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
        raise _NotOurs(f"a newer version of the course wrote it (format {data['version']}); update this one")
    if _is_sound(data):
        return data, ""
    aside = _free_name(path)
    os.replace(path, aside)
    note = f"The progress file could not be read. It is kept as {aside}, and a new one is begun in {path}."
    return {"version": VERSION, "exercises": {}}, note


def _is_sound(data) -> bool:
    if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("exercises"), dict):
        return False
    states = {state.name.lower() for state in State}
    return all(
        isinstance(entry, dict) and all(type(entry.get(key)) in kinds for key, kinds in FIELDS.items()) and entry["state"] in states
        for entry in data["exercises"].values()
    )


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (path.with_name(f"{path.stem}.corrupt-{stamp}{again}{path.suffix}") for again in ["", *(f"-{n}" for n in range(2, 1000))])
    return next(name for name in names if not name.exists())


def _write(path: Path, data: dict) -> None:
    """Replace the file in one step: a crash leaves the old one or the new one, never half of one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def _locked(path: Path):
    """Hold the file's lock, which dies with the process; OSError if another notebook holds it for 2 s."""
    with open(path.with_name(f".{path.name}.lock"), "a+b") as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise OSError("another notebook is writing it and does not finish")
            time.sleep(0.02)
        yield  # closing the file gives the lock back


def _try_lock(file) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        file.seek(0)
        lock = lambda: msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # noqa: E731
    else:
        lock = lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # noqa: E731
    try:
        lock()
    except (BlockingIOError, PermissionError):
        return False
    return True
