"""`make lab` after its set-up: the learner's copies, the port, and a real JupyterLab started and stopped."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import psutil
import pytest
from conftest import HOME, free_port, start_lab, stop_lab
from jupyter_client import BlockingKernelClient

from course import lab as launcher
from course.build import build
from course.lab import renew, reset, ssh_line, wanted_port

CHAPTER = '# %% [markdown]\n# # {number}\n\n# %%\nprint("{text}")\n\n# %% tags=["exercise"] exercise="{number}.1"\n' \
          '### BEGIN SOLUTION\nx = 1\n### STARTER\n# x = ...\n### END SOLUTION\n'


@pytest.fixture
def root(tmp_path):
    write(tmp_path, "01", "first")
    return tmp_path


def write(root, number, text, name="some"):
    """Write a chapter of a small course and build it."""
    (root / "course").mkdir(exist_ok=True)
    (root / "course" / f"{number}_{name}.py").write_text(CHAPTER.format(number=number, text=text))
    assert build(root / "course", root, [number]) == 0


def remove(root, number, name="some"):
    for path in [root / "course" / f"{number}_{name}.py", *root.glob(f"*s/{number}_{name}.ipynb")]:
        path.unlink()


def edit(path, source=None, output=None):
    notebook = nbformat.read(path, as_version=4)
    if source:
        notebook.cells[1].source = source
    if output:
        notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text=output)]
        notebook.metadata["widgets"] = {}
    nbformat.write(notebook, path)


def copies(my):
    return {path.relative_to(my).as_posix(): path.read_text() for path in my.rglob("*") if path.is_file()}


# --- the learner's copies


def test_the_first_start_copies_all(root):
    my = root / "my"
    assert renew(root, my) == []
    assert set(copies(my)) == {"notebooks/01_some.ipynb", "exercises/01_some.ipynb", "solutions/01_some.ipynb"}
    assert all((root / name).read_text() == text for name, text in copies(my).items())


def test_an_update_renews_what_is_untouched_and_leaves_work(root):
    my = root / "my"
    renew(root, my)
    edit(my / "notebooks/01_some.ipynb", source="my work")
    edit(my / "exercises/01_some.ipynb", output="only run, not changed")
    mine = (my / "notebooks/01_some.ipynb").read_text()
    assert renew(root, my) == [] and "only run" in (my / "exercises/01_some.ipynb").read_text(), "nothing to renew yet"

    text = CHAPTER.format(number="01", text="second").replace("x = 1", "x = 2").replace("x = ...", "y = ...")
    (root / "course/01_some.py").write_text(text)
    build(root / "course", root, [])
    said = renew(root, my)
    assert len(said) == 1 and "my/notebooks/01_some.ipynb has your work" in said[0] and "make reset NN=01" in said[0]
    assert (my / "notebooks/01_some.ipynb").read_text() == mine
    for name in ("exercises/01_some.ipynb", "solutions/01_some.ipynb"):
        assert (my / name).read_text() == (root / name).read_text()


def test_work_that_equals_the_update_is_no_longer_work(root):
    my = root / "my"
    renew(root, my)
    edit(my / "notebooks/01_some.ipynb", source='print("second")')
    write(root, "01", "second")
    assert renew(root, my) == []


def test_a_renamed_chapter_keeps_work_and_drops_the_rest(root):
    my = root / "my"
    renew(root, my)
    edit(my / "notebooks/01_some.ipynb", source="my work")
    remove(root, "01")
    write(root, "01", "first", name="other")
    said = renew(root, my)
    assert said == ["my/notebooks/01_some.ipynb is no longer part of the course; your copy is left as it is."]
    assert {name for name in copies(my) if "some" in name} == {"notebooks/01_some.ipynb"}
    assert len(copies(my)) == 4


def test_the_learner_s_own_files_are_never_touched(root):
    my = root / "my"
    renew(root, my)
    shutil.copy(my / "notebooks/01_some.ipynb", my / "notebooks/01_some-Copy1.ipynb")
    (my / "notebooks/notes.txt").write_text("notes")
    nbformat.write(nbformat.v4.new_notebook(), my / "notebooks/own.ipynb")
    nbformat.write(nbformat.v4.new_notebook(), my / "notebooks/02_some.ipynb")  # stands where a later chapter will
    own = {name: text for name, text in copies(my).items() if name not in copies(root)}
    write(root, "02", "later")
    said = renew(root, my)
    assert own.items() <= copies(my).items() and len(said) == 1 and "02_some" in said[0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": [{}]}', '{"cells": [], "metadata": 3}'])
def test_a_copy_that_cannot_be_read_is_left_and_named(root, text):
    my = root / "my"
    renew(root, my)
    (my / "notebooks/01_some.ipynb").write_text(text)
    said = renew(root, my)
    assert (my / "notebooks/01_some.ipynb").read_text() == text and len(said) == 1 and "make reset NN=01" in said[0]
    reset("01", root, my)
    assert renew(root, my) == [] and text in [path.read_text() for path in (my / "notebooks").glob("01_some.2*.ipynb")]


def test_a_reset_starts_one_chapter_over_and_keeps_the_old_one(root):
    my = root / "my"
    write(root, "02", "other")
    renew(root, my)
    for number in ("01", "02"):
        edit(my / f"notebooks/{number}_some.ipynb", source="my work")
    before = copies(my)
    said = reset("1", root, my)
    reset("01", root, my)
    edit(my / "notebooks/01_some.ipynb", source="more work")
    reset("01", root, my)
    after = copies(my)
    assert after["notebooks/01_some.ipynb"] == (root / "notebooks/01_some.ipynb").read_text()
    assert after["notebooks/02_some.ipynb"] == before["notebooks/02_some.ipynb"]
    kept = [text for name, text in after.items() if re.fullmatch(r"notebooks/01_some\.\d{4}-\d\d-\d\d-\d{6}(-\d+)?\.ipynb", name)]
    assert len(kept) == 2 and before["notebooks/01_some.ipynb"] in kept and len(said) == 1
    assert renew(root, my) == [] or all("02" in line for line in renew(root, my))
    assert copies(my) == after, "kept copies are nobody's to delete"


@pytest.mark.parametrize("chapter", ["", "07", "x", "*", "../01"])
def test_a_reset_of_no_chapter_says_which_there_are(root, chapter):
    write(root, "00", "start")
    with pytest.raises(ValueError, match="make reset NN=00 or NN=01"):
        reset(chapter, root, root / "my")


# --- where it listens


def test_a_taken_port_is_told_in_words_or_passed_over(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"Port {port} is taken.*make lab"):
            wanted_port(str(port))
        monkeypatch.setattr(launcher, "FIRST_PORT", port)
        assert wanted_port("") > port
    assert wanted_port(str(port)) == port


@pytest.mark.parametrize("text", ["0", "80", "70000", "-1", "x", "8888x"])
def test_what_is_no_port_is_told_in_words(text):
    with pytest.raises(ValueError, match="is not a port"):
        wanted_port(text)


def test_the_ssh_line(monkeypatch):
    monkeypatch.setattr(launcher.getpass, "getuser", lambda: "ada")
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
    assert ssh_line(8890) == "ssh -N -L 8890:localhost:8890 ada@192.0.2.2"
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 2222")
    assert ssh_line(8890) == "ssh -N -L 8890:localhost:8890 -p 2222 ada@192.0.2.2"
    assert not launcher.browser_can_open()
    monkeypatch.delenv("SSH_CONNECTION")
    assert ssh_line(8890).startswith("ssh -N -L 8890:localhost:8890 ada@")


# --- a real JupyterLab


def start(root, **environment):
    """Start `python -m course.lab` on the small course of `root`, as make does."""
    shutil.copytree(HOME / "course", root / "course", dirs_exist_ok=True, ignore=shutil.ignore_patterns("[0-9]*.py", "__pycache__"))
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "LAYOUTVIZ_PROGRESS", "PORT")}
    return subprocess.Popen([sys.executable, "-m", "course.lab"], cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL,
                            env=kept | {"PYTHONPATH": str(root), "JUPYTER_CONFIG_DIR": str(root / "config")} | environment)


def said_until(process, end):
    said = ""
    for line in process.stdout:
        said += line
        if end in line:
            return said
    raise AssertionError(f"never said {end!r}, but:\n{said}")


def ask(address, token="", data=None):
    request = urllib.request.Request(address, data, {"Authorization": f"token {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def kernel_of(process):
    """The kernel that JupyterLab runs, apart from what it starts for a moment."""
    return next(child for child in psutil.Process(process.pid).children() if "ipykernel_launcher" in child.cmdline())


def test_it_starts_says_its_address_keeps_its_token_and_leaves_nothing_running(root):
    write(root, "00", "start", name="start_here")
    port, began = free_port(), time.monotonic()
    process = start(root, PORT=str(port), SSH_CONNECTION="192.0.2.1 50000 192.0.2.2 22")
    try:
        said = said_until(process, "Ctrl-C here stops it")
        took = time.monotonic() - began
        address, token = re.search(rf"(http://127.0.0.1:{port})/lab/tree/notebooks/00_start_here.ipynb\?token=(\w+)", said).groups()
        assert f"ssh -N -L {port}:localhost:{port} " in said and "@192.0.2.2" in said
        assert took < 10, "5 s are aimed at on an idle machine; the tests share it"

        assert ask(f"{address}/api/status", token)["kernels"] == 0
        with pytest.raises(urllib.error.HTTPError, match="403"):
            ask(f"{address}/api/status")
        sockets = psutil.Process(process.pid).net_connections("tcp")
        assert {socket.laddr.ip for socket in sockets if socket.laddr.port == port} == {"127.0.0.1"}

        ask(f"{address}/api/kernels", token, b"{}")
        kernel = kernel_of(process)
        client = BlockingKernelClient(connection_file=kernel.cmdline()[-1])
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(60)  # a kernel that is stopped while it starts complains on the terminal
        client.stop_channels()
        assert kernel.environ()["LAYOUTVIZ_PROGRESS"] == str(root / "my" / "progress.json")
    finally:
        process.send_signal(signal.SIGINT)
    assert process.wait(15) == 0
    assert process.stdout.read().strip() == "Stopped. Your work is in my/.", "and nothing else, such as a kernel's complaint"
    kernel.wait(5)


def test_where_a_browser_can_open_it_is_opened(root):
    opened = root / "opened"
    browser = root / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    process = start(root, DISPLAY=":9", SSH_CONNECTION="", BROWSER=str(browser))
    try:
        said = said_until(process, "Ctrl-C here stops it")
        began = time.monotonic()
        while not opened.exists() and time.monotonic() < began + 20:
            time.sleep(0.1)
        page = Path(opened.read_text().strip().removeprefix("file://")).read_text()  # leads on, so that no command line shows the token
        assert "ssh" not in said and re.search(r"http://\S+/lab\?token=", page)
    finally:
        process.send_signal(signal.SIGINT)
    process.wait(15)


def test_a_taken_port_ends_it_with_a_message(root):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start(root, PORT=str(port))
        said = process.communicate(timeout=30)[0]
    assert process.returncode == 1 and f"Port {port} is taken" in said and "Traceback" not in said


def test_a_folder_that_cannot_be_made_is_told_in_words(root):
    (root / "my").write_text("a file stands here")
    process = start(root)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 1 and "cannot be copied into" in said and "Traceback" not in said


def test_a_terminal_that_hangs_up_ends_it_and_its_kernels(tmp_path):
    running = start_lab(tmp_path, {})
    try:
        ask(f"{running.address}/api/kernels", running.token, b"{}")
        kernel = kernel_of(running.process)
        running.process.send_signal(signal.SIGHUP)
        running.process.wait(15)
        kernel.wait(10)
    finally:
        stop_lab(running)


@pytest.mark.browser
def test_nothing_is_asked_at_the_first_start(lab, chromium_path):
    """A page of a fresh JupyterLab shows the notebook: no dialog, no news prompt, no error in the console."""
    from playwright.sync_api import sync_playwright
    notebook = nbformat.read(HOME / "notebooks" / "00_start_here.ipynb", as_version=4)
    nbformat.write(notebook, lab.folder / "notebooks" / "first_start.ipynb")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        page, errors = browser.new_page(), []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(lab.url("notebooks/first_start.ipynb"))
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=60_000)
        page.wait_for_timeout(3000)  # a prompt would come after the notebook
        assert page.locator(".jp-Dialog").all_inner_texts() == []
        assert page.locator(".Toastify__toast").all_inner_texts() == []
        assert errors == []
        browser.close()
