"""Sentence: a worked example made from a person's own sentence and word vectors."""

from __future__ import annotations

import os

import numpy as np

from regard.errors import FileError, RegardError, ShapeError, UnknownWordError
from regard.text import number_of
from regard.trace import Array, Trace
from regard.vectors.words import Lookup, Words, tokenise
from regard.worked.dialects import MATRICES
from regard.worked.example import Example


def from_sentence(
    sentence: str,
    vectors: str | os.PathLike[str] | None,
    mechanism: str,
    *,
    seed: int | None = None,
    weights: str | os.PathLike[str] | None = None,
    heads: int = 1,
    key_width: int | None = None,
    positions: str | None = None,
    causal: bool = False,
    skip_unknown: bool = False,
) -> tuple[Example, list[str]]:
    """The example, and what must be said about it: words left out, weights untrained."""
    _check_weights(mechanism, seed, weights)
    words, x, said = _vectors_of(sentence, vectors, skip_unknown)
    heads = heads if mechanism == "multihead" else 1
    matrices: dict[str, Array] = {}
    if weights is not None:
        matrices = load_matrices(weights)
    elif seed is not None:
        matrices = seeded_matrices(x.shape[1], heads, key_width, seed, mechanism == "multihead")
        said.append(
            f"The weight matrices are random (seed {seed}) and untrained: the arithmetic is "
            "real, but who attends to whom means nothing yet."
        )
    example = Example(
        mechanism,
        words,
        {"x": x, **matrices},
        heads=heads,
        mask={"causal": True} if causal else None,
        positions=positions,
    )
    return example, said


def _vectors_of(
    sentence: str, file: str | os.PathLike[str] | None, skip_unknown: bool
) -> tuple[list[str], Array, list[str]]:
    """The words that have a vector, their vectors, and what must be said about the others."""
    tokens = tokenise(sentence)
    if file is None:
        raise RegardError(
            "a sentence needs a vector for each word: give --vectors FILE (GloVe, word2vec or "
            "fastText; 'regard words train' makes one from a text)"
        )
    words = Words.load(file)
    seen = words.lookup(tokens)
    said = _unknown(seen, len(tokens), skip_unknown)
    if seen.lowered:
        forms = ", ".join(dict.fromkeys(f"{f.token} → {f.word}" for f in seen.lowered))
        said.append(f"Found in lower case only: {forms}.")
    x = np.stack([words.vectors[f.row] for f in seen.found]).astype(np.float64)
    return list(seen.known), x, said


def _check_weights(
    mechanism: str, seed: int | None, weights: str | os.PathLike[str] | None
) -> None:
    """Matrices come from a seed or from a file, and only where the mechanism has some."""
    if mechanism == "simple" and not (seed is None and weights is None):
        raise RegardError("simple self-attention has no weight matrices: drop --seed and --weights")
    if mechanism != "simple" and (seed is None) == (weights is None):
        raise RegardError(
            f"{mechanism!r} has weight matrices: name a seed (--seed 7) for untrained ones "
            f"or a safetensors file (--weights), got {'neither' if seed is None else 'both'}"
        )
    if seed is not None and seed < 0:
        raise RegardError(f"a seed must be a whole number of 0 or more, got {seed}")


def _unknown(seen: Lookup, count: int, skip: bool) -> list[str]:
    """What to say about words without a vector; an error that names them unless skipped."""
    if not seen.unknown:
        return []
    named = ", ".join(repr(t) for t in dict.fromkeys(seen.unknown))
    if not seen.found:
        raise UnknownWordError(f"none of the words has a vector: {named}; use other vectors")
    if not skip:
        raise UnknownWordError(
            f"{len(seen.unknown)} of {count} words have no vector: {named}; "
            "use other vectors, or --skip-unknown to leave them out"
        )
    return [f"Left out, because they have no vector: {named}."]


def seeded_matrices(
    width: int, heads: int, key_width: int | None, seed: int, output: bool
) -> dict[str, Array]:
    """Untrained W_Q, W_K, W_V (width, heads · key width) and W_O: normal, variance 1/width."""
    if key_width is None:
        if width % heads:
            raise ShapeError(
                f"heads must divide the width of the vectors: {width} cannot be cut into {heads} "
                "equal parts; choose another --heads or give --key-width"
            )
        key_width = width // heads
    generator = np.random.default_rng(seed)
    shapes = dict.fromkeys(("w_q", "w_k", "w_v"), (width, heads * key_width))
    if output:
        shapes["w_o"] = (heads * key_width, width)
    return {
        name: generator.standard_normal(shape) / np.sqrt(shape[0]) for name, shape in shapes.items()
    }


def load_matrices(path: str | os.PathLike[str]) -> dict[str, Array]:
    """w_q, w_k, w_v and, if there, w_o of a safetensors file, each (width, outputs)."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        content = load_file(path)
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileError(f"{str(path)!r} is not a safetensors file: {error}") from error
    missing = [n for n in ("w_q", "w_k", "w_v") if n not in content]
    if missing:
        raise FileError(
            f"{str(path)!r} must hold w_q, w_k, w_v (and w_o), each (width, outputs); "
            f"{', '.join(missing)} missing, got {', '.join(sorted(content)) or 'nothing'}"
        )
    names = [name for name in MATRICES if name in content]
    found: dict[str, Array] = {name: content[name].astype(np.float64) for name in names}
    for name, matrix in found.items():
        if matrix.ndim != 2 or not np.isfinite(matrix).all():
            raise FileError(f"{name} of {str(path)!r} must be a matrix of finite numbers")
    return found


def on_equal_words(example: Example, trace: Trace, place: int) -> list[str]:
    """What attention makes of the word at ``place`` if it stands twice: told apart, or not."""
    repeated = _repeated(example)
    places = next((p for p in repeated if place in p), None)
    if places is None:
        return []
    last = next((s for s in ("output", "concatenated", "context") if s in trace), None)
    if last is None:
        return []
    result = trace.value(last)
    apart = float(np.abs(result[places] - result[place]).max())
    # Equal rows may differ in their last bits, in proportion to their size.
    if apart > 1e-9 * max(1.0, float(np.abs(result).max())):
        outcome = f"differ by up to {apart:.4g}{_cause(example)}"
    elif example.positions is None:
        outcome = "are equal: without positions attention cannot tell them apart"
    else:
        outcome = "are equal all the same"
    others = len(repeated) - 1
    also = f" (and {number_of(others, 'other repeated word')})" if others else ""
    word = example.tokens[place].lower()
    return [f"{word!r} stands at {_listed(places)}; its outputs {outcome}{also}."]


def _repeated(example: Example) -> list[list[int]]:
    """The places of each word that stands more than once with one and the same vector."""
    places: dict[tuple[str, bytes], list[int]] = {}
    if example.dialect.query not in example.given:
        return []
    for i, token in enumerate(example.tokens):
        places.setdefault((token.lower(), example.x[i].tobytes()), []).append(i)
    return [found for found in places.values() if len(found) > 1]


def _cause(example: Example) -> str:
    """Everything that treats equal words differently."""
    causes = ["positions"] if example.positions else []
    if example.mask is not None:
        causes.append("the causal mask" if example.mask == {"causal": True} else "the mask")
    if example.layout == "row-per-word" and example.matrices:
        causes.append("the row of W for each word")
    verb = "tells" if len(causes) == 1 and causes != ["positions"] else "tell"
    return f": {' and '.join(causes)} {verb} them apart" if causes else ""


def _listed(places: list[int], most: int = 4) -> str:
    """``1, 5 and 9``, counted from 1; ``1, 5, 9, 12 and 30 more places`` if there are many."""
    first = [str(i + 1) for i in places[:most]]
    if len(places) > most:
        return f"{', '.join(first)} and {number_of(len(places) - most, 'more place')}"
    return f"{', '.join(first[:-1])} and {first[-1]}"
