"""Make .venv ready for one target of the Makefile:  python3 course/bootstrap.py lab

Runs on a bare Python. The text stays readable to Python 3.6, so that an old one can say what is wrong instead of failing on it.
.venv/course-setup.json says what the folder holds. It is written as unfinished before anything is installed and as
finished after, so an interrupted set-up is seen and begun anew, and a .venv that somebody else made is never touched.
"""
import collections
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYPROJECT = os.path.join(ROOT, "pyproject.toml")
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "course-setup.json")
LOG = os.path.join(VENV, "course-setup.log")

OLDEST = (3, 11)
EXTRAS = {  # what each target needs of pyproject.toml's extras
    "lab": ["dsl"],
    "build": ["dev"],
    "bench": ["dsl", "dev"],
    "gpu": ["dsl", "torch", "dev"],
    "test": ["dsl", "torch", "dev"],
}
MEGABYTES = {"base": 70, "dsl": 190, "dev": 70, "torch": 2700}  # to download, rounded up; torch with its CUDA libraries


def stop(message):
    sys.exit("\n" + message)


def right_python():
    """Go on with a Python that is new enough and can make a venv, or say what to install."""
    if sys.version_info < OLDEST:
        newer = [shutil.which("python3.%d" % minor) for minor in (13, 12, 11, 14)]
        newer = next((path for path in newer if path), None)
        if newer:
            os.execv(newer, [newer] + sys.argv)
        stop("This course needs Python 3.11 or newer; python3 here is {} ({}).\n"
             "Install a newer one (Debian 12, Ubuntu 24.04 and later: apt install python3 python3-venv), then run the same command again.\n"
             "If you have one under another name, put it first in PATH as python3.".format(sys.version.split()[0], sys.executable))
    import importlib.util
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        stop("Python here ({}) cannot make a virtual environment: its venv module is missing.\n"
             "Debian and Ubuntu keep it apart: apt install python3-venv, then run the same command again.".format(sys.executable))


def has_nvidia_gpu():
    # /dev/dxg is the GPU under WSL, of whichever maker.
    return bool(glob.glob("/dev/nvidia[0-9]*")) or os.path.exists("/dev/dxg") and shutil.which("nvidia-smi") is not None


def wanted_extras(target):
    extras = list(EXTRAS[target])
    if target == "lab" and (has_nvidia_gpu() or os.environ.get("TORCH") == "1"):
        extras.append("torch")
    return extras


def read_stamp():
    try:
        with open(STAMP) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def write_stamp(**facts):
    with open(STAMP, "w") as file:
        json.dump(facts, file)


def usable(stamp):
    """Whether .venv was finished, in this place, and its Python still starts (a system upgrade may have taken it away)."""
    if not (stamp and stamp.get("finished") and stamp.get("root") == ROOT):
        return False
    try:
        return subprocess.call([PYTHON, "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def announce(extras):
    parts = ["base"] + extras
    print("Setting up {} (once). This downloads about {} MB with pip, from the package index that pip is set to:".format(
        VENV, sum(MEGABYTES[part] for part in parts)))
    says = {"base": "JupyterLab, ipywidgets, anywidget, numpy, matplotlib", "dsl": "the CuTe Python DSL and nvdisasm (Linux only)",
            "dev": "pytest, ruff, jupytext, nbclient, playwright", "torch": "PyTorch for the GPU parts (less where pip finds a CPU build)"}
    for part in parts:
        print("  {:>5} MB  {}".format(MEGABYTES[part], says[part]))
    sys.stdout.flush()


def make_venv():
    """An empty .venv. The stamp goes last and comes first, so that the folder is always known as ours."""
    if os.path.isdir(VENV):
        for name in os.listdir(VENV):
            path = os.path.join(VENV, name)
            if path != STAMP:
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
    else:
        os.mkdir(VENV)
    write_stamp(finished=False)
    made = subprocess.run([sys.executable, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if made.returncode:
        stop("Python could not make the virtual environment {}. It said:\n{}".format(VENV, made.stdout.strip()))


class Progress:
    """One line that counts, on a terminal; elsewhere a line for each large download."""

    def __init__(self):
        self.packages = 0
        self.terminal = sys.stdout.isatty()

    def read(self, line):
        words = line.split()
        size = re.match(r"\s+Downloading (\S+) \((\d+)(?:\.\d+)? ([MG])B\)", line)
        if words[:1] in (["Collecting"], ["Processing"]):
            self.packages += 1
            self.say("  found {} packages; now {}".format(self.packages, words[1].split("/")[-1]), passing=True)
        elif size and (size.group(3) == "G" or int(size.group(2)) >= 10):
            self.say("  downloading {} ({} {}B)".format(*size.groups()))
        elif line.startswith("Installing collected packages"):
            self.say("  unpacking {} packages".format(line.count(",") + 1))

    def say(self, text, passing=False):
        if self.terminal:
            sys.stdout.write("\r\033[K" + text[:100] + ("" if passing else "\n"))
        elif not passing:
            print(text)
        sys.stdout.flush()


def install(extras):
    # pip would compile bytecode one file at a time; compileall afterwards uses every core, and every later start is faster for it.
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--no-compile", "--progress-bar", "off", "--disable-pip-version-check",
               "--editable", ".[{}]".format(",".join(extras))]
    progress, last = Progress(), collections.deque(maxlen=15)
    with open(LOG, "w") as log:
        pip = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ, PIP_USER="0"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               universal_newlines=True, errors="replace")
        for line in pip.stdout:
            log.write(line)
            progress.read(line)
            last.append(line.rstrip())
    if pip.wait():
        stop("pip could not install the packages. The last it said:\n\n{}\n\nAll of it is in {}.\n"
             "When that is mended, run the same command again.".format("\n".join(last), LOG))
    progress.say("  compiling")
    subprocess.call([PYTHON, "-m", "compileall", "-q", "-j", "0", os.path.join(VENV, "lib")],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def one_at_a_time():
    """Wait for another set-up in this folder. The lock goes with the process."""
    import fcntl
    lock = open(PYPROJECT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("Another set-up runs in this folder; waiting for it.")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def main(target):
    right_python()
    if target == "gpu" and not has_nvidia_gpu():
        stop("There is no NVIDIA GPU here, and make gpu needs one. Nothing was installed or changed.")
    lock = one_at_a_time()
    with open(PYPROJECT, "rb") as file:
        pins = hashlib.sha256(file.read()).hexdigest()
    stamp, extras = read_stamp(), wanted_extras(target)
    if stamp is None and os.path.lexists(VENV) and os.listdir(VENV):
        stop("{0} is there, but this project did not make it, so it is left alone.\n"
             "Move it away, or use it as it is: make {1} PYTHON={0}/bin/python".format(VENV, target))
    whole = usable(stamp)
    if whole:
        if stamp["pyproject"] == pins and set(extras) <= set(stamp["extras"]):
            return
        extras += [extra for extra in stamp["extras"] if extra not in extras]
    announce([extra for extra in extras if not whole or extra not in stamp["extras"] or stamp["pyproject"] != pins])
    if whole:
        write_stamp(finished=False)
    else:
        make_venv()
    install(extras)
    write_stamp(finished=True, root=ROOT, pyproject=pins, extras=sorted(extras))
    print("Set-up done.")
    lock.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in EXTRAS:
        stop("Usage: python3 course/bootstrap.py {}".format("|".join(sorted(EXTRAS))))
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit("\nStopped. The same command begins the set-up anew.")
    except OSError as wrong:
        stop("The set-up cannot go on: {} ({}). When that is mended, run the same command again.".format(wrong.strerror, wrong.filename))
