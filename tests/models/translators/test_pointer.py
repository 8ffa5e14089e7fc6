from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import regard
from regard import record
from regard.errors import ConfigError
from regard.models.sampling import Sampling
from regard.models.translators.base import Translator
from regard.models.translators.beam import hypotheses
from regard.models.translators.builder import build
from regard.models.translators.config import MODELS, POINTING, TranslatorConfig, sized
from regard.models.translators.native import NativeState
from regard.models.translators.pointer import (
    Pointed,
    copy_shares,
    log_mixture,
    mixture_loss,
    without_unknown,
)
from regard.models.translators.sample import sample_batch
from regard.pieces.tokenizer import UNK
from tests.models.batch import VOCABULARY, Batch, batch, model

EVERY = pytest.mark.parametrize("name", POINTING)
N, SIZE, SOURCE = 5, 11, 7


def pointed(seed: int = 1) -> tuple[torch.Tensor, Pointed]:
    """Logits and where five positions point, in sources that repeat words and have padding."""
    chance = torch.Generator().manual_seed(seed)
    logits = torch.randn(N, SIZE, generator=chance, dtype=torch.float64)
    gate = torch.randn(N, generator=chance, dtype=torch.float64)
    weights = torch.rand(N, SOURCE, generator=chance, dtype=torch.float64)
    source = torch.randint(3, SIZE - 2, (N, SOURCE), generator=chance)
    weights[0, 4:], source[0, 4:] = 0, 0
    source[1] = 5
    return logits, Pointed(gate, weights / weights.sum(-1, keepdim=True), source)


def by_hand(logits: torch.Tensor, p: Pointed) -> np.ndarray:
    """p(w) = g p_vocab(w) + (1 − g) sum_j a_j [x_j = w], a word at a time."""
    found = np.zeros(logits.shape)
    for n, row in enumerate(logits.tolist()):
        g = 1 / (1 + math.exp(-float(p.gate[n])))
        total = sum(math.exp(z) for z in row)
        for w, z in enumerate(row):
            found[n, w] = g * math.exp(z) / total
            for a, x in zip(p.weights[n].tolist(), p.source[n].tolist(), strict=True):
                found[n, w] += (1 - g) * a * (x == w)
    return found


def test_the_mixture_is_the_papers_sum() -> None:
    logits, p = pointed()
    log_p = log_mixture(logits, p)
    np.testing.assert_allclose(log_p.exp().numpy(), by_hand(logits, p), rtol=1e-12, atol=1e-30)
    np.testing.assert_allclose(log_p.exp().sum(-1), np.ones(N), rtol=1e-12)
    torch.testing.assert_close(log_p.log_softmax(-1), log_p, rtol=0, atol=1e-12)


def test_values_that_can_be_computed_by_hand() -> None:
    """Two words with p_vocab 1/4 and 3/4; the source says the first, then twice the second."""
    logits = torch.tensor([[0.0, math.log(3)]])
    weights, source = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[0, 1, 1]])
    for gate, first in ((math.inf, 0.25), (-math.inf, 0.5), (0.0, 0.375), (math.log(3), 0.3125)):
        p = Pointed(torch.tensor([gate]), weights, source)
        expected = torch.tensor([[first, 1 - first]])
        torch.testing.assert_close(log_mixture(logits, p).exp(), expected)


def test_a_gate_of_1_is_the_plain_model_and_one_of_0_says_only_what_it_reads() -> None:
    logits, p = pointed()
    plain = log_mixture(logits, p._replace(gate=torch.full((N,), math.inf)))
    torch.testing.assert_close(plain, logits.log_softmax(-1), rtol=0, atol=0)
    copied = log_mixture(logits, p._replace(gate=torch.full((N,), -math.inf))).exp()
    for n in range(N):
        outside = [w for w in range(SIZE) if w not in p.source[n].tolist()]
        assert float(copied[n, outside].sum()) < 1e-30
        assert float(copied[n].sum()) == pytest.approx(1)


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=30, deadline=None)
def test_the_loss_is_that_of_the_whole_mixture(seed: int, smoothing: float) -> None:
    logits, p = pointed(seed)
    wanted = torch.tensor([int(p.source[0, 0]), 5, 1, SIZE - 1, int(p.source[4, 6])])
    log_p = np.log(by_hand(logits, p))
    expected = -sum(
        (1 - smoothing) * log_p[n, w] + smoothing * log_p[n].mean()
        for n, w in enumerate(wanted.tolist())
    )
    assert float(mixture_loss(logits, p, wanted, smoothing)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_gradient_is_right(smoothing: float) -> None:
    logits, p = pointed()
    wanted = torch.tensor([int(p.source[0, 0]), 5, 1, SIZE - 1, 4])

    def loss(logits: torch.Tensor, gate: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        real = torch.where(p.weights == 0, -torch.inf, scores)
        return mixture_loss(logits, Pointed(gate, real.softmax(-1), p.source), wanted, smoothing)

    given = logits, p.gate, torch.randn(N, SOURCE, dtype=torch.float64)
    assert torch.autograd.gradcheck(loss, [x.requires_grad_() for x in given])


def test_what_cannot_be_copied_has_no_gradient_that_is_no_number() -> None:
    """No weight on the wanted word, and a vocabulary that all but forbids it."""
    logits = torch.tensor([[0.0, -1e4]], requires_grad=True)
    weights = torch.tensor([[1.0, 0.0]], requires_grad=True)
    gate = torch.tensor([-200.0], requires_grad=True)
    p = Pointed(gate, weights, torch.tensor([[0, 1]]))
    loss = mixture_loss(logits, p, torch.tensor([1]), 0.1)
    loss.backward()
    assert math.isfinite(loss.item())
    for x in (logits, weights, gate):
        assert x.grad is not None
        assert bool(x.grad.isfinite().all())


def test_shares_say_how_much_of_a_word_was_copied_and_from_where() -> None:
    logits, p = pointed()
    said = torch.tensor([int(p.source[0, 0]), 5, 1, SIZE - 1, int(p.source[4, 6])])
    shares, whole = copy_shares(logits, p, said), by_hand(logits, p)
    for n, w in enumerate(said.tolist()):
        for j, (a, x) in enumerate(zip(p.weights[n].tolist(), p.source[n].tolist(), strict=True)):
            g = 1 / (1 + math.exp(-float(p.gate[n])))
            assert float(shares[n, j]) == pytest.approx((1 - g) * a * (x == w) / whole[n, w])
    assert not shares[3].any()  # it does not stand in the source


def pointing(name: str, **changes: Any) -> Translator:
    return model(name, pointer=True, **changes)


@EVERY
def test_a_translator_mixes_what_its_own_attention_looks_at(name: str) -> None:
    """p of every word from the logits of the plain model with the same weights, the gate and the
    weights of cached decoding."""
    made, b = pointing(name), batch()
    plain = model(name)
    plain.load_state_dict({k: v for k, v in made.state_dict().items() if "pointer" not in k})
    log_p, logits = made(*b[:3]), plain(*b[:3])
    state = made.start(b.source, b.source_lengths)
    with record() as trace:
        made(*b[:3])
    gates = trace["gate"].value.reshape(b.target.shape)
    for t in range(b.target.shape[1]):
        step = made.step(state, b.target[:, t])
        torch.testing.assert_close(step.logits, log_p[:, t], rtol=0, atol=1e-10)
        assert step.weights is not None
        gate = torch.logit(torch.from_numpy(gates[:, t]))
        expected = by_hand(logits[:, t].detach(), Pointed(gate, step.weights, b.source))
        np.testing.assert_allclose(step.logits.exp().detach().numpy(), expected, rtol=1e-8)
    np.testing.assert_allclose(log_p.exp().sum(-1).detach().numpy(), 1, rtol=1e-10)


@EVERY
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_its_loss_leaves_the_padding_out(name: str, smoothing: float) -> None:
    made, b = pointing(name), batch()
    log_p, total, tokens = made(*b[:3]), 0.0, 0
    for row, n in enumerate(b.target_lengths.tolist()):
        for i in range(n - 1):
            right = log_p[row, i, b.target[row, i + 1]].item()
            total -= (1 - smoothing) * right + smoothing * log_p[row, i].mean().item()
            tokens += 1
    loss = made.loss(*b, smoothing)
    assert loss.tokens == tokens
    assert loss.total.item() == pytest.approx(total, abs=1e-8)
    alone = sum(
        made.loss(
            b.source[i : i + 1, :s], b.source_lengths[i : i + 1],
            b.target[i : i + 1, :t], b.target_lengths[i : i + 1], smoothing,
        ).total.item()
        for i, (s, t) in enumerate(zip(b.source_lengths, b.target_lengths, strict=True))
    )  # fmt: skip
    assert alone == pytest.approx(total, abs=1e-8)


@EVERY
def test_every_weight_learns_through_it(name: str) -> None:
    """The gradient of every parameter, along a direction, by finite differences."""
    made, b = (
        pointing(name, tied=True, readout=10) if name == "bahdanau" else pointing(name),
        batch(),
    )
    parameters = dict(made.named_parameters())
    made.loss(*b, 0.1).total.backward()
    chance = torch.Generator().manual_seed(3)
    for key, parameter in parameters.items():
        assert parameter.grad is not None, key
        towards = torch.randn(parameter.shape, generator=chance, dtype=torch.float64)
        found = []
        with torch.no_grad():
            for by in (1e-5, -2e-5):
                parameter.add_(towards, alpha=by)
                found.append(made.loss(*b, 0.1).total.item())
            parameter.add_(towards, alpha=1e-5)
        expected = (found[0] - found[1]) / 2e-5
        assert float((parameter.grad * towards).sum()) == pytest.approx(expected, abs=2e-4), key


@EVERY
@pytest.mark.parametrize("rows", [[2, 0, 0, 3], [[2, 2, 2], [0, 0, 0]]])
def test_hypotheses_copy_from_their_own_sentence(name: str, rows: list[int]) -> None:
    made, b = pointing(name), batch()
    log_p = made(*b[:3])
    state = made.start(b.source, b.source_lengths)
    made.step(state, b.target[:, 0])
    chosen = torch.tensor(rows)
    state.select(chosen)
    step = made.step(state, b.target[chosen.flatten(), 1])
    torch.testing.assert_close(step.logits, log_p[chosen.flatten(), 1], rtol=0, atol=1e-10)


@EVERY
def test_searches_and_samples_are_scored_by_the_mixture(name: str) -> None:
    made, b = pointing(name), batch()
    found = hypotheses(made, *b[:2], beam=3, best=2, max_length=6, length_penalty=0.0)
    found += sample_batch(made, *b[:2], Sampling(seed=7), samples=2, max_length=6, length_penalty=0)
    for n, each in enumerate(found):
        for one in each:
            i = n % 4
            said = [*one.ids, 3] if one.finished else one.ids
            target = torch.tensor([[2, *said[:-1]]])
            log_p = made(b.source[i : i + 1], b.source_lengths[i : i + 1], target)[0]
            score = sum(log_p[t, w].item() for t, w in enumerate(said))
            assert one.score == pytest.approx(score, abs=1e-6)


def test_a_chosen_layer_is_shown_and_the_last_one_copied_from() -> None:
    made, b = pointing("transformer"), batch()
    usual, chosen = (made.start(*b[:2], layer=layer) for layer in (None, 0))
    first, second = (made.step(state, b.target[:, 0]) for state in (usual, chosen))
    torch.testing.assert_close(first.logits, second.logits)
    assert first.weights is not None
    assert second.weights is not None
    assert not torch.allclose(first.weights, second.weights)


@EVERY
def test_the_kernels_search_knows_no_pointer_and_is_not_asked(name: str) -> None:
    made, b = pointing(name).float(), batch()
    with torch.no_grad():
        assert not isinstance(made.start(*b[:2]), NativeState)
        log_p = made(*b[:3])
        state = made.start(*b[:2])
        step = made.step(state, b.target[:, 0])
    torch.testing.assert_close(step.logits, log_p[:, 0], rtol=1e-4, atol=1e-5)


@EVERY
def test_in_bfloat16_the_mixture_is_in_float32(name: str) -> None:
    made, b = pointing(name).float(), batch()
    with torch.autocast("cpu", torch.bfloat16):
        log_p, rounded = made(*b[:3]), made.loss(*b, 0.1)
    assert log_p.dtype == rounded.total.dtype == torch.float32
    np.testing.assert_allclose(log_p.exp().sum(-1).detach().numpy(), 1, rtol=1e-5)
    assert rounded.total.item() == pytest.approx(made.loss(*b, 0.1).total.item(), rel=2e-2)
    rounded.total.backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in made.parameters())


def test_recording_explains_the_gate_and_changes_nothing() -> None:
    made, b = pointing("bahdanau"), batch()
    fast = made(*b[:3])
    with record() as trace:
        explained = made(*b[:3])
    torch.testing.assert_close(fast, explained, rtol=0, atol=1e-10)
    assert trace["gate"].formula == "g = sigmoid(u · [s ; y ; c] + b)"
    assert trace["gate"].value.shape == (4 * 6,)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in POINTING])
def test_designs_that_do_not_look_or_do_not_learn_where_have_none(name: str) -> None:
    message = f"bahdanau and transformer have one, {name} has none"
    with pytest.raises(ConfigError, match=message):
        sized(name, "tiny", VOCABULARY, pointer=True)
    assert "pointer" not in sized(name, "tiny", VOCABULARY).to_dict()


def test_the_setting_is_true_or_false() -> None:
    with pytest.raises(ConfigError, match="pointer must be true or false, got 'yes'"):
        sized("bahdanau", "tiny", VOCABULARY, pointer="yes")
    assert sized("bahdanau", "tiny", VOCABULARY, pointer=True).to_dict()["pointer"] is True


def test_what_is_unknown_can_only_be_copied() -> None:
    logits, p = pointed()
    source = p.source.clone()
    source[2, 3] = UNK
    known = without_unknown(logits, source)
    rest = [w for w in range(SIZE) if w != UNK]
    torch.testing.assert_close(known[:, rest], logits[:, rest], rtol=0, atol=0)
    torch.testing.assert_close(known[[0, 1, 3, 4]], logits[[0, 1, 3, 4]], rtol=0, atol=0)
    p = p._replace(source=source)
    log_p = log_mixture(known, p)
    assert float(log_p[2, UNK].exp()) == pytest.approx(
        float(torch.sigmoid(-p.gate[2]) * p.weights[2, 3])
    )
    shares = copy_shares(known, p, torch.full((N,), UNK))
    assert shares.sum(-1).tolist() == pytest.approx([0, 0, 1, 0, 0])
    assert without_unknown(logits, p.source.clamp_min(3)) is logits


@EVERY
def test_a_translator_takes_an_unknown_word_from_the_source_alone(name: str) -> None:
    made, b = pointing(name), batch()
    b.source[0, 1], b.target[0, 2] = UNK, UNK
    copied = made.copies(b.source, b.source_lengths, b.target)
    assert copied is not None
    assert copied.shares[0, 1].tolist() == pytest.approx([0, 1, 0, 0, 0])
    assert copied.shares.shape == (4, 5, 5)
    assert copied.gate.shape == (4, 5)
    log_p = made(*b[:3])
    right = log_p[:, :-1].gather(-1, b.target[:, 1:].unsqueeze(-1)).squeeze(-1)
    real = torch.arange(5) < (b.target_lengths - 1).unsqueeze(-1)
    assert made.loss(*b).total.item() == pytest.approx(-right[real].sum().item(), abs=1e-8)
    assert model(name).copies(b.source, b.source_lengths, b.target) is None


def marked(words: torch.Tensor, places: torch.Tensor) -> Batch:
    """Sources of five words and EOS, one of them behind a mark; that word is the target."""
    source = torch.randint(40, 50, (len(words), 6), generator=torch.Generator().manual_seed(2))
    rows = torch.arange(len(words))
    source[rows, places], source[rows, places + 1], source[:, -1] = 4, words, 3
    target = torch.full((len(words), 3), 2)
    target[:, 1], target[:, 2] = words, 3
    return Batch(source, torch.full((len(words),), 6), target, torch.full((len(words),), 3))


@pytest.mark.parametrize("pointer", [False, True])
def test_it_learns_to_copy_words_that_were_never_said_in_training(pointer: bool) -> None:
    """Trained on 20 words, asked for ten others: the plain model has no way to say one."""
    torch.manual_seed(1)
    made = build(TranslatorConfig("bahdanau", 50, 16, hidden=16, readout=16, pointer=pointer))
    optimizer, chance = torch.optim.Adam(made.parameters(), 0.02), torch.Generator().manual_seed(1)
    for _ in range(150):
        words = torch.randint(5, 25, (20,), generator=chance)
        optimizer.zero_grad()
        b = marked(words, torch.randint(0, 4, (20,), generator=chance))
        (made.loss(*b).total / 40).backward()
        optimizer.step()
    never = torch.arange(25, 35)
    source, lengths, *_ = marked(never, torch.arange(10) % 4)
    said = [found[0].ids for found in hypotheses(made, source, lengths, max_length=4)]
    right = sum(ids == [word] for ids, word in zip(said, never.tolist(), strict=True))
    assert right >= 8 if pointer else right == 0


@EVERY
def test_a_word_that_is_masked_is_not_copied(name: str) -> None:
    """Interventions reach what is copied, as they reach what is looked at."""
    made, b = pointing(name), batch((5,), (4,))
    target = torch.tensor([[2, *b.source[0, :3].tolist()]])
    with torch.no_grad():
        before = made.copies(b.source, b.source_lengths, target)
    with torch.no_grad(), regard.intervene(made) as changed:
        changed.mask(key=1, kind="cross")
        after = made.copies(b.source, b.source_lengths, target)
    assert before is not None
    assert after is not None
    assert float(before.shares[0, 1, 1]) > 0
    assert float(after.shares[0, 1, 1]) == 0
