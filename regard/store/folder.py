"""Run folder: what one training run leaves, and how its model is read again.

config.json          every setting, resolved
tokens.json          the vocabulary; a config with "tokens" names another file for it
items.json           of a recommender instead: the items it knows
model.safetensors    the best weights so far; at the end the averaged ones if they are better
log.jsonl            one line an event
curves.png           loss and score over time
report.html          the page of a finished run
baselines.json       of a forecaster, a labeller or an actor: what it is compared with
valid.tsv, test.tsv  the lines that were not trained on; of plain text valid.txt, test.txt
checkpoints/         what --resume goes on from
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from regard.errors import FileError
from regard.files import write_text
from regard.pieces.history import Catalogue
from regard.pieces.tokenizer import Tokenizer

if TYPE_CHECKING:  # a folder that is none is refused before torch is imported
    from torch import nn

    from regard.models.actor import Actor
    from regard.models.baselines import Baselines
    from regard.models.classifier import Classifier
    from regard.models.forecaster import Forecaster
    from regard.models.guesses import Imitations, LinearGuesses, WordGuesses
    from regard.models.images import ImageClassifier
    from regard.models.labeller import Labeller
    from regard.models.language import LanguageModel
    from regard.models.translators.base import Translator

Some = TypeVar("Some", bound="nn.Module")
SHIPPED = Path(__file__).parent.parent / "shipped"
"""Where the models lie that come with the package."""
FORMAT = 1
TOKENS = "tokens.json"
BASELINES = "baselines.json"
ITEMS = "items.json"
TASKS = {
    "translate": "translator",
    "lm": "language model",
    "classify": "classifier",
    "images": "image classifier",
    "forecast": "forecaster",
    "recommend": "recommender",
    "sounds": "sound classifier",
    "label": "labeller",
    "label-images": "labeller of patches",
    "label-series": "labeller of steps",
    "act": "actor",
}
"""What was trained for each task."""


def kind_of(task: object) -> str:
    """``a translator``, ``an actor``."""
    name = TASKS.get(str(task), f"{task!r} run")
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


class RunFolder:
    """The files of a run, by name."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.model = self.path / "model.safetensors"
        self.log = self.path / "log.jsonl"
        self.curves = self.path / "curves.png"
        self.report = self.path / "report.html"
        self.test = self.path / "test.tsv"
        self.test_text = self.path / "test.txt"
        self.baselines = self.path / BASELINES
        self.checkpoints = self.path / "checkpoints"

    @property
    def name(self) -> str:
        """What users call it: a model that comes with the package has a name, others a path."""
        return self.path.name if self.path.parent == SHIPPED else str(self.path)

    def read_config(self) -> dict[str, Any]:
        """The resolved settings of the run that is here."""
        try:
            content = json.loads(self.config.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise FileError(
                f"{self.name!r} is not a run folder: it has no {self.config.name}"
            ) from error
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {str(self.config)!r}: {error}") from error
        if isinstance(content, dict) and "model_type" in content and "regard" not in content:
            raise FileError(
                f"{self.name!r} is a {content['model_type']} model of Hugging Face's transformers, "
                "no run folder: 'regard look' and 'regard heads' take it, 'regard translate' a "
                "marian one"
            )
        if not isinstance(content, dict) or content.get("regard") != FORMAT:
            raise FileError(f"{str(self.config)!r} is not a config of regard, format {FORMAT}")
        return content

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Make the folder if need be and save the settings in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot make the folder {str(self.path)!r}: {reason}") from error
        content = {"regard": FORMAT, **config}
        write_text(self.config, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def read_tokens(self) -> Tokenizer:
        """The vocabulary; models that share one name its file, relative to their folder."""
        return Tokenizer.load(self.path / self.read_config().get("tokens", TOKENS))

    def read_baselines(self) -> str:
        """The file of what the model is compared with."""
        try:
            return self.baselines.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"cannot read {str(self.baselines)!r}: {error}") from error

    def read_catalogue(self) -> Catalogue:
        """The items that a recommender knows."""
        try:
            return Catalogue.from_text((self.path / ITEMS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {str(self.path / ITEMS)!r}: {error}") from error


def load_translator(folder: str | os.PathLike[str]) -> tuple[Translator, Tokenizer]:
    """The translator of a run folder, ready to translate, and its tokens; or of a folder of
    Hugging Face's Marian."""
    if _is_marian(folder):
        from regard.store.exchange.marian import read_marian

        return read_marian(folder)
    from regard.models.translators.builder import build
    from regard.models.translators.config import TranslatorConfig

    run, config = _opened(folder, "translate")
    return _filled(run, lambda: build(TranslatorConfig.from_dict(config["model"])))


def load_language_model(folder: str | os.PathLike[str]) -> tuple[LanguageModel, Tokenizer]:
    """The language model of a run folder, ready to read, and its tokens."""
    from regard.models.language import LanguageConfig, LanguageModel

    run, config = _opened(folder, "lm")
    return _filled(run, lambda: LanguageModel(LanguageConfig.from_dict(config["model"])))


def load_classifier(folder: str | os.PathLike[str]) -> tuple[Classifier, Tokenizer]:
    """The classifier of a run folder, ready to decide, and its tokens."""
    from regard.models.classifier import Classifier, ClassifierConfig

    run, config = _opened(folder, "classify")
    return _filled(run, lambda: Classifier(ClassifierConfig.from_dict(config["model"])))


def _is_marian(folder: str | os.PathLike[str]) -> bool:
    """Whether the config in ``folder`` is one of Hugging Face's, of a translator."""
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # said by whoever reads it as a run
        return False
    return isinstance(config, dict) and config.get("model_type") == "marian"


def load_image_classifier(folder: str | os.PathLike[str], task: str = "images") -> ImageClassifier:
    """The image classifier of a run folder, ready to decide; or of "sounds", as images."""
    from regard.models.images import ImageClassifier, ImageConfig

    run, config = _opened(folder, task)
    return _weighted(run, lambda: ImageClassifier(ImageConfig.from_dict(config["model"])))


def load_forecaster(folder: str | os.PathLike[str]) -> tuple[Forecaster, Baselines]:
    """The forecaster of a run folder, ready to forecast, and what it is compared with."""
    from regard.models.baselines import Baselines
    from regard.models.forecaster import ForecastConfig, Forecaster

    run, config = _opened(folder, "forecast")
    baselines = Baselines.from_text(run.read_baselines(), repr(str(run.baselines)))
    return _weighted(run, lambda: Forecaster(ForecastConfig.from_dict(config["model"]))), baselines


def load_word_labeller(
    folder: str | os.PathLike[str],
) -> tuple[Labeller, Tokenizer, WordGuesses]:
    """The labeller of words of a run folder, ready to read, its tokens, and what it is compared
    with."""
    from regard.models.guesses import WordGuesses
    from regard.models.labeller import Labeller, LabellerConfig

    run, config = _opened(folder, "label")
    model, tokens = _filled(run, lambda: Labeller(LabellerConfig.from_dict(config["model"])))
    name, count = repr(str(run.baselines)), len(model.config.labels)
    return model, tokens, WordGuesses.from_text(run.read_baselines(), name, count)


def load_labeller(folder: str | os.PathLike[str], task: str) -> tuple[Labeller, LinearGuesses]:
    """The labeller of patches ("label-images") or steps ("label-series") of a run folder, and what
    it is compared with."""
    from regard.models.guesses import LinearGuesses
    from regard.models.labeller import Labeller, LabellerConfig

    run, config = _opened(folder, task)
    model = _weighted(run, lambda: Labeller(LabellerConfig.from_dict(config["model"])))
    name, count = repr(str(run.baselines)), len(model.config.labels)
    return model, LinearGuesses.from_text(run.read_baselines(), name, count)


def load_recommender(folder: str | os.PathLike[str]) -> tuple[LanguageModel, Catalogue]:
    """The recommender of a run folder, a language model whose words are items, and the items."""
    from regard.models.language import LanguageConfig, LanguageModel

    run, config = _opened(folder, "recommend")
    model = _weighted(run, lambda: LanguageModel(LanguageConfig.from_dict(config["model"])))
    return model, run.read_catalogue()


def load_actor(folder: str | os.PathLike[str]) -> tuple[Actor, Imitations]:
    """The actor of a run folder, ready to act, and what it is compared with."""
    from regard.models.actor import Actor, ActorConfig
    from regard.models.guesses import Imitations

    run, config = _opened(folder, "act")
    model = _weighted(run, lambda: Actor(ActorConfig.from_dict(config["model"])))
    name, count = repr(str(run.baselines)), len(model.config.actions)
    return model, Imitations.from_text(run.read_baselines(), name, count)


def _opened(folder: str | os.PathLike[str], task: str) -> tuple[RunFolder, dict[str, Any]]:
    """The run folder and its config, if it holds a model for this task."""
    run = RunFolder(folder)
    config = run.read_config()
    if config.get("task") != task:
        raise FileError(f"{run.name!r} holds no {TASKS[task]} but {kind_of(config.get('task'))}")
    if not run.model.exists():
        raise FileError(f"{run.name!r} has no {run.model.name} yet: no validation was reached")
    return run, config


def _filled(run: RunFolder, make: Callable[[], Some]) -> tuple[Some, Tokenizer]:
    """The model with the run's weights, and the run's tokens, which it must have been made for."""
    model, tokens = _weighted(run, make), run.read_tokens()
    known = run.read_config()["model"]["vocabulary"]
    if len(tokens) != known:
        raise FileError(
            f"the tokens of {run.name!r} do not fit its model: they are {len(tokens):,}, and it "
            f"knows {known:,}"
        )
    return model, tokens


def _weighted(run: RunFolder, make: Callable[[], Some]) -> Some:
    """The model with the run's weights."""
    from regard.store.undrawn import Undrawn
    from regard.store.weights import read_weights, set_weights, unpacked

    with Undrawn():
        model = make()
    set_weights(model, unpacked(read_weights(run.model)), repr(str(run.model)))
    return model.eval()
