"""TextModel: a real model with its tokenizer, ready to read a text and be observed."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_model
from torch import nn

from regard.errors import DataError, MissingExtraError, ModelError, first_line
from regard.inside.find import ModelFiles, find
from regard.inside.pinned import PINNED
from regard.inside.realmodel import title_of
from regard.models.bert.config import is_bert
from regard.pieces.pieces import Pieces
from regard.pieces.text import check_length, load_tokenizer, read_text

PARTS = ("encoder", "decoder", "cross")
"""The attention of a model that has an encoder and a decoder."""
PROBE = 8
"""Characters a token of the bound that are cut first: of an enormous text that is enough to see."""
CUT = 16
"""Tokens that a word may have more where the probe cuts it."""
MOST_WRITTEN = 128
"""Tokens that a model with a decoder writes if no target text is given."""


def bounded(tokens: Pieces, most: int | None) -> Pieces:
    """The tokens, if they are no more than ``most``."""
    if most is not None and len(tokens) > most:
        raise DataError(
            f"the text has {len(tokens):,} tokens, more than --max-tokens {most:,}; nothing "
            "is cut off: shorten it or raise the bound"
        )
    return tokens


@dataclass
class TextModel:
    """A model that reads text."""

    name: str
    network: nn.Module
    tokenizer: Any
    """``tokenizers.Tokenizer``, or a tokenizer of transformers that is not built on one."""
    positions: int | None
    """The longest text in tokens; None if the model has no bound of its own."""
    config: Any = None
    """transformers' configuration; None for regard's own encoder."""
    row = 0

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def has_both(self) -> bool:
        """Whether there is an encoder and a decoder, and cross-attention between them."""
        return bool(getattr(self.config, "is_encoder_decoder", False))

    @property
    def layers(self) -> int:
        """How many layers of self-attention there are, in the encoder if it has both."""
        config = self.network.config if self.config is None else self.config
        return int(getattr(config, "layers", 0) or getattr(config, "num_hidden_layers", 0) or 0)

    def read(self, text: str, most: int | None = None) -> Pieces:
        """The tokens of ``text``, all of them: a text that is too long is refused."""
        bound = min((n for n in (most, self.positions) if n is not None), default=len(text))
        start = text[: PROBE * bound]
        if len(start) < len(text) and len(read_text(self.tokenizer, start)) > bound + CUT:
            why = f"the positions of {self.name}" if most is None else f"--max-tokens {most:,}"
            if most is not None and bound < most:
                why = f"the positions of {self.name}"
            raise DataError(
                f"the text has more than {bound:,} tokens, the most here ({why}); nothing is cut "
                "off: give a shorter text, or its parts"
            )
        tokens = bounded(read_text(self.tokenizer, text), most)
        check_length(tokens, self.name, self.positions)
        return tokens

    def run(self, tokens: Pieces, target: Pieces | None = None, *, last: bool = False) -> Any:
        """One pass, of the encoder alone if there is no target, and what the network gives; who
        wants to see more of it observes it. ``last``: the scores of the last token are enough."""
        device = next(self.network.parameters()).device
        ids = torch.tensor([tokens.ids], device=device)
        with torch.inference_mode():
            if self.config is None:
                return self.network(ids)
            if target is None and self.has_both:
                encoder: Any = self.network
                return encoder.get_encoder()(input_ids=ids)
            if target is None:
                return self.network(input_ids=ids, **self._no_cache(), **self._few(last))
            target_ids = torch.tensor([target.ids], device=device)
            return self.network(input_ids=ids, decoder_input_ids=target_ids, **self._no_cache())

    def target(self, tokens: Pieces, text: str | None, most: int | None = None) -> Pieces:
        """What the decoder reads: ``text``, or what the model itself writes (greedily)."""
        read = self.read(self._written(tokens) if text is None else text, most).without_last()
        start = getattr(self.config, "decoder_start_token_id", None)
        if start is None:
            raise ModelError(f"{self.name} does not say with which token its decoder begins")
        return read.after(name_of(self.tokenizer, start), start)

    def _written(self, tokens: Pieces) -> str:
        ids = torch.tensor([tokens.ids], device=next(self.network.parameters()).device)
        network: Any = self.network
        most = min(MOST_WRITTEN, (self.positions or MOST_WRITTEN) - 2)
        with torch.inference_mode():
            out = network.generate(ids, max_new_tokens=most, num_beams=1, do_sample=False)
        text: str = self.tokenizer.decode(out[0].tolist(), skip_special_tokens=True)
        if not text.strip():
            raise DataError(f"{self.name} wrote nothing for this text: give --target TEXT")
        return text

    def _few(self, last: bool) -> dict[str, Any]:
        """Scores of all words for every token of a long text would take gigabytes."""
        forward: Any = self.network.forward
        known = last and "logits_to_keep" in signature(forward).parameters
        return {"logits_to_keep": 1} if known else {}

    def _no_cache(self) -> dict[str, Any]:
        return {"use_cache": False} if hasattr(self.config, "use_cache") else {}


def load(model: str | ModelFiles, *, predicts: bool = False) -> TextModel:
    """The model that ``model`` names (or the files found of it already): an alias, a folder or a
    GGUF file, a name on the hub.

    BERT models run on regard's own encoder; all others need transformers. ``predicts``: with what
    stands above the layers, such as the scores of the next word, where the files hold it.
    """
    found = find(model) if isinstance(model, str) else model
    above = predicts and found.gguf is None and _head(_architecture(found.folder)) is not None
    if is_bert(found.folder) and found.gguf is None and not above:
        return _own(found)
    if found.name in PINNED and found.gguf is not None:
        return _unpacked(found, predicts)
    return _of_transformers(found, predicts)


def _unpacked(found: ModelFiles, predicts: bool = False) -> TextModel:
    """A pinned GGUF file, which takes a minute to read, is kept in the cache as safetensors."""
    folder = found.folder.with_name(f"{found.folder.name}-float32")
    kept = ModelFiles(found.name, folder)
    if folder.is_dir():
        return _of_transformers(kept, predicts)
    model = _of_transformers(found)
    try:
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder.parent) as work:
            new = Path(work) / "model"
            new.mkdir()
            save_model(model.network, str(new / "model.safetensors"), {"format": "pt"})
            config = {k: v for k, v in model.config.to_dict().items() if "quantization" not in k}
            (new / "config.json").write_text(json.dumps(config), encoding="utf-8")
            model.tokenizer.save(str(new / "tokenizer.json"))
            new.rename(folder)
    except (OSError, SafetensorError) as error:
        if not folder.is_dir():  # no other process has just done the same
            warnings.warn(
                f"{found.name} could not be kept unpacked in {str(folder.parent)!r} "
                f"({first_line(error)}): it will take as long to load again",
                stacklevel=3,
            )
    if predicts:
        return _of_transformers(kept if folder.is_dir() else found, predicts)
    return model


def _own(found: ModelFiles) -> TextModel:
    from regard.models.bert.file import load_bert

    network = load_bert(found.folder)
    return TextModel(found.name, network, load_tokenizer(found.folder), network.config.positions)


HEADS = {
    "ForCausalLM": "AutoModelForCausalLM",
    "LMHeadModel": "AutoModelForCausalLM",
    "ForMaskedLM": "AutoModelForMaskedLM",
    "ForPreTraining": "AutoModelForMaskedLM",
    "ForSequenceClassification": "AutoModelForSequenceClassification",
}
"""How the names of architectures end, and the classes of transformers with these heads."""


def _architecture(folder: Path) -> str:
    """What config.json says the model is, such as ``LlamaForCausalLM``."""
    try:
        content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return str(content["architectures"][0])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _head(architecture: str) -> str | None:
    return next((auto for end, auto in HEADS.items() if architecture.endswith(end)), None)


def _with_head(transformers: Any, config: Any, folder: str, given: dict[str, Any]) -> Any:
    """The network with what stands above its layers; None if the files do not hold all of it."""
    name = _head(str((config.architectures or [""])[0]))
    if name is None:  # a decoder may be kept without its scores: they share the words' table
        causal = transformers.MODEL_FOR_CAUSAL_LM_MAPPING
        if type(config) not in causal or not getattr(config, "tie_word_embeddings", False):
            return None
        name = "AutoModelForCausalLM"
    kind = getattr(transformers, name)
    network, info = kind.from_pretrained(folder, output_loading_info=True, **given)
    return None if info["missing_keys"] else network


def _of_transformers(found: ModelFiles, predicts: bool = False) -> TextModel:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"the model {found.name!r}", "transformers") from error
    with quiet(transformers), _explained(found):
        given: dict[str, Any] = {} if found.gguf is None else {"gguf_file": found.gguf}
        folder = str(found.folder)
        config = transformers.AutoConfig.from_pretrained(folder, **given)
        both = bool(getattr(config, "is_encoder_decoder", False))
        kind = transformers.AutoModelForSeq2SeqLM if both else transformers.AutoModel
        tokenizer = load_tokenizer(found.folder, found.gguf)
        given |= {"dtype": torch.float32} | ({} if found.gguf else {"use_safetensors": True})
        network = None
        if predicts and not both:
            network = _with_head(transformers, config, folder, given)
        network = kind.from_pretrained(folder, **given) if network is None else network
        network = network.eval()
    if torch.cuda.is_available():
        network = network.cuda()
    return TextModel(found.name, network, tokenizer, positions_of(network), network.config)


@contextmanager
def _explained(found: ModelFiles) -> Iterator[None]:
    """What transformers says about a folder it cannot use, in one line of ours."""
    try:
        yield
    except ImportError as error:
        if found.gguf:
            packages = ("accelerate", "gguf")
            raise MissingExtraError(f"the GGUF model {found.name!r}", *packages) from error
        raise ModelError(f"{found.name!r} cannot be loaded: {first_line(error)}") from error
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"{found.name!r} is no text model that transformers can load without running code of "
            f"its own: {first_line(error)}"
        ) from error


def positions_of(network: nn.Module) -> int | None:
    """How many tokens a transformers model can read at most, by its configuration."""
    config: Any = network.config
    if hasattr(config, "relative_attention_num_buckets"):  # T5: distances, not positions
        return None
    most = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa counts positions from behind its padding index.
            taken = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - taken
    return int(most) if most and most > 0 else None


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """No remarks and progress bars of transformers between ours; what fails raises an error."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(before)


def name_of(tokenizer: Any, token: int) -> str:
    """The text of a token by its number, as the tokenizer has it."""
    get = getattr(tokenizer, "id_to_token", None) or tokenizer.convert_ids_to_tokens
    return str(get(token))
