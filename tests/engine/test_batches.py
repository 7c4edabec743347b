"""Rows for each step, and cells that scouts never see."""

import pytest
import torch

from simpdm_frames.engine.batches import Batches, Holdout
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.table import Padding, Table

HEADS = Heads((3,))


def rows(n=50):
    numbers = torch.arange(float(n)).unsqueeze(1)
    return Table(numbers, torch.empty(n, 0), numbers > 99)


def mixed(n=400):
    generator = torch.Generator().manual_seed(1)
    codes = torch.randint(3, (n, 1), generator=generator)
    missing = torch.rand(n, 3, generator=generator) < 0.2
    return Table(torch.randn(n, 2, generator=generator), HEADS.one_hot(codes), missing)


def holdout(table, n_scouts=2, share=0.2):
    padding = Padding(torch.tensor([7.0, 8.0]), torch.tensor([0.2, 0.3, 0.5]))
    return Holdout(table, n_scouts, share, padding, HEADS, torch.Generator().manual_seed(0))


def test_small_batches_see_every_row():
    batches = Batches(rows(), 7, torch.Generator().manual_seed(0))
    epoch = torch.cat([batches.next().numbers for _ in range(7)], dim=1)
    assert len(epoch.unique()) == 49
    assert len(torch.cat([batches.next().numbers for _ in range(70)]).unique()) == 50
    assert batches.next().numbers.shape == (1, 7, 1)


def test_members_see_the_rows_in_orders_of_their_own():
    batch = Batches(rows(), 7, torch.Generator().manual_seed(0), members=3).next()
    assert batch.numbers.shape == (3, 7, 1)
    assert not torch.equal(batch.numbers[0], batch.numbers[1])


def test_a_small_table_is_used_whole():
    batches = Batches(rows(), 64, torch.Generator())
    assert torch.equal(batches.next().numbers[0], rows().numbers)
    assert batches.next() is batches.next()


def test_half_as_many_rows_down_to_one():
    batches = Batches(rows(4), 4, torch.Generator().manual_seed(0))
    assert [batches.halve() for _ in range(3)] == [True, True, False]
    assert len(batches.next()) == 1


def test_scouts_hold_out_observed_cells_of_their_own_at_the_share():
    table = mixed()
    held = holdout(table, n_scouts=3)
    seen = ~table.missing[held.rows]
    assert not (held.held & ~seen).any()
    assert float(held.held[:, seen].float().mean()) == pytest.approx(0.2, abs=0.03)
    assert int(held.held.sum(-1).max()) == 1  # of a row one at most
    assert torch.equal(held.held[0], held.held[1])  # a pair, one of each kind
    assert (held.held[0] != held.held[2]).any()


def test_scouts_are_shown_padding_where_cells_are_held_out_and_others_are_shown_all():
    table = mixed()
    held = holdout(table)
    batch = Batches(table, len(table), torch.Generator(), members=3, holdout=held).next()
    assert torch.equal(batch.missing[2], table.missing)
    shown = table.missing.logical_not()
    assert torch.equal(batch.numbers[2][shown[:, :2]], table.numbers[shown[:, :2]])
    for scout in range(2):
        lost = torch.zeros_like(table.missing)
        lost[held.rows] = held.held[scout]
        assert lost.any(0).all()
        assert torch.equal(batch.missing[scout], table.missing | lost)
        assert (batch.numbers[scout][:, 0][lost[:, 0]] == 7).all()
        assert (batch.levels[scout][lost[:, 2]] == torch.tensor([0.2, 0.3, 0.5])).all()


def test_shuffled_rows_keep_their_held_out_cells():
    table = mixed()
    held = holdout(table)
    batches = Batches(table, 64, torch.Generator().manual_seed(5), members=2, holdout=held)
    lost = torch.zeros(2, *table.missing.shape, dtype=torch.bool)
    lost[:, held.rows] = held.held
    by_row = {tuple(row): place for place, row in enumerate(table.numbers.tolist())}
    told = 0
    for _ in range(5):
        batch = batches.next()
        for scout in range(2):
            for numbers, missing in zip(batch.numbers[scout], batch.missing[scout], strict=True):
                place = by_row.get(
                    tuple(numbers.tolist())
                )  # rows whose numbers are all shown are told by them
                if place is not None:
                    told += 1
                    assert torch.equal(missing, table.missing[place] | lost[scout, place])
    assert told > 100


def test_a_column_with_few_observed_cells_keeps_them():
    table = mixed()
    table.missing[5:, 0] = True
    assert not holdout(table).held[..., 0].any()
