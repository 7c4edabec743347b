import numpy as np
import torch

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.engine.afterthought import find_afterthought
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.processes import find_processes
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import share_lacking
from simpdm_frames.presets import preset


def source(seed=0):
    return torch.Generator().manual_seed(seed)


def bent(n=300):
    """A table whose last column is a smooth surface over the other two; some rows lack it, some of them the second too."""
    numbers = torch.randn(n, 3, generator=source(1))
    numbers[:, 2] = (2 * numbers[:, 0]).sin() + numbers[:, 1] ** 2 / 2
    missing = torch.rand(n, 3, generator=source(2)) < torch.tensor([0.0, 0.3, 0.3])
    return numbers, missing


def table_of(numbers, missing):
    return Table(numbers.masked_fill(missing, 0.0), numbers[:, :0], missing)


def lessons_of(numbers, missing, second, third):
    """What others say who take the second column for one thing and the third for another, a fifth of which is held out."""
    held = torch.zeros_like(missing)
    held[:, 2] = ~missing[:, 2] & (torch.rand(len(numbers), generator=source(3)) < 0.2)
    hidden = missing | held
    told = torch.where(hidden, torch.stack([numbers[:, 0], second, third], dim=1), numbers)
    shown = table_of(numbers, hidden)
    lessons = Lessons(
        told.unsqueeze(0),
        Table(*(part.unsqueeze(0) for part in (shown.numbers, shown.levels, shown.missing))),
        numbers,
        held.unsqueeze(0),
        torch.zeros(3),
        torch.arange(len(numbers)),
    )
    return lessons, held, hidden


def test_processes_are_believed_the_more_the_better_the_other_holes_are_filled():
    numbers, missing = bent()
    table = table_of(numbers, missing)
    processes, _ = find_processes(table, Layout(3), 300, lambda rows: rows, None, source())
    shares = {}
    for name, second in {"right": numbers[:, 1], "wrong": torch.randn(300, generator=source(4))}.items():
        lessons, held, hidden = lessons_of(numbers, missing, second, numbers[:, 2] + 0.5)
        afterthought, after = find_afterthought(processes, lessons, len(table))
        share = afterthought.trust.of(share_lacking(hidden))
        there = held & missing[:, [1]]  # rows that lack the second column too
        shares[name] = float(share[there].mean())
        assert afterthought.processes is processes
        errors = [((found.estimates[0] - numbers)[held] ** 2).mean() for found in (lessons, after)]
        assert errors[1] < errors[0]
        assert after.open < lessons.open
    assert shares["right"] > shares["wrong"] + 0.2


def test_who_knows_already_needs_no_afterthought():
    numbers, missing = bent()
    table = table_of(numbers, missing)
    processes, _ = find_processes(table, Layout(3), 300, lambda rows: rows, None, source())
    lessons, held, hidden = lessons_of(numbers, missing, numbers[:, 1], numbers[:, 2] + 0.001)
    afterthought, _ = find_afterthought(processes, lessons, len(table))
    assert float(afterthought.trust.of(share_lacking(hidden))[held].mean()) < 0.1


def grouped(n=400):
    """Rows of eighty groups: the second number is the group's own, the last a smooth surface over it and the third."""
    random = np.random.default_rng(0)
    group = np.arange(n) % 80
    own = random.normal(size=80)[group]
    third = random.normal(size=n)
    last = np.sin(2 * own) + third**2 / 2
    numbers = np.stack([random.permutation(80)[group] / 40, own, third, last], axis=1).astype(np.float32)
    missing = random.random(numbers.shape) < np.array([0.0, 0.35, 0.0, 0.35])
    return Encoded(Layout(4), numbers, np.empty((n, 0), dtype=np.int64), missing), numbers


def test_what_neighbours_find_helps_processes():
    table, numbers = grouped()
    recipe = preset("default", len(table), 4).override(
        steps=120, width=32, members=4, clusters=0, neighbour_steps=120
    )
    engine = Engine.fit(table, recipe, seed=0)
    both = table.missing[:, 1] & table.missing[:, 3]
    before = engine.advised(engine.advisers._replace(afterthought=None), engine.residuals)
    errors = [((found.impute(table).numbers - numbers)[both, 3] ** 2).mean() for found in (engine, before)]
    assert errors[0] < 0.95 * errors[1]


def test_only_who_asks_processes_asks_them_again():
    table, _ = grouped()
    recipe = preset("default", len(table), 4).override(steps=5, width=16, neighbour_steps=3)
    assert Engine.fit(table, recipe, seed=0).advisers.afterthought is not None
    assert Engine.fit(table, recipe.override(processes=0), seed=0).advisers.afterthought is None
    assert Engine.fit(table, recipe.override(scouts=0), seed=0).advisers.afterthought is None
