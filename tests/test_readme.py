"""README.md: its picture, its map and its results are what course/readme.py makes now, and what the records say."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest

from course import readme
from ladder.bank_counters import Access
from ladder.rungs import RUNGS, SIZE, ladder_of
from layoutviz.color import categories

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def part(name: str) -> str:
    return re.search(rf"<!-- built: {name} -->\n(.*?)\n<!-- end -->", README, re.S)[1]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[entry.strip() for entry in line.strip("|").split("|")] for line in lines if not line.startswith("| ---")]


def test_what_is_built_is_current():
    assert readme.renew(check=True) == [], "make build renews it"


def test_building_twice_gives_the_same():
    assert readme.made() == readme.made()


def test_checking_writes_nothing_and_renewing_mends(tmp_path):
    for name in ("README.md", "course/readme.svg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8").replace("naive", "clever").replace("<rect", "<circle"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(readme.renew(tmp_path, check=True)) == ["README.md", "course/readme.svg"]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    readme.renew(tmp_path)
    assert readme.renew(tmp_path) == [] and "Nothing is recorded yet." in (tmp_path / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", [
    README.replace("<!-- built: map -->", ""), README.replace("<!-- end -->", ""), README + "<!-- built: map -->\n<!-- end -->\n",
])  # fmt: skip
def test_a_lost_place_is_told_in_words(tmp_path, broken):
    (tmp_path / "README.md").write_text(broken, encoding="utf-8")
    with pytest.raises(ValueError, match="the part .* has its place between"):
        readme.made(tmp_path)


def test_the_command_says_whether_something_would_change():
    said = subprocess.run([sys.executable, "-m", "course.readme", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "")


# --- the picture


def test_the_picture_is_whole_and_shown():
    assert f"]({readme.PICTURE})" in part("picture")
    text = (ROOT / readme.PICTURE).read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert len(re.findall(r"<rect [^>]*data-k=", text)) == 3 * 64


def test_the_picture_says_what_is_so():
    """Offsets worked out here; a colour is a bank, and a column has one bank, eight and eight of them."""
    scene = readme.picture()
    wanted = [lambda i, j: 8 * i + j, lambda i, j: 9 * i + j, lambda i, j: 8 * i + (j ^ i)]
    for panel, fills, offset, banks in zip(scene.all_panels(), scene.fills(), wanted, (1, 8, 8), strict=True):
        table = {(i, j): (label, fill) for i, j, label, fill in zip(panel.row, panel.col, panel.labels, fills, strict=True)}
        assert table == {(i, j): (str(offset(i, j)), categories(offset(i, j) % 8)) for i in range(8) for j in range(8)}
        assert all(len({table[i, j][1] for i in range(8)}) == banks for j in range(8))
    assert "8 elements wait" in scene.caption and "leaves 7 slots unused" in scene.caption and "leaves 0 unused" in scene.caption


# --- the map


def test_the_map_has_every_chapter_and_links_those_that_are_written():
    found = rows(part("map"))[1:]
    written = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    linked = {Path(link).stem for link in re.findall(r"\]\(notebooks/(\w+\.ipynb)\)", part("map"))}
    assert linked == written and [re.search(r"\d\d", row[0])[0] for row in found] == [f"{n:02}" for n in range(21)]
    assert all((row[2] == "being written") == ("](" not in row[0]) for row in found)


def test_every_chapter_that_is_written_is_on_the_map_by_its_name():
    assert {path.stem for path in (ROOT / "course").glob("[0-9][0-9]_*.py")} <= {chapter.file for chapter in readme.CHAPTERS}


# --- the results


SPELT = {10: "ten", 40: "forty", 45: "forty-five", 60: "sixty"}


WRITTEN = [chapter for chapter in readme.CHAPTERS if (ROOT / f"course/{chapter.file}.py").is_file()]


@pytest.mark.parametrize("chapter", WRITTEN, ids=lambda chapter: chapter.file)
def test_a_lesson_says_the_minutes_that_the_map_says(chapter):
    first = nbformat.read(ROOT / f"notebooks/{chapter.file}.ipynb", as_version=4).cells[0].source
    assert f"{SPELT[chapter.minutes]} minutes" in " ".join(first.split()).lower()


def shape_words(row: dict) -> str:
    return f"{row['m']} x {row['n']} x {row['k']}, {row['dtype']}, {row['rung'].split()[1] if ' ' in row['rung'] else 'TN'}"


def test_the_results_are_those_recorded():
    lessons = json.loads((ROOT / "results/gpu.json").read_text())
    recorded = json.loads((ROOT / "results/ladder.json").read_text())
    rungs = ladder_of(recorded)
    assert len({row["run"] for row in rungs}) == 1 and set(RUNGS) <= {row["rung"] for row in rungs}
    counted = json.loads((ROOT / "results/bank_conflicts.json").read_text())
    found = rows(part("results"))
    said = [row for row in found if "](notebooks/" in row[0]]
    assert len(said) == sum(bool(record["checks"]) for name, record in lessons.items() if name.startswith("notebooks/"))
    for row in said:
        record = lessons[re.search(r"\((.*)\)", row[0])[1]]
        error, bound = row[2].split(", ")
        assert row[1].split()[0] == str(len(record["checks"])) and ("passed" in row[1]) == record["ok"]
        assert float(bound) == record["checks"][0]["bound"] and row[3:] == [record["gpu"], record["date"][:10]]
        assert float(error) == pytest.approx(max(check["error"] for check in record["checks"]), rel=0.05)
    timed = [row for row in found if re.match(r"\d+ x \d+ x \d+", row[1])]
    moved = [row for row in found if re.match(r"\d+( x \d+)?, float16", row[1])]
    assert len(timed) == len(rungs) and len(moved) == sum(row["gb_s"] is not None for row in recorded)
    shapes = [row for row in found if re.match(r"\d+ x \d+ x \d+", row[0])]
    fastest = [row for row in recorded if row["rung"].split()[0] == "hopper_gemm"]
    assert sorted(row[0] for row in shapes) == sorted({shape_words(each) for each in fastest})
    for row in shapes:
        rung = next(each for each in sorted(fastest, key=lambda each: bool(each.get("ladder"))) if row[0] == shape_words(each))
        assert [float(number) for number in row[1:3]] == [round(rung["tflops"]), round(rung["cublas_ratio"], 3)]
    key = {(re.sub(r"\[|\].*", "", row[0]), row[1], row[4]): row for row in timed}
    for rung in rungs:
        row = key[rung["rung"], f"{rung['m']} x {rung['n']} x {rung['k']}, {rung['dtype']}", rung["gpu"]]
        for said_here, recorded in ((row[2], rung["tflops"]), (row[3], rung["cublas_ratio"])):
            assert said_here == "–" if recorded is None else float(said_here) == pytest.approx(recorded, rel=0.006)
        assert row[5] == rung["date"][:10]
    accesses = [(Access(row["name"], **row["access"]), row["counts"]) for row in counted["accesses"]]
    same = sum(access.predicted().conflicts == counts["conflicts"] for access, counts in accesses)
    assert f"as many as the profiler counted on {same} of {len(accesses)} accesses" in part("results")


def test_a_failed_record_and_a_missing_number_are_told(tmp_path):
    (tmp_path / "results").mkdir()
    lesson = {"ok": False, "gpu": "G", "date": "2026-01-02T", "checks": [{"error": None, "bound": 1e-3}, {"error": 0.5, "bound": 1e-3}]}
    rung = dict(zip("mnk", SIZE, strict=True)) | {"rung": "naive", "dtype": "float16", "tflops": None, "cublas_ratio": None, "ms": None}
    (tmp_path / "results/gpu.json").write_text(json.dumps({"notebooks/01_x.ipynb": lesson}))
    (tmp_path / "results/ladder.json").write_text(json.dumps([rung | {"gpu": "G", "date": "2026-01-02T", "ladder": True}]))
    said = readme.results_part(tmp_path)
    assert "| 2 run, **failed** | no number, 1e-03 | G | 2026-01-02 |" in said
    assert "| [naive](ladder/naive.py) | 4096 x 4096 x 4096, float16 | – | – | G | 2026-01-02 |" in said


def test_a_shape_stands_beside_the_rivals_of_its_run(tmp_path):
    (tmp_path / "results").mkdir()
    row = {"m": 64, "n": 32, "k": 8, "dtype": "float16", "gb_s": None, "gpu": "G", "date": "2026-01-02T", "tflops": 600.4}
    named = [("hopper_gemm NN", 1.0256, "a"), ("quack NN", 0.9, "a"), ("triton NN", 0.8, "b"), ("quack", 0.7, "a")]
    rows = [row | {"rung": name, "cublas_ratio": ratio, "run": run, "ms": 1} for name, ratio, run in named]
    rows.insert(1, rows[0] | {"ladder": True, "run": "b", "tflops": 500})
    (tmp_path / "results/ladder.json").write_text(json.dumps(rows))
    said = readme.results_part(tmp_path)
    assert "| 64 x 32 x 8, float16, NN | 600 | 1.026 | – | 0.900 | – | G | 2026-01-02 |" in said
    assert "| 64 x 32 x 8, float16, NN | 500" not in said, "the ladder has a table of its own"


def test_what_memory_limits_stands_beside_the_copy_of_its_run(tmp_path):
    (tmp_path / "results").mkdir()
    row = {"m": 64, "n": None, "k": 8, "dtype": "float16", "tflops": None, "cublas_ratio": None, "gpu": "G", "date": "2026-01-02T"}
    rows = [row | {"rung": name, "ms": ms, "gb_s": 100 / ms, "run": run} for name, ms, run in
            (("gemv", 0.5, "a"), ("copy", 0.4, "a"), ("copy", 0.1, "b"), ("torch mv", 0.2, "c"))]  # fmt: skip
    (tmp_path / "results/ladder.json").write_text(json.dumps(rows))
    said = readme.results_part(tmp_path)
    assert "| [gemv](ladder/gemv.py) | 64 x 8, float16 | 200 | 0.800 | G | 2026-01-02 |" in said
    assert "| torch mv | 64 x 8, float16 | 500 | – | G | 2026-01-02 |" in said and "TFLOP/s" not in said


# --- links


def test_every_file_that_is_linked_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links and all((ROOT / link).is_file() for link in links)
