"""The progress file under crashes, faults and several writers; reset; and the dashboard. Real processes where processes matter."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from driving import browser_page, open_notebook, run_cell, write_notebook

import exercises
from exercises.engine import progress
from exercises.engine.dashboard import LEGEND, Dashboard, find_notebook
from exercises.engine.exercise import Exercise, find
from exercises.engine.progress import new_entry, record_hints, record_solution, record_try
from exercises.engine.show import BADGES
from exercises.engine.verdict import State, Verdict

ROOT = Path(__file__).resolve().parents[1]
JUDGED = [state for state in State if state not in (State.NOT_ATTEMPTED, State.FAULT)]


@pytest.fixture(autouse=True)
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "my" / "progress.json"
    monkeypatch.setenv("LAYOUTVIZ_PROGRESS", str(path))
    monkeypatch.setattr(progress, "_last_known", {})
    return path


def try_it(state=State.WRONG, id="01.2") -> str:
    return record_try(find(id), Verdict(state, ""))


def saved(path, id="01.2"):
    return json.loads(path.read_text())["exercises"][id]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


USUAL = [".progress.json.copy", ".progress.json.lock", "progress.json"]


def says_one_line(note, *words):
    assert note and "\n" not in note and all(word in note for word in words), note
    return True


# --- what is counted


def test_tries_are_counted_and_the_last_state_is_kept(progress_file):
    for count, state in enumerate([s for s in JUDGED if s is not State.RIGHT], 1):
        assert try_it(state) == ""
        assert saved(progress_file) == new_entry() | {"state": state.name.lower(), "tries": count}
    for state in (State.NOT_ATTEMPTED, State.FAULT):
        before = progress_file.read_bytes()
        assert try_it(state) == "" and progress_file.read_bytes() == before


@pytest.mark.parametrize("state", JUDGED)
def test_what_was_right_once_stays_right(progress_file, monkeypatch, state):
    try_it(State.RIGHT)
    first = saved(progress_file)["first_right"]
    assert datetime.fromisoformat(first).utcoffset().total_seconds() == 0
    earlier = type("Earlier", (), {"now": staticmethod(lambda zone: datetime(1999, 1, 1, tzinfo=zone))})
    monkeypatch.setattr(progress, "datetime", earlier)  # the clock goes back
    try_it(state)
    record_solution(find("01.2"))
    assert saved(progress_file) == {"state": "right", "tries": 2, "first_right": first, "hints": 0, "solution_seen": False}


def test_hints_and_the_solution_are_kept(progress_file):
    for opened in (1, 2, 1):
        assert record_hints(find("01.2"), opened) == ""
    assert record_solution(find("01.2")) == ""
    assert saved(progress_file) == new_entry() | {"hints": 2, "solution_seen": True}
    try_it(State.RIGHT)
    assert saved(progress_file)["solution_seen"] is True


def test_what_a_newer_course_wrote_is_kept(progress_file):
    newer = new_entry() | {"state": "mastered", "medal": "gold"}
    progress_file.parent.mkdir()
    progress_file.write_text(json.dumps({"version": 1, "theme": "dark", "exercises": {"01.2": newer, "77.1": newer}}))
    assert "“mastered” (from a newer version of the course)" in repr(exercises.progress())
    assert try_it(State.WRONG) == "" and saved(progress_file) == newer | {"tries": 1}
    try_it(State.RIGHT)
    assert saved(progress_file)["state"] == "mastered" and saved(progress_file)["medal"] == "gold" and saved(progress_file)["first_right"]
    assert saved(progress_file, "77.1") == newer and json.loads(progress_file.read_text())["theme"] == "dark"
    assert re.search(r"01\.2 .* Right$", repr(exercises.progress()), re.M) and "77.1" not in repr(exercises.progress())


# --- faults


def test_a_newer_format_is_left_alone(progress_file, capsys):
    progress_file.parent.mkdir()
    progress_file.write_text('{"version": 2, "exercises": []}')
    assert says_one_line(try_it(State.RIGHT), "newer version", str(progress_file))
    assert "newer version" in repr(exercises.progress())
    exercises.reset()
    assert "Nothing was forgotten" in capsys.readouterr().out
    assert progress_file.read_text() == '{"version": 2, "exercises": []}'


UNSOUND = [{"tries": "3"}, {"tries": True}, {"state": 3}, {"hints": None}]
BROKEN = [
    b"", b'{"version": 1, "exer', b"\xff\xfe\x00", b"[]", b"null", b'{"version": 1}', b'{"version": "1", "exercises": {}}', b"[" * 100_000,
    *(json.dumps({"version": 1, "exercises": {"01.2": new_entry() | change}}).encode() for change in UNSOUND),
]  # fmt: skip


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_kept_aside_and_its_copy_used(progress_file, content, monkeypatch):
    monkeypatch.setattr(progress.time, "strftime", lambda _: "20200101-000000")  # a clock that stands overwrites nothing
    for tries in (2, 4):
        try_it(State.RIGHT)
        progress_file.write_bytes(content)
        assert says_one_line(exercises.progress().note, "could not be read", "copy")
        assert progress_file.read_bytes() == content, "looking changes nothing"
        assert says_one_line(try_it(), "could not be read", "kept as", "corrupt-2020")
        assert saved(progress_file)["state"] == "right" and saved(progress_file)["tries"] == tries
    kept = list(progress_file.parent.glob("progress.corrupt-*.json"))
    assert [path.read_bytes() for path in kept] == [content] * 2
    assert try_it() == ""


def test_without_a_good_copy_both_broken_files_are_kept_aside(progress_file):
    try_it()
    progress._last_known.clear()
    progress_file.write_bytes(b"one")
    (progress_file.parent / USUAL[0]).write_bytes(b"two")
    assert says_one_line(try_it(), "begins anew", "kept as")
    assert saved(progress_file)["tries"] == 1
    assert {path.read_bytes() for path in progress_file.parent.glob("*.corrupt-*")} == {b"one", b"two"}


def test_a_file_cut_at_any_place_loses_nothing(progress_file):
    try_it(State.RIGHT)
    whole = progress_file.read_bytes()
    for length in range(0, len(whole), 7):
        progress_file.write_bytes(whole[:length])
        entries, note = progress.read()
        assert entries["01.2"]["state"] == "right" and says_one_line(note)


def test_a_deleted_file_comes_back_also_in_a_new_process(progress_file):
    try_it(State.RIGHT)
    progress_file.unlink()
    out = python(
        "from exercises.engine import progress, exercise, verdict\n"
        "print(progress.record_try(exercise.find('01.1'), verdict.Verdict(verdict.State.WRONG, '')))"
    )
    assert says_one_line(out.strip(), "was gone", "copy")
    assert saved(progress_file)["state"] == "right" and saved(progress_file, "01.1")["tries"] == 1
    assert try_it() == "" and names(progress_file.parent) == USUAL


def test_a_deleted_folder_comes_back_from_what_the_notebook_knows(progress_file):
    assert exercises.progress().note == ""
    for tries in range(1, 4):
        note = try_it()
        assert note == "" if tries == 1 else says_one_line(note, "was gone", "this notebook knew")
        assert saved(progress_file)["tries"] == tries
        shutil.rmtree(progress_file.parent)


def test_a_folder_in_its_place_is_said(progress_file):
    progress_file.mkdir(parents=True)
    (progress_file / "of the reader").touch()
    assert says_one_line(try_it(), "could not be saved", "irectory") and "cannot be read" in repr(exercises.progress())
    assert names(progress_file) == ["of the reader"]


def test_a_file_in_place_of_the_folder_is_said(progress_file):
    progress_file.parent.write_text("in the way")
    assert says_one_line(try_it(), "could not be saved") and progress_file.parent.read_text() == "in the way"


READ_ONLY = """
import os, exercises
from exercises.engine import progress, exercise, verdict
e = exercise.find("01.2")
assert progress.record_try(e, verdict.Verdict(verdict.State.RIGHT, "")) == ""
os.chmod(progress.location().parent, 0o555)
if os.geteuid() == 0:
    os.seteuid(65534)  # root may write everywhere
print(progress.record_try(e, verdict.Verdict(verdict.State.RIGHT, "")))
print(exercises.progress())
exercises.reset()
"""


def test_a_read_only_folder_can_be_read_and_says_what_cannot_be_saved(monkeypatch):
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is closed to the other user
        os.chmod(folder, 0o755)
        monkeypatch.setenv("LAYOUTVIZ_PROGRESS", os.path.join(folder, "my", "progress.json"))
        first, *board, forgotten = python(READ_ONLY).splitlines()
        assert says_one_line(first, "could not be saved", "ermission") and any("✓ 01.2" in line for line in board)
        assert says_one_line(forgotten, "Nothing was forgotten")
        assert saved(Path(folder, "my", "progress.json"))["tries"] == 1


def disk_full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where, what", [("json", "dump"), ("os", "fsync"), ("os", "replace")])
def test_a_full_disk_leaves_the_old_file(progress_file, monkeypatch, capsys, where, what):
    try_it(State.RIGHT)
    before = progress_file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(getattr(progress, where), what, disk_full)
        assert says_one_line(try_it(), "could not be saved", "No space left")
        exercises.reset()
        assert says_one_line(capsys.readouterr().out.strip(), "Nothing was forgotten", "No space left")
        assert progress_file.read_bytes() == before and names(progress_file.parent) == USUAL
    assert try_it() == "" and saved(progress_file)["tries"] == 2


def test_a_write_that_only_the_copy_lacks_is_saved(progress_file, monkeypatch):
    real = os.replace
    monkeypatch.setattr(progress.os, "replace", lambda a, b: disk_full() if str(b).endswith(".copy") else real(a, b))
    assert try_it() == "" and saved(progress_file)["tries"] == 1


# --- locks and several processes


def test_a_lock_that_is_held_is_said(progress_file, monkeypatch):
    monkeypatch.setattr(progress, "LOCK_SECONDS", 0.05)
    progress_file.parent.mkdir()
    with progress._locked(progress_file):
        assert says_one_line(try_it(), "another notebook")
        assert exercises.progress().note == "", "reading needs no lock"
    assert try_it() == "" and saved(progress_file)["tries"] == 1


def test_a_lock_file_that_a_dead_process_left_keeps_nobody_out(progress_file):
    progress_file.parent.mkdir()
    (progress_file.parent / ".progress.json.lock").write_text("left over")
    assert try_it() == ""


def test_a_lock_on_a_deleted_file_does_not_count(progress_file, monkeypatch):
    progress_file.parent.mkdir()
    lock, real, taken = progress_file.parent / ".progress.json.lock", progress._try_lock, []

    def deleted_once(file):
        if not taken:
            lock.unlink()  # between opening it and locking it
        taken.append(file.fileno())
        return real(file)

    monkeypatch.setattr(progress, "_try_lock", deleted_once)
    with progress._locked(progress_file), open(lock, "a+b") as second:
        assert len(taken) == 2 and not real(second), "it is the file of that name that is locked"


def python(code, wait=True):
    """Run code in a process of its own; its output."""
    command, env = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": str(ROOT)}
    if not wait:
        return subprocess.Popen(command, env=env)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


WRITER = """
from exercises.engine import progress, exercise, verdict
for _ in range({count}):
    said = progress.record_try(exercise.find("{id}"), verdict.Verdict(verdict.State.WRONG, ""))
    assert said == "" or "{may_say}" and "{may_say}" in said, said
"""


def test_two_notebooks_at_once_lose_no_try_while_a_third_resets_and_looks(progress_file):
    try_it(id="01.1")
    writers = [python(WRITER.format(count=150, id="01.2", may_say=""), wait=False) for _ in range(2)]
    while any(writer.poll() is None for writer in writers):
        exercises.reset("01.1")
        assert try_it(id="01.1") == "" and exercises.progress().note == ""
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    assert saved(progress_file)["tries"] == 300 and saved(progress_file, "01.1")["tries"] == 1
    kept = [path for path in names(progress_file.parent) if "before-reset" in path]
    assert kept and names(progress_file.parent) == sorted(USUAL + kept)


def test_a_file_deleted_again_and_again_loses_no_try(progress_file):
    writer, deleted = python(WRITER.format(count=150, id="01.2", may_say="was gone"), wait=False), 0
    while writer.poll() is None:
        if progress_file.exists():
            progress_file.unlink()
            deleted += 1
    assert writer.wait() == 0 and deleted > 3
    assert progress.read()[0]["01.2"]["tries"] == 150


@pytest.mark.parametrize("looks", range(1, 5))
def test_a_file_deleted_between_two_looks_at_it_loses_no_try(progress_file, monkeypatch, looks):
    assert try_it() == try_it() == ""
    look, seen = Path.stat, []

    def deleted_right_after(path, **options):
        found = look(path, **options)
        seen.append(path)
        if path == progress_file and seen.count(path) == looks:
            path.unlink()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", deleted_right_after)
        assert (note := try_it()) == "" or says_one_line(note, "was gone")
    assert saved(progress_file)["tries"] == 3


KILLED = """
import os, random, signal, time
from exercises.engine import progress, exercise, verdict
e, told = exercise.find("01.2"), 0
for _ in range(40):
    listen, say = os.pipe()
    if not (writer := os.fork()):
        while True:
            assert progress.record_try(e, verdict.Verdict(verdict.State.WRONG, "")) == ""
            os.write(say, b".")
    os.read(listen, 1)
    time.sleep(random.uniform(0, 0.02))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.close(say)
    entries, note = progress.read()
    now = told + 1 + len(os.read(listen, 10**6))
    assert note == "" and len(entries) == 1000, (note, len(entries))
    assert now <= entries["01.2"]["tries"] <= now + 1, (now, entries["01.2"])  # the last one may be saved and not yet told
    told = entries["01.2"]["tries"]
assert progress.record_try(e, verdict.Verdict(verdict.State.WRONG, "")) == ""
print("told", told)
"""


def test_kill_9_while_writing_loses_nothing_that_was_saved(progress_file):
    progress_file.parent.mkdir()
    others = {f"77.{n}": new_entry() for n in range(999)}  # so large that most kills come while it is written
    progress_file.write_text(json.dumps({"version": 1, "exercises": others}))
    assert re.fullmatch(r"told \d+\n", python(KILLED))
    assert names(progress_file.parent) == USUAL, "nothing of the killed is left about"


# --- reset


def reset(capsys, *which):
    exercises.reset(*which)
    return capsys.readouterr().out.strip()


def test_reset_forgets_one_and_says_how_to_get_it_back(progress_file, capsys):
    try_it(State.RIGHT)
    try_it(id="01.1")
    before = progress_file.read_bytes()
    forgotten, back = reset(capsys, "01.2").splitlines()
    assert forgotten == "Forgotten: 01.2 (Right, 1 try)."
    assert list(json.loads(progress_file.read_text())["exercises"]) == ["01.1"]
    kept = Path(re.search(r"copy (\S+) over (\S+)\.$", back)[1])
    assert kept.parent == progress_file.parent and kept.read_bytes() == before
    shutil.copy(kept, progress_file)
    assert saved(progress_file)["state"] == "right" and "✓ 01.2" in repr(exercises.progress())


def test_reset_of_all_keeps_what_is_not_an_exercise(progress_file, capsys):
    progress_file.parent.mkdir()
    entries = {"01.2": new_entry() | {"tries": 2, "state": "died"}, "77.1": new_entry() | {"state": "mastered", "hints": 1}}
    progress_file.write_text(json.dumps({"version": 1, "theme": "dark", "exercises": entries}))
    said = reset(capsys)
    assert "01.2 (Your code did not come back, 2 tries), 77.1 (“mastered” (from a newer version of the course), 1 hint)." in said
    assert json.loads(progress_file.read_text()) == {"version": 1, "theme": "dark", "exercises": {}}
    progress_file.unlink()
    assert progress.read()[0] == {}, "the copy forgets as well"


def test_reset_of_what_is_not_saved_says_so(progress_file, capsys):
    assert reset(capsys) == "Nothing is saved yet, so nothing was forgotten."
    try_it()
    assert reset(capsys, "01.1") == "Nothing is saved for 01.1, so nothing was forgotten."
    assert names(progress_file.parent) == USUAL and saved(progress_file)["tries"] == 1


@pytest.mark.parametrize("unknown", ["01.22", "1.2", "", " ", 1.2, 0, ["01.2"], "all"])
def test_reset_of_an_unknown_exercise_is_refused(progress_file, unknown):
    try_it()
    before = progress_file.read_bytes()
    with pytest.raises(LookupError, match=r"There is no exercise .* The nearest are .*0[01]\.\d"):
        exercises.reset(unknown)
    assert progress_file.read_bytes() == before


def test_reset_takes_what_only_the_file_knows(progress_file, capsys):
    progress_file.parent.mkdir()
    progress_file.write_text(json.dumps({"version": 1, "exercises": {"77.1": new_entry() | {"tries": 1}}}))
    assert "Forgotten: 77.1" in reset(capsys, "77.1")


# --- the dashboard


def fake(id, title="A title", stars=1):
    return Exercise(id, title, stars, ("x",), check=None, hints=("Why?",) * 3, why="", also="", wrong={}, right={})


RIGHT = {"state": "right", "tries": 1, "first_right": "2026-01-01T00:00:00+00:00"}


def words(html):
    """The text of the page as one line. It must be well formed."""
    return " ".join("".join(f" {text} " for text in xml.fromstring(html).itertext()).split())


def board_of(entries, exercises, here=ROOT):
    board = Dashboard(exercises, {id: new_entry() | entry for id, entry in entries.items()}, here=here)
    return board, words(board._repr_html_()), " ".join(repr(board).split())


def test_an_empty_board_leads_to_the_first_exercise():
    board, html, text = board_of({}, [fake("01.1", "One", 2), fake("01.2", stars=3)])
    for shown in (html, text):
        assert shown.startswith("0 of 2 exercises done · 0 of 5 stars") and "Next: 01.1 One" in shown and "☆☆" in shown
        assert shown.count("○") == 2 and shown.count("Not attempted yet") == 2 and LEGEND in shown and "solution" not in shown
    assert board_of({}, [])[1].startswith("0 of 0 exercises done")


@pytest.mark.parametrize("state", State)
def test_each_state_is_shown_by_symbol_and_word(state):
    entry = RIGHT if state is State.RIGHT else {"state": state.name.lower()}
    for shown in board_of({"01.1": entry}, [fake("01.1")])[1:]:
        assert BADGES[state][0] in shown and state.value in shown


def test_tries_hints_and_the_seen_solution_are_shown():
    entries = {"01.1": RIGHT | {"tries": 12, "hints": 3, "solution_seen": True}, "01.2": {"state": "wrong", "tries": 1, "hints": 1}}
    _, html, text = board_of(entries, [fake("01.1", stars=3), fake("01.2"), fake("01.3")])
    assert "12 tries · 3 hints · solution seen" in html and "1 try · 1 hint" in html
    assert "3 hints, solution seen tries 12 Right" in text and "1 hint tries 1 Not right yet" in text
    for shown in (html, text):
        assert shown.startswith("1 of 3 exercises done · 0 of 5 stars") and "Next: 01.2" in shown
        assert 'its stars are still to be earned: exercises.reset("01.1")' in shown and "★ " in shown  # in the legend
        assert "★" not in shown.replace(LEGEND, "")


def test_what_was_compiled_waits_and_what_follows_is_next():
    three = [fake("06.1", "Scan"), fake("06.2", "Copy"), fake("06.3", "Add")]
    assert "Next: 06.2 Copy." in board_of({"06.1": {"state": "compiled"}}, three)[1]
    entries = {"06.1": {"state": "compiled"}, "06.2": RIGHT, "06.3": RIGHT}
    board, html, _ = board_of(entries, three)
    assert "2 of 3 exercises done" in html and "Next: 06.1 Scan: it was compiled, and waits for a machine with a GPU." in html
    assert "All exercises are done." in board_of(entries | {"06.1": RIGHT}, three)[1]


def test_only_chapters_that_are_begun_or_next_lie_open():
    exercises = [replace(find("01.2"), id=f"{chapter:02}.{n}") for chapter in range(4) for n in (1, 2)]
    done = new_entry() | {"state": "right", "tries": 1}
    board = Dashboard(exercises, {"00.1": done, "00.2": done, "02.2": new_entry() | {"state": "wrong", "tries": 1}})
    chapters = xml.fromstring(board._repr_html_()).iter("details")
    assert ["open" in chapter.attrib for chapter in chapters] == [True, True, True, False]  # 01 is next


def test_a_hundred_exercises_in_twenty_chapters():
    many = [fake(f"{chapter:02}.{n}", f"Nº {n} <of> {chapter}", 1 + n % 3) for chapter in range(1, 21) for n in range(1, 6)]
    board, html, text = board_of({e.id: RIGHT for e in many[:47]}, many)
    stars = sum(e.stars for e in many)
    for shown in (html, text):
        assert shown.startswith(f"47 of 100 exercises done · {sum(e.stars for e in many[:47])} of {stars} stars")
        assert "Next: 10.3 Nº 3 <of> 10" in shown and "2 of 5 done" in shown and all(e.title in shown for e in many)
    assert [number for number, _ in board.chapters()] == [f"{n:02}" for n in range(1, 21)]
    assert len(board._repr_html_()) < 100_000


def test_links_lead_from_the_course_and_from_a_copy(tmp_path):
    for kind in ("notebooks", "exercises"):
        (tmp_path / "my" / kind).mkdir(parents=True)
        for name in ("01_x", "01_x-Copy1", "01_x.2026-01-01-000000", "02_other"):
            (tmp_path / "my" / kind / f"{name}.ipynb").touch()
    for here in (tmp_path / "my" / "notebooks", tmp_path / "my" / "exercises"):
        assert find_notebook("exercises", "01", here) == os.path.relpath(tmp_path / "my" / "exercises" / "01_x.ipynb", here)
    assert find_notebook("notebooks", "01", tmp_path / "my") == "notebooks/01_x.ipynb"
    assert find_notebook("exercises", "03", tmp_path / "my") == find_notebook("exercises", "01", tmp_path) == ""
    board, html, text = board_of({}, [fake("01.1", "One"), fake("09.1")], here=tmp_path / "my" / "notebooks")
    links = {link.text: link.get("href") for link in xml.fromstring(board._repr_html_()).iter("a")}
    assert links == {"01.1 One": "../exercises/01_x.ipynb", "01 x": "01_x.ipynb"} and "chapter 09" in html
    assert "Next: 01.1 One, in ../exercises/01_x.ipynb." in text


@pytest.mark.browser
def test_in_lab_the_next_exercise_opens_at_a_click(lab, chromium_path):
    (lab.folder / "exercises").mkdir(exist_ok=True)
    shutil.copy(ROOT / "exercises" / "01_paper_layouts.ipynb", lab.folder / "exercises")
    chosen = "[exercise for id, exercise in all_exercises().items() if id.startswith('01.')]"
    cells = [f"from exercises.engine.dashboard import *\nDashboard({chosen}, {{}})"]
    write_notebook(lab.folder / "notebooks" / "progress.ipynb", cells)
    with browser_page(chromium_path) as page:
        open_notebook(page, lab.url("notebooks/progress.ipynb"))
        run_cell(page, 0, "text=Next:").locator("a", has_text="01.1").click()
        page.locator(".lm-TabBar-tabLabel", has_text="01_paper_layouts.ipynb").wait_for(timeout=20_000)
        assert page.errors == []
