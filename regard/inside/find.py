"""Find: the folder of a model that a person names by alias, by folder or by its name on the hub."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from regard.errors import MissingExtraError, ModelError, nearest
from regard.inside.pinned import PINNED, fetch

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
WANTED = ("*.json", "*.model", "*.safetensors", "*.txt")
"""What is fetched from a hub: settings, tokenizer, safe weights. No pickle and no code."""
PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")


@dataclass(frozen=True)
class ModelFiles:
    """A model on this machine whose weights can be read without running code."""

    name: str
    """As it was asked for."""
    folder: Path
    gguf: str | None = None
    """The file in the folder that holds everything, if the model is GGUF,"""
    onnx: str | None = None
    """or if it is ONNX."""


def find(model: str) -> ModelFiles:
    """The model that ``model`` names: an alias, a folder (or a GGUF or ONNX file), a hub name.

    An alias goes before a folder of the same name (``./minilm`` is the folder). Raises ModelError
    if nothing is found, if the folder is no model, or if its weights are pickles.
    """
    if model in PINNED:
        return check(fetch(model), model)
    path = Path(os.path.expanduser(model))
    if os.path.isdir(path):  # False for a name that no file could have, where is_dir() raises
        return check(path, model)
    if os.path.isfile(path):
        return _of_file(path, model)
    if not HUB_NAME.fullmatch(model) or model.startswith("."):
        raise ModelError(
            f"there is no folder {model!r}; a model is an alias ({', '.join(PINNED)}), a folder, "
            f"or a name on the hub such as 'google-bert/bert-base-uncased'{nearest(model, PINNED)}"
        )
    return check(_from_hub(model), model)


def check(folder: Path, name: str) -> ModelFiles:
    """Raise unless ``folder`` holds a model with weights that run no code when they are read."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    ggufs = [n for n in names if n.endswith(".gguf")]
    if len(ggufs) == 1 and not any(n.endswith(".safetensors") for n in names):
        return ModelFiles(name, folder, ggufs[0])
    graphs = [n for n in names if n.endswith(".onnx")]
    if len(graphs) == 1 and "config.json" not in names:
        return ModelFiles(name, folder, onnx=graphs[0])
    if "config.json" not in names:
        has = ", ".join(names[:4]) + (", …" if len(names) > 4 else "") or "no files"
        raise ModelError(
            f"{name!r} is not the folder of a model: that has config.json and model.safetensors "
            f"(or one .gguf file), this one has {has}"
        )
    if not any(n.endswith(".safetensors") for n in names):
        raise _without_weights(name, [n for n in names if n.endswith(PICKLES)])
    return ModelFiles(name, folder)


def _without_weights(name: str, pickles: list[str]) -> ModelError:
    if not pickles:
        return ModelError(f"{name!r} has config.json but no weights: model.safetensors is missing")
    return ModelError(
        f"the weights of {name!r} are a pickle ({pickles[0]}), which can run any code when it is "
        "loaded; regard reads safetensors. Where you trust the file, transformers converts it: "
        "AutoModel.from_pretrained(folder).save_pretrained(new_folder)"
    )


def _of_file(path: Path, name: str) -> ModelFiles:
    if path.suffix == ".gguf":
        return ModelFiles(name, path.parent, path.name)
    if path.suffix == ".onnx":
        return ModelFiles(name, path.parent, onnx=path.name)
    raise ModelError(f"{name!r} is a file; give the folder of a model, a .gguf or an .onnx file")


def _from_hub(name: str) -> Path:
    """The folder in the hub's cache, downloaded if it is not there."""
    try:
        from huggingface_hub import errors, snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"the hub's model {name!r}", "huggingface_hub") from error
    try:
        folder = snapshot_download(name, allow_patterns=list(WANTED), ignore_patterns=["*/*"])
    except errors.GatedRepoError as error:
        raise ModelError(f"the hub gives {name!r} only to those who accepted its terms") from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(
            f"the hub has no model {name!r}{nearest(name, PINNED)}; a model is an alias "
            f"({', '.join(PINNED)}), a folder, or a name on the hub"
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(
            f"there is no folder {name!r}, and the hub was not reached, nor is it in the hub's "
            f"cache{nearest(name, PINNED)}; go online, give a folder, or use an alias "
            f"({', '.join(PINNED)})"
        ) from error
    return Path(folder)
