"""The figure of the whole course: what it shows is what results/ladder.json holds."""

import json
import xml.etree.ElementTree as xml

import pytest

from ladder.errors import LadderError
from ladder.rungs import RUNGS
from ladder.thermometer import LEFT, PATH, SIZE, TOP, TUBE, thermometer

ROW = {"m": SIZE[0], "n": SIZE[1], "k": SIZE[2], "dtype": "float16", "gpu": "G", "date": "2026-01-02T00:00:00+00:00", "ladder": True}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setattr("ladder.thermometer.RUNGS", ["slow", "middle", "fast", "r", "almost", "nearly", "summit"])

    def rows(*rows):
        (tmp_path / "ladder.json").write_text(
            json.dumps([ROW | {"rung": name, "tflops": t, "cublas_ratio": t / 800} | more for name, t, more in rows])
        )
        return tmp_path / "ladder.json"

    return rows


def texts(made):
    return xml.fromstring(made._repr_html_()).iter("{http://www.w3.org/2000/svg}text")


def text(made) -> list[str]:
    return [element.text for element in texts(made)]


def test_it_shows_the_rung_those_below_it_and_cublas(write):
    path = write(
        ("slow", 1, {}),
        ("middle", 200, {}),
        ("fast", 500, {}),
        ("cublas", 800, {}),
        ("quack", 4, {}),
        ("slow", 5, {"ladder": False}),
    )
    made = thermometer("middle", path)
    assert repr(made) == text(made)[0] == "middle: 200 TFLOP/s, 25% of cuBLAS in the same run"
    assert list(made.rows) == ["slow", "middle", "cublas"] and list(made.named()) == ["middle", "slow"]
    assert {"slow", "middle", "cuBLAS", "0", "100", "800"} <= set(text(made)) and "G, 2026-01-02" in text(made)[-1]


def test_marks_stand_where_their_speeds_are(write):
    """A linear scale from 0: what is filled looks as large a part of the way to cuBLAS as it is."""
    made = thermometer("middle", write(("slow", 1, {}), ("middle", 200, {}), ("cublas", 800, {})))
    at = {name: x - LEFT for name, x in made.places().items()}
    assert at["middle"] == pytest.approx(at["cublas"] / 4) and at["slow"] == pytest.approx(at["cublas"] / 800)
    filled = next(xml.fromstring(made._repr_html_()).iter("{http://www.w3.org/2000/svg}rect"))
    assert float(filled.get("width")) == pytest.approx(at["middle"], abs=0.1) and at["cublas"] < TUBE


def test_names_that_would_overlap_give_way_to_the_rung(write):
    made = thermometer("almost", write(("cublas", 800, {}), ("almost", 700, {}), ("nearly", 690, {})))
    assert list(made.named()) == ["almost"] and len(made.places()) == 3


def test_the_ladder_of_the_newest_gpu_counts(write):
    new = {"date": "2026-02-01", "gpu": "H"}
    path = write(("r", 1, {}), ("cublas", 9, {}), ("r", 2, new), ("cublas", 800, new), ("r", 3, {"date": "2026-03-01", "ladder": False}))
    assert [row["tflops"] for row in thermometer("r", path).rows.values()] == [2, 800]


def test_a_rung_near_cublas_leaves_both_names_inside_the_picture(write):
    made = thermometer("summit", write(("cublas", 800, {}), ("summit", 840, {}), ("almost", 790, {})))
    names = {element.text: element for element in texts(made)}
    begin, end = made.named()["summit"]
    assert end <= LEFT + TUBE and float(names["summit"].get("x")) == pytest.approx((begin + end) / 2, abs=0.1)
    assert float(names["cuBLAS"].get("y")) < TOP - 14 < float(names["summit"].get("y")), "one above the tube and its scale, one below"


def test_a_rung_without_a_record_is_said_in_words(write, tmp_path):
    with pytest.raises(LadderError, match="no record of fast .* Recorded: slow"):
        thermometer("fast", write(("slow", 1, {}), ("cublas", 800, {})))
    with pytest.raises(LadderError, match="Recorded: no rung"):
        thermometer("fast", tmp_path / "nothing.json")


@pytest.mark.parametrize("rung", RUNGS)
def test_every_rung_has_its_picture(rung):
    [row] = [row for row in json.loads(PATH.read_text()) if row["rung"] == rung and row.get("ladder")]
    assert text(thermometer(rung))[0].startswith(f"{rung}: {row['tflops']:.3g} TFLOP/s")
