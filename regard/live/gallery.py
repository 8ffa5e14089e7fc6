"""Gallery: a folder of living pages with an index, ready for any static host."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.errors import RegardError
from regard.files import write_text
from regard.live.carried import CarriedModel
from regard.live.file import save_live
from regard.live.proof import proofs
from regard.text import visible
from regard.views.page.file import visible_title
from regard.views.page.frame import png_of
from regard.views.page.inline import fill, headed, source_hash, style

INDEX = "index.html"
TITLE = "Models that run in your browser"
ABOUT = {
    "word-by-word": "Translates one word at a time, each from the one word of the source that it "
    "looks at.",
    "encoder-decoder": "Translates from one vector for the whole sentence, as before attention: "
    "it looks at nothing.",
    "bahdanau": "Translates, and looks back at the source before it writes each word: where "
    "attention began.",
    "transformer": "Translates; several heads in several layers look at the source for each word.",
    "simple-rnn+attention": "Reads word by word; an RNN that looks back at its own memory, and "
    "what comes next.",
    "lstmn": "Reads word by word; an LSTM whose memory is a tape that it attends to, and what "
    "comes next.",
    "patches": "Cuts the image that you draw into patches, which look at each other, and says what "
    "it shows.",
    "bert": "Reads all words at once; every head of every layer, and how alike two sentences are.",
}
"""By design, what a model does."""
POLICY = "default-src 'none'; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Shown:
    """A model of the gallery, and where its page is."""

    model: CarriedModel
    file: Path
    size: int
    """Bytes of the page."""


def save_gallery(folder: Path, models: Sequence[CarriedModel]) -> list[Shown]:
    """Write a living page for each model into ``folder``, then the index of them."""
    names = [file_name(model.name) for model in models]
    for i, name in enumerate(names):
        if name.lower() in {INDEX, *(other.lower() for other in names[:i])}:
            raise RegardError(
                f"each model of a gallery has its own file: {models[i].name!r} would be {name}, "
                "which is there already; rename its folder or leave one out"
            )
    folder.mkdir(parents=True, exist_ok=True)
    shown = [
        Shown(model, folder / name, save_live(folder / name, [model]))
        for model, name in zip(models, names, strict=True)
    ]
    write_text(folder / INDEX, index_html(shown))
    return shown


def file_name(name: str) -> str:
    """A name that every host and system takes: + is a blank to some."""
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', name).lstrip('.')}.html"


def index_html(shown: Sequence[Shown]) -> str:
    """The index as text: no script, nothing fetched but the page that is chosen."""
    body = fill("gallery.html", {"TITLE": TITLE, "MODELS": "".join(map(_card, shown))})
    own = style("gallery")
    return headed(body, title=TITLE, rules=POLICY.format(style=source_hash(own)), style=own)


def _card(shown: Shown) -> str:
    model = shown.model
    name = html.escape(visible_title(visible(model.name)))
    example = html.escape(visible(str(model.examples[0])))
    return (
        f'<li><a href="{html.escape(shown.file.name)}">{_picture(model)}<h2>{name}</h2></a>'
        f"<p>{ABOUT[model.config['model']]}</p><p><q>{example}</q></p>"
        f'<p class="quiet">{shown.size / 1e6:.1f} MB, weights of {model.bits} bits. '
        f"{html.escape(visible(model.origin))}</p></li>\n"
    )


def _picture(model: CarriedModel) -> str:
    """Where it looks in its first example: the largest weight of all heads; dark if nowhere."""
    data = base64.b64encode(png_of(proofs(model)[0].weights.max((0, 1), initial=0))).decode()
    return f'<img alt="" src="data:image/png;base64,{data}">'
