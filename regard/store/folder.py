"""Run folder: what one training run leaves, and the only place it writes to.

config.json          every setting, resolved
tokens.json          the vocabulary
model.safetensors    the best weights so far; at the end the averaged ones if they are better
log.jsonl            one line an event
curves.png           loss and score over time
valid.tsv, test.tsv  the lines that were not trained on; of plain text valid.txt, test.txt
checkpoints/         what --resume goes on from
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import safetensors
from safetensors.torch import save_file
from torch import Tensor, nn

from regard.errors import ConfigError, FileError
from regard.files import replacing, write_text
from regard.pieces.tokenizer import Tokenizer
from regard.store.packing import unpacked
from regard.train.config import FREE
from regard.train.run.checkpoint import read_weights
from regard.train.run.distributed import put
from regard.train.settings import Tree, flat

if TYPE_CHECKING:
    from regard.models.classifier import Classifier
    from regard.models.language import LanguageModel
    from regard.models.translators.base import Translator

Some = TypeVar("Some", bound=nn.Module)
FORMAT = 1
PATHS = {
    *(
        f"data.{part}{name}"
        for part in ("", "valid_", "test_")
        for name in ("pairs", "source", "target")
    ),
    *(f"data.{name}" for name in ("text", "file", "vectors", "valid", "test")),
}
"""Settings that name files: these may be elsewhere when a run is resumed."""


class RunFolder:
    """The files of a run, by name."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.tokens = self.path / "tokens.json"
        self.model = self.path / "model.safetensors"
        self.log = self.path / "log.jsonl"
        self.curves = self.path / "curves.png"
        self.valid = self.path / "valid.tsv"
        self.test = self.path / "test.tsv"
        self.valid_text = self.path / "valid.txt"
        self.test_text = self.path / "test.txt"
        self.checkpoints = self.path / "checkpoints"

    def read_config(self) -> Tree:
        """The resolved settings of the run that is here."""
        try:
            content = json.loads(self.config.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise FileError(
                f"{str(self.path)!r} is not a run folder: it has no {self.config.name}"
            ) from error
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {str(self.config)!r}: {error}") from error
        if not isinstance(content, dict) or content.get("regard") != FORMAT:
            raise FileError(f"{str(self.config)!r} is not a config of regard, format {FORMAT}")
        return content

    def check_new(self) -> None:
        """Refuse a folder that already holds something."""
        if self.config.exists():
            raise FileError(
                f"{str(self.path)!r} already holds a run: add --resume to go on with it, "
                "or choose another folder"
            )
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FileError(f"{str(self.path)!r} exists and is not a run folder: choose another")

    def check_same(self, config: Mapping[str, Any]) -> None:
        """Refuse to go on with a run under settings that would make it another run."""
        old, new = flat(self.read_config()), flat({"regard": FORMAT, **config})
        free = {f"train.{name}" for name in FREE} | {"made.regard", "made.torch"}
        keys = [k for k in {**old, **new} if k not in free | PATHS and old.get(k) != new.get(k)]
        if keys:
            changes = ", ".join(f"{k} was {old.get(k)!r}, is {new.get(k)!r}" for k in keys[:5])
            raise ConfigError(
                f"{str(self.path)!r} is a run with other settings: {changes}; "
                "resume it with its own, or choose another folder"
            )

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Make the folder if need be and save the settings in it."""
        try:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot make the folder {str(self.path)!r}: {reason}") from error
        content = {"regard": FORMAT, **config}
        write_text(self.config, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training in this folder at the same time."""
        try:
            import fcntl
        except ImportError:  # not on Windows: there the user must take care
            yield
            return
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise FileError(
                    f"another process is training in {str(self.path)!r}: wait for it, "
                    "or choose another folder"
                ) from error
            yield


def named_weights(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters and kept buffers by name; of tied ones only the first."""
    found: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        found.setdefault(id(tensor), (name, tensor))
    return dict(found.values())


def write_weights(path: Path, weights: dict[str, Tensor]) -> None:
    """Write a safetensors file, atomically."""
    with replacing(path) as temporary:
        mode = temporary.stat().st_mode
        try:
            save_file(weights, temporary)
            temporary.chmod(mode)  # safetensors makes a file that only its owner can read
        except safetensors.SafetensorError as error:
            raise FileError(f"cannot write {str(path)!r}: {error}") from error


def set_weights(model: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    """Copy ``weights`` into the model; ``name`` says where they are from if they do not fit."""
    own = named_weights(model)
    missing, strange = own.keys() - weights.keys(), weights.keys() - own.keys()
    wrong = [k for k in own.keys() & weights.keys() if own[k].shape != weights[k].shape]
    for what, keys in (("lacks", missing), ("has a strange", strange), ("has a misshaped", wrong)):
        if keys:
            raise FileError(f"{name} does not fit this model: it {what} {sorted(keys)[0]!r}")
    for key, tensor in own.items():
        tensor.data.copy_(put(tensor.data, weights[key].to(tensor.dtype)))


def load_translator(folder: str | os.PathLike[str]) -> tuple[Translator, Tokenizer]:
    """The translator of a run folder, ready to translate, and its tokens."""
    from regard.models.translators.base import TranslatorConfig, build

    run, config = _opened(folder, "translate", "translator")
    return _filled(run, build(TranslatorConfig.from_dict(config["model"])))


def load_language_model(folder: str | os.PathLike[str]) -> tuple[LanguageModel, Tokenizer]:
    """The language model of a run folder, ready to read, and its tokens."""
    from regard.models.language import LanguageConfig, LanguageModel

    run, config = _opened(folder, "lm", "language model")
    return _filled(run, LanguageModel(LanguageConfig.from_dict(config["model"])))


def load_classifier(folder: str | os.PathLike[str]) -> tuple[Classifier, Tokenizer]:
    """The classifier of a run folder, ready to decide, and its tokens."""
    from regard.models.classifier import Classifier, ClassifierConfig

    run, config = _opened(folder, "classify", "classifier")
    return _filled(run, Classifier(ClassifierConfig.from_dict(config["model"])))


def _opened(folder: str | os.PathLike[str], task: str, what: str) -> tuple[RunFolder, Tree]:
    """The run folder and its config, if it holds a model of this kind."""
    run = RunFolder(folder)
    config = run.read_config()
    if config.get("task") != task:
        raise FileError(f"{str(folder)!r} holds no {what} but a {config.get('task')!r} run")
    if not run.model.exists():
        raise FileError(f"{str(folder)!r} has no {run.model.name} yet: no validation was reached")
    return run, config


def _filled(run: RunFolder, model: Some) -> tuple[Some, Tokenizer]:
    """The model with the run's weights, and the run's tokens."""
    set_weights(model, unpacked(read_weights(run.model)), repr(str(run.model)))
    return model.eval(), Tokenizer.load(run.tokens)
