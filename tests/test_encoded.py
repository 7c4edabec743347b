import numpy as np
import pytest

from simpdm_frames.encoded import Completed, Encoded, Layout

LAYOUT = Layout(2, (3,))


def parts():
    return (
        np.zeros((4, 2), dtype=np.float32),
        np.zeros((4, 1), dtype=np.int64),
        np.zeros((4, 3), dtype=bool),
    )


def test_arrays_of_another_shape_or_dtype_are_refused_by_name():
    numbers, codes, missing = parts()
    with pytest.raises(ValueError, match="numbers must be float32"):
        Encoded(LAYOUT, numbers.astype(np.float64), codes, missing)
    with pytest.raises(ValueError, match=r"codes must be int64 of shape \(4, 1\)"):
        Encoded(LAYOUT, numbers, np.zeros((4, 2), dtype=np.int64), missing)
    with pytest.raises(ValueError, match="missing"):
        Encoded(LAYOUT, numbers, codes, missing[:, :2])
    with pytest.raises(ValueError, match="keys"):
        Encoded(LAYOUT, numbers, codes, missing, np.arange(3))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_observed_numbers_must_be_finite(value):
    numbers, codes, missing = parts()
    numbers[1, 1] = value
    with pytest.raises(ValueError, match="number column 1"):
        Encoded(LAYOUT, numbers, codes, missing)
    missing[1, 1] = True
    assert len(Encoded(LAYOUT, numbers, codes, missing)) == 4


@pytest.mark.parametrize("code", [-1, 3])
def test_observed_codes_must_be_levels(code):
    numbers, codes, missing = parts()
    codes[2, 0] = code
    with pytest.raises(ValueError, match="category column 0"):
        Encoded(LAYOUT, numbers, codes, missing)
    missing[2, 2] = True
    assert len(Encoded(LAYOUT, numbers, codes, missing)) == 4


def test_a_layout_needs_levels_and_a_count():
    with pytest.raises(ValueError, match="category column 1 has cardinality 0"):
        Layout(1, (2, 0))
    with pytest.raises(ValueError, match="n_numbers"):
        Layout(-1)


def test_rows_take_keys_along():
    numbers, codes, missing = parts()
    encoded = Encoded(LAYOUT, numbers, codes, missing, np.arange(4))
    assert encoded.rows(np.array([3, 1])).keys.tolist() == [3, 1]


def test_completed_splits_into_heads():
    probabilities = np.array([[0.2, 0.8, 0.5, 0.3, 0.2]], dtype=np.float32)
    done = Completed(Layout(0, (2, 3)), np.empty((1, 0), dtype=np.float32), probabilities)
    assert [head.shape for head in done.heads()] == [(1, 2), (1, 3)]
    assert done.codes().tolist() == [[1, 0]]
    nothing = Completed(Layout(1), np.zeros((2, 1), np.float32), np.empty((2, 0), np.float32))
    assert nothing.heads() == []
    assert nothing.codes().shape == (2, 0)
