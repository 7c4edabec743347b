import random
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine, NonFiniteLossError
from simpdm_frames.engine.sampling import expectation
from simpdm_frames.presets import preset
from simpdm_frames.settings import Settings

QUICK = Settings(steps=20, width=16, layers=2, batch_size=64)


def table(layout, n=40, seed=0, share=0.3):
    """A table whose columns all depend on one hidden number."""
    source = np.random.default_rng(seed)
    hidden = source.normal(size=(n, 1))
    numbers = hidden + 0.3 * source.normal(size=(n, layout.n_numbers))
    rank = np.argsort(np.argsort(hidden[:, 0])) / n
    codes = [(rank * size).astype(np.int64) for size in layout.cardinalities]
    missing = source.random((n, layout.n_columns)) < share
    missing[0] = False
    return Encoded(
        layout,
        numbers.astype(np.float32),
        np.stack(codes, axis=1) if codes else np.empty((n, 0), dtype=np.int64),
        missing,
    )


MIXED = table(Layout(3, (2, 5)))
FITTED = Engine.fit(MIXED, QUICK, seed=3)
RECIPE = Engine.fit(MIXED, preset("fast", 40).override(steps=15, width=24), seed=3)


def assert_same(one, other):
    np.testing.assert_array_equal(one.numbers, other.numbers)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_observed_cells_come_back_identical():
    done = FITTED.impute(MIXED)
    seen = ~MIXED.missing
    np.testing.assert_array_equal(done.numbers[seen[:, :3]], MIXED.numbers[seen[:, :3]])
    for head, probabilities in enumerate(done.heads()):
        known = seen[:, 3 + head]
        np.testing.assert_array_equal(probabilities[known].argmax(1), MIXED.codes[known, head])
        assert set(np.unique(probabilities[known])) == {0.0, 1.0}


def test_every_hole_gets_a_finite_number_or_a_distribution():
    done = FITTED.impute(MIXED)
    assert np.isfinite(done.numbers).all()
    for probabilities in done.heads():
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("engine", [FITTED, RECIPE], ids=["plain", "recipe"])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batch_size_changes_nothing(engine, batch_size):
    assert_same(engine.impute(MIXED, batch_size=batch_size), engine.impute(MIXED))


@pytest.mark.parametrize("engine", [FITTED, RECIPE], ids=["plain", "recipe"])
@given(order=st.permutations(range(40)), count=st.integers(1, 40))
@settings(max_examples=10, deadline=None)
def test_a_row_does_not_depend_on_the_rows_beside_it(engine, order, count):
    chosen = np.array(order[:count])
    done, some = engine.impute(MIXED), engine.impute(MIXED.rows(chosen))
    np.testing.assert_array_equal(some.numbers, done.numbers[chosen])
    np.testing.assert_array_equal(some.probabilities, done.probabilities[chosen])


@pytest.mark.parametrize("layout", [Layout(2), Layout(0, (2, 3)), Layout(1, (2,))])
def test_the_recipe_fits_tables_of_every_kind(layout):
    holes = table(layout)
    done = Engine.fit(holes, preset("fast", 40).override(steps=15, width=24)).impute(holes)
    assert np.isfinite(done.numbers).all()
    assert np.isfinite(done.probabilities).all()


def test_from_the_mean_of_noise_the_seed_of_imputing_does_not_matter():
    assert_same(RECIPE.impute(MIXED, seed=1), RECIPE.impute(MIXED, seed=2))


def test_a_chain_learns_a_column_that_is_a_multiple_of_another():
    source = np.random.default_rng(0)
    x = np.exp(source.normal(size=(300, 1))).astype(np.float32)  # a few values are far out
    holes = Encoded(
        Layout(2),
        np.concatenate([x, 3 * x], axis=1),
        np.empty((300, 0), dtype=np.int64),
        np.zeros((300, 2), bool),
    )
    holes.missing[::3, 1] = True
    errors = []
    for chain in (0, 4):
        plain = Settings(
            steps=500, width=32, scale="deviation", sampling_steps=1, start="mean", learning_rate=5e-3
        )
        done = Engine.fit(holes, plain.override(chain=chain)).impute(holes)
        errors.append(np.abs(done.numbers - holes.numbers)[::3, 1].max())
    assert errors[1] < errors[0]


def test_more_rows_than_one_pass_hold_the_same_law():
    big = table(Layout(2, (3,)), n=600, seed=1)
    engine = Engine.fit(big, QUICK)
    order = np.random.default_rng(0).permutation(600)
    done, again = engine.impute(big), engine.impute(big.rows(order), batch_size=100)
    np.testing.assert_array_equal(again.numbers, done.numbers[order])
    np.testing.assert_array_equal(again.probabilities, done.probabilities[order])


def test_keys_tell_equal_rows_apart():
    twins = MIXED.rows(np.full(4, 5))
    twins.missing[:, 0] = True
    assert len(np.unique(FITTED.impute(twins).numbers[:, 0])) == 1
    keyed = Encoded(twins.layout, twins.numbers, twins.codes, twins.missing, np.arange(4))
    assert len(np.unique(FITTED.impute(keyed).numbers[:, 0])) == 4


def test_the_seed_decides_fit_and_fills():
    again = Engine.fit(MIXED, QUICK, seed=3)
    assert again.loss_curve == FITTED.loss_curve
    assert_same(again.impute(MIXED), FITTED.impute(MIXED))
    other = Engine.fit(MIXED, QUICK, seed=4)
    assert (other.impute(MIXED).numbers != FITTED.impute(MIXED).numbers).any()
    assert (FITTED.impute(MIXED, seed=9).numbers != FITTED.impute(MIXED).numbers).any()


def test_no_global_generator_is_touched():
    torch.manual_seed(0)
    before = torch.get_rng_state(), repr(np.random.get_state()), random.getstate()
    Engine.fit(MIXED, QUICK).impute(MIXED)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (repr(np.random.get_state()), random.getstate()) == before[1:]


def test_threads_share_a_model():
    expected, results = FITTED.impute(MIXED), [None] * 4

    def work(place):
        results[place] = FITTED.impute(MIXED)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert_same(result, expected)


def test_the_number_of_threads_changes_time_and_not_fills():
    table_ = table(Layout(4, (3,)), n=300)
    before, fills = torch.get_num_threads(), []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            model = Engine.fit(table_, preset("default", 300).override(steps=40), seed=1)
            assert torch.get_num_threads() == number
            fills.append(model.impute(table_).numbers)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(fills[0], fills[1], atol=1e-4)


def test_fewer_sampling_steps_and_averaged_draws():
    one_step = Engine.fit(MIXED, QUICK.override(sampling_steps=1))
    averaged = Engine.fit(MIXED, QUICK.override(sampling_steps=3, draws=64))
    holes = MIXED.missing[:, :3]

    def spread(engine):
        fills = np.stack([engine.impute(MIXED, seed=seed).numbers[holes] for seed in range(8)])
        return fills.std(0).mean()

    assert 0 < spread(averaged) < 0.3 * spread(one_step)


LAYOUTS = {
    "only numbers": Layout(4),
    "only categories": Layout(0, (2, 3, 4)),
    "one number": Layout(1),
    "one category": Layout(0, (3,)),
    "one level": Layout(1, (1, 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("alignment", ["mse", "contrastive", "sinkhorn", "none"])
def test_every_layout_works_with_every_alignment(layout, alignment):
    holes = table(layout)
    engine = Engine.fit(holes, QUICK.override(alignment=alignment))
    done = engine.impute(holes)
    assert np.isfinite(engine.loss_curve).all()
    assert np.isfinite(done.numbers).all()
    assert (done.codes() < np.array(layout.cardinalities, dtype=int)).all()


@pytest.mark.parametrize("augmentation", ["state", "strong", "weak", "none"])
@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_every_augmentation_and_schedule_works(augmentation, schedule):
    engine = Engine.fit(MIXED, QUICK.override(augmentation=augmentation, schedule=schedule))
    assert np.isfinite(engine.impute(MIXED).numbers).all()


def test_constant_columns_are_filled_with_their_constant():
    holes = table(Layout(2), n=100)
    holes.numbers[:, 1] = 0.5
    engine = Engine.fit(holes, Settings(steps=400, width=64, learning_rate=5e-3))
    filled = engine.impute(holes).numbers[holes.missing[:, 1], 1]
    np.testing.assert_allclose(filled, 0.5, atol=0.05)


def test_rows_without_any_observed_cell_are_filled():
    lost = Encoded(MIXED.layout, MIXED.numbers, MIXED.codes, np.ones_like(MIXED.missing))
    done = FITTED.impute(lost)
    assert np.isfinite(done.numbers).all()
    assert np.isfinite(done.probabilities).all()


def test_a_table_without_holes_comes_back_as_it_was():
    whole = Encoded(MIXED.layout, MIXED.numbers, MIXED.codes, np.zeros_like(MIXED.missing))
    done = FITTED.impute(whole)
    np.testing.assert_array_equal(done.numbers, whole.numbers)
    np.testing.assert_array_equal(done.codes(), whole.codes)


def test_no_rows_come_back_as_no_rows():
    assert FITTED.impute(MIXED.rows(slice(0, 0))).numbers.shape == (0, 3)


def test_columns_without_observed_cells_are_refused_by_name():
    holes = table(Layout(2, (3,)))
    holes.missing[:, [1, 2]] = True
    with pytest.raises(ValueError, match="number column 1, category column 0: no observed cell"):
        Engine.fit(holes, QUICK)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_are_refused(n):
    with pytest.raises(ValueError, match=f"at least 2 rows, got {n}"):
        Engine.fit(MIXED.rows(slice(0, n)), QUICK)


def test_no_columns_are_refused():
    with pytest.raises(ValueError, match="at least 1 column"):
        Engine.fit(table(Layout(0)), QUICK)


def test_another_layout_is_refused():
    with pytest.raises(ValueError, match="n_numbers=2"):
        FITTED.impute(table(Layout(2)))


def test_batch_size_below_one_is_refused():
    with pytest.raises(ValueError, match="batch_size"):
        FITTED.impute(MIXED, batch_size=0)


def test_a_diverging_fit_is_a_named_error():
    holes = table(Layout(2))
    holes.numbers[:] *= np.float32(1e30)
    with pytest.raises(NonFiniteLossError, match="extreme values"):
        Engine.fit(holes, QUICK)


def test_what_lies_under_a_hole_is_never_read():
    numbers, codes = MIXED.numbers.copy(), MIXED.codes.copy()
    numbers[MIXED.missing[:, :3]] = np.nan
    codes[MIXED.missing[:, 3:]] = -77
    blind = Encoded(MIXED.layout, numbers, codes, MIXED.missing)
    engine = Engine.fit(blind, QUICK, seed=3)
    assert engine.loss_curve == FITTED.loss_curve
    assert_same(engine.impute(blind), FITTED.impute(MIXED))


def test_read_only_and_backward_arrays_are_taken():
    backward = MIXED.rows(slice(None, None, -1))
    for array in (backward.numbers, backward.codes, backward.missing):
        array.flags.writeable = False
    np.testing.assert_array_equal(FITTED.impute(backward).numbers, FITTED.impute(MIXED).numbers[::-1])
    assert np.isfinite(Engine.fit(backward, QUICK).loss_curve).all()


def test_another_default_dtype_changes_nothing():
    torch.set_default_dtype(torch.float64)
    try:
        for fitted in (FITTED, RECIPE):
            engine = Engine.fit(MIXED, fitted.settings, seed=3)
            assert_same(engine.impute(MIXED), fitted.impute(MIXED))
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "a", True])
def test_seeds_that_are_none_are_refused_by_name(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        Engine.fit(MIXED, QUICK, seed=seed)


def test_the_settings_shape_the_network():
    fits = [Engine.fit(MIXED, QUICK.override(layers=n, width=24, steps=1)) for n in (1, 4)]
    assert [len(engine.denoiser.hidden) for engine in fits] == [0, 3]
    assert fits[0].denoiser.head.shape == (1, 32, 16)  # rounded up to whole vectors


def test_the_network_is_told_step_and_mask():
    rows, many = torch.zeros(1, 1, 10), torch.zeros(1, 1, 5, dtype=torch.bool)

    def ask(t, condition):
        return FITTED.denoiser(rows, rows.unsqueeze(0), torch.tensor([[[t]]]), condition)

    assert (ask(4, many) != ask(3, many)).all()
    assert (ask(3, ~many) != ask(3, many)).all()


def test_training_learns_what_the_columns_say_of_each_other():
    holes = table(Layout(2, (2, 4)), n=400, seed=2)
    engine = Engine.fit(holes, Settings(steps=500, width=64, learning_rate=3e-3, alignment_weight=0.5))
    done, hidden = engine.impute(holes), holes.missing
    error = np.abs(done.numbers - holes.numbers)[hidden[:, :2]].mean()
    spread = np.abs(holes.numbers - holes.numbers.mean(0))[hidden[:, :2]].mean()
    assert error < 0.6 * spread
    hit = (done.codes() == holes.codes)[hidden[:, 2:]].mean()
    assert hit > 0.6
    assert np.mean(engine.loss_curve[-50:]) < 0.7 * np.mean(engine.loss_curve[:50])


def test_alignment_lowers_the_spread_over_initial_noises():
    """The paper's case study: the same table filled from ten initial noises."""
    holes = table(Layout(4), n=300, seed=5)
    base = Settings(steps=500, width=64, learning_rate=2e-3, augmentation="none", alignment="none")

    def spread(options):
        engine = Engine.fit(holes, options, seed=1)
        fills = [engine.impute(holes, seed=seed).numbers[holes.missing] for seed in range(10)]
        return np.stack(fills).std(0).mean()

    assert spread(base.override(alignment="mse", alignment_weight=10.0)) < 0.7 * spread(base)


def test_scouts_are_asked_in_parts_without_a_difference(monkeypatch):
    mixed = table(Layout(3, (2, 5)), n=300)
    small = Settings(steps=60, width=16, members=3, scouts=2, frequencies=2, look_every=20, average=0.9)
    at_once = Engine.fit(mixed, small, seed=0)
    monkeypatch.setattr("simpdm_frames.engine.trial._WAVES_AT_ONCE", 1)
    heights = []
    monkeypatch.setattr(
        "simpdm_frames.engine.trial.expectation",
        lambda *given: heights.append(len(given[-1])) or expectation(*given),
    )
    in_parts = Engine.fit(mixed, small, seed=0)
    assert max(heights) == 64
    assert sum(heights) % 300 == 0
    np.testing.assert_allclose(in_parts.judged, at_once.judged, rtol=1e-5)
    np.testing.assert_allclose(
        in_parts.impute(mixed).numbers, at_once.impute(mixed).numbers, rtol=1e-4, atol=1e-5
    )


def test_the_rows_of_a_wide_table_do_not_depend_on_their_batch():
    wide = table(Layout(700), n=300)
    engine = Engine.fit(wide, preset("fast", 300, 700).override(steps=2, width=16), seed=0)
    whole = engine.impute(wide)
    assert_same(engine.impute(wide, batch_size=77), whole)
    some = np.arange(300)[::-7]
    np.testing.assert_array_equal(engine.impute(wide.rows(some)).numbers, whole.numbers[some])
