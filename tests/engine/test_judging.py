"""The running average of weights, and the judge who keeps the best of its states."""

import numpy as np
import torch

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.engine.batches import Holdout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.judging import Average, Judge
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.table import Padding, Table
from simpdm_frames.engine.training import Progress
from simpdm_frames.settings import Settings

NETWORK = Settings(width=16, layers=2, members=3, scouts=2)


def network():
    return Denoiser(Layout(2), NETWORK, torch.Generator().manual_seed(0))


def test_an_average_of_what_does_not_change_is_that():
    one = network()
    average = Average(one, 0.9)
    average.update()
    for mine, theirs in zip(average.network.parameters(), one.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs.detach())


def test_the_average_forgets_its_first_states_at_once_and_later_ones_slowly():
    one = network()
    average = Average(one, 0.99)

    def gap():
        average.update()
        return float((one.head_bias - average.network.head_bias).detach().abs().max())

    with torch.no_grad():
        one.head_bias.fill_(1.0)  # far from the weights that the average began with
    assert [gap() for _ in range(1000)][10] < 1e-3
    with torch.no_grad():
        one.head_bias.fill_(2.0)
    later = [gap() for _ in range(100)]
    assert later[0] == np.float32(0.99)
    assert abs(later[-1] - 0.99**100) < 1e-3
    assert not average.network.head_bias.requires_grad


def judge_of(errors, kinds=1, variances=(), **options):
    """A judge whose scouts make errors of known size, given for all of them or for each kind.

    In real holes, of which there are some if ``variances`` are given, members disagree as these say.
    """
    missing = torch.zeros(60, 2, dtype=torch.bool)
    missing[:5] = bool(variances)
    table = Table(torch.zeros(60, 2), torch.empty(60, 0), missing)
    heads = Heads(())
    padding = Padding(torch.zeros(2), torch.empty(0))
    holdout = Holdout(table, 2, 0.5, padding, heads, torch.Generator().manual_seed(0))
    average, answers, disagreements = Average(network(), 0.9), iter(errors), iter(variances)

    def predict(judged, shown):
        if judged is average.network:  # all members, asked about real holes
            spread = torch.tensor(next(disagreements)).sqrt() * torch.tensor([1.0, 0.0, -1.0])
            return spread.view(-1, 1, 1).expand(3, len(shown), 2), torch.empty(3, len(shown), 0)
        assert judged.members == shown.missing.shape[0] == 2  # only scouts are asked about held-out cells
        with torch.no_grad():
            judged.head_bias += 1  # so that states can be told apart
        error = torch.tensor(next(answers)).sqrt().view(-1, 1, 1).expand(2, len(shown), 2)
        return error, torch.empty(2, len(shown), 0)

    return Judge(average, predict, table, holdout, kinds=kinds, **options), float(
        average.network.head_bias[0, 0, 0]
    )


def test_the_best_state_is_kept_and_patience_ends_the_training():
    judge, first = judge_of([5.0, 2.0, 3.0, 4.0, 6.0], every=10, patience=2)
    answers = [judge(Progress(step, 100, 0.0, 0.0)) for step in (10, 20, 30, 40)]
    assert answers == [False, False, False, True]
    assert [(step, round(error, 4)) for step, error in judge.curve] == [(10, 5), (20, 2), (30, 3), (40, 4)]
    best = judge.best(40)
    assert float(best.head_bias[0, 0, 0]) == np.float32(first + 2)


def kept_state(judge, first, looks):
    """Say which look's state is kept."""
    for look in range(looks):
        judge(Progress(10 * (look + 1), 100, 0.0, 0.0))
    return round(float(judge.best(10 * looks).head_bias[0, 0, 0]) - first)


def test_members_that_disagree_more_may_be_better_together():
    errors, variances, options = [5.0, 2.0, 2.5, 3.5], [0.1, 0.2, 1.2, 1.3], {"every": 10, "patience": 9}
    alone, first = judge_of(errors, variances=variances, **options)
    assert kept_state(alone, first, 4) == 2
    judge, first = judge_of(errors, variances=variances, together=True, **options)
    assert kept_state(judge, first, 4) == 3
    # Of three members two thirds of the variance cancel out.
    assert [round(error, 4) for _, error in judge.curve] == [
        round(error - 2 / 3 * variance, 4) for error, variance in zip(errors, variances, strict=True)
    ]


def judge_of_labels(wrong, members=3, **options):
    """A judge of a single label column, whose scouts are wrong about a share of the rows, known for each look."""
    settings = Settings(width=16, layers=2, members=members, scouts=2)
    one = Denoiser(Layout(0, (2,)), settings, torch.Generator().manual_seed(0))
    missing = torch.zeros(60, 1, dtype=torch.bool)
    missing[:5] = True
    table = Table(torch.empty(60, 0), torch.tensor([1.0, 0.0]).expand(60, 2), missing)
    padding, heads = Padding(torch.empty(0), torch.tensor([1.0, 0.0])), Heads((2,))
    holdout = Holdout(table, 2, 0.9, padding, heads, torch.Generator().manual_seed(0))
    average, answers = Average(one, 0.9), iter(wrong)

    def predict(judged, shown):
        with torch.no_grad():
            judged.head_bias += 1  # so that states can be told apart
        is_wrong = torch.arange(len(shown)) < next(answers) * len(shown)
        log_levels = torch.where(is_wrong.unsqueeze(1), torch.tensor([-9.0, 0.0]), torch.tensor([0.0, -9.0]))
        return torch.empty(2, len(shown), 0), log_levels.expand(2, -1, -1)

    first = float(one.head_bias[0, 0, 0].detach())
    return Judge(average, predict, table, holdout, kinds=1, **options), first


def test_a_vote_on_labels_is_kept_at_twice_the_steps_of_the_best_single_network():
    wrong = [0.5, 0.2, 0.3, 0.4, 0.6]
    judge, first = judge_of_labels(wrong, every=10, patience=1)
    ended = [judge(Progress(step, 100, 0.0, 0.0)) for step in (10, 20, 30, 40)]
    assert ended == [False, False, False, True]  # patience is at an end after 30, but the state is not there
    assert round(float(judge.best(40).head_bias[0, 0, 0]) - first) == 4
    judge, first = judge_of_labels(wrong, every=10, patience=9)
    assert kept_state(judge, first, 5) == 4
    judge, first = judge_of_labels(wrong, every=10, patience=9)
    assert kept_state(judge, first, 3) == 3  # the training ended before; the last state is the nearest


def test_a_new_best_state_of_labels_puts_off_what_is_kept():
    judge, first = judge_of_labels([0.5, 0.4, 0.2, 0.3, 0.3, 0.3, 0.3], every=10, patience=9)
    assert kept_state(judge, first, 7) == 6


def test_a_single_network_does_not_vote():
    judge, first = judge_of_labels([0.5, 0.2, 0.3, 0.4], members=1, every=10, patience=9)
    assert kept_state(judge, first, 4) == 2


def test_a_part_of_a_network_follows_the_whole():
    whole = Denoiser(
        Layout(2, (3,)), Settings(width=16, members=3, frequencies=4, chain=2), torch.Generator()
    )
    part = whole.requires_grad_(requires_grad=False).first(2)
    visible, hidden = torch.rand(1, 5, 5), torch.zeros(1, 5, 3, dtype=torch.bool)
    t = torch.ones(1, 1, 5, dtype=torch.int64)
    for _ in range(2):
        expected = whole(visible, visible.unsqueeze(0), t, hidden)[:, :2]
        torch.testing.assert_close(part(visible, visible.unsqueeze(0), t, hidden), expected)
        whole.load_state_dict({name: weight + 0.1 for name, weight in whole.state_dict().items()})


def test_the_last_steps_are_judged_too():
    judge, first = judge_of([5.0, 1.0], every=10, patience=2)
    judge(Progress(10, 100, 0.0, 0.0))
    assert not judge(Progress(15, 100, 0.0, 0.0))
    assert float(judge.best(15).head_bias[0, 0, 0]) == np.float32(first + 2)
    assert len(judge.curve) == 2


def test_each_kind_of_members_keeps_its_own_best_state():
    judge, first = judge_of([[4.0, 4.0], [2.0, 5.0], [3.0, 3.0]], kinds=2, every=10, patience=9)
    for step in (10, 20, 30):
        judge(Progress(step, 100, 0.0, 0.0))
    rough, smooth = first + 2, float(network().head_bias.detach()[1, 0, 0]) + 3
    best = judge.best(30)
    assert float(best.head_bias[0, 0, 0]) == np.float32(rough)
    assert abs(float(best.head_bias[1, 0, 0]) - smooth) < 1e-6
    shares = judge.shares()
    assert abs(float(shares.sum()) - 1) < 1e-6
    assert shares[0] == shares[2] > 10 * shares[1]  # an error half as large again


def test_kinds_with_equal_errors_count_alike():
    judge, _ = judge_of([[2.0, 2.0]], kinds=2, every=10, patience=9)
    judge(Progress(10, 100, 0.0, 0.0))
    torch.testing.assert_close(judge.shares(), torch.full((3,), 1 / 3))


def test_smooth_members_do_not_see_fast_waves():
    settings = Settings(
        width=16, members=2, frequencies=4, lowest_frequency=0.1, highest_frequency=10.0, smooth_frequency=0.5
    )
    one = Denoiser(Layout(1), settings, torch.Generator().manual_seed(0))
    hidden, t = torch.zeros(1, 1, 1, dtype=torch.bool), torch.ones(1, 1, 1, dtype=torch.int64)

    def ask(value):
        return one(torch.full((1, 1, 1), value), torch.zeros(1, 1, 1, 1), t, hidden)[0, :, 0, 0]

    change = (ask(0.51) - ask(0.5)).abs()
    assert change[0] > 3 * change[1]


def test_scouts_end_a_training_that_learns_by_heart():
    random = np.random.default_rng(0)
    noise = random.normal(size=(60, 4)).astype(np.float32)  # nothing to be learnt but the means
    table = Encoded(Layout(4), noise, np.empty((60, 0), dtype=np.int64), random.random((60, 4)) < 0.2)
    settings = Settings(
        steps=600,
        width=64,
        members=4,
        scouts=2,
        average=0.9,
        look_every=20,
        patience=5,
        learning_rate=5e-3,
        scale="deviation",
        sampling_steps=1,
        start="mean",
        decay="none",
    )
    engine = Engine.fit(table, settings)
    assert len(engine.loss_curve) < 600
    errors = [error for _, error in engine.judged]
    assert min(errors) < errors[-1]
    assert np.abs(engine.impute(table).numbers[table.missing]).mean() < 0.6
