"""What was saved before the models' modules moved still fits, and still says the same.

saved/names.json has the settings of small models and the names and shapes of their weights; a
.safetensors holds one model of each task, with an input and the logits that it had for it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from regard.models.classifier import Classifier, ClassifierConfig
from regard.models.language import LanguageConfig, LanguageModel
from regard.models.translators.base import Translator
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig

SAVED = Path(__file__).parent / "saved"
NAMES = json.loads((SAVED / "names.json").read_text(encoding="utf-8"))


def made(task: str, settings: dict[str, Any]) -> LanguageModel | Classifier | Translator:
    if task == "lm":
        return LanguageModel(LanguageConfig.from_dict(settings))
    if task == "classify":
        return Classifier(ClassifierConfig.from_dict(settings))
    return build(TranslatorConfig.from_dict(settings))


@pytest.mark.parametrize(
    ("task", "index"), [(task, i) for task, runs in NAMES.items() for i in range(len(runs))]
)
def test_settings_and_weights_have_the_names_they_had(task: str, index: int) -> None:
    run = NAMES[task][index]
    model = made(task, run["model"])
    assert {name: list(w.shape) for name, w in model.state_dict().items()} == run["weights"]
    assert [name for name, _ in model.named_parameters()] == list(run["weights"])
    assert list(model.config.to_dict()) == list(run["model"])


@pytest.mark.parametrize("task", NAMES)
def test_a_saved_model_gives_the_logits_it_gave(task: str) -> None:
    with safe_open(SAVED / f"{task}.safetensors", "pt") as file:
        settings, tensors = json.loads(file.metadata()["model"]), file.keys()
        held = {name: file.get_tensor(name) for name in tensors}
    model = made(task, settings).eval()
    prefix = "weight."
    model.load_state_dict(
        {name.removeprefix(prefix): w for name, w in held.items() if name.startswith(prefix)}
    )
    given = [held[name] for name in sorted(held) if name.startswith("input.")]
    found = model(*given)
    logits = found if isinstance(found, torch.Tensor) else found.logits
    torch.testing.assert_close(logits, held["logits"])
