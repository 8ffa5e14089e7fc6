"""Readings: sentences as the model of a name or run folder reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from regard.errors import RegardError
from regard.store.folder import (
    RunFolder,
    kind_of,
    load_classifier,
    load_language_model,
    load_word_labeller,
)
from regard.store.shipped import find_folder

if TYPE_CHECKING:
    from regard.models.reading import LabelReading, SentenceReading, Verdict


def readings_of(
    name: str, texts: Sequence[str], *, traced: bool = True
) -> Iterator[SentenceReading | Verdict | LabelReading]:
    """Each text as the model of that name or folder reads it; empty lines are left out.

    Unless ``traced``, only the attention is kept of what the model did.
    """
    folder = find_folder(name, "lm")
    task = RunFolder(folder).read_config().get("task")
    wanted = [text for text in texts if text.strip()]
    if not wanted:
        raise RegardError("there is nothing to read: the text is empty or all white space")
    if task not in ("classify", "lm", "label"):
        raise RegardError(
            f"{name!r} is {kind_of(task)}: of sentences 'regard read' takes a language model, a "
            "classifier or a labeller"
        )
    # From here on with torch: what is refused was refused without it.
    from regard.models.reading import judge_sentence, label_sentence, read_sentence

    if task == "label":
        labeller, tokens, _ = load_word_labeller(folder)
        return (label_sentence(labeller, tokens, text, traced=traced) for text in wanted)
    if task == "classify":
        classifier, tokens = load_classifier(folder)
        return (judge_sentence(classifier, tokens, text, traced=traced) for text in wanted)
    model, tokens = load_language_model(folder)
    return (read_sentence(model, tokens, text, traced=traced) for text in wanted)
