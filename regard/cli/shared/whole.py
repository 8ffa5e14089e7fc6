"""The whole way of a word as ``explain`` shows it: loaded, followed, printed, written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.cli.shared.explainoptions import OF_WHOLE, ExplainOptions
from regard.cli.shared.model import load_any, noted
from regard.cli.shared.output import note_unknown, write_json, write_page
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.inside.textmodel import TextModel
    from regard.pieces.whole import WholeWay


def explain_way(sentence: str, options: ExplainOptions) -> None:
    """The way of a word through all layers, to what the model puts out."""
    options.refuse("head", "form", "to", why="--whole follows a word through all heads")
    options.refuse("part", why="--whole follows the decoder's word through all its attention")
    if options.said is not None and not options.parts:
        raise RegardError("--said names the word whose logit is split: it goes with --parts")
    model = load_any(options.model)
    from regard.inside.explain.whole import explain_whole, similarity

    wanted = {name: getattr(options, name) for name in ("target", *OF_WHOLE)}
    with noted():
        found = explain_whole(model, sentence, options.word, **wanted)
        if options.compare is not None:
            similarity(model, found, options.compare)
    layer, layers = options.layer, found.shape[0]
    if layer is not None and layer >= layers:
        raise RegardError(
            f"layers are counted from 0: {found.model} has {layers}, got --layer {layer}"
        )
    if options.json_to is not None:
        write_json(found.to_json(), options.json_to)
    if not options.quietly:
        from regard.views.terminal.console import make_console
        from regard.views.terminal.whole import WholeView, print_whole

        print_whole(WholeView(found, make_console(), layer, options.everything))
    if options.html_to is not None:
        _write_page(options.html_to, model, found, sentence, options)
    from regard.pieces.unknown import Unknown

    read = found.reading if found.source is None else found.source
    note_unknown(Unknown(read), found.model)


def _write_page(
    to: str, model: TextModel, found: WholeWay, sentence: str, options: ExplainOptions
) -> None:
    """A page that opens at the view of the whole model."""
    from regard.inside.look.page import subject_of_text
    from regard.inside.whatif.stored import stored_trials

    read = found.source or found.reading
    with noted():
        subject = subject_of_text(model, read, None if found.source is None else found.reading)
        subject.trials = stored_trials(model, read, options.target)
    subject.whole, subject.title = found, sentence
    subject.start = {"view": "model"}
    write_page(to, subject, quietly=options.quietly)
