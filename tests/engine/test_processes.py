import itertools
import time

import numpy as np
import pytest
import torch

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.kernel import Kernel, covariance, foreseen, learn_kernel
from simpdm_frames.engine.processes import Processes, find_processes
from simpdm_frames.engine.ragged import columns_of
from simpdm_frames.engine.stretch import stretch
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import USUAL, Trust, share_lacking
from simpdm_frames.presets import in_time, preset


def source(seed=0):
    return torch.Generator().manual_seed(seed)


def bent(n=300, share=0.25):
    """A table whose last column is a smooth surface over the other two, and which of its cells are missing."""
    numbers = torch.randn(n, 3, generator=source(1))
    numbers[:, 2] = (2 * numbers[:, 0]).sin() + numbers[:, 1] ** 2 / 2
    missing = torch.zeros(n, 3, dtype=torch.bool)
    missing[:, 2] = torch.rand(n, generator=source(2)) < share
    return numbers, missing


def table_of(numbers, missing):
    return Table(numbers.masked_fill(missing, 0.0), numbers[:, :0], missing)


def same(rows):
    return rows


def test_the_covariance_is_matern_s_and_a_plane_s():
    left, right = (
        torch.randn(4, 2, generator=source()).double(),
        torch.randn(3, 2, generator=source(1)).double(),
    )
    one = torch.tensor(1.0).double()
    kernel = Kernel(torch.tensor([0.5, 2.0]).double(), torch.tensor([0.1, 0.3]).double(), 1.5 * one, one, one)
    found = covariance(kernel, left, right)
    for i in range(4):
        for j in range(3):
            r = float((((left[i] - right[j]) * kernel.rate) ** 2).sum() * 3) ** 0.5
            plane = float((left[i] * kernel.slope * right[j]).sum())
            assert float(found[i, j]) == pytest.approx(1.5 * (1 + r) * np.exp(-r) + plane)


def test_an_estimate_is_the_conditional_mean_of_a_gaussian():
    numbers, missing = bent(n=40)
    rows = table_of(numbers, missing)
    one = torch.tensor(1.0).double()
    kernel = Kernel(
        torch.tensor([1.0, 0.7, 0.0, 0.2, 0.0, 0.0]).double(),
        torch.full((6,), 0.1).double(),
        one,
        0.05 * one,
        torch.tensor([0.1, 0.2, 0.3]).double(),
    )
    knots = torch.arange(64.0).expand(3, -1).contiguous()
    laid = Processes(
        rows,
        torch.arange(40),
        torch.arange(3),
        knots,
        2 * knots,
        [2],
        [kernel],
        Trust(torch.ones(3), torch.zeros(0)),
    )
    found = laid.ask(rows, rows.numbers)
    features = torch.cat([rows.numbers, stretch(rows.numbers, knots, 2 * knots)], dim=1).double()
    known = ~missing[:, 2]
    y = numbers[known, 2].double()
    centre, spread = y.mean(), y.std(correction=0)
    noisy = covariance(kernel, features[known], features[known])
    noisy = noisy + torch.eye(len(y)).double() * (0.05 + 1e-4)
    weights = torch.linalg.solve(noisy, (y - centre) / spread)
    expected = centre + spread * covariance(kernel, features[~known], features[known]) @ weights
    torch.testing.assert_close(found[~known, 2].double(), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found[known], rows.numbers[known])


def test_rows_whose_features_are_estimates_count_less_the_worse_these_are():
    # Each column is an estimate in half of the rows: the first a bad one, the second a good one.
    features = torch.randn(400, 2, generator=source()).double()
    target = features.sum(1)
    unsure = torch.zeros(400, 2).double()
    unsure[::2, 0] = unsure[:200, 1] = 1.0
    features[::2, 0] = torch.randn(200, generator=source(3)).double()
    kernel = learn_kernel(features, unsure, target, torch.ones(2).bool(), source())
    assert float(kernel.unsure[0]) > 5 * float(kernel.unsure[1])


def test_what_tells_nothing_changes_nothing():
    numbers, missing = bent()
    noise = torch.randn(300, 1, generator=source(7))
    features = torch.cat([numbers[:, :2], noise], dim=1).double()
    known = ~missing[:, 2]
    kernel = learn_kernel(
        features[known], missing[known].double(), numbers[known, 2], torch.ones(3).bool(), source()
    )
    assert float(kernel.rate[:2].min()) > 3 * float(kernel.rate[2])
    alone = learn_kernel(
        features[known],
        missing[known].double(),
        numbers[known, 2],
        torch.tensor([True, False, True]),
        source(),
    )
    assert float(alone.rate[1]) == float(alone.slope[1]) == 0.0


def test_smooth_surfaces_are_found():
    numbers, missing = bent()
    table = table_of(numbers, missing)
    found, lessons = find_processes(table, Layout(3), 300, same, None, source())
    assert lessons is None
    assert list(found.targets) == [2]
    assert found.trust.columns.tolist() == pytest.approx([USUAL.share] * 3)
    holes = missing[:, 2]
    told = found.ask(table, table.numbers)[holes, 2]
    assert ((told - numbers[holes, 2]) ** 2).mean() < 0.05 * numbers[:, 2].var()
    mixed, _ = found.mix(table, table.numbers, numbers[:, :0])
    torch.testing.assert_close(mixed[holes, 2], USUAL.share * told)


def test_levels_tell_and_are_left_to_others():
    numbers, missing = bent()
    sort = torch.arange(300) % 2
    levels = torch.nn.functional.one_hot(sort, 2).float()
    numbers[:, 2] = numbers[:, 0] * (2 * sort - 1)
    hidden = torch.cat([missing, torch.zeros(300, 1).bool()], dim=1)
    table = Table(numbers.masked_fill(missing, 0.0), levels, hidden)
    found, _ = find_processes(table, Layout(3, (2,)), 300, same, None, source())
    told = found.ask(table, torch.cat([table.numbers, levels], dim=1))
    holes = missing[:, 2]
    assert ((told[:, 2] - numbers[:, 2])[holes] ** 2).mean() < 0.1 * numbers[:, 2].var()
    assert found.mix(table, table.numbers, levels)[1] is levels


def test_processes_are_believed_as_far_as_they_are_right_about_what_they_never_saw():
    numbers, missing = bent()
    held = torch.zeros_like(missing)
    held[:, 2] = ~missing[:, 2] & (torch.rand(300, generator=source(5)) < 0.3)
    hidden, shares = missing | held, {}
    for name, guess in {"knows": numbers + 0.01, "guesses": torch.zeros_like(numbers)}.items():
        lessons = Lessons(
            torch.where(held, guess, numbers.masked_fill(missing, 0.0)).unsqueeze(0),
            Table(
                *(part.unsqueeze(0) for part in (numbers.masked_fill(hidden, 0.0), numbers[:, :0], hidden))
            ),
            numbers,
            held.unsqueeze(0),
            torch.zeros(3),
            torch.arange(300),
        )
        found, after = find_processes(table_of(numbers, missing), Layout(3), 300, same, lessons, source())
        shares[name] = float(found.trust.of(share_lacking(hidden))[held].mean())
        assert after.open < 1 - 0.9 * shares[name]
    assert shares["knows"] < 0.2
    assert shares["guesses"] > 0.7


def test_nobody_is_asked_where_there_is_nothing_to_tell():
    numbers, missing = bent()
    whole = torch.zeros_like(missing)
    for cells, most in [(missing, 0), (whole, 300), (whole.index_fill(1, torch.tensor([2]), True), 300)]:
        assert find_processes(table_of(numbers, cells), Layout(3), most, same, None, source()) is None
    wide = Table(numbers, torch.ones(300, 70) / 70, torch.cat([missing, whole[:, :1]], dim=1))
    assert find_processes(wide, Layout(3, (70,)), 300, same, None, source()) is None


def test_equal_rows_and_constant_columns_do_no_harm():
    numbers, missing = bent(n=60)
    numbers = torch.cat([numbers, numbers])
    missing = torch.cat([missing, torch.zeros_like(missing)])
    numbers[:, 1], missing[::5, 1] = 0.5, True
    table = table_of(numbers, missing)
    found, _ = find_processes(table, Layout(3), 300, same, None, source())
    told = found.ask(table, table.numbers)
    assert told.isfinite().all()
    torch.testing.assert_close(told[missing[:, 1], 1], numbers[missing[:, 1], 1], atol=1e-3, rtol=0.0)


def test_a_fill_depends_neither_on_batches_nor_on_order():
    numbers, missing = bent(share=0.4)
    missing[:, 0] = torch.rand(300, generator=source(9)) < 0.2
    table = Encoded(Layout(3), numbers.numpy(), np.empty((300, 0), dtype=np.int64), missing.numpy())
    recipe = preset("default", 300, 3).override(steps=20, width=16, neighbour_steps=5, clusters=0)
    engine = Engine.fit(table, recipe, seed=0)
    assert engine.advisers.processes is not None
    whole = engine.impute(table).numbers
    np.testing.assert_array_equal(whole, engine.impute(table, batch_size=7).numbers)
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(whole[order], engine.impute(table.rows(order)).numbers)
    without = Engine.fit(table, recipe.override(processes=0), seed=0)
    assert without.advisers.processes is None
    told = missing.numpy()[:, 2] & ~missing.numpy()[:, 0]
    error, other = (
        ((done - numbers.numpy())[told, 2] ** 2).mean() for done in (whole, without.impute(table).numbers)
    )
    assert error < 0.8 * other
    assert Engine.fit(table, recipe.override(neighbours=0), seed=0).advisers.processes is None


def test_processes_are_for_tables_of_some_rows_and_for_who_has_the_time():
    assert preset("default", 250, 8).processes == preset("default", 5000, 8).processes == 2500
    assert preset("best", 1000, 8).processes == 2500
    assert preset("best", 4000, 8).processes == 5000
    assert preset("default", 249, 8).processes == preset("default", 5001, 8).processes == 0
    assert preset("fast", 1000, 8).processes == preset("paper", 1000, 8).processes == 0
    recipe = preset("default", 1000, 8)
    assert in_time(recipe, 64.0, 1000, 8, 1000).processes == 2500
    assert in_time(recipe, 63.0, 1000, 8, 1000).processes == 0


def test_columns_are_those_of_the_layout():
    numbers, missing = bent()
    found, _ = find_processes(table_of(numbers, missing), Layout(3), 100, same, None, source())
    assert len(found.rows) == 100
    assert found.column.tolist() == columns_of(3, ()).tolist()


def test_what_it_will_take_grows_with_rows_and_columns(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    few, more, many = (foreseen(*size, 2500) for size in ((300, 4), (2500, 4), (2500, 16)))
    assert 0 < few < more
    assert many == pytest.approx(4 * more)
    assert foreseen(10_000, 4, 2500) == pytest.approx(more)
