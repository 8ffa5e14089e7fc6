"""The gradient of softmax is what autograd finds."""

from __future__ import annotations

import torch

from regard.attention.gradient import softmax_gradient, softmax_jacobian


def test_it_is_what_autograd_finds() -> None:
    scores = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(3, 5, dtype=torch.float64)
    weights = scores.softmax(-1)
    jacobian = softmax_jacobian(weights.detach())
    for row in range(3):
        found = torch.autograd.functional.jacobian(lambda e: e.softmax(-1), scores[row].detach())
        torch.testing.assert_close(jacobian[row], found)
    (weights * upstream).sum().backward()
    assert scores.grad is not None
    gradient = softmax_gradient(weights.detach(), upstream)
    torch.testing.assert_close(gradient, scores.grad)
    torch.testing.assert_close(gradient, (upstream.unsqueeze(-2) @ jacobian).squeeze(-2))


def test_by_hand() -> None:
    half = torch.tensor([0.5, 0.5])
    assert softmax_jacobian(half).tolist() == [[0.25, -0.25], [-0.25, 0.25]]
    assert softmax_gradient(half, torch.tensor([1.0, 0.0])).tolist() == [0.25, -0.25]
