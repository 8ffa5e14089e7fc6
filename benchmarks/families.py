"""Observe every family of the installed transformers and compare with its eager attention.

    python benchmarks/families.py                        all of them, docs/families.md written anew
    python benchmarks/families.py --only bert,falcon     some of them, printed

A tiny model of each is run three times: plain, observed, and, as a second model with the same
weights, with eager attention that is asked for its weights. Each family has a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

sys.path.insert(0, str(Path(__file__).parent))

from tinyfamilies import NOT_TRIED, config_of, inputs_of, model_of

import regard
from regard.errors import RegardError

CLOSE = 1e-4
"""Weights of two runs, one fused and one eager, differ by rounding alone if by less."""
NO_MATCH = 9.0
SCORES = {"prophetnet", "xlm-prophetnet"}
"""Families whose ``output_attentions`` are the scores before softmax."""
MEANS = {"wavlm"}
"""Families whose ``output_attentions`` are the mean over heads, repeated."""
SECONDS = 150
PAGE = Path(__file__).parent.parent / "docs" / "families.md"


def tried(kind: str) -> dict[str, Any]:
    """What became of one family."""
    if kind in NOT_TRIED:
        return {"outcome": "not tried", "why": NOT_TRIED[kind]}
    try:
        config = config_of(kind)
        model = model_of(kind, config)
        given, plain = _first_run(model)
    except Exception as error:
        return {"outcome": "not built", "why": _line(error)}
    try:
        observation, output = _observed(model, given)
    except RegardError as error:
        none = "there is none" in str(error)
        outcome = "no attention" if none else "refused"
        return {"outcome": outcome, "why": _line(error), "class": type(model).__name__}
    except Exception as error:
        return {"outcome": "wrong", "why": _line(error), "class": type(model).__name__}
    found = {
        "class": type(model).__name__,
        "layers": len(observation),
        "stored": sum(layer.calls[0].weights is not None for layer in observation.layers),
        "unseen": observation.unseen,
        "same": _is_same(plain, output) and _is_same(plain, _run(model, given)),
    }
    try:
        found |= _compared(kind, config, model, given, observation)
    except Exception as error:
        found |= {"difference": None, "note": f"no eager weights: {_line(error)}"}
    return found | {"outcome": _outcome(found)}


def _outcome(found: dict[str, Any]) -> str:
    if not found["same"] or (found["difference"] or 0) > CLOSE or found.get("absent"):
        return "wrong"
    if found["difference"] is None:
        return "not compared"
    if found["unseen"]:
        return "part"
    return "weights" if found["stored"] else "registry"


def _first_run(model: Any) -> tuple[dict[str, Any], Any]:
    """The first inputs that the model takes, and what it gives."""
    failed: list[str] = []
    for given in inputs_of(model):
        try:
            return given, _run(model, given)
        except Exception as error:
            failed.append(_line(error))
    raise ValueError(f"no input fits: {failed[0] if failed else model.main_input_name}")


@torch.no_grad()
def _run(model: Any, given: dict[str, Any], **more: Any) -> Any:
    torch.manual_seed(3)
    return model(**given, **more)


def _observed(model: Any, given: dict[str, Any]) -> tuple[regard.Observation, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with regard.observe(model) as observation:
            output = _run(model, given)
    return observation, output


def tensors(output: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """All tensors in an output, with the names of the fields that they are in."""
    if isinstance(output, Tensor):
        yield name, output
    elif hasattr(output, "items"):
        for key, value in output.items():
            yield from tensors(value, f"{name}.{key}")
    elif isinstance(output, (list, tuple)):
        for value in output:
            yield from tensors(value, name)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two outputs are the same bits; caches are no tensors and are left out."""
    pairs = list(zip(tensors(one), tensors(other), strict=True))
    return all(torch.equal(a.nan_to_num(), b.nan_to_num()) for (_, a), (_, b) in pairs)


def _compared(
    kind: str, config: Any, model: Any, given: dict[str, Any], observation: regard.Observation
) -> dict[str, Any]:
    """The largest difference of any weight from those of eager attention."""
    eager = model_of(kind, config_of(kind), "eager")
    eager.load_state_dict(model.state_dict())
    output = _run(eager, given, output_attentions=True)
    expected = [t for name, t in tensors(output) if "attentions" in name and t.dim() == 4]
    how = "output_attentions"
    if kind in SCORES:
        expected = [scores.softmax(-1) for scores in expected]
    if not expected:
        expected, how = _functions(eager, given), "what its attention functions return"
    if not expected:
        expected, how = _softmaxes(model, given), "its softmaxes"
    if not expected:
        return {"difference": None, "note": "it gives no attention weights to compare with"}
    worst, absent, left = 0.0, [], list(expected)
    for layer in observation.layers:
        found = ((_apart(layer, weights, kind in MEANS), i) for i, weights in enumerate(left))
        apart, place = min(found, default=(NO_MATCH, -1))
        worst = max(worst, apart)
        if apart <= CLOSE:
            del left[place]
    if left and not observation.unseen:
        absent = [list(weights.shape) for weights in left]
    return {"difference": worst, "absent": absent, "compared": how}


def _apart(layer: Any, weights: Tensor, mean: bool) -> float:
    """How far a layer's weights are from these, over all items, heads, queries and keys.

    ``mean``: each of these is the mean over all heads. Where the model puts tokens of its own
    before the text and does not give their weights, the text's alone are compared.
    """
    lead = layer.query.shape[2] - weights.shape[2]
    if lead < 0 or layer.key.shape[2] - weights.shape[3] != lead:
        return NO_MATCH
    if layer.query.shape[:2] != weights.shape[:2]:
        return NO_MATCH
    worst = 0.0
    for batch in range(len(weights)):
        item = layer.item(batch)
        rows, columns = (kept[kept >= lead] - lead for kept in (item.rows, item.columns))
        maps = [layer.map(head, batch).dense() for head in range(layer.heads)]
        got = torch.stack(maps)
        got = got[:, got.shape[1] - len(rows) :, got.shape[2] - len(columns) :]
        got = got.mean(0, keepdim=True).expand_as(got) if mean else got
        true = weights[batch][:, rows][..., columns]
        worst = max(worst, float((got - true).abs().max())) if got.numel() else worst
    return worst


def _functions(eager: Any, given: dict[str, Any]) -> list[Tensor]:
    """The weights that each eager attention function returned, where the model drops them."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    kept: list[Tensor] = []

    def attend(module: Any, *args: Any, **kwargs: Any) -> Any:
        home = next(
            sys.modules[kind.__module__]
            for kind in type(module).__mro__
            if hasattr(sys.modules[kind.__module__], "eager_attention_forward")
        )
        output = home.eager_attention_forward(module, *args, **kwargs)
        kept.append(output[1])
        return output

    AttentionInterface.register("reference", attend)
    AttentionMaskInterface.register("reference", ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    for config in {
        id(m.config): m.config for m in eager.modules() if hasattr(m, "config")
    }.values():
        config._attn_implementation_internal = "reference"
    _run(eager, given)
    return kept


class _Softmaxes(TorchFunctionMode):
    """Keeps what every softmax over the last axis gives."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") == "softmax" and output.dim() == 4:
            self.found.append(output)
        return output


def _softmaxes(model: Any, given: dict[str, Any]) -> list[Tensor]:
    """All softmaxes of a plain run, for a model that tells nothing of them."""
    with _Softmaxes() as kept:
        _run(model, given)
    return kept.found


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    text = re.sub(r"0x[0-9a-f]+", "…", text)
    name = "" if isinstance(error, RegardError) else f"{type(error).__name__}: "
    return (name + text)[:300]


def in_child(kind: str, nice: int) -> dict[str, Any]:
    """``tried`` in a forked process with a limit of time and memory."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.nice(nice)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
            result = tried(kind)
        os.write(write, json.dumps(result).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if data:
        found: dict[str, Any] = json.loads(data)
        return found
    return {"outcome": "not built", "why": f"it did not end in {SECONDS} s, or died ({status})"}


TABLES = {
    "registry": (
        "Through the registry, or PyTorch's fused function",
        "Queries and keys are kept and the fused kernel runs. *difference* is the largest of any "
        "weight of any head from eager attention in a second model with the same weights.",
    ),
    "weights": (
        "By their eager weights",
        "The weights that multiplied the values are kept, in all layers or in some.",
    ),
    "part": (
        "Seen in part",
        "What is seen is right; what is not is named in a warning and in `observation.unseen`.",
    ),
    "refused": ("Refused", "An error says why; nothing is shown."),
    "wrong": ("Wrong", "Faults of regard."),
    "not compared": (
        "Observed, and not compared",
        "They were observed with unchanged outputs, but give nothing to compare with.",
    ),
    "no attention": ("No attention", "No module in them is called attention; an error says so."),
    "not built": (
        "Not tried",
        "No tiny model could be made, or no input for it: nothing is known about these.",
    ),
}


def page(known: dict[str, Any]) -> str:
    """docs/families.md"""
    import transformers

    groups: dict[str, list[str]] = {name: [] for name in TABLES}
    for kind in sorted(known):
        outcome = known[kind]["outcome"]
        groups["not built" if outcome == "not tried" else outcome].append(kind)
    right = sum(len(groups[name]) for name in ("registry", "weights", "part"))
    lines = [
        "# Families: what `observe` makes of every model of transformers",
        "",
        "Made by `python benchmarks/families.py`, which observes a tiny random model of every "
        f"model type of transformers {transformers.__version__} that AutoModel knows, with PyTorch "
        f"{torch.__version__.split('+')[0]} on a CPU, two items in a batch, the second one padded "
        "where the model takes a mask. Where anything was observed the output is the same, bit "
        "for bit, as without observing.",
        "",
        f"**{right} right, {len(groups['wrong'])} wrong**, of {len(known)}:",
        "",
        *(f"- {title}: {len(groups[name])}" for name, (title, _) in TABLES.items()),
        "",
        "The library's own answers that are not what they say: WavLM's `output_attentions` are the "
        "mean over heads, repeated (regard gives each head); ProphetNet's are scores before "
        "softmax; CPM-Ant's leave out its prompt. With ALiBi, Falcon's sdpa and eager attention "
        "differ: regard shows the one that runs.",
    ]
    for name, (title, text) in TABLES.items():
        if groups[name]:
            lines += ["", f"## {title}", "", text, "", *_table(name, groups[name], known)]
    return "\n".join(lines) + "\n"


def _table(name: str, kinds: list[str], known: dict[str, Any]) -> list[str]:
    if name in ("registry", "weights", "part"):
        last = "not seen" if name == "part" else "compared with"
        lines = [f"| model type | class | layers | difference | {last} |", "|---|---|---|---|---|"]
        for kind in kinds:
            found = known[kind]
            note = _unseen(found["unseen"]) if name == "part" else found["compared"]
            lines.append(
                f"| {kind} | {found['class']} | {found['layers']} | {found['difference']:.0e} "
                f"| {note} |"
            )
        return lines
    lines = ["| model type | why |", "|---|---|"]
    for kind in kinds:
        why = known[kind].get("why") or known[kind].get("note") or "see the script"
        lines.append(f"| {kind} | {why.replace('|', '/')} |")
    return lines


def _unseen(unseen: dict[str, str]) -> str:
    name, reason = next(iter(unseen.items()))
    more = f" and {len(unseen) - 1} more" if len(unseen) > 1 else ""
    return f"`{name}`{more}: {reason}"


def families() -> list[str]:
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="model types, separated by commas")
    parser.add_argument("--json", type=Path, help="keep results here, and go on from them")
    parser.add_argument("--nice", type=int, default=10, help="how much to give way (10)")
    wish = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    os.environ["HF_HUB_OFFLINE"] = "1"
    # What most families need is imported once, before the processes part.
    from transformers import BertModel, LlamaModel  # noqa: F401

    known: dict[str, Any] = (
        json.loads(wish.json.read_text()) if wish.json and wish.json.exists() else {}
    )
    kinds = wish.only.split(",") if wish.only else families()
    for number, kind in enumerate(kinds, 1):
        if kind in known and not wish.only:
            continue
        start = time.perf_counter()
        known[kind] = in_child(kind, wish.nice)
        took = time.perf_counter() - start
        print(f"{number}/{len(kinds)} {kind} {took:.0f} s {json.dumps(known[kind])}", flush=True)
        if wish.json:
            wish.json.write_text(json.dumps(known, indent=0, sort_keys=True))
    if not wish.only:
        PAGE.write_text(page(known))
    if any(found["outcome"] == "wrong" for found in known.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
