"""What several tests share: the browser, one real JupyterLab, and an nvidia-smi that says what it is told."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Generated examples of each property: hundreds here, 10,000 with HYPOTHESIS_PROFILE=nightly (`make nightly`). CI takes the same ones
# each time, so that what fails there is the change at hand; everywhere else they are new ones.
for name, examples in {"usual": 200, "nightly": 10_000}.items():
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow],
                              derandomize=name == "usual" and os.environ.get("CI") == "true")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

HOME = Path(__file__).resolve().parent.parent


def find_chromium() -> str | None:
    """The system's Chromium, or the one that Playwright has."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", own))), None)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is. Without one the test is skipped; with CI=true it fails."""
    found = find_chromium()
    if found is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no Chromium: install the system's package chromium, or run: .venv/bin/python -m playwright install chromium")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Lab:
    """A running JupyterLab. Put notebooks into `folder` and open `url("name.ipynb")`."""
    folder: Path
    address: str
    token: str
    process: subprocess.Popen

    def url(self, notebook: str) -> str:
        """The address of a notebook in a workspace of its own, so that no tab of another test is restored."""
        return f"{self.address}/lab/tree/{notebook}?token={self.token}&reset"


def start_lab(folder: Path, environment: dict[str, str]) -> Lab:
    """Start what `make lab` starts, on `folder`, and wait until it says its address."""
    code = f"from pathlib import Path; from course.lab import serve; serve(Path({str(folder)!r}), {free_port()})"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=HOME, env=os.environ | environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"(http://\S+?)/lab\S*\?token=(\w+)", line):
            return Lab(folder, found[1], found[2], process)
    raise AssertionError(f"JupyterLab did not start; it said:\n{said}")


def stop_lab(lab: Lab) -> None:
    lab.process.send_signal(signal.SIGINT)
    try:
        lab.process.wait(20)
    finally:
        lab.process.kill()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """One JupyterLab for all tests of a worker, with settings and progress of its own."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "notebooks").mkdir()
    running = start_lab(folder, {"JUPYTER_CONFIG_DIR": str(folder / ".config"), "LAYOUTVIZ_PROGRESS": str(folder / "progress.json"),
                                 "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"})
    yield running
    stop_lab(running)


@pytest.fixture
def fake_smi(tmp_path, monkeypatch):
    """Put an nvidia-smi on the path that prints what it is given."""

    def make(said, status=0):
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {status}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    return make
