"""A look into whole models, against eager attention and its output_attentions."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.attention import AttentionMap
from regard.errors import RegardError
from regard.inside.look.files import look_json
from regard.inside.look.look import look
from regard.inside.observe.layer import ObservedLayer
from regard.inside.textmodel import TextModel, load
from regard.pieces.look import Look, LookRequest
from tests.inside.tinytext import SENTENCE, STORY, save


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextModel, Any]:
    folder = tmp_path_factory.mktemp("bart")
    eager = save(folder, "Bart", "ModelForSeq2SeqLM", max_position_embeddings=512)
    return load(str(folder)), eager


def attentions(eager: Any, ids: list[int], **more: Any) -> Any:
    with torch.no_grad():
        return eager(input_ids=torch.tensor([ids]), output_attentions=True, **more)


def stacked(layers: Any) -> torch.Tensor:
    return torch.stack([layer[0] for layer in layers])


def test_every_head_of_an_encoder(bert: tuple[TextModel, Any]) -> None:
    model, eager = bert
    assert model.config is None, "regard's own encoder reads BERT"
    tokens = model.read(SENTENCE)
    theirs = stacked(attentions(eager, tokens.ids).attentions)
    found = look(model, tokens, LookRequest(word="unbelievable", link=("it", "animal"), links=7))
    assert (found.done, found.layers) == (3, 3)
    assert list(found.heads) == [(layer, head) for layer in range(3) for head in range(5)]
    it, animal = tokens.labels.index("it"), tokens.labels.index("animal")
    word = slice(2, 6)
    assert found.place is not None
    for layer in range(3):
        close(
            torch.tensor([found.weights[layer, h] for h in range(5)]), theirs[layer, :, it, animal]
        )
        close(torch.from_numpy(found.place.to[layer]), theirs[layer][:, word].mean(1))
        close(torch.from_numpy(found.place.by[layer]), theirs[layer][:, :, word].sum(-1))
    links_are_the_strongest(found, theirs)


def links_are_the_strongest(found: Look, theirs: torch.Tensor) -> None:
    n = theirs.shape[-1]
    out = theirs.clone()
    out[..., torch.tensor(found.keys.sinks)] = 0
    out[..., torch.tensor(found.queries.special), :] = 0
    out[..., torch.arange(n), torch.arange(n)] = 0
    for (layer, head), links in found.links.items():
        expected = out[layer, head].flatten().topk(len(links)).values
        close(torch.tensor([weight for _, _, weight in links]), expected)
        for query, key, weight in links:
            assert weight == pytest.approx(float(out[layer, head, query, key]), abs=1e-5)


def close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours.float(), theirs.float(), atol=2e-6, rtol=1e-4)


def test_every_head_of_a_decoder(llama: tuple[TextModel, Any]) -> None:
    model, eager = llama
    tokens = model.read(STORY)
    theirs = stacked(attentions(eager, tokens.ids).attentions)
    found = look(model, tokens, LookRequest(links=5, layer=1, head=2, cells=8))
    assert set(found.heads) == {(1, h) for h in range(4)}
    assert found.map is not None
    close(found.map.dense(), theirs[1, 2])
    links_are_the_strongest(found, theirs)
    scores = found.heads[1, 2].scores
    n = len(tokens)
    assert scores["next"] is None, "a decoder does not see what follows"
    assert scores["first"] == pytest.approx(float(theirs[1, 2, 1:, 0].mean()), abs=1e-5)
    diagonal = theirs[1, 2].diagonal(-1)
    assert scores["previous"] == pytest.approx(float(diagonal.mean()), abs=1e-5)
    got = theirs[1].sum(1)[:, 0].sum() / (4 * n)
    assert found.sink[1] == pytest.approx(float(got), abs=1e-5)
    assert found.pooled[1, 2].max() == pytest.approx(float(theirs[1, 2].max()), abs=1e-5)


def test_words(llama: tuple[TextModel, Any]) -> None:
    model, _ = llama
    tokens = model.read(STORY)
    plain = look(model, tokens, LookRequest(layer=0, head=3))
    found = look(
        model, tokens, LookRequest(layer=0, head=3, words=True, word="Unbelievably", links=50)
    )
    assert isinstance(plain.map, AttentionMap)
    assert found.map is not None
    assert found.place is not None
    expected = plain.map.by_word(tokens.words).dense()
    close(found.map.dense(), expected)
    place = found.names[0].index("Unbelievably")
    close(torch.from_numpy(found.place.to[0][3]), expected[place])
    close(torch.from_numpy(found.place.by[0][3]), expected[:, place])
    expected.fill_diagonal_(0)[:, 0] = 0
    links = found.links[0, 3]
    close(
        torch.tensor([weight for _, _, weight in links]), expected.flatten().topk(len(links)).values
    )


def test_words_cut_by_blocks(llama: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import regard.inside.look.look as module

    model, _ = llama
    tokens = model.read(STORY)
    whole = look(model, tokens, LookRequest(words=True))
    monkeypatch.setattr(module, "BLOCK_NUMBERS", 4 * len(tokens) * 3)  # three rows at a time
    parts = look(model, tokens, LookRequest(words=True))
    for place, links in whole.links.items():
        assert [x[2] for x in parts.links[place]] == pytest.approx([x[2] for x in links])


def test_without_the_sink(bert: tuple[TextModel, Any]) -> None:
    model, eager = bert
    tokens = model.read(SENTENCE)
    theirs = stacked(attentions(eager, tokens.ids).attentions)
    theirs[..., [0, -1]] = 0
    theirs /= theirs.sum(-1, keepdim=True)
    found = look(model, tokens, LookRequest(no_sink=True, layer=2, head=4, word="it"))
    assert found.map is not None
    assert found.place is not None
    close(found.map.dense(), theirs[2, 4])
    close(torch.from_numpy(found.place.to[2]), theirs[2][:, tokens.labels.index("it")])
    links_are_the_strongest(found, theirs)
    assert found.heads[2, 4].scores["first"] is None


def test_an_encoder_and_a_decoder(bart: tuple[TextModel, Any]) -> None:
    model, eager = bart
    assert model.has_both
    tokens = model.read("The animal was tired.")
    target = model.target(tokens, "The street was wide")
    assert target.labels[:2] == ["</s>", "The"]
    told = torch.tensor([target.ids])
    theirs = attentions(eager, tokens.ids, decoder_input_ids=told)
    for part, layers in (
        ("encoder", theirs.encoder_attentions),
        ("decoder", theirs.decoder_attentions),
        ("cross", theirs.cross_attentions),
    ):
        wish = LookRequest(
            part=part, layer=1, head=1, word="animal" if part != "decoder" else "street"
        )
        found = look(model, tokens, wish, target=None if part == "encoder" else target)
        assert isinstance(found.map, AttentionMap)
        close(found.map.dense(), stacked(layers)[1, 1])
        assert found.map.keys == (target if part == "decoder" else tokens).labels
        assert found.map.queries == (tokens if part == "encoder" else target).labels
        assert look_json(found)["part"] == part
        if part == "cross":
            assert found.place is not None
            assert found.place.to == {}, "a source word does not attend to the target"
            assert found.heads[1, 1].scores["previous"] is None


def test_a_target_that_the_model_writes_itself(bart: tuple[TextModel, Any]) -> None:
    model, _ = bart
    tokens = model.read("The animal was tired.")
    written = model.target(tokens, None)
    assert written.labels[0] == "</s>"
    assert len(written) > 1
    assert model.target(tokens, None).ids == written.ids


def test_a_stop_keeps_the_layers_that_are_finished(bert: tuple[TextModel, Any]) -> None:
    model, _ = bert
    stop, seen = threading.Event(), []

    def progress(done: int, layers: int) -> None:
        seen.append((done, layers))
        if done == 2:
            stop.set()

    found = look(model, model.read(SENTENCE), LookRequest(), progress=progress, stop=stop)
    assert seen == [(1, 3), (2, 3)]
    assert found.done == 2
    assert {layer for layer, _ in found.heads} == {0, 1}
    whole = look(model, model.read(SENTENCE))
    assert all(whole.heads[place] == seen for place, seen in found.heads.items())


def test_queries_and_keys_of_one_layer_at_a_time(llama: tuple[TextModel, Any]) -> None:
    model, _ = llama
    tokens = model.read(STORY)
    kept: list[int] = []

    def each(layer: ObservedLayer) -> None:
        assert layer.item().query.shape == (4, len(tokens), 8)
        kept.append(sum(len(other.calls) for other in observation.layers))

    with regard.observe(model.network, each=each) as observation:
        model.run(tokens)
    assert kept == [1, 1]
    with pytest.raises(RegardError, match=r"were dropped after observe\(each=…\)"):
        observation[0, 0].dense()


def test_what_each_raises_ends_the_pass(llama: tuple[TextModel, Any]) -> None:
    model, _ = llama
    config: Any = model.network.config
    before = config._attn_implementation

    def each(layer: ObservedLayer) -> None:
        raise ValueError(layer.name)

    with (
        pytest.raises(ValueError, match=r"layers\.0\.self_attn"),
        regard.observe(model.network, each=each),
    ):
        model.run(model.read("The street"))
    assert config._attn_implementation == before


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (LookRequest(layer=3), "layers are counted from 0: .* has 3, got 3"),
        (LookRequest(layer=0, head=5), "heads are counted from 0: this layer has 5, got 5"),
        (LookRequest(word="cta"), "'cta' is not one of the words .* did you mean 'cat'"),
        (LookRequest(link=("cat", "dgo")), "'dgo' is not one of the words .* did you mean 'dog'"),
        (LookRequest(part="cross"), "and empty for any other"),
    ],
)
def test_mistakes(bert: tuple[TextModel, Any], wish: LookRequest, words: str) -> None:
    model, _ = bert
    with pytest.raises(RegardError, match=words):
        look(model, model.read("the cat sat on the dog"), wish)


def test_a_text_that_is_too_long(bert: tuple[TextModel, Any], llama: tuple[TextModel, Any]) -> None:
    with pytest.raises(RegardError, match=r"has 25 tokens, .* knows 23 positions; nothing is cut"):
        bert[0].read("the " * 23)
    assert len(bert[0].read("the " * 21)) == 23
    assert llama[0].positions == 128
    with pytest.raises(RegardError, match=r"has more than 10 tokens, .* nothing is cut off"):
        llama[0].read(STORY, 10)
    with pytest.raises(RegardError, match=r"tokens, more than --max-tokens 2; nothing is cut off"):
        llama[0].read("the animal it", 2)


@pytest.mark.parametrize(
    ("family", "most"), [("Roberta", 61), ("GPT2", 64), ("OPT", 64), ("T5", None)]
)
def test_positions(tmp_path: Path, family: str, most: int | None) -> None:
    save(tmp_path, family, "ModelForSeq2SeqLM" if family == "T5" else "Model")
    model = load(str(tmp_path))
    assert model.positions == most
    if most is not None and family != "OPT":
        model.run(model.read("The" * most))
    found = look(
        model, model.read("The street"), LookRequest(part="encoder" if family == "T5" else "")
    )
    assert found.done == found.layers == 2


def test_a_gradient_of_what_a_model_writes(bart: tuple[TextModel, Any]) -> None:
    """Its goal is the text that the decoder is to write; a layer of the encoder has slopes too."""
    model = bart[0]
    tokens = model.read(SENTENCE)
    request = LookRequest(part="encoder", layer=1, head=2, measure="gradient", goal="it was")
    found = look(model, tokens, request)
    assert found.scored == "log p('it was')"
    assert look_json(found)["y"] == found.scored
    assert isinstance(found.map, AttentionMap)
    assert found.map.dense().sum(-1).tolist() == pytest.approx([1.0] * len(tokens), abs=1e-5)
