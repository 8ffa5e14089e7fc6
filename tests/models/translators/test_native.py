"""The kernel's decoder: the modules' own numbers, and the modules themselves where it must not."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import regard
from regard.attention.kernel.library import SWITCH, kernel
from regard.attention.kernel.weights import SWITCH as WEIGHTS
from regard.errors import RegardError, TrainingError
from regard.models.layers import DecoderLayer
from regard.models.sampling import Sampling
from regard.models.translators.base import Hypothesis
from regard.models.translators.beam import hypotheses, translate_batch
from regard.models.translators.native import NativeState, NativeTranslator
from regard.models.translators.sample import sample_batch
from regard.models.translators.transformer import Transformer
from regard.pieces.tokenizer import EOS
from regard.record import record
from regard.store.weights import named_weights, packed, set_weights, unpacked
from tests.models.batch import batch, model

pytestmark = pytest.mark.skipif(kernel() is None, reason="there is no kernel here")


def variants() -> list[str]:
    it = kernel()
    return [] if it is None else [name for name, runs in it.variants.items() if runs]


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def single(name: str = "transformer", **changes: Any) -> NativeTranslator:
    made = model(name, **changes).float()
    assert isinstance(made, NativeTranslator)
    return made


def transformer(**changes: Any) -> Transformer:
    made = single(**changes)
    assert isinstance(made, Transformer)
    return made


def layer(made: Transformer, number: int) -> DecoderLayer:
    found = made.decoder[number]
    assert isinstance(found, DecoderLayer)
    return found


def run(made: NativeTranslator, threads: int = 1) -> list[tuple[Tensor, Tensor]]:
    """Steps of hypotheses that part, end and change places; logits and weights of each."""
    b = batch((5, 1, 3, 4), (4, 3, 6, 2))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        layer = 1 if isinstance(made, Transformer) else None
        state = made.start(b.source, b.source_lengths, layer=layer)
        found = [made.step(state, b.target[:, 0])]
        for chosen in (
            [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]],
            [[2, 0, 0], [4, 5, 3], [7, 7, 8], [11, 10, 9]],
            [[1, 2, 0], [8, 6, 6], [9, 9, 11]],  # the second sentence leaves
            [[0, 1, 2], [6, 8, 7]],
        ):
            rows = torch.tensor(chosen)
            state.select(rows)
            found.append(made.step(state, 4 + (rows.flatten() * 7) % 19))
    finally:
        torch.set_num_threads(before)
    nowhere = torch.zeros(1, dtype=found[0].logits.dtype)
    return [(step.logits, nowhere if step.weights is None else step.weights) for step in found]


def compare(
    got: list[tuple[Tensor, Tensor]], expected: list[tuple[Tensor, Tensor]], within: float = 2e-5
) -> None:
    assert len(got) == len(expected) == 5
    for ours, theirs in zip(got, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one.double(), other, rtol=0, atol=within)


def shipped(made: NativeTranslator) -> NativeTranslator:
    """The same with weights of 8 bits."""
    set_weights(made, unpacked(packed(named_weights(made))), "packed")
    return made


RECURRENT = ("bahdanau", "encoder-decoder", "word-by-word")
DESIGNS = ("transformer", *RECURRENT)
SHAPES: list[tuple[str, dict[str, Any]]] = [
    *(
        ("transformer", changes)
        for changes in (
            {},
            {"norm": "post"},
            {"activation": "silu"},
            {"width": 38, "heads": 1, "tied": True},
        )
    ),
    *(
        (name, changes)
        for name in RECURRENT
        for changes in ({"tied": True}, {"width": 19, "hidden": 37, "readout": 17})
    ),
]
every_shape = pytest.mark.parametrize(("name", "changes"), SHAPES, ids=str)


@pytest.mark.parametrize("variant", variants())
@every_shape
def test_every_variant_is_the_modules_in_float64(
    variant: str, name: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, variant)
    made = single(name, **changes)
    b = batch()
    assert isinstance(made.start(b.source, b.source_lengths), NativeState)
    compare(run(made), run(copy.deepcopy(made).double()))


@pytest.mark.parametrize("variant", variants())
@every_shape
def test_every_variant_takes_weights_of_8_bits(
    variant: str, name: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, variant)
    made = shipped(single(name, **changes))
    found, exact = run(made), run(copy.deepcopy(made).double())
    compare(found, exact, within=1e-3)  # 16 bits of a number, in each of some twenty products
    monkeypatch.setenv(WEIGHTS, "float32")
    whole = run(made)
    compare(whole, exact)
    assert not torch.equal(found[0][0], whole[0][0])


def test_weights_become_8_bits_only_if_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = single()
    expected = run(copy.deepcopy(made).double())
    compare(run(made), expected)
    monkeypatch.setenv(WEIGHTS, "int8")
    rounded = run(made)
    assert not torch.allclose(rounded[0][0].double(), expected[0][0], atol=2e-5)
    compare(rounded, expected, within=0.3)


def stepwise(made: NativeTranslator) -> NativeTranslator:
    """The same as a design whose searches take their steps one by one."""
    design: Any = type(made)

    class Stepwise(design):  # type: ignore[misc]
        packed = design.packed

        def search(self, *_: object) -> None:
            return None

    copied: NativeTranslator = Stepwise(made.config)
    copied.load_state_dict(made.state_dict())
    return copied.eval()


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("kept", [False, True], ids=["float32", "int8"])
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    beam=st.integers(1, 7),
    best=st.integers(1, 7),
    penalty=st.sampled_from([0.0, 0.6, 1.0, 2.5]),
    max_length=st.none() | st.integers(1, 9),
    end=st.sampled_from([-3.0, 0.0, 1.5]),
    where=st.sampled_from([(None, None), (0, 1), (2, None)]),
    threads=st.integers(1, 2),
)
@settings(max_examples=12)
def test_a_search_in_one_call_is_the_search_step_by_step(
    kept: bool,
    name: str,
    sizes: list[int],
    beam: int,
    best: int,
    penalty: float,
    max_length: int | None,
    end: float,
    where: tuple[int | None, int | None],
    threads: int,
) -> None:
    made = sharp(name, kept)
    made.vocabulary.bias[EOS] = end
    b = batch(tuple(sizes), tuple(2 for _ in sizes))
    layer, head = where if name == "transformer" else (None, None)
    asked: dict[str, Any] = {"beam": beam, "best": min(best, beam), "layer": layer, "head": head}
    asked |= {"length_penalty": penalty, "max_length": max_length}
    steps = hypotheses(stepwise(made), b.source, b.source_lengths, **asked)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        whole = hypotheses(made, b.source, b.source_lengths, **asked)
    finally:
        torch.set_num_threads(before)
    assert plain(whole) == plain(steps)


@functools.cache
def sharp(name: str, kept: bool) -> NativeTranslator:
    """One that is sure of what it says, with weights of 32 or 8 bits."""
    made = single(name)
    for parameter in made.parameters():
        parameter.mul_(1.7)
    return shipped(made) if kept else made


def plain(found: list[list[Hypothesis]]) -> list[Any]:
    return [
        (one.ids, one.score, one.finished, one.weights.tolist() if one.weights is not None else 0)
        for each in found
        for one in each
    ]


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_search_that_meets_no_number_says_so(name: str) -> None:
    made, b = single(name), batch()
    first = next(p for key, p in made.named_parameters() if key.endswith("candidate"))
    first[3, 2] = math.nan
    with pytest.raises(TrainingError, match="a model's scores must be numbers"):
        hypotheses(made, b.source, b.source_lengths, beam=2)


def test_a_search_that_meets_no_number_says_so() -> None:
    made, b = transformer(), batch()
    layer(made, 1).feedforward.inner.weight[3, 2] = math.nan
    with pytest.raises(TrainingError, match="a model's scores must be numbers"):
        hypotheses(made, b.source, b.source_lengths, beam=2)
    whole = transformer()
    shipped(whole)
    layer(whole, 1).feedforward.inner.bias[3] = math.inf
    with pytest.raises(TrainingError, match="a model's scores must be numbers"):
        hypotheses(whole, b.source, b.source_lengths, beam=2)


@pytest.mark.parametrize("name", DESIGNS)
def test_threads_change_no_bit(name: str) -> None:
    made = single(name)
    for one, two in zip(run(made, 1), run(made, 3), strict=True):
        assert torch.equal(one[0], two[0])
        assert torch.equal(one[1], two[1])


@pytest.mark.parametrize("name", DESIGNS)
def test_searches_and_samples_are_those_of_the_modules(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, b = single(name), batch()
    for parameter in made.parameters():
        parameter.mul_(1.7)

    def found() -> list[tuple[list[int], float]]:
        several = hypotheses(made, b.source, b.source_lengths, beam=4, best=3, length_penalty=0.5)
        drawn = sample_batch(made, b.source, b.source_lengths, Sampling(seed=1), samples=2)
        return [(one.ids, one.score) for each in (*several, *drawn) for one in each]

    native = found()
    monkeypatch.setenv(SWITCH, "off")
    own = found()
    assert [ids for ids, _ in native] == [ids for ids, _ in own]
    assert [s for _, s in native] == pytest.approx([s for _, s in own], abs=1e-4)


def by_modules(made: nn.Module) -> bool:
    assert isinstance(made, NativeTranslator)
    b = batch()
    return not isinstance(made.start(b.source, b.source_lengths), NativeState)


@pytest.mark.parametrize("name", RECURRENT)
def test_a_design_of_its_own_gets_its_own_methods(name: str) -> None:
    made = single(name)
    assert not by_modules(made)
    vars(made)["state_of"] = made.state_of
    assert by_modules(made)
    design: Any = type(made)
    derived: NativeTranslator = type("Derived", (design,), {})(made.config).eval()
    assert by_modules(derived)
    del vars(made)["state_of"]
    readout = made.get_submodule("readout")
    hook = readout.register_forward_hook(lambda *_: None)
    assert by_modules(made)
    hook.remove()
    assert not by_modules(made)


def test_a_word_that_is_erased_is_erased() -> None:
    made, b = single("bahdanau"), batch((5,), (4,))
    before = hypotheses(made, b.source, b.source_lengths)[0][0]
    with regard.intervene(made) as hands:
        hands.mask(key=2, kind="cross")
        after = hypotheses(made, b.source, b.source_lengths)[0][0]
    assert before.weights is not None
    assert after.weights is not None
    assert before.weights[:, 2].min() > 0
    assert after.weights[:, 2].max() == 0


def test_whoever_looks_inside_gets_the_modules() -> None:
    made = transformer()
    assert not by_modules(made)
    with torch.enable_grad():
        assert by_modules(made)
    with record() as trace:
        assert by_modules(made)
    assert len(trace)
    with torch.autocast("cpu", torch.bfloat16):
        assert by_modules(made)
    assert by_modules(copy.deepcopy(made).double())
    made.train()
    assert by_modules(made)
    made.eval()
    for module in (made.decoder[1], layer(made, 2).cross.output, made.vocabulary):
        hook = module.register_forward_hook(lambda *_: None)
        assert by_modules(made)
        hook.remove()
    every = nn.modules.module.register_module_forward_pre_hook(lambda *_: None)
    assert by_modules(made)
    every.remove()
    assert not by_modules(made)


def test_a_part_of_another_class_gets_the_modules() -> None:
    class Doubled(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    made = transformer()
    layer(made, 0).feedforward.inner = Doubled(10, 17)
    assert by_modules(made)
    made = transformer()
    layer(made, 0).feedforward.inner.forward = lambda x: x  # type: ignore[assignment, method-assign]
    assert by_modules(made)


def test_changed_weights_are_seen() -> None:
    made = transformer()
    linear = layer(made, 0).feedforward.inner

    def same() -> None:
        compare(run(made), run(copy.deepcopy(made).double()))

    first = run(made)
    linear.weight.mul_(3)
    same()
    assert not torch.allclose(run(made)[0][0], first[0][0])
    set_weights(made, {k: v * 0.5 for k, v in named_weights(made).items()}, "halved")
    same()
    linear.weight = nn.Parameter(torch.randn(17, 10))
    same()


def test_a_fused_optimizer_does_not_count_its_changes_and_they_are_seen() -> None:
    made = single()
    first = run(made)
    for parameter in made.parameters():
        parameter.grad = torch.ones_like(parameter)
    before = [parameter._version for parameter in made.parameters()]
    torch.optim.AdamW(made.parameters(), lr=0.1, fused=True).step()
    assert [parameter._version for parameter in made.parameters()] == before
    assert not torch.allclose(run(made)[0][0], first[0][0])
    compare(run(made), run(copy.deepcopy(made).double()))


def test_damaged_tokens_and_copies() -> None:
    made, b = single(), batch()
    run(made)
    compare(run(copy.deepcopy(made)), run(copy.deepcopy(made).double()))
    state = made.start(b.source, b.source_lengths)
    with pytest.raises(IndexError, match="a token is not in the model's vocabulary"):
        made.step(state, torch.tensor([4, 5, 23, 6]))
    with pytest.raises(RegardError):
        made.start(b.source, b.source_lengths * 9)


def test_a_long_translation_goes_beyond_the_table_of_positions() -> None:
    made, b = transformer(), batch((1,), (2,))
    made.vocabulary.bias[3] = -1e4
    (found,) = translate_batch(made, b.source, b.source_lengths, max_length=300)
    assert len(found.ids) == 300
    assert made.positions.table.shape[0] > 256


@pytest.mark.parametrize("name", DESIGNS)
def test_pytorchs_defaults_change_nothing(name: str) -> None:
    """What the kernel writes to is float32, whatever a tensor without a dtype would be."""
    made = single(name)
    expected = run(made)
    torch.set_default_dtype(torch.float64)
    try:
        again = run(made)
    finally:
        torch.set_default_dtype(torch.float32)
    for ours, theirs in zip(again, expected, strict=True):
        assert torch.equal(ours[0], theirs[0])
        assert torch.equal(ours[1].float(), theirs[1])


@pytest.mark.parametrize("name", DESIGNS)
def test_tokens_and_lengths_of_32_bits(name: str) -> None:
    made, b = single(name), batch((5, 1, 3, 4), (4, 3, 6, 2))
    expected = [found.ids for found in translate_batch(made, b.source, b.source_lengths)]
    small = translate_batch(made, b.source.int(), b.source_lengths.int())
    assert [found.ids for found in small] == expected
    state = made.start(b.source, b.source_lengths)
    first = made.step(state, b.target[:, 0]).logits
    state = made.start(b.source.int(), b.source_lengths.int())
    assert torch.equal(made.step(state, b.target[:, 0].int()).logits, first)
