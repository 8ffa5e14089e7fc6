"""``regard explain`` of a recurrent model: one step, its proof, its page, its mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from regard.trace import Trace
from tests.cli.run import regard
from tests.cli.shared.test_head import flat

TOM = "Tom said that he was tired."


def test_the_step_of_a_word_of_the_lstmn(tmp_path: Path) -> None:
    file = tmp_path / "step.json"
    done = regard("explain", TOM, "--model", "lstmn", "--word", "tired", "--json", file)
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.startswith("lstmn, step 7 (recurrent) <s> ▁Tom ▁said")
    assert "e[t,i] = v · tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1})" in text
    assert re.search(r"▁was 5\.728 0\.7896 ", text)
    assert "14 State h_t = o_t * tanh(c_t)" in text
    assert re.search(r"16 Logits z_w = U_w · r_t \+ b_w How well each word fits", text)
    assert "these are the 10 best of 8,000. word logit probability '.' 9.934 0.7" in text
    assert re.search(r"and 7,990 more, together 0\.\d{4} Proof:", text)
    assert re.search(r"the tapes: 10,880 numbers, largest difference \S+e-0[67]\.", text)
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    trace = Trace.from_dict(json.loads(file.read_text(encoding="utf-8")))
    assert trace["weights"].labels["key"][-1] == "▁was"
    assert trace.value("cell").shape == (192,)
    content = json.loads(file.read_text(encoding="utf-8"))
    assert (content["kind"], content["of"], content["position"]) == ("next word", 8000, 6)
    assert content["predictions"][0]["word"] == "."
    shares = trace.value("probabilities")
    assert [p["probability"] for p in content["predictions"]] == pytest.approx(shares.tolist())


def test_a_cooler_softmax_and_fewer_words() -> None:
    asked = ("explain", TOM, "--model", "simple-rnn+attention", "--word", "was", "--json", "-")
    one, cool = (
        json.loads(regard(*asked, *more).stdout)
        for more in ([], ["--temperature", "0.5", "--top", "2"])
    )
    first, second = one["predictions"][0], cool["predictions"][0]
    assert (len(one["predictions"]), len(cool["predictions"])) == (10, 2)
    assert first["id"] == second["id"]
    assert second["probability"] > first["probability"]


def test_the_whole_way_of_recurrent_models(tmp_path: Path) -> None:
    page = tmp_path / "way.html"
    done = regard("explain", TOM, "--model", "lstmn", "--whole", "--html", page)
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.startswith("lstmn, step 8 (recurrent)"), "the last token is the one that predicts"
    assert "What does reading '.' take from the tape, and which word comes next?" in text
    assert "'</s>'" in text
    content = page.read_text(encoding="utf-8")
    assert "<h2>probabilities</h2>" in content
    assert '<th scope="col">&lt;/s&gt;</th>' in content, "the columns are the words"
    done = regard("explain", "Der Hund schläft.", "--model", "bahdanau", "--whole", "--top", "3")
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert "bahdanau, cross-attention, step 1 (recurrent)" in text
    assert re.search(r"step read next probability 0 <s> '▁The' 0\.\d+ \S+ 1 ▁The '▁dog'", text)
    assert max(map(cell_len, done.stdout.splitlines())) <= 80


def test_a_step_of_bahdanaus_decoder_and_its_page(tmp_path: Path) -> None:
    page = tmp_path / "step.html"
    asked = ("explain", "Der Hund schläft.", "--model", "bahdanau", "--word", "dog")
    done = regard(*asked, "--html", page)
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert "The decoder has read '▁The', and writes '▁dog' from what it takes here." in text
    assert re.search(r"As asked. It gives 0\.9\d+ of the attention of '▁dog' to '▁Hund'\.", text)
    content = page.read_text(encoding="utf-8")
    start = re.search(r'"start":(\{.*?\})', content)
    assert start is not None
    chosen = json.loads(start[1])
    assert (chosen["layer"], chosen["query"], chosen["key"]) == (0, 1, 1)
    assert "z_t = sigmoid(W_z x_t + U_z s_{t-1} + C_z c_t + b_z)" in content
    assert "gives the same states, what was taken from the source, and scores of all" in content


def test_the_same_word_in_two_sentences() -> None:
    other = "Mary said that she was tired."
    done = regard("explain", TOM, "--compare", other, "--model", "lstmn", "--word", "tired")
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert "▁he 3.72 0.106" in text
    assert "'▁tired' gives '▁said' 0.053 in the first sentence and 0.039 in the" in text
    assert "nan" not in text
    assert "The next word in the first sentence: '.' 0." in text


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["lstmn", "--head", "0"], "--head does not apply here: lstmn is recurrent: it has no"),
        (["lstmn", "--form", "both"], "--form does not apply here"),
        (["lstmn", "--layer", "1"], "lstmn has 1 layer, counted from 0"),
        (["lstmn", "--part", "cross"], "--part is for models with an encoder and a decoder"),
        (["lstmn", "--word", "xyz"], "'xyz' is not one of the words"),
        (["lstmn", "--whole", "--parts"], "lstmn is recurrent: it has no parts that add up"),
        (["lstmn", "--whole", "--layer", "0"], "--whole follows a word through all layers"),
        (["bahdanau", "--whole", "--part", "cross"], "--whole follows the decoder's word"),
        (["encoder-decoder", "--whole"], "encoder-decoder has no attention between words"),
        (["lstmn", "--compare", "He said", "--json", "-"], "--json does not apply here"),
        (["word-by-word"], "word-by-word has no attention between words to explain: it says"),
        (["bahdanau", "--part", "encoder"], "--part encoder is not explained of bahdanau"),
    ],
)
def test_mistakes_are_one_line(given: list[str], error: str) -> None:
    done = regard("explain", TOM, "--model", *given)
    assert done.returncode == 2
    assert done.stdout == ""
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
