"""The learner's progress, in one JSON file that two notebooks can share and a crash cannot break.

{"version": 1, "exercises": {"01.2": {"state", "tries", "first_right", "hints", "solution_seen"}}}: `state` is the name of the last
verdict in lower case, and stays "right" once it was; `tries` counts runs that were judged; `first_right` is a UTC time or null;
`hints` is how many were opened; `solution_seen` says that the solution was opened before the exercise was solved. Fields and states
that a newer course wrote are kept as they are.

Beside progress.json lie a copy, .progress.json.copy, from which a file that is gone or broken is made anew, and a lock.
"""

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import count
from pathlib import Path

from exercises.engine.exercise import ROOT, Exercise, all_exercises
from exercises.engine.verdict import State, Verdict

VERSION = 1
FIELDS = {"state": (str,), "tries": (int,), "first_right": (str, type(None)), "hints": (int,), "solution_seen": (bool,)}
LOCK_SECONDS = 2.0
_last_known: dict[Path, dict] = {}  # by file: what this process knows of it, in case its whole folder is deleted


def location() -> Path:
    """Where progress is kept: $LAYOUTVIZ_PROGRESS (from the course's folder, if it is relative), or my/progress.json there."""
    path = ROOT / os.path.expanduser(os.environ.get("LAYOUTVIZ_PROGRESS") or "my/progress.json")
    with suppress(RuntimeError):  # a link that leads to itself: opening it says so
        path = path.resolve()
    return path


def read() -> tuple[dict[str, dict], str]:
    """What is saved, id -> entry, and "" or one line for the learner on what is wrong with the file. Changes no file."""
    path = location()
    try:
        data, note = _load(path)
    except (OSError, _NotOurs) as error:
        return {}, f"Your progress in {path} cannot be read: {_reason(error)}."
    return data["exercises"], note


def record_try(exercise: Exercise, verdict: Verdict) -> str:
    """Note a judged run. Returns "" or one line for the learner on what went wrong with saving."""

    def edit(entry):
        entry["tries"] += 1
        if known_state(entry) not in (State.RIGHT, None):
            entry["state"] = verdict.state.name.lower()
        if verdict.ok and not entry["first_right"]:
            entry["first_right"] = datetime.now(UTC).isoformat(timespec="seconds")

    if verdict.state in (State.NOT_ATTEMPTED, State.FAULT):
        return ""
    return _update(exercise.id, edit)


def record_hints(exercise: Exercise, opened: int) -> str:
    """Note how many hints have been opened. Returns as `record_try`."""
    return _update(exercise.id, lambda entry: entry.update(hints=max(entry["hints"], opened)))


def record_solution(exercise: Exercise) -> str:
    """Note that the solution was opened; after solving it that no longer counts. Returns as `record_try`."""
    return _update(exercise.id, lambda entry: entry.update(solution_seen=entry["solution_seen"] or not is_done(entry)))


def reset(exercise_id: str | None = None) -> None:
    """Forget the progress of one exercise, or of all, and print what was forgotten and which file brings it back.

    The progress as it was is kept in a new file beside progress.json before anything is forgotten. NoSuchExercise, naming the nearest,
    for an id that neither the course nor the file has.

    >>> reset("1.2")                                                                              # doctest: +ELLIPSIS
    Traceback (most recent call last):
    exercises.engine.progress.NoSuchExercise: There is no exercise "1.2". The nearest ...01.2...: write exercises.reset(...
    """
    path = location()
    known = {**all_exercises(), **read()[0]}
    if exercise_id is not None and str(exercise_id) not in known:
        near = get_close_matches(str(exercise_id), known, n=3, cutoff=0.5) or list(known)[:3]
        names = ", ".join(near)
        raise NoSuchExercise(f'There is no exercise "{exercise_id}". The nearest are {names}: write exercises.reset("{near[0]}")')
    try:
        with _changing(path) as (data, note):
            said = _forget(path, data, exercise_id)
    except (OSError, _NotOurs) as error:
        note, said = "", f"Nothing was forgotten, because your progress in {path} cannot be changed: {_reason(error)}."
    print(*filter(None, [note, said]), sep="\n")


def _forget(path: Path, data: dict, exercise_id: str | None) -> str:
    """Take entries out of `data`, which is saved as it was first. Returns what to say."""
    entries = data["exercises"]
    gone = {id: entry for id, entry in sorted(entries.items()) if exercise_id in (None, id)}
    if not gone:
        return f"Nothing is saved {f'for {exercise_id}' if exercise_id else 'yet'}, so nothing was forgotten."
    kept = _free_name(path, "before-reset")
    _replace(kept, data)
    for id in gone:
        del entries[id]
    what = ", ".join(f"{id} ({describe(entry)})" for id, entry in gone.items())
    return f"Forgotten: {what}.\nTo go back to how it was before, copy {kept} over {path}."


def known_state(entry: dict) -> State | None:
    """The state of an entry; None for a name that only a newer version of the course knows."""
    return State.RIGHT if entry["first_right"] else State.__members__.get(entry["state"].upper())


def is_done(entry: dict) -> bool:
    """Whether the exercise was right once."""
    return known_state(entry) is State.RIGHT


def describe(entry: dict) -> str:
    """An entry in words.

    >>> describe(new_entry() | {"state": "wrong", "tries": 2, "hints": 1, "solution_seen": True})
    'Not right yet, 2 tries, 1 hint, solution seen'
    """
    return ", ".join([state_word(entry), *efforts(entry)])


def state_word(entry: dict) -> str:
    """The state of an entry as the learner reads it."""
    state = known_state(entry)
    return state.value if state else f"“{entry['state']}” (from a newer version of the course)"


def efforts(entry: dict) -> list[str]:
    """What an entry counts, each in words, without what is 0."""
    counts = [(entry["tries"], "try", "tries"), (entry["hints"], "hint", "hints")]
    return [f"{n} {one if n == 1 else many}" for n, one, many in counts if n] + ["solution seen"] * entry["solution_seen"]


def new_entry() -> dict:
    """The entry of an exercise that nobody has tried."""
    return {"state": State.NOT_ATTEMPTED.name.lower(), "tries": 0, "first_right": None, "hints": 0, "solution_seen": False}


class NoSuchExercise(LookupError):
    """Shown in a notebook as its one line."""

    def _render_traceback_(self):
        return [str(self)]


class _NotOurs(Exception):
    pass


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _update(exercise_id: str, edit: Callable[[dict], None]) -> str:
    path = location()
    try:
        with _changing(path) as (data, note):
            edit(data["exercises"].setdefault(exercise_id, new_entry()))
        return note
    except (OSError, _NotOurs) as error:
        return f"Judged, but your progress could not be saved in {path}: {_reason(error)}."


@contextmanager
def _changing(path: Path) -> Iterator[tuple[dict, str]]:
    """Give the data to be changed, and a line on what was wrong with the file; save the data at the end, all under the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        data, note = _load(path)
        for broken in [file for file in (path, _copy_of(path)) if note and file.exists() and _sound(file) is None]:
            aside = _free_name(path, "corrupt")
            with suppress(FileNotFoundError):  # deleted just now
                os.replace(broken, aside)
                note += f" The broken file is kept as {aside}."
        yield data, note
        _replace(path, data)
        _last_known[path] = data
        with suppress(OSError):  # the file itself is safe already
            _replace(_copy_of(path), data)


def _load(path: Path) -> tuple[dict, str]:
    """The saved data, or a new one's, and a line for the learner if they are not from the file itself."""
    copy = _copy_of(path)
    data, note = _sound(path), ""
    if data is None:
        fault = "could not be read" if path.exists() else "was gone"
        if data := _sound(copy):
            note = f"The progress file {path} {fault}, so its copy was used. (exercises.reset() starts over.)"
        elif data := _last_known.get(path):
            note = f"The progress file {path} {fault}, so what this notebook knew of it was used. (exercises.reset() starts over.)"
        elif path.exists() or copy.exists():
            note = f"The progress file {path} could not be read, nor is there a good copy: your progress begins anew."
    if data is None:
        return {"version": VERSION, "exercises": {}}, note
    _last_known[path] = data
    return data, note


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.copy")


def _sound(path: Path) -> dict | None:
    """The data of a progress file; None if there is no file, or it is not one. _NotOurs if a newer course wrote it."""
    try:
        kind = path.stat().st_mode  # asked once: the file may be deleted between any two questions
        if not stat.S_ISREG(kind):
            raise _NotOurs(f"it is {'a directory' if stat.S_ISDIR(kind) else 'no ordinary file'}")
        data = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
        raise _NotOurs(f"a newer version of the course wrote it (format {data['version']}); update this one")
    return data if _is_sound(data) else None


def _is_sound(data) -> bool:
    if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("exercises"), dict):
        return False
    return all(
        isinstance(entry, dict) and all(type(entry.get(key)) in kinds for key, kinds in FIELDS.items())
        for entry in data["exercises"].values()
    )


def _free_name(path: Path, why: str) -> Path:
    """A name beside `path` that says why and when, and that no file has: a clock that goes back overwrites nothing."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (path.with_name(f"{path.stem}.{why}-{stamp}{f'-{n}' if n > 1 else ''}{path.suffix}") for n in count(1))
    return next(name for name in names if not name.exists())


def _replace(path: Path, data: dict) -> None:
    """Write the file in one step, under the lock: a crash leaves the old one or the new one, never half of one."""
    part = path.with_name(f".{path.name.lstrip('.')}.part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(path: Path):
    """Hold the file's lock, which dies with the process; OSError if another notebook holds it for 2 s."""
    name = path.with_name(f".{path.name}.lock")
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        with open(name, "a+b") as file:
            if _try_lock(file) and _is_at(name, file):
                yield  # closing the file gives the lock back
                return
        if time.monotonic() > deadline:
            raise OSError("another notebook is writing it and does not finish")
        time.sleep(0.005)


def _is_at(name: Path, file) -> bool:
    """Whether an open file is still the one of that name: a lock on a file that was deleted since keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except FileNotFoundError:
        return False


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
