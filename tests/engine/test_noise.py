import torch
from hypothesis import given
from hypothesis import strategies as st

from simpdm_frames.engine.noise import content_keys, normal, uniform

any_int64 = st.integers(-(2**63), 2**63 - 1)


def test_numbers_are_uniform_and_normal_and_do_not_correlate():
    keys = torch.arange(4000)
    u = uniform(0, keys, (0, 1), 50)
    assert u.min() > 0
    assert u.max() < 1
    counts = torch.histc(u, 20, 0, 1) / u.numel()
    assert (counts - 0.05).abs().max() < 0.002
    z = normal(0, keys, (0, 1), 50)
    assert abs(float(z.mean())) < 0.01
    assert abs(float(z.std()) - 1) < 0.01
    assert abs(float((z**4).mean()) - 3) < 0.1
    correlation = torch.corrcoef(z.T) - torch.eye(50)
    assert correlation.abs().max() < 0.08
    assert torch.corrcoef(torch.stack([z[:-1].flatten(), z[1:].flatten()]))[0, 1].abs() < 0.01


def test_seed_key_draw_step_and_column_each_change_the_numbers():
    keys = torch.tensor([5])
    base = normal(0, keys, (0, 1), 4)
    others = [
        normal(1, keys, (0, 1), 4),
        normal(0, keys + 1, (0, 1), 4),
        normal(0, keys, (1, 1), 4),
        normal(0, keys, (0, 2), 4),
        normal(0, keys, (1, 0), 4),
    ]
    for other in others:
        assert not torch.isclose(base, other).any()
    assert len(base.unique()) == 4


@given(any_int64, st.lists(any_int64, min_size=1, max_size=5), st.integers(0, 2**63 - 1))
def test_a_row_keeps_its_numbers_whatever_stands_beside_it(key, others, seed):
    alone = normal(seed, torch.tensor([key]), (3, 2), 4)
    together = normal(seed, torch.tensor([*others, key]), (3, 2), 4)
    assert alone.isfinite().all()
    assert torch.equal(together[-1:], alone)


def reference_bits(seed, key, purpose, column):
    """The same hash in Python's unbounded integers."""
    stride, mask = 0x9E3779B97F4A7C15, 2**64 - 1

    def mix(x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    state = mix((key + (seed + 1) * stride) & mask)
    for part in purpose:
        state = mix((state + (part + 1) * stride) & mask)
    return mix((state + column * stride) & mask) >> 41


@given(any_int64, any_int64)
def test_bits_are_those_of_the_reference(seed, key):
    # They must never change: a saved model would fill other values.
    bits = (uniform(seed, torch.tensor([key]), (0, 3), 3) * 2**23).int()
    assert bits.tolist() == [[reference_bits(seed, key, (0, 3), column) for column in (1, 2, 3)]]


def test_content_keys_see_values_and_holes_but_not_what_is_under_a_hole():
    numbers = torch.tensor([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [2.0, 1.0], [1.0, 9.0], [1.0, 8.0]])
    codes = torch.zeros(6, 1, dtype=torch.int64)
    missing = torch.zeros(6, 3, dtype=torch.bool)
    missing[4:, 1] = True
    keys = content_keys(numbers, codes, missing)
    assert keys[0] == keys[1]
    assert keys[4] == keys[5]
    assert len(keys.unique()) == 4
    assert (content_keys(numbers, codes + 1, missing) != keys).all()


def test_the_two_zeros_are_one_value():
    numbers = torch.tensor([[0.0], [-0.0]])
    keys = content_keys(numbers, torch.empty(2, 0, dtype=torch.int64), torch.zeros(2, 1, dtype=torch.bool))
    assert keys[0] == keys[1]
