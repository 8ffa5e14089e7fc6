"""Observe every family of the installed transformers and compare with its eager attention.

    python benchmarks/families.py                        all of them, docs/families.md written anew
    python benchmarks/families.py --only bert,falcon     some of them, printed

A tiny model of each is run three times: plain, observed, and, as a second model with the same
weights, with eager attention that is asked for its weights. Each family has a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
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

SAME_RUN = "PyTorch's function in float64: its sdpa and eager differ, or eager fails"
CLOSE = 1e-4
"""Weights of two runs, one fused and one eager, differ by rounding alone if by less."""
NO_MATCH = 9.0
SCORES = {"prophetnet", "xlm-prophetnet"}
"""Families whose ``output_attentions`` are the scores before softmax."""
MERGED = {"t5gemma2"}
"""Families whose decoder has one softmax over its own text and the encoder's."""
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
    """The largest difference of any weight from those of eager attention.

    First from the weights that the model returns, each of which must have been observed; layers
    that it does not tell of, from what its attention functions return and its softmaxes give.
    """
    eager = model_of(kind, config_of(kind), "eager")
    eager.load_state_dict(model.state_dict())
    returned: list[Tensor] = []
    with contextlib.suppress(TypeError, ValueError, RuntimeError):  # some do not take the option
        told = tensors(_run(eager, given, output_attentions=True))
        returned = [t for name, t in told if "attentions" in name and _are_weights(t, kind)]
    if kind in MERGED and len(returned) == 6:  # the decoder's, over both texts, and the encoder's
        returned = _merged(returned[:4]) + returned[4:]
    if kind in SCORES:
        returned = [scores.softmax(-1) for scores in returned]
    apart, more = _matched(observation.layers, returned, kind in MEANS)
    absent = [] if observation.unseen else [list(weights.shape) for weights in returned]
    how = ["output_attentions"] if apart else []
    for other, text in ((eager, "its softmaxes"), (model, SAME_RUN)):
        with contextlib.suppress(RuntimeError):  # some cannot run eager
            found, more = _matched(more, _computed(other, given) if more else [], False)
            apart += found
            how += [text] if found else []
    apart += [NO_MATCH] * len(more)
    return {"difference": max(apart), "absent": absent, "compared": ", ".join(how)}


def _are_weights(tensor: Tensor, kind: str) -> bool:
    """Whether rows sum to 1 or less: some families return other things under this name."""
    if tensor.dim() != 4 or kind in SCORES:
        return tensor.dim() == 4
    return bool((tensor >= 0).all() and (tensor.sum(-1) < 1.01).all())


def _merged(returned: list[Tensor]) -> list[Tensor]:
    """Weights of a softmax over the keys of two texts, which are returned one after the other."""
    half = len(returned) // 2
    decoder, cross = returned[:half], returned[half:]
    return [torch.cat(pair, -1) for pair in zip(decoder, cross, strict=True)]


def _matched(layers: list[Any], weights: list[Tensor], mean: bool) -> tuple[list[float], list[Any]]:
    """(How far each layer is from the nearest weights, which are taken away; the others)."""
    found, others = [], []
    for layer in layers:
        apart = [_apart(layer, one, mean) for one in weights]
        nearest = min(apart, default=NO_MATCH)
        if nearest <= CLOSE:
            found.append(nearest)
            del weights[apart.index(nearest)]
        else:
            others.append(layer)
    return found, others


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


class _Softmaxes(TorchFunctionMode):
    """Keeps what every softmax gives, and what those in PyTorch's fused function must give."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if name == "softmax" and output.dim() in (3, 4):
            self.found.append(output)
        if name == "multi_head_attention_forward":
            given = inspect.signature(func).bind(*args, **(kwargs or {})).arguments
            wish = {"need_weights": True, "average_attn_weights": False, "training": False}
            self.found.append(func(**(given | wish))[1])
        if name == "scaled_dot_product_attention" and output.dim() == 4:
            self.found.append(_plainly(*args, **(kwargs or {})))
        return output


def _plainly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """The weights of scaled dot-product attention in float64, as PyTorch documents it."""
    key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = (
        query.double() @ key.double().mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    )
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return scores.softmax(-1).float()


def _computed(eager: Any, given: dict[str, Any]) -> list[Tensor]:
    """All softmaxes of a plain run, also as (batch, heads, …) of (batch · heads, …)."""
    with _Softmaxes() as kept:
        _run(eager, given)
    folded = [t.unflatten(0, (2, -1)) for t in kept.found if t.dim() == 3 and len(t) % 2 == 0]
    return [t for t in kept.found if t.dim() == 4] + folded


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
    return "\n".join([*lines, "", "Next: [Maps](map.md)", ""])


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
