"""What `make lab` runs: renews the learner's copies in my/, then opens them in JupyterLab.

    python -m course.lab              renew, then serve my/ (PORT= picks the port)
    python -m course.lab reset 05     start chapter 05 over
"""
import getpass
import os
import secrets
import shutil
import signal
import socket
import sys
import webbrowser
from datetime import datetime
from pathlib import Path

from course.cells import KINDS, built_as, digest, is_as_built, read

ROOT = Path(__file__).resolve().parent.parent
MY = ROOT / "my"
SETTINGS = ROOT / "course" / "jupyter"
START = "notebooks/00_start_here.ipynb"
FIRST_PORT = 8888


def renew(root: Path, my: Path) -> list[str]:
    """Bring the course notebooks of `root` into `my`; return a line for each copy the learner should know about.

    A copy is the learner's work as soon as the source of a cell differs from what was built; running it, which adds
    outputs, is not work. Work is never overwritten or deleted, and neither is a file that the builder did not make. Copies
    without work are renewed when the course has changed (their outputs go), and removed when the course no longer has them.
    """
    said = []
    for kind in KINDS:
        (my / kind).mkdir(parents=True, exist_ok=True)
        names = {path.name for path in (root / kind).glob("*.ipynb")}
        for name in sorted(names):
            said += _renew_one(root / kind / name, my / kind / name)
        for copy in sorted((my / kind).glob("*.ipynb")):
            notebook = read(copy)
            if copy.name in names or notebook is None or built_as(notebook) != f"{kind}/{copy.name}":
                continue
            if is_as_built(notebook):
                copy.unlink()
            else:
                said.append(f"my/{kind}/{copy.name} is no longer part of the course; your copy is left as it is.")
    return said


def _renew_one(source: Path, copy: Path) -> list[str]:
    where = f"my/{copy.parent.name}/{copy.name}"
    if not copy.exists():
        _copy(source, copy)
        return []
    theirs, ours = read(copy), read(source)
    if ours is None:
        return [f"{source.parent.name}/{source.name} of the course cannot be read; {where} is left as it is."]
    if theirs is None:
        return [f"{where} cannot be read as a notebook and is left as it is; make reset NN={copy.name[:2]} gives a new one."]
    if digest(theirs) == digest(ours):
        return []
    if is_as_built(theirs):
        _copy(source, copy)
        return []
    if theirs["metadata"].get("course", {}).get("cells") == digest(ours):
        return []  # the learner's work on the version that the course still has
    return [f"{where} has your work and is left as it is. The course has a newer one; to take it and keep yours beside it: "
            f"make reset NN={copy.name[:2]}"]


def _copy(source: Path, copy: Path) -> None:
    """Copy whole or not at all, so that an interruption leaves no half notebook."""
    partial = copy.with_suffix(".partial")
    shutil.copyfile(source, partial)
    os.replace(partial, copy)


def reset(chapter: str, root: Path, my: Path) -> list[str]:
    """Start a chapter's three copies over; a copy that differs is kept beside the new one under a name with the time.

    Returns a line for each kept file. ValueError, in words, if there is no such chapter.
    """
    number = chapter and chapter.zfill(2)
    sources = [path for kind in KINDS for path in sorted((root / kind).glob("[0-9][0-9]_*.ipynb")) if path.name[:2] == number]
    if not sources:
        have = sorted({path.name[:2] for path in (root / KINDS[0]).glob("[0-9][0-9]_*.ipynb")})
        asked = f"There is no chapter {chapter}." if chapter else "Which chapter?"
        raise ValueError(f"{asked} Say one of these: make reset NN={' or NN='.join(have)}")
    said = []
    for source in sources:
        copy = my / source.parent.name / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if copy.exists() and copy.read_bytes() != source.read_bytes():
            kept = _free_name(copy, datetime.now())
            copy.rename(kept)
            said.append(f"Your my/{kept.parent.name}/{copy.name} is now {kept.name}, beside the new one.")
        _copy(source, copy)
    return said


def _free_name(copy: Path, now: datetime) -> Path:
    stem = f"{copy.stem}.{now:%Y-%m-%d-%H%M%S}"
    tries = [copy.with_name(f"{stem}{more}.ipynb") for more in ["", *(f"-{n}" for n in range(2, 100))]]
    return next(path for path in tries if not path.exists())


def browser_can_open() -> bool:
    """Whether a browser opened from here would be seen by the person who typed the command."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def ssh_line(port: int) -> str:
    """The command that brings `port` of this machine to the one the person sits at."""
    connection = os.environ.get("SSH_CONNECTION", "").split()  # client address and port, then this machine's
    host, ssh_port = (connection[2], connection[3]) if len(connection) == 4 else (socket.gethostname(), "22")
    return f"ssh -N -L {port}:localhost:{port} {'' if ssh_port == '22' else f'-p {ssh_port} '}{getpass.getuser()}@{host}"


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def wanted_port(text: str) -> int:
    """The port to serve on: `text` if given, else the first free one from 8888 on. ValueError, in words, if it can't be had."""
    if not text:
        free = next((port for port in range(FIRST_PORT, FIRST_PORT + 100) if port_is_free(port)), None)
        if free is None:
            raise ValueError(f"Ports {FIRST_PORT} to {FIRST_PORT + 99} are all taken. Name a free one: make lab PORT=9500")
        return free
    if not text.isdigit() or not 1024 <= int(text) <= 65535:
        raise ValueError(f"PORT={text} is not a port: give a number from 1024 to 65535, for example make lab PORT=8890")
    if not port_is_free(int(text)):
        raise ValueError(f"Port {text} is taken, perhaps by a JupyterLab that is still open. Stop that one (Ctrl-C where it runs), "
                         "name another port, or leave PORT out to get the next free one: make lab")
    return int(text)


def serve(folder: Path, port: int, start: str = "") -> None:
    """Run JupyterLab on `folder` until Ctrl-C or SIGTERM, opening the file `start` (relative to `folder`).

    Listens on 127.0.0.1 only and keeps the token. Asks nothing at start (no news) and nothing at the end; kernels end with it.
    """
    # Settings under the learner's own ones: no question about news, no look for updates. Must be set before Jupyter is imported.
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")]))
    from jupyterlab.labapp import LabApp

    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    shows = browser_can_open()
    page = f"/lab/tree/{start}" if start else "/lab"
    server = LabApp.initialize_server(argv=[
        f"--ServerApp.root_dir={folder}", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--ServerApp.allow_root={hasattr(os, 'geteuid') and os.geteuid() == 0}", f"--IdentityProvider.token={token}",
        f"--ServerApp.open_browser={shows}", f"--ExtensionApp.open_browser={shows}", f"--LabApp.default_url={page}",
        f"--LabApp.workspaces_dir={folder / '.lab-workspaces'}",  # the course's open tabs, apart from those of other projects
        "--KernelManager.transport_encryption=auto",  # or each kernel warns on the terminal that it speaks openly to the server
        "--Application.log_level=ERROR"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: _stop(server))
    address = f"{server.connection_url.rstrip('/')}{page}?token={token}"
    server.io_loop.add_callback(_say_where, address, "" if shows else ssh_line(port))  # only then does it answer
    server.start()


def _stop(server) -> None:
    """End the server and its kernels at once, without Jupyter's question; if that hangs, a second Ctrl-C ends it hard."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server.stop(from_signal=True)


def _say_where(address: str, ssh: str) -> None:
    print(f"\nJupyterLab is open at\n\n    {address}\n")
    if ssh:
        print(f"Open that address in a browser. If you sit at another machine, first run there:\n\n    {ssh}\n")
    print("Ctrl-C here stops it.", flush=True)


def main(arguments: list[str]) -> int | str:
    """Returns the exit status, or the message of a failure."""
    try:
        if arguments[:1] == ["reset"] and len(arguments) <= 2:
            print(*reset("".join(arguments[1:]), ROOT, MY) or ["Started over."], sep="\n")
            return 0
        if arguments:
            return f"Unknown: {' '.join(arguments)}. Usage: python -m course.lab [reset NN]"
        port = wanted_port(os.environ.get("PORT", ""))
        for line in renew(ROOT, MY):
            print(line)
    except ValueError as wrong:
        return str(wrong)
    except OSError as wrong:
        return f"The notebooks cannot be copied into {MY}: {wrong.strerror or wrong} ({wrong.filename})."
    os.environ.setdefault("LAYOUTVIZ_PROGRESS", str(MY / "progress.json"))
    start = START if (MY / START).exists() else ""
    try:
        serve(MY, port, start)
    except KeyboardInterrupt:  # Ctrl-C while JupyterLab was still starting, or a second one
        pass
    print("Stopped. Your work is in my/.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
