import torch
from hypothesis import given
from hypothesis import strategies as st

from simpdm_frames.engine.ragged import Heads

cardinalities = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def per_head(sizes, values):
    return values.split(sizes, dim=1)


def scores_for(sizes, seed, scale=10.0):
    return scale * torch.randn(6, sum(sizes), generator=torch.Generator().manual_seed(seed))


@given(cardinalities, st.integers(0, 99))
def test_reductions_equal_a_loop_over_heads(sizes, seed):
    heads, scores = Heads(sizes), scores_for(sizes, seed)
    parts = per_head(sizes, scores)
    torch.testing.assert_close(heads.sum(scores), torch.stack([p.sum(1) for p in parts], 1))
    assert torch.equal(heads.max(scores), torch.stack([p.amax(1) for p in parts], 1))
    assert torch.equal(heads.argmax(scores), torch.stack([p.argmax(1) for p in parts], 1))
    torch.testing.assert_close(heads.logsumexp(scores), torch.stack([p.logsumexp(1) for p in parts], 1))


@given(cardinalities, st.integers(0, 99), st.sampled_from([1.0, 1e4]))
def test_log_softmax_equals_a_loop_over_heads_and_stays_finite(sizes, seed, scale):
    scores = scores_for(sizes, seed, scale)
    expected = torch.cat([part.log_softmax(1) for part in per_head(sizes, scores)], dim=1)
    result = Heads(sizes).log_softmax(scores)
    assert result.isfinite().all()
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5 * scale)


def test_log_softmax_has_the_gradient_of_a_loop_over_heads():
    sizes = [2, 5, 1, 3]
    mine, loop = (scores_for(sizes, 1).requires_grad_() for _ in range(2))
    weight = scores_for(sizes, 2)
    (Heads(sizes).log_softmax(mine) * weight).sum().backward()
    (torch.cat([p.log_softmax(1) for p in per_head(sizes, loop)], dim=1) * weight).sum().backward()
    torch.testing.assert_close(mine.grad, loop.grad, rtol=1e-4, atol=1e-4)


@given(cardinalities, st.data())
def test_one_hot_and_argmax_undo_each_other(sizes, data):
    codes = torch.tensor([[data.draw(st.integers(0, size - 1)) for size in sizes] for _ in range(4)])
    hot = Heads(sizes).one_hot(codes)
    assert torch.equal(Heads(sizes).argmax(hot), codes)
    assert torch.equal(Heads(sizes).sum(hot), torch.ones(4, len(sizes)))


def test_a_table_without_categories_has_empty_heads():
    heads = Heads(())
    assert heads.log_softmax(torch.empty(3, 0)).shape == (3, 0)
    assert heads.one_hot(torch.empty(3, 0, dtype=torch.int64)).shape == (3, 0)
