import math
import time

import pytest
import torch

from simpdm_frames.engine.training import EarlyStop, NonFiniteLossError, Progress, Run, TimeBudget, train


class Valley:
    """One parameter that should come to rest at 3; some of its runs may be poisoned."""

    def __init__(self, poisoned=()):
        self.poisoned = set(poisoned)
        self.starts = 0

    def __call__(self):
        self.starts += 1
        self.parameter = torch.nn.Parameter(torch.zeros(()))
        poison = math.nan if self.starts in self.poisoned else 1.0
        parameter = self.parameter
        return Run(lambda: (parameter - 3) ** 2 * poison, [parameter])


def test_it_finds_the_minimum_and_returns_every_loss():
    valley = Valley()
    losses = train(valley, steps=503, learning_rate=0.1)
    assert len(losses) == 503
    assert losses[0] == 9
    assert float(valley.parameter.detach()) == pytest.approx(3, abs=1e-2)


def test_the_learning_rate_falls_along_a_line_to_zero():
    # With a constant gradient every AdamW step is as long as its learning rate.
    parameter = torch.nn.Parameter(torch.zeros(()))
    train(lambda: Run(lambda: -parameter, [parameter]), steps=100, learning_rate=0.1)
    assert float(parameter.detach()) == pytest.approx(sum(0.1 * (1 - k / 100) for k in range(100)), rel=1e-4)
    train(lambda: Run(lambda: -parameter, [parameter]), steps=100, learning_rate=0.1, decay=False)
    assert float(parameter.detach()) == pytest.approx(5.05 + 10, rel=1e-4)


def test_weight_decay_pulls_towards_zero():
    parameter = torch.nn.Parameter(torch.ones(()))
    start = lambda: Run(lambda: 0 * parameter, [parameter])  # noqa: E731
    train(start, steps=10, learning_rate=0.1, weight_decay=0.5, decay=False)
    assert float(parameter.detach()) == pytest.approx(0.95**10, rel=1e-5)


def test_it_trains_where_gradients_are_switched_off():
    valley = Valley()
    with torch.no_grad():
        train(valley, steps=500, learning_rate=0.1)
    assert float(valley.parameter.detach()) == pytest.approx(3, abs=1e-2)


def test_seconds_go_on_after_a_restart():
    seen, valley = [], Valley(poisoned={1})

    def start():
        time.sleep(0.02)
        return valley()

    train(start, steps=10, learning_rate=0.1, callbacks=[lambda p: seen.append(p.seconds)])
    assert seen[0] >= 0.04


def test_a_poisoned_run_starts_anew_once_with_a_smaller_rate():
    valley = Valley(poisoned={1})
    losses = train(valley, steps=20, learning_rate=0.1, decay=False)
    assert valley.starts == 2
    assert losses[0] == 9
    assert float(valley.parameter.detach()) == pytest.approx(20 * 0.01, rel=0.02)


def test_two_poisoned_runs_are_a_named_error():
    valley = Valley(poisoned={1, 2})
    with pytest.raises(NonFiniteLossError, match=r"learning_rate=0\.1 and again with 0\.01"):
        train(valley, steps=20, learning_rate=0.1)
    assert valley.starts == 2


def test_callbacks_are_all_told_and_any_of_them_stops():
    seen = []

    def watch(progress):
        seen.append(progress)

    losses = train(Valley(), steps=1000, learning_rate=0.1, callbacks=[lambda p: p.step >= 30, watch])
    assert [progress.step for progress in seen] == [10, 20, 30]
    assert len(losses) == 30
    assert seen[0].steps == 1000
    assert seen[0].loss == pytest.approx(sum(losses[:10]) / 10)
    assert seen[0].seconds <= seen[-1].seconds


def test_early_stop_waits_for_its_patience():
    stop = EarlyStop(patience=30, tolerance=0.1)
    losses = [1.0, 0.5, 0.49, 0.48, 0.47, 0.46]
    answers = [stop(Progress(10 * i, 1000, loss, 0.0)) for i, loss in enumerate(losses, 1)]
    assert answers == [False, False, False, False, True, True]


def test_early_stop_forgets_an_earlier_run():
    stop = EarlyStop(patience=20)
    assert not stop(Progress(100, 1000, 0.001, 0.0))
    assert not stop(Progress(10, 1000, 5.0, 0.0))
    assert not stop(Progress(20, 1000, 4.0, 0.0))


def test_time_budget_ends_a_long_run():
    slow = Valley()

    def start():
        run = slow()
        return Run(lambda: (time.sleep(0.001), run.loss())[1], run.parameters)

    losses = train(start, steps=10**6, learning_rate=0.1, callbacks=[TimeBudget(0.05)])
    assert 10 <= len(losses) < 1000


def test_a_budget_keeps_a_reserve_for_what_comes_after():
    second_a_step = Progress(50, 1000, 0.0, 50.0)
    assert not TimeBudget(100.0)(second_a_step)
    assert not TimeBudget(100.0, reserve=40)(second_a_step)
    assert TimeBudget(100.0, reserve=60)(second_a_step)


def test_the_learning_rate_warms_up():
    parameter = torch.nn.Parameter(torch.zeros(()))
    train(lambda: Run(lambda: -parameter, [parameter]), steps=8, learning_rate=0.1, decay=False, warmup=3)
    assert float(parameter.detach()) == pytest.approx(0.1 * (0.25 + 0.5 + 0.75 + 5), rel=1e-4)


def test_what_comes_after_a_step_is_done_after_each():
    steps = []
    valley = Valley()

    def start():
        run = valley()
        return Run(run.loss, run.parameters, after=[lambda: steps.append(float(valley.parameter.detach()))])

    train(start, steps=3, learning_rate=0.1, decay=False)
    assert steps == sorted(set(steps))
    assert len(steps) == 3
