import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import multivariate_normal

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine, clusters
from simpdm_frames.engine.clusters import Clusters, Mixture, expect, find_clusters, fit_mixture
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.table import Table
from simpdm_frames.presets import in_time, preset

RANDOM = np.random.default_rng(0)


def source(seed=0):
    return torch.Generator().manual_seed(seed)


def a_mixture(size=3, width=4):
    wide = torch.randn(size, width, 2 * width, generator=source(), dtype=torch.float64)
    shares = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)[:size]
    return Mixture(
        torch.randn(size, width, generator=source(1), dtype=torch.float64), wide @ wide.mT / 8, shares.log()
    )


def two_sorts(n=120):
    """Rows of two sorts: in one, the second column goes up with the first, in the other down."""
    x = RANDOM.normal(size=n)
    sort = np.arange(n) % 2
    y = np.where(sort == 1, 4 + x, -4 - x) + 0.1 * RANDOM.normal(size=n)
    z = np.where(sort == 1, 3.0, -3.0) + 0.3 * RANDOM.normal(size=n)
    numbers = torch.from_numpy(np.stack([x, y, z], axis=1)).float()
    missing = torch.from_numpy(RANDOM.random(numbers.shape) < 0.2)
    return numbers, missing


def table_of(numbers, missing):
    return Table(numbers.masked_fill(missing, 0.0), numbers.new_zeros(len(numbers), 0), missing)


def test_what_is_expected_is_the_conditional_mean_of_each_gaussian():
    mixture = a_mixture()
    values = torch.randn(40, 4, generator=source(2), dtype=torch.float64)
    seen = torch.rand(40, 4, generator=source(3)) < 0.6
    shares, each, unknown = expect(mixture, values, seen)
    left = np.zeros((3, 4, 4))
    for row in range(40):
        o = seen[row].numpy()
        odds = []
        for k in range(3):
            mean, cov = mixture.means[k].numpy(), mixture.covariances[k].numpy()
            x, inside = values[row].numpy()[o], cov[np.ix_(o, o)]
            slope = np.linalg.solve(inside, cov[o]).T
            np.testing.assert_allclose(each[row, k], mean + slope @ (x - mean[o]), atol=1e-9)
            density = multivariate_normal(mean[o], inside).logpdf(x) if o.any() else 0.0
            odds.append(float(mixture.log_shares[k]) + density)
            left[k] += float(shares[row, k]) * (cov - slope @ cov[o])
        np.testing.assert_allclose(shares[row], softmax(odds), atol=1e-9)
    np.testing.assert_allclose(unknown, left, atol=1e-9)


def test_what_is_visible_is_expected_as_it_is_and_what_is_hidden_does_not_count():
    mixture = a_mixture()
    values = torch.randn(40, 4, generator=source(2), dtype=torch.float64)
    seen = torch.rand(40, 4, generator=source(3)) < 0.6
    shares, each, _ = expect(mixture, values, seen)
    torch.testing.assert_close(
        each[seen.unsqueeze(1).expand_as(each)],
        values.unsqueeze(1).expand_as(each)[seen.unsqueeze(1).expand_as(each)],
    )
    others, again, _ = expect(mixture, values + 100.0 * ~seen, seen)
    torch.testing.assert_close(again, each)
    torch.testing.assert_close(others, shares)


def test_what_is_worked_on_at_once_changes_nothing(monkeypatch):
    mixture = a_mixture()
    values = torch.randn(40, 4, generator=source(2), dtype=torch.float64)
    seen = torch.rand(40, 4, generator=source(3)) < 0.6
    whole = expect(mixture, values, seen)
    monkeypatch.setattr(clusters, "_AT_ONCE", 3 * 3 * 16)
    for one, other in zip(expect(mixture, values, seen), whole, strict=True):
        torch.testing.assert_close(one, other)


def test_one_gaussian_of_whole_rows_is_their_mean_and_covariance():
    rows = torch.randn(50, 3, generator=source(), dtype=torch.float64) @ a_mixture().covariances[0, :3, :3]
    found = fit_mixture(rows, torch.ones(50, 3).bool(), rows, 1, source())
    torch.testing.assert_close(found.means[0], rows.mean(0))
    torch.testing.assert_close(
        found.covariances[0], rows.T.cov(correction=0) + 1e-3 * torch.eye(3, dtype=torch.float64)
    )
    assert float(found.log_shares.exp().sum()) == pytest.approx(1.0)


def test_the_sorts_of_rows_are_found_through_holes():
    numbers, missing = two_sorts()
    found, _ = find_clusters(table_of(numbers, missing), Layout(3), 2, lambda table: table, None, source())
    assert len(found.mixtures) == 2 * 4  # 2, 3, 4 and 6 Gaussians, with twenty rows for each
    alone = Clusters(found.mixtures, found.column, torch.ones(3))
    estimates, _ = alone.mix(table_of(numbers, missing), torch.zeros_like(numbers), numbers[:, :0])
    # The sort shows in the last column; no line through all rows would do.
    told = missing[:, 1] & ~missing[:, 0] & ~missing[:, 2]
    assert ((estimates - numbers)[told, 1] ** 2).mean() < 0.1


def test_levels_tell_the_sort_and_are_left_to_others():
    numbers = two_sorts()[0][:, :2]
    sort = torch.nn.functional.one_hot(torch.arange(120) % 2, 2).float()
    hidden = torch.zeros(120, 3, dtype=torch.bool)
    hidden[::3, 1] = True
    table = Table(numbers.masked_fill(hidden[:, :2], 0.0), sort, hidden)
    found, _ = find_clusters(table, Layout(2, (2,)), 1, lambda rows: rows, None, source())
    alone = Clusters(found.mixtures, found.column, torch.ones(3))
    estimates, levels = alone.mix(table, torch.zeros_like(numbers), sort)
    assert ((estimates - numbers)[::3, 1] ** 2).mean() < 0.05 * numbers[:, 1].var()
    assert levels is sort


def lessons_of(numbers, missing, guess, held):
    """What networks that guess say about held-out cells."""
    hidden = missing | held
    return Lessons(
        torch.where(held, guess, numbers).unsqueeze(0),
        Table(*(part.unsqueeze(0) for part in (numbers.masked_fill(hidden, 0.0), numbers[:, :0], hidden))),
        numbers,
        held.unsqueeze(0),
        torch.zeros(3),
        torch.arange(len(numbers)),
    )


def test_clusters_are_believed_as_far_as_they_are_right_about_what_they_never_saw():
    numbers, missing = two_sorts()
    held = ~missing & (torch.rand(numbers.shape, generator=source(5)) < 0.15)
    table = table_of(numbers, missing)
    shares = {}
    for name, guess in {"knows": numbers + 0.01, "guesses": torch.zeros_like(numbers)}.items():
        lessons = lessons_of(numbers, missing, guess, held)
        found, learnt = find_clusters(table, Layout(3), 1, lambda rows: rows, lessons, source())
        shares[name] = found.trust
        visible = ~(held | missing)
        torch.testing.assert_close(learnt.estimates[0][visible], numbers[visible])
    assert (shares["knows"] < 0.3).all()
    assert (shares["guesses"][1:] > 0.7).all()


def test_nobody_is_asked_where_there_is_nothing_to_tell():
    numbers, missing = two_sorts()
    whole = torch.zeros_like(missing)
    for rows, cells, restarts in [(120, missing, 0), (120, whole, 2), (12, missing, 2)]:
        table = table_of(numbers[:rows], cells[:rows])
        assert find_clusters(table, Layout(3), restarts, lambda same: same, None, source()) is None
    wide = Table(numbers, torch.ones(120, 30) / 30, torch.cat([missing, whole[:, :1]], dim=1))
    assert find_clusters(wide, Layout(3, (30,)), 2, lambda same: same, None, source()) is None


def test_small_tables_have_clusters_where_rows_are_remembered():
    numbers, missing = two_sorts()
    table = Encoded(Layout(3), numbers.numpy(), np.empty((120, 0), dtype=np.int64), missing.numpy())
    recipe = preset("fast", 120, 3).override(steps=20, width=16, neighbour_steps=5)
    engine = Engine.fit(table, recipe, seed=0)
    assert (engine.advisers.clusters.trust[1:] > 0.5).all()
    whole, part = engine.impute(table), engine.impute(table, batch_size=7)
    np.testing.assert_array_equal(whole.numbers, part.numbers)
    without = Engine.fit(table, recipe.override(clusters=0), seed=0)
    assert without.advisers.clusters is None
    told = table.missing[:, 1] & ~table.missing[:, 0] & ~table.missing[:, 2]
    error, other = (
        ((done.numbers - table.numbers)[told, 1] ** 2).mean() for done in (whole, without.impute(table))
    )
    assert error < 0.05 * numbers[:, 1].var()
    assert error < other
    assert Engine.fit(table, recipe.override(neighbours=0), seed=0).advisers.clusters is None


def test_clusters_are_for_few_rows_and_columns_and_for_who_has_the_time():
    assert preset("default", 150, 4).clusters == preset("best", 1000, 8).clusters == 2
    assert preset("fast", 1000, 8).clusters == 1
    assert preset("default", 1001, 4).clusters == preset("default", 150, 9).clusters == 0
    assert preset("paper", 150, 4).clusters == 0
    assert in_time(preset("default", 150, 4), 60.0, 150, 4, 100).clusters == 2
    assert in_time(preset("default", 150, 4), 10.0, 150, 4, 100).clusters == 0
