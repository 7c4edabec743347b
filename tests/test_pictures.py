"""Pictures: what they show is what the frame holds."""

import datetime as dt

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from libraries import table
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

import simpdm_frames
from simpdm_frames import pictures
from simpdm_frames.column import Column

plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def filled(data):
    """Fill each hole with the first observed cell: a picture does not care who filled it."""
    return {
        name: [next(c for c in cells if c is not None) if cell is None else cell for cell in cells]
        for name, cells in data.items()
    }


def drawn(panel):
    """Give the colours of bars in a panel, or its curves."""
    return [patch.get_height() for patch in panel.patches]


def said(figure):
    """Give what the legend says."""
    return " | ".join(text.get_text() for text in figure.legends[0].get_texts())


def test_the_picture_of_holes_shows_the_share_of_each_column(library):
    data = table()
    figure = simpdm_frames.missing(library.make(data)).plot()
    _, below = figure.axes
    assert [text.get_text() for text in below.get_xticklabels()] == list(data)
    assert_allclose(drawn(below), [100 * cells.count(None) / 40 for cells in data.values()])
    assert f"{sum(cells.count(None) for cells in data.values())} of 200 cells" in said(figure)


def test_the_matrix_has_every_cell_or_bands_of_rows():
    holes = np.random.default_rng(0).random((1000, 3)) < [0.0, 0.5, 1.0]
    frame = pd.DataFrame(np.where(holes, np.nan, 1.5), columns=list("abc"))
    (image,) = frame.head(200).simpdm.missing().plot().axes[0].images
    assert_allclose(image.get_array(), holes[:200])
    (image,) = frame.simpdm.missing().plot().axes[0].images
    assert len(image.get_array()) < 1000
    # Bands of two and of three rows: together they hold all cells.
    assert_allclose(image.get_array().mean(axis=0), holes.mean(axis=0), atol=0.03)
    assert image.get_extent() == [-0.5, 2.5, 1000, 0]


def test_of_many_columns_those_with_most_holes_are_shown():
    holes = np.arange(100)[:, None] < np.arange(80)
    frame = pd.DataFrame(np.where(holes, np.nan, 1.5)).add_prefix("column_")
    figure = frame.simpdm.missing().plot()
    names = [text.get_text() for text in figure.axes[1].get_xticklabels()]
    assert names == [f"column_{place}" for place in range(20, 80)]
    assert "60 columns with most holes, of 80" in said(figure)


@pytest.mark.parametrize("data", [{}, {"a": []}, {"a": [1.5, 2.5]}])
def test_frames_without_holes_have_a_picture_too(data):
    assert "0 of" in said(pd.DataFrame(data).simpdm.missing().plot())


def test_fills_are_drawn_beside_what_was_observed(library):
    data = table()
    before, after = library.make(data), library.make(filled(data))
    if library.is_lazy:
        with pytest.raises(TypeError, match="collect the query first"):
            simpdm_frames.missing(before).plot(after)
        return
    panels = simpdm_frames.missing(before).plot(after).axes
    lacking = [name for name, cells in data.items() if None in cells]
    assert [panel.get_title(loc="left") for panel in panels[: len(lacking)]] == [
        f"{name}, {data[name].count(None)} filled" for name in lacking
    ]
    by_name = dict(zip(lacking, panels, strict=False))
    assert len(by_name["weight"].lines) == 2
    labels = [text.get_text() for text in by_name["ward"].get_xticklabels()]
    seen = [cell for cell in data["ward"] if cell is not None]
    assert labels == sorted(set(seen))
    shares = [100 * seen.count(label) / len(seen) for label in labels]
    assert_allclose(drawn(by_name["ward"]), [*shares, *(100.0 * (label == seen[0]) for label in labels)])


def test_a_density_covers_an_area_of_one():
    values = np.random.default_rng(0).normal(3, 2, 5000)
    width = pictures._bandwidth(values)
    grid = np.linspace(-15, 20, 500)
    height = pictures._density(values, grid, width)
    assert height.sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)
    assert_allclose(height, np.exp(-(((grid - 3) / 2) ** 2) / 2) / np.sqrt(8 * np.pi), atol=0.02)


def test_time_has_an_axis_that_people_read():
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=3 * k) for k in range(20)]
    frame = pl.DataFrame({"day": days, "stay": [dt.timedelta(hours=k) for k in range(20)]})
    holes = frame.with_columns(pl.when(pl.int_range(pl.len()) % 4 > 0).then(pl.all()))
    day, stay = holes.simpdm.missing().plot(frame).axes
    low, high = mpl.dates.num2date(day.get_xlim())
    assert dt.date(2023, 9, 1) < low.date() < dt.date(2024, 1, 1)
    assert dt.date(2024, 2, 20) < high.date() < dt.date(2024, 7, 1)
    assert stay.get_xlabel() == "hours"
    assert 10 < stay.get_xlim()[1] < 50


def test_a_constant_column_and_a_single_fill_have_a_density():
    frame = pd.DataFrame({"x": [5.0] * 9 + [None], "y": [1.0, None] * 5})
    assert len(frame.simpdm.missing().plot(frame.fillna(5.0)).axes) == 2


def test_what_cannot_be_drawn_is_said():
    frame = pd.DataFrame({"x": [1.5, None, 2.5]})
    with pytest.raises(ValueError, match="no hole of this frame is filled"):
        frame.simpdm.missing().plot(frame)
    with pytest.raises(ValueError, match="must have the same 3 rows, it has 2"):
        frame.simpdm.missing().plot(frame.dropna())


def test_many_labels_are_cut_to_the_most_frequent():
    labels = [f"label {k % 40}" for k in range(400)]
    frame = pd.DataFrame({"x": labels})
    holes = frame.mask(np.arange(400)[:, None] % 5 == 0)
    (panel,) = holes.simpdm.missing().plot(frame).axes
    assert len(panel.get_xticklabels()) == 12


def test_a_column_of_no_known_kind_is_only_counted():
    column = Column.opaque("blob", "object", np.array([True, False]))
    assert "1 of 2 cells" in said(pictures.draw_holes([column]))
    with pytest.raises(ValueError, match="nothing to draw"):
        pictures.draw_fills([column], [column])


def test_dates_far_away_are_drawn_where_they_are():
    days = [dt.datetime(1500 + k, 1, 1) for k in range(19)] + [dt.datetime(9999, 12, 31)]
    frame = pl.DataFrame({"day": days})
    holes = frame.with_columns(pl.when(pl.int_range(pl.len()) % 4 > 0).then(pl.all()))
    figure = holes.simpdm.missing().plot(frame)
    figure.canvas.draw()
    (panel,) = figure.axes
    reached = [line.get_xdata() for line in panel.lines]
    assert min(map(min, reached)) < mpl.dates.date2num(dt.datetime(1501, 1, 1))
    assert max(map(max, reached)) == mpl.dates.date2num(dt.datetime(9999, 12, 31))


def test_a_dollar_is_a_dollar():
    frame = pd.DataFrame({"a $x_$ b": ["$10-$20", None, "$20-$30", "$10-$20"] * 3})
    figure = frame.simpdm.missing().plot(frame.ffill())
    figure.canvas.draw()
    frame.simpdm.missing().plot().canvas.draw()
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [r"\$10-\$20", r"\$20-\$30"]


def test_labels_that_look_alike_are_two():
    frame = pd.DataFrame({"x": pd.Series([1, "1", None, 1, "1", 1], dtype=object)})
    done = frame.fillna({"x": "1"})
    (panel,) = frame.simpdm.missing().plot(done).axes
    assert sorted(text.get_text() for text in panel.get_xticklabels()) == ["'1'", "1"]
    assert_allclose(sorted(drawn(panel)), [0, 40, 60, 100])


def test_only_what_was_filled_is_counted():
    frame = pd.DataFrame({"x": [1.0, None, None, None, 2.0]})
    done = frame.assign(x=[1.0, 1.5, None, None, 2.0])
    (panel,) = frame.simpdm.missing().plot(done).axes
    assert panel.get_title(loc="left") == "x, 1 filled"


@pytest.mark.parametrize("values", [[1.0, None, 3.0], ["a", None, "b"]])
def test_other_rows_are_noticed(values):
    frame = pd.DataFrame({"x": values})
    done = frame.ffill()
    with pytest.raises(ValueError, match=r"observed cells differ in \['x'\]: are these the same rows"):
        frame.simpdm.missing().plot(done.iloc[::-1])
