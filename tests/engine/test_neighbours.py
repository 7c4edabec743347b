import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Deadline, Engine
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.likeness import Weights, lay_keys, learn_weights, shares, values_of
from simpdm_frames.engine.neighbours import SIGNS, Neighbours
from simpdm_frames.engine.ragged import columns_of
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import USUAL, Expected, Trust, learn_trust
from simpdm_frames.presets import in_time, preset

COLUMN = columns_of(2, (3,))
FREQUENCIES = [0.2 * 2560 ** (number / 9) for number in range(10)]
BELIEVED = Trust(torch.ones(3), torch.zeros(2))
RANDOM = np.random.default_rng(0)


def rows(n=30, share=0.3, seed=0):
    """Rows of two numbers and a category, holes filled with something."""
    source = torch.Generator().manual_seed(seed)
    levels = torch.nn.functional.one_hot(torch.randint(3, (n,), generator=source), 3).float()
    missing = torch.rand(n, 3, generator=source) < share
    return Table(torch.randn(n, 2, generator=source), levels, missing)


def some_weights(seed=1):
    source = torch.Generator().manual_seed(seed)
    squares = [torch.rand(3, 3, generator=source) + 0.1 for _ in range(3)]
    waves, tail = (torch.rand(*shape, generator=source) for shape in ((3, 2, len(FREQUENCIES)), (3,)))
    return Weights(*squares, waves, tail + 0.5, torch.randn(3, 5, generator=source))


def even_weights(value, tail=1.0):
    """All differences weigh the same, and nothing else counts."""
    squares, waves = torch.full((3, 3), value), torch.zeros(3, 2, len(FREQUENCIES))
    return Weights(squares, squares, squares, waves, torch.full((3,), tail), torch.zeros(3, 5))


def by_hand(keys, row, weights, target):
    """The estimate as the sentence of the docstring has it, in loops."""
    known, estimated, unknown = ([float(w) for w in part[target]] for part in weights[:3])
    values, asked = values_of(keys), values_of(row)[0]
    count = []
    for key in range(len(keys)):
        distance = together = 0.0
        for place in range(5):
            column = int(COLUMN[place])
            if row.missing[0, column]:
                continue
            weight = estimated[column] if keys.missing[key, column] else known[column]
            distance += weight * float(asked[place] - values[key, place]) ** 2
        for column in range(3):
            if not row.missing[0, column] and keys.missing[key, column]:
                distance += unknown[column]
        for column in range(2):
            if row.missing[0, column] or keys.missing[key, column]:
                continue
            apart = float(asked[column] - values[key, column])
            for frequency, weight in zip(FREQUENCIES, weights.waves[target, column].tolist(), strict=True):
                together += weight * math.cos(2 * math.pi * frequency * apart)
        tail = float(weights.tail[target])
        share = math.exp(together) / (1 + distance / tail) ** tail
        count.append(0.0 if keys.missing[key, target] else share)
    mean = (torch.tensor(count).unsqueeze(1) * values).sum(0) / sum(count)
    rises = [
        0.0 if row.missing[0, int(COLUMN[place])] else float(slope * (asked[place] - mean[place]))
        for place, slope in enumerate(weights.slope[target])
    ]
    return mean[target == COLUMN] + sum(rises)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_an_estimate_is_the_mean_of_rows_by_their_likeness_and_a_slope(target):
    keys, row, weights = rows(), rows(n=1, share=0.0, seed=5), some_weights()
    row.missing[0, target] = True
    neighbours = Neighbours(keys, COLUMN, [0, 1, 2], [weights], BELIEVED)
    found = neighbours.ask(row, values_of(row)).estimates
    # The fastest wave turns a thousand times over the rows, so that single precision tells it to four digits.
    expected = by_hand(keys, row, weights, target)
    torch.testing.assert_close(found[0, target == COLUMN], expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found[0, target != COLUMN], values_of(row)[0, target != COLUMN])


def test_shares_add_up_to_one_and_the_silent_have_none():
    keys = rows()
    laid = lay_keys(values_of(keys), ~keys.missing, COLUMN, 2)
    weights = some_weights().of(0)
    found = shares(values_of(keys), ~keys.missing, COLUMN, weights, laid, ~keys.missing[:, 0])
    torch.testing.assert_close(found.sum(1), torch.ones(len(keys)))
    assert (found[:, keys.missing[:, 0]] == 0).all()


def test_a_row_does_not_tell_about_itself():
    keys = rows(share=0.0)
    hidden = Table(
        keys.numbers, keys.levels, torch.zeros(30, 3).bool().index_fill(1, torch.tensor([0]), True)
    )
    neighbours = Neighbours(keys, COLUMN, [0], [even_weights(1e5, tail=100.0)], BELIEVED)
    itself = neighbours.ask(hidden, values_of(hidden)).estimates
    torch.testing.assert_close(itself[:, 0], keys.numbers[:, 0])
    others = neighbours.ask(hidden, values_of(hidden), torch.arange(30)).estimates
    assert (others[:, 0] - keys.numbers[:, 0]).abs().min() > 0


def test_several_likenesses_are_averaged():
    keys, row = rows(), rows(n=4, share=0.9, seed=7)
    each = [
        Neighbours(keys, COLUMN, [0, 1, 2], [some_weights(seed)], BELIEVED).ask(row, values_of(row)).estimates
        for seed in (1, 2)
    ]
    both = Neighbours(keys, COLUMN, [0, 1, 2], [some_weights(1), some_weights(2)], BELIEVED)
    torch.testing.assert_close(both.ask(row, values_of(row)).estimates, (each[0] + each[1]) / 2)


def test_what_makes_rows_alike_is_learnt():
    # The first column is told by the second, the third is noise.
    source = torch.Generator().manual_seed(0)
    numbers = torch.randn(200, 3, generator=source)
    numbers[:, 0] = numbers[:, 1].sin() * 2
    missing = torch.zeros(200, 3, dtype=torch.bool)
    missing[::4, 0] = True
    table = Table(numbers.masked_fill(missing, 0.0), torch.zeros(200, 0), missing)
    rates, column = torch.full((3,), 0.3), columns_of(3, ())
    weights = learn_weights(table, column, [0], rates, torch.Generator().manual_seed(1), steps=100)
    assert weights[0][0, 1] > 20 * weights[0][0, 2]
    neighbours = Neighbours(table, column, [0], [weights], BELIEVED)
    error = neighbours.ask(table, table.numbers).estimates[missing[:, 0], 0] - numbers[missing[:, 0], 0]
    assert error.square().mean() < 0.1 * numbers[:, 0].var()


def studied(numbers, every=4, steps=150):
    """What neighbours tell about cells of the first column, and the truth."""
    missing = torch.zeros_like(numbers, dtype=torch.bool)
    missing[::every, 0] = True
    table = Table(numbers.masked_fill(missing, 0.0), numbers[:, :0], missing)
    rates, column = torch.full((numbers.shape[1],), 0.3), columns_of(numbers.shape[1], ())
    weights = learn_weights(table, column, [0], rates, torch.Generator().manual_seed(1), steps=steps)
    trust = Trust(torch.ones(numbers.shape[1]), torch.zeros(2))

    def error(weights):
        told = Neighbours(table, column, [0], [weights], trust).ask(table, table.numbers).estimates
        return float((told - numbers)[missing[:, 0], 0].square().mean())

    return weights, error


def test_values_that_are_equal_tell_more_than_those_that_are_near():
    # Of a hundred values each stands for something of its own, and the nearest others are a thirtieth apart.
    source = torch.Generator().manual_seed(0)
    which, meant = torch.randint(100, (800,), generator=source), torch.randn(100, generator=source)
    weights, error = studied(torch.stack([meant[which], (which - 50) / 30], dim=1))
    assert error(weights) < 0.1


def test_a_slope_says_what_the_mean_of_rows_on_one_side_lacks():
    # Three columns tell the first together; of so few rows none is near in all three.
    numbers = torch.randn(150, 4, generator=torch.Generator().manual_seed(0))
    numbers[:, 0] = numbers[:, 1:].sum(1) / 3**0.5
    weights, error = studied(numbers)
    assert (weights.slope[0, 1:] > 0.1).all()
    assert error(weights) < 0.5 * error(weights._replace(slope=torch.zeros(1, 4)))


def test_labels_have_no_slope():
    table = rows(n=100)
    weights = learn_weights(
        table, COLUMN, [0, 2], torch.full((3,), 0.3), torch.Generator().manual_seed(1), steps=20
    )
    assert (weights.slope[0] != 0).any()
    assert (weights.slope[1] == 0).all()


def test_a_deadline_ends_the_learning():
    table = rows(share=0.3)
    began = torch.Generator().manual_seed(0)
    past = learn_weights(
        table, COLUMN, [0, 1], torch.full((3,), 0.3), began, steps=10**9, deadline=Deadline(0.0, 0)
    )
    first = learn_weights(
        table, COLUMN, [0, 1], torch.full((3,), 0.3), began, steps=1, deadline=Deadline(0.0, 0)
    )
    for one, other in zip(past, first, strict=True):
        torch.testing.assert_close(one, other)


def judged(networks, others, truth, *, noise=0.0, signs=None, expected=USUAL):
    """Trust in others about one column of which all cells were held out."""
    signs = torch.zeros(len(truth), 1, 0) if signs is None else signs
    held, column = torch.ones(len(truth), 1).bool(), torch.tensor([0])
    return learn_trust(networks, others, truth, held, column, torch.tensor([noise]), signs, expected)


@pytest.mark.parametrize(("better", "low", "high"), [(0.05, 0.9, 0.97), (0.2, 0.45, 0.55), (3.0, 0.0, 0.05)])
def test_who_is_nearer_to_the_truth_is_believed(better, low, high):
    source = torch.Generator().manual_seed(0)
    truth, networks, neighbours = (torch.randn(4000, 1, generator=source) for _ in range(3))
    trust = judged(truth + 0.2 * networks, truth + better * neighbours, truth)
    assert low <= float(trust.columns) <= high


def test_chance_that_cancels_out_is_not_held_against_networks():
    source = torch.Generator().manual_seed(0)
    truth, networks, neighbours = (torch.randn(4000, 1, generator=source) for _ in range(3))
    args = (truth + 0.2 * networks, truth + 0.2 * neighbours, truth)
    assert judged(*args, noise=0.03).columns < 0.7 * judged(*args).columns
    # All that they are apart is chance: nothing is left to judge by.
    assert judged(*args, noise=1.0).columns.tolist() == [pytest.approx(USUAL.share)]


@pytest.mark.parametrize("expected", [USUAL, Expected(0.9, 0.2)])
def test_without_a_cell_to_judge_by_what_is_expected_is_trusted(expected):
    nothing = torch.zeros(0, 1)
    assert judged(nothing, nothing, nothing, expected=expected).columns.tolist() == [
        pytest.approx(expected.share)
    ]


def test_a_few_cells_far_out_do_not_settle_what_is_right_for_all():
    source = torch.Generator().manual_seed(0)
    truth, networks, neighbours = (torch.randn(200, 1, generator=source) for _ in range(3))
    wrong, others = 0.2 * networks, truth + 0.2 * neighbours
    wrong[:2] += 5.0  # networks know nothing about two cells, and neighbours happen to
    apart = truth + wrong - others
    assert float((wrong * apart).sum() / (apart**2).sum()) > 0.8  # these two have most of all that is squared
    assert 0.2 < float(judged(truth + wrong, others, truth).columns) < 0.6


def lessons(n=400):
    """Networks that are off by as much as those are that come after them."""
    source = torch.Generator().manual_seed(0)
    truth, networks = (torch.randn(n, 1, generator=source) for _ in range(2))
    shown = Table(truth.unsqueeze(0), truth[:, :0].unsqueeze(0), torch.ones(1, n, 1).bool())
    held = torch.ones(1, n, 1).bool()
    return Lessons((truth + networks).unsqueeze(0), shown, truth, held, torch.zeros(1), torch.arange(n))


def test_who_comes_next_is_expected_to_add_the_less_the_further_others_are_believed():
    at_first, one = lessons(), torch.tensor([0])
    nothing = replace(at_first, held=~at_first.held)
    assert float(nothing.believe(at_first.estimates, one)[0].columns) == pytest.approx(USUAL.share)
    trust, after = at_first.believe(at_first.truth.unsqueeze(0), one, expected=Expected(0.9, 0.2))
    assert after.open == pytest.approx(1 - float(trust.columns), abs=1e-6)
    torch.testing.assert_close(
        after.estimates, torch.lerp(at_first.estimates, at_first.truth.unsqueeze(0), trust.columns)
    )
    later = replace(after, held=~after.held).believe(at_first.estimates, one)[0]
    assert float(later.columns) == pytest.approx(USUAL.share * after.open)
    told = at_first.truth.unsqueeze(0)
    trusts = [float(replace(at_first, open=left).believe(told, one)[0].columns) for left in (0.0, 0.5, 1.0)]
    assert 0 < trusts[0] < trusts[1] < trusts[2] < 1


def test_signs_tell_where_to_believe():
    # Neighbours are right where the first sign is 0, and networks where it is 1; the second sign says nothing.
    source = torch.Generator().manual_seed(0)
    truth, first, second = (torch.randn(4000, 1, generator=source) for _ in range(3))
    signs = torch.rand(4000, 1, 2, generator=source)
    signs[..., 0] = signs[..., 0].round()
    trust = judged(
        truth + 0.5 * first * (1 - signs[..., 0]), truth + 0.5 * second * signs[..., 0], truth, signs=signs
    )
    share = trust.of(torch.tensor([[[0.0, 0.5]], [[1.0, 0.5]]]))
    assert share[0] > 0.95
    assert share[1] < 0.05
    assert abs(trust.signs[1]) < 0.05


def test_a_column_of_labels_is_judged_by_all_of_its_levels():
    source = torch.Generator().manual_seed(0)
    truth = torch.nn.functional.one_hot(torch.randint(3, (500,), generator=source), 3).float()
    held, column, signs = torch.ones(500, 1).bool(), torch.zeros(3, dtype=torch.int64), torch.zeros(500, 1, 0)
    trust = learn_trust(truth * 0 + 1 / 3, truth, truth, held, column, torch.zeros(1), signs)
    assert 0.9 < float(trust.columns) <= 1


def test_signs_say_how_many_rows_count_how_far_apart_they_are_and_what_is_lacking():
    keys = rows(n=16, share=0.0)
    keys.levels[:] = torch.tensor([1.0, 0.0, 0.0])
    hidden = Table(keys.numbers[:1], keys.levels[:1], torch.ones(1, 3).bool())
    neighbours = Neighbours(keys, COLUMN, [0, 2], [even_weights(0.0)], BELIEVED)
    crowd, spread, lacking = neighbours.ask(hidden, values_of(hidden)).signs[0].T
    torch.testing.assert_close(
        crowd, torch.tensor([1.0, 0.0, 1.0])
    )  # nobody is asked about the second column
    deviation = min(float(keys.numbers[:, 0].std(correction=0)), 1.0)
    torch.testing.assert_close(spread, torch.tensor([deviation, 0.0, 0.0]))
    assert lacking.tolist() == [1.0] * 3
    hidden.missing[0, 1] = False
    sharp = even_weights(1e5, tail=100.0)
    alone = Neighbours(keys, COLUMN, [0, 2], [sharp], BELIEVED).ask(hidden, values_of(hidden)).signs
    expected = torch.tensor([0.0, 0.0, 2 / 3]).expand(1, 3, 3)
    torch.testing.assert_close(alone, expected, atol=1e-3, rtol=0.0)


def repeating(n=300):
    """A table in which every row stands five times, and a fifth of the cells are missing."""
    numbers = np.repeat(RANDOM.normal(size=(n // 5, 4)), 5, axis=0).astype(np.float32)
    missing = RANDOM.random(numbers.shape) < 0.2
    missing[::5] = False  # one of each five is whole
    return Encoded(Layout(4), numbers, np.empty((n, 0), dtype=np.int64), missing)


def test_rows_that_repeat_tell_their_holes():
    table = repeating()
    recipe = preset("fast", 300, 4).override(steps=60, width=16)
    errors = {}
    for neighbours in (0, 300):
        engine = Engine.fit(table, recipe.override(neighbours=neighbours), seed=0)
        done = engine.impute(table).numbers
        errors[neighbours] = ((done - table.numbers)[table.missing] ** 2).mean()
    assert errors[300] < 0.3 * errors[0]
    # Few rows that count and agree: so it is where rows stand several times.
    assert (engine.advisers.neighbours.trust.of(torch.zeros(4, len(SIGNS))) > 0.6).all()


def test_a_table_without_holes_has_nobody_to_ask():
    whole = repeating()
    whole = Encoded(whole.layout, whole.numbers, whole.codes, np.zeros_like(whole.missing))
    assert Engine.fit(whole, preset("fast", 300, 4).override(steps=3), seed=0).advisers.neighbours is None


def test_no_scout_no_judgement_but_neighbours_all_the_same():
    table = repeating()
    engine = Engine.fit(table, preset("fast", 300, 4).override(steps=3, scouts=0), seed=0)
    assert engine.advisers.neighbours.trust.columns.tolist() == [pytest.approx(USUAL.share)] * 4
    assert engine.residuals is None


def test_a_wide_table_is_not_compared_row_by_row():
    layout = Layout(1, (256,))
    codes = np.arange(512)[:, None] % 256
    missing = np.zeros((512, 2), dtype=bool)
    missing[3] = True
    table = Encoded(layout, RANDOM.normal(size=(512, 1)).astype(np.float32), codes, missing)
    assert (
        Engine.fit(table, preset("fast", 512, 2).override(steps=2, width=8), seed=0).advisers.neighbours
        is None
    )


def test_large_tables_and_short_budgets_remember_fewer_rows_or_none():
    assert preset("default", 20_640, 8).neighbours == 8192
    assert 1000 <= preset("default", 50_000, 20).neighbours < 8192
    assert preset("default", 200_000, 20).neighbours == 0
    assert preset("paper", 300, 5).neighbours == 0
    recipe = preset("default", 20_640, 8)
    assert in_time(recipe, 600.0, 20_640, 8, 20_000).neighbours == 8192
    assert 1000 <= in_time(recipe, 60.0, 20_640, 8, 20_000).neighbours < 8192
    assert in_time(recipe, 5.0, 20_640, 8, 20_000).neighbours == 0
