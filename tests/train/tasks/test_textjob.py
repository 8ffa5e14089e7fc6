"""Text job: what is learned first, what is held out, and batches that must hold a sentence."""

from __future__ import annotations

from pathlib import Path

from regard.pieces.tokenizer import Tokenizer
from regard.train.config import TrainConfig
from regard.train.data.config import PairsConfig, TextConfig
from regard.train.data.examples import Dataset
from regard.train.data.pairs import Pair
from regard.train.tasks.job import Settings
from regard.train.tasks.lm import Language
from regard.train.tasks.translate import Translate

DATA = PairsConfig(pairs="x", least=1)
PAIRS = Dataset([Pair("ein Hund", "a dog", 1)], [Pair("ei\rn", "a", 2)], [], [], 0, "digest", 0)


def test_a_vocabulary_is_learned_of_the_training_part_alone() -> None:
    job = Translate()
    learned = job.learn(PAIRS, DATA)
    assert list(learned) == list(job.learns) == ["tokens.json"]
    tokens = Tokenizer.from_text(learned["tokens.json"])
    assert tokens.decode(tokens.encode("ein dog")) == "ein dog"
    corpus = job.encode(PAIRS, learned, DATA)
    assert job.decided(corpus) == {"vocabulary": len(tokens)}
    assert job.fingerprint(PAIRS) == "digest"
    assert job.summary(corpus, DATA)["target_tokens"] == len(tokens.encode("a dog")) + 1


def test_what_is_held_out_is_a_line_each() -> None:
    assert Translate().held_out(PAIRS) == {"valid.tsv": "ei n\ta\n"}, "and there is nothing to test"


def test_a_batch_holds_the_longest_sentence_unless_the_text_is_a_stream(tmp_path: Path) -> None:
    few = TrainConfig(batch_tokens=50)
    found = Language().conflicts(Settings(TextConfig(text="x", max_length=49), {}, few))
    assert found == [
        "train.batch_tokens (50) must hold a sentence of data.max_length (49) tokens and 2 more"
    ]
    assert Language().conflicts(Settings(TextConfig(text="x", max_length=48), {}, few)) == []
    stream = TextConfig(text="x", max_length=49, continuous=True)
    assert Language().conflicts(Settings(stream, {"model": "lstm"}, few)) == []
