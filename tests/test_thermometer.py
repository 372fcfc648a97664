"""The figure of the whole course: what it shows is what results/ladder.json holds."""

import json

import pytest

from ladder import record
from ladder.errors import LadderError
from ladder.thermometer import PATH, SIZE, figure, thermometer

ROW = {"m": SIZE[0], "n": SIZE[1], "k": SIZE[2], "gpu": "G", "date": "2026-01-02T00:00:00+00:00"}


@pytest.fixture
def write(tmp_path):
    def rows(*rows):
        (tmp_path / "ladder.json").write_text(
            json.dumps([ROW | {"rung": name, "tflops": t, "cublas_ratio": t / 800} | more for name, t, more in rows])
        )
        return tmp_path / "ladder.json"

    return rows


def names(made):
    return {text.get_text() for text in made.axes[0].texts}


def marks(made):
    return sorted(line.get_xdata()[0] for line in made.axes[0].lines)


def test_it_shows_the_rung_those_below_it_and_cublas(write):
    path = write(("slow", 1, {}), ("middle", 20, {}), ("fast", 500, {}), ("cublas", 800, {}), ("other", 3, {"m": 9}))
    made = figure("middle", path)
    assert made.texts[0].get_text() == "middle: 20 TFLOP/s, 2.5% of cuBLAS in the same run"
    assert marks(made) == [1, 20, 800] and names(made) == {"slow", "middle", "cuBLAS"}
    assert "G, 2026-01-02" in made.texts[1].get_text()
    assert made.axes[0].patches[0].get_extents().x1 == pytest.approx(made.axes[0].transData.transform((20, 0))[0])


def test_names_that_would_overlap_give_way_to_the_rung(write):
    path = write(("cublas", 800, {}), ("almost", 700, {}), ("nearly", 690, {}))
    assert names(figure("almost", path)) == {"almost"} and marks(figure("almost", path)) == [690, 700, 800]


def test_the_newest_gpu_and_the_newest_row_count(write):
    new = {"date": "2026-02-01", "gpu": "H"}
    path = write(("r", 1, {}), ("cublas", 9, {}), ("r", 2, new), ("r", 3, new | {"date": "2026-03-01"}), ("cublas", 800, new))
    assert marks(figure("r", path)) == [3, 800]


def test_a_rung_without_a_record_is_said_in_words(write, tmp_path):
    with pytest.raises(LadderError, match="no record of fast .* Recorded: slow"):
        figure("fast", write(("slow", 1, {}), ("cublas", 800, {})))
    with pytest.raises(LadderError, match="Recorded: no rung"):
        figure("fast", tmp_path / "nothing.json")


@pytest.mark.parametrize("rung", record.RUNGS)
def test_every_rung_has_its_picture(rung):
    row = [row for row in json.loads(PATH.read_text()) if row["rung"] == rung][-1]
    assert f"{rung}: {row['tflops']:.3g} TFLOP/s" in figure(rung).texts[0].get_text()
    assert thermometer(rung).data.startswith("<svg")
