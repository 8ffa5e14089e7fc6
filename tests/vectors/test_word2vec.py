"""Training by Gensim: the tutorial's vector, the same seed, and what went into it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.errors import MissingExtraError, RegardError
from regard.vectors.word2vec import train
from tests.vectors.written import TEXT

SENTENCES = [line.lower().split() for line in TEXT.splitlines() if line]

TUTORIAL = [-1.9442164e-03, -5.2675214e-03, 9.4471136e-03, -9.2987325e-03]


def test_the_tutorial_vector_and_that_it_is_untrained(text: Path) -> None:
    done = train(text, min_count=1)
    assert done.words["machine"][:4] == pytest.approx(TUTORIAL, rel=1e-7)
    assert (done.sentences, done.text_words, len(done.words)) == (3, 14, 13)
    assert done.untrained
    # 7 of 14 · 5 words survive the subsampling; ten vectors have not moved at all.
    assert (done.trained, done.offered) == (7, 70)
    assert int((done.moved == 0).sum()) == 10
    assert "untrained vectors" in done.verdict
    assert "skipped 63 of 70" in done.verdict
    assert "--sample 0 --epochs 500" in done.verdict


def test_with_every_word_and_many_epochs_it_is_trained(text: Path) -> None:
    done = train(text, min_count=1, sample=0, epochs=500)
    assert not done.untrained
    assert done.trained == done.offered == 14 * 500
    assert done.words.nearest("machine", 1)[0][0] == "fascinating"
    assert "left their random start" in done.verdict


def test_few_epochs_are_named_as_the_reason_when_nothing_was_skipped(text: Path) -> None:
    done = train(text, min_count=1, sample=0)
    assert done.untrained
    assert "70 words over 5 epochs" in done.verdict


@pytest.mark.parametrize("algorithm", ["cbow", "skipgram"])
def test_the_same_as_gensim(algorithm: str) -> None:
    from gensim.models import Word2Vec

    theirs = Word2Vec(SENTENCES, vector_size=7, window=3, min_count=1, sample=0, epochs=20, seed=5,
                      workers=1, negative=2, sg=int(algorithm == "skipgram"))  # fmt: skip
    ours = train(iter(SENTENCES), width=7, window=3, min_count=1, sample=0, epochs=20, seed=5,
                 negative=2, algorithm=algorithm)  # fmt: skip
    assert ours.words.words == theirs.wv.index_to_key
    assert np.array_equal(ours.words.vectors, theirs.wv.vectors)


def test_the_same_seed_gives_the_same_vectors_in_another_process(text: Path) -> None:
    code = (
        "import sys; from regard.vectors.word2vec import train;"
        "w = train(sys.argv[1], min_count=1, sample=0, epochs=20, seed=3).words;"
        "print(w.words, w.vectors.tobytes().hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(text)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    }
    assert len(outputs) == 1


def test_a_failure_in_gensims_thread_is_raised_here(text: Path) -> None:
    def fail(done: int, _: int) -> None:
        if done > 1000:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train(text, min_count=1, progress=fail)


def test_all_wrong_settings_are_named_at_once(text: Path) -> None:
    with pytest.raises(RegardError) as caught:
        train(text, width=0, sample=-1, algorithm="skipgramm", seed=-1)
    for part in ("width must be at least 1, got 0", "sample must", "'skipgram'", "seed must"):
        assert part in str(caught.value)


def test_without_gensim_the_extra_is_named(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(
        MissingExtraError, match="training word vectors needs gensim: pip install gensim"
    ):
        train(text)
