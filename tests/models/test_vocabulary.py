from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from regard.models.vocabulary import ROWS, Vocabulary, linear_cross_entropy


def parts(rows: int = 7) -> tuple[torch.Tensor, ...]:
    make = torch.randn
    x, weight, bias = (
        make(*shape, dtype=torch.float64, requires_grad=True) for shape in ((rows, 3), (5, 3), (5,))
    )
    return x, weight, bias, torch.randint(5, (rows,))


def test_a_loss_computed_by_hand() -> None:
    """Scores ln 1, ln 2, ln 5 have shares 1/8, 2/8, 5/8."""
    bias = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64).log()
    x, weight = torch.zeros(2, 4, dtype=torch.float64), torch.zeros(3, 4, dtype=torch.float64)
    targets = torch.tensor([2, 0])
    plain = linear_cross_entropy(x, weight, bias, targets).item()
    assert plain == pytest.approx(-math.log(5 / 8) - math.log(1 / 8), abs=1e-12)
    every = -(math.log(1 / 8) + math.log(2 / 8) + math.log(5 / 8))
    smooth = linear_cross_entropy(x, weight, bias, targets, 0.3).item()
    assert smooth == pytest.approx(0.7 * plain + 2 * 0.3 / 3 * every, abs=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_equals_pytorchs_cross_entropy_over_several_slices(smoothing: float) -> None:
    x, weight, bias, targets = parts(2 * ROWS + 3)
    ours = linear_cross_entropy(x, weight, bias, targets, smoothing)
    gradients = torch.autograd.grad(3 * ours, (x, weight, bias))
    theirs = F.cross_entropy(
        x @ weight.t() + bias, targets, reduction="sum", label_smoothing=smoothing
    )
    torch.testing.assert_close(ours, theirs)
    expected = torch.autograd.grad(3 * theirs, (x, weight, bias))
    for got, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_gradient_is_right(smoothing: float) -> None:
    x, weight, bias, targets = parts()
    assert torch.autograd.gradcheck(
        lambda x, weight, bias: linear_cross_entropy(x, weight, bias, targets, smoothing),
        (x, weight, bias),
    )


def test_large_scores_do_not_overflow() -> None:
    bias = torch.tensor([1000.0, 0.0, -1000.0])
    loss = linear_cross_entropy(torch.zeros(1, 2), torch.zeros(3, 2), bias, torch.tensor([2]))
    assert loss.item() == 2000


def test_a_loss_without_gradients() -> None:
    x, weight, bias, targets = (part.detach() for part in parts())
    loss = linear_cross_entropy(x, weight, bias, targets)
    torch.testing.assert_close(loss, F.cross_entropy(x @ weight.t() + bias, targets) * 7)
    assert linear_cross_entropy(x[:0], weight, bias, targets[:0]).item() == 0


def test_tied_words_are_one_matrix() -> None:
    tied = Vocabulary(11, 5, 5, tied=True)
    assert {name: tuple(p.shape) for name, p in tied.named_parameters()} == {
        "words": (11, 5),
        "bias": (11,),
    }
    ids = torch.tensor([3, 7])
    assert torch.equal(tied.source(ids), tied.target(ids))
    torch.testing.assert_close(tied.logits(torch.eye(5)), tied.words.t())


def test_untied_words_are_three() -> None:
    apart = Vocabulary(11, 5, 3, tied=False)
    ids = torch.tensor([3, 7])
    assert not torch.equal(apart.source(ids), apart.target(ids))
    assert apart.logits(torch.zeros(2, 3)).shape == (2, 11)


def test_a_bias_alone_can_train() -> None:
    x, weight, bias, targets = parts()
    still = x.detach(), weight.detach()
    (ours,) = torch.autograd.grad(linear_cross_entropy(*still, bias, targets), bias)
    theirs = F.cross_entropy(still[0] @ still[1].t() + bias, targets, reduction="sum")
    torch.testing.assert_close(ours, *torch.autograd.grad(theirs, bias))


def test_a_second_derivative_is_refused() -> None:
    x, weight, bias, targets = parts()
    loss = linear_cross_entropy(x, weight, bias, targets)
    (first,) = torch.autograd.grad(loss**2, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
