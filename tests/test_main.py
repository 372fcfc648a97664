"""`python -m layoutviz` as a user runs it: a picture, or one message and status 2, never a traceback."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from layoutviz import to_svg, to_text

SWIZZLED = "S<2,0,3> o 4 o (4,6):(8,1)"


def run(*arguments, **more):
    command = [sys.executable, "-m", "layoutviz", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=os.environ | {"PYTHONIOENCODING": "utf-8"} | more, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "picture"),
    [
        (["(4,(2,2)):(2,(1,8))"], lambda: to_text("(4,(2,2)):(2,(1,8))")),
        ([SWIZZLED, "--label", "index"], lambda: to_text(SWIZZLED, label="index")),
        (["(4,4):(1,1)", "--view", "memory_strip"], lambda: to_text("(4,4):(1,1)", "memory_strip")),
        (["(64,64):(64,1)"], lambda: to_text("(64,64):(64,1)")),  # wide, but no terminal: no word about it
        (["--view", "transpose", "--label", "coordinate", "(2,3)"], lambda: to_text("(2,3)", "transpose", label="coordinate")),
    ],
)
def test_it_prints_the_picture(arguments, picture):
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, picture() + "\n", "")


@pytest.mark.parametrize(
    ("suffix", "starts"), [(".svg", b"<svg "), (".png", b"\x89PNG\r\n"), (".PDF", b"%PDF-"), (".txt", b"S<2,0,3> o 4")]
)
def test_it_writes_a_file_of_the_kind_that_the_suffix_names(tmp_path, suffix, starts):
    file = tmp_path / f"a picture{suffix}"
    done = run(SWIZZLED, "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_bytes().startswith(starts)
    if suffix == ".svg":
        assert file.read_text(encoding="utf-8") == to_svg(SWIZZLED)
        ET.parse(file)
    if suffix == ".txt":
        assert file.read_text(encoding="utf-8") == to_text(SWIZZLED) + "\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["(4,(2,2):(2,(1,8))"], 'cannot read this layout: expected "," or ")"'),
        (["(4,0):(2,1)"], "extent 0 in shape (4,0)"),
        ([""], "cannot read this layout"),
        (["S<3,4,3>"], "S<3,4,3> alone has no shape"),
        (["S<3,4,1> o 0 o 8:1"], "overlap"),
        (["8:1", "--view", "transpose"], "8:1 has 1 mode; a transpose swaps two"),
        (["8:1", "-o", "no/such/folder/8.svg"], "cannot write no/such/folder/8.svg: No such file or directory"),
        (["8:1", "-o", "no/such/folder/8.png"], "cannot write no/such/folder/8.png: No such file or directory"),
        (["8:1", "-o", "8.gif"], '"8.gif" must end in one of .svg, .png, .pdf, .txt'),
        (["8:1", "-o", "picture"], '"picture" must end in one of .svg, .png, .pdf, .txt'),
        (["8:1", "--label", "colour"], "offset"),
        (["8:1", "--view", "swirl"], "memory_strip"),
    ],
)
def test_what_cannot_be_drawn_or_written_ends_with_status_2_and_says_why(arguments, says):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and "Traceback" not in done.stderr
    assert not os.path.exists("8.gif") and not os.path.exists("picture")


def test_a_reader_that_stops_reading_is_no_fault():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "layoutviz", "(128,128)"], stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_signs_that_the_terminal_lacks_stop_nothing():
    done = run("(4,4):(1,1)", "--view", "memory_strip", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout.splitlines()[2]) == (0, "0,0 ?2= ?3= ?4= ?3= ?2= 3,3")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("layout", "hint"), [("(64,64):(64,1)", True), ("(4,4):(1,3)", False)])
def test_rows_too_wide_for_the_terminal_are_not_left_without_a_word(layout, hint):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "layoutviz", layout]
    child = subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=os.environ | {"COLUMNS": "80"})
    os.close(theirs)
    try:
        while os.read(ours, 65536):
            pass
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    words = child.communicate(timeout=60)[1].decode()
    wanted = "The rows are 323 characters wide, this terminal 80: append `| less -S`, or write a file with -o.\n" if hint else ""
    assert (child.returncode, words) == (0, wanted)


def test_help_shows_two_examples_that_run(tmp_path):
    import shlex

    done = run("--help")
    examples = [shlex.split(line)[3:] for line in done.stdout.splitlines() if line.startswith("  python -m layoutviz ")]
    assert done.returncode == 0 and len(examples) == 2
    for words in examples:
        command = [sys.executable, "-m", "layoutviz", *words]
        path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
        assert subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, timeout=60).returncode == 0
