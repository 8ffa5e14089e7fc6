"""What must hold for every design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from regard.errors import ConfigError, DataError
from regard.models.translators.config import MODELS
from regard.pieces.tokenizer import EOS
from tests.models.batch import VOCABULARY, Batch, batch, model

EVERY = pytest.mark.parametrize("name", MODELS)


def finite(x: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(x == -torch.inf, -1e9)


@EVERY
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_sum_over_real_tokens(name: str, smoothing: float) -> None:
    made, b = model(name), batch()
    loss = made.loss(*b, smoothing)
    logits = made(b.source, b.source_lengths, b.target)
    total, tokens = 0.0, 0
    for row in range(4):
        s, t = int(b.source_lengths[row]), int(b.target_lengths[row])
        n = min(s, t - 1) if name == "word-by-word" else t - 1
        for i in range(n):
            log_p = logits[row, i].log_softmax(-1)
            right = -log_p[b.target[row, i + 1]].item()
            total += (1 - smoothing) * right - smoothing * log_p.mean().item()
            tokens += 1
    assert loss.tokens == tokens
    assert loss.total.item() == pytest.approx(total, abs=1e-9)


@EVERY
def test_step_by_step_equals_forward(name: str) -> None:
    made, b = model(name), batch()
    logits = made(b.source, b.source_lengths, b.target)
    state = made.start(b.source, b.source_lengths)
    for t in range(b.target.shape[1]):
        step = made.step(state, b.target[:, t])
        torch.testing.assert_close(finite(step.logits), finite(logits[:, t]), rtol=0, atol=1e-10)
        if name == "encoder-decoder":
            assert step.weights is None
        else:
            assert step.weights is not None
            torch.testing.assert_close(step.weights.sum(-1), torch.ones(4, dtype=torch.float64))
            for row, n in enumerate(b.source_lengths.tolist()):
                assert not step.weights[row, n:].any()


@EVERY
@pytest.mark.parametrize("rows", [[2, 0, 0, 3], [[2, 2, 2], [0, 0, 0]], [[1], [3]]])
def test_selected_rows_go_on_as_themselves(name: str, rows: list[Any]) -> None:
    made, b = model(name), batch()
    logits = made(b.source, b.source_lengths, b.target)
    state = made.start(b.source, b.source_lengths)
    made.step(state, b.target[:, 0])
    chosen = torch.tensor(rows)
    state.select(chosen)
    flat = chosen.flatten()
    for t in (1, 2):
        step = made.step(state, b.target[flat, t])
        torch.testing.assert_close(finite(step.logits), finite(logits[flat, t]), rtol=0, atol=1e-10)
    if chosen.dim() == 2:  # again, from several beams a sentence: swap them and drop a sentence
        state.select(torch.arange(chosen.numel()).view(chosen.shape).flip(1)[1:])
        last = chosen.flip(1)[1:].flatten()
        step = made.step(state, b.target[last, 3 % b.target.shape[1]])
        assert step.logits.shape == (len(last), VOCABULARY)
        expected = finite(logits[last, 3])
        torch.testing.assert_close(finite(step.logits), expected, rtol=0, atol=1e-10)


@EVERY
def test_later_target_tokens_change_nothing_before_them(name: str) -> None:
    made, b = model(name), batch()
    before = made(b.source, b.source_lengths, b.target)
    changed = b.target.clone()
    changed[:, 3:] = 9
    after = made(b.source, b.source_lengths, changed)
    assert torch.equal(before[:, :3], after[:, :3])
    if name != "word-by-word":  # which does not read what it says
        assert not torch.allclose(before[:, 3:], after[:, 3:])


@EVERY
def test_padding_changes_nothing(name: str) -> None:
    made, b = model(name), batch()
    together = made(b.source, b.source_lengths, b.target)
    for row in range(4):
        s, t = int(b.source_lengths[row]), int(b.target_lengths[row])
        alone = made(
            b.source[row : row + 1, :s],
            b.source_lengths[row : row + 1],
            b.target[row : row + 1, :t],
        )
        torch.testing.assert_close(
            finite(together[row : row + 1, :t]), finite(alone), rtol=0, atol=1e-10
        )
    garbage = b.source.clone()
    for row, s in enumerate(b.source_lengths.tolist()):
        garbage[row, s:] = 17
    changed = made(garbage, b.source_lengths, b.target)
    torch.testing.assert_close(finite(together), finite(changed), rtol=0, atol=1e-10)


@EVERY
def test_loss_of_a_batch_is_the_sum_of_its_sentences(name: str) -> None:
    made, b = model(name), batch()
    whole = made.loss(*b)
    parts = [made.loss(*Batch(*(side[row : row + 1] for side in b))) for row in range(4)]
    torch.testing.assert_close(whole.total, torch.stack([part.total for part in parts]).sum())
    assert whole.tokens == sum(part.tokens for part in parts)


@EVERY
def test_every_parameter_gets_a_gradient_and_a_step_lowers_the_loss(name: str) -> None:
    made, b = model(name, dropout=0.0).train(), batch()
    loss = made.loss(*b)
    loss.total.backward()
    without = [key for key, p in made.named_parameters() if p.grad is None or not p.grad.any()]
    expected = {  # nothing is predicted from these
        "word-by-word": ["vocabulary.target_words"],
    }.get(name, [])
    # a softmax does not see what is added to all its scores: the keys' biases have no slope
    assert [key for key in without if not key.endswith("key.bias")] == expected
    with torch.no_grad():
        for p in made.parameters():
            if p.grad is not None:
                p.sub_(1e-3 * p.grad)
    assert made.loss(*b).total < loss.total


@EVERY
def test_the_gradient_of_the_loss_is_that_of_the_logits(name: str) -> None:
    """loss() skips padding and the vocabulary's scores; forward() does not."""
    made, b = model(name), batch((4, 4, 4, 4), (4, 3, 5, 2))
    made.loss(*b, 0.1).total.backward()
    got = {key: p.grad.clone() for key, p in made.named_parameters() if p.grad is not None}
    made.zero_grad()
    logits = made(b.source, b.source_lengths, b.target[:, :-1])
    wanted = b.target[:, 1:].clone()
    wanted[torch.arange(1, 5) >= b.target_lengths.unsqueeze(-1)] = -100
    F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), reduction="sum", label_smoothing=0.1
    ).backward()
    for key, p in made.named_parameters():
        if p.grad is not None:
            torch.testing.assert_close(got[key], p.grad, rtol=1e-8, atol=1e-10)


@EVERY
def test_weights_make_the_round_trip_through_safetensors(name: str, tmp_path: Path) -> None:
    made, other, b = model(name, tied=True), model(name, tied=True), batch()
    torch.nn.init.normal_(other.vocabulary.words)
    save_file(made.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(made(*b[:3]), other(*b[:3]))


@EVERY
def test_dropout_is_for_training_only(name: str) -> None:
    made, b = model(name, dropout=0.4), batch()
    assert torch.equal(made(*b[:3]), made(*b[:3]))
    made.train()
    assert not torch.equal(made(*b[:3]), made(*b[:3]))


@EVERY
def test_a_batch_that_cannot_be_is_told(name: str) -> None:
    made, b = model(name), batch()
    for lengths in ([5, 0, 3, 4], [6, 1, 3, 4]):
        with pytest.raises(
            DataError, match=f"at most the batch's 5; got lengths from .*{lengths[0]}"
        ):
            made.loss(b.source, torch.tensor(lengths), b.target, b.target_lengths)
    with pytest.raises(DataError, match=r"one length a sentence.* got \(4, 5\) and lengths \(2,\)"):
        made.start(b.source, torch.tensor([1, 2]))


@pytest.mark.parametrize("name", MODELS[:-1])
def test_only_the_transformer_has_layers_and_heads_to_choose(name: str) -> None:
    b = batch()
    with pytest.raises(ConfigError, match=f"{name} has no layers or heads to choose from"):
        model(name).start(b.source, b.source_lengths, layer=0)


def test_behind_its_source_the_word_by_word_reader_says_only_eos() -> None:
    made, b = model("word-by-word"), batch()
    logits = made(*b[:3])
    shares = logits.softmax(-1)
    for row, n in enumerate(b.source_lengths.tolist()):
        assert (shares[row, n:, EOS] == 1).all()
        assert (shares[row, :n, EOS] < 1).all()
