"""What it costs to remove every head of a model in turn, one at a time.

    python benchmarks/ablate.py [--tokens 64,256] [--rounds N] [--threads N]

GPT-2's shape with random weights (12 layers x 12 heads, width 768): the probability of the next
word without each of its 144 heads. The same numbers in five ways, in turn:

    hooked     Hugging Face's model as people call it, `model(ids)`: for each head one pass with a
               hook before the projection of its layer that sets the head's part to zero; scores of
               all positions
    last       the same, and told to score the last position alone (`logits_to_keep=1`)
    lens       the same as hooked by TransformerLens's hooks (pip install transformer-lens), if it
               is there: its bridge, version 4, over a copy of this model in a folder
    regard     the engine of `regard ablate`: the heads of a layer as one batch, from it on, its
               attention shared
    estimate   one backward pass for all heads

The peers' time is that of some of their passes, spread over all layers, times 144 / how many: each
pass does the same work. Times are of the processor, not of the clock, so that others on the machine
count less. Exits with 1 if a goal is missed: 5 times as fast as `hooked` at 64 tokens, 3 at 256,
and 50 times for the estimate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from copy import deepcopy
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from goals import Goal, tell
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor

from regard.inside.ablate.engine import engine
from regard.inside.ablate.estimate import estimated
from regard.inside.ablate.trial import WordTrial
from regard.inside.ablate.variant import Variant
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces

LAYERS, HEADS, WIDTH, PASSES = 12, 12, 768, 12
PEERS = ("hooked", "last", "lens")
GOALS = {64: 5.0, 256: 3.0}
FASTER = 50.0


class Letters:
    """A tokenizer that is never asked to read: targets are shown by their number."""

    def decode(self, ids: list[int]) -> str:
        return str(ids[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", default="64,256", help="lengths of the text (default 64,256)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each way (default 3)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=LAYERS, n_head=HEADS, n_embd=WIDTH)
    auto: Any = transformers.AutoModelForCausalLM
    model = auto.from_config(config).eval()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")
    print(f"{options.threads} thread(s), float32, {LAYERS} x {HEADS} heads, width {WIDTH}")
    lengths = map(int, options.tokens.split(","))
    return tell([goal for n in lengths for goal in measure(model, n, options.rounds)])


def measure(model: Any, length: int, rounds: int) -> list[Goal]:
    """Print the times of one length; its goals."""
    ids = torch.randint(0, model.config.vocab_size, (length,)).tolist()
    text = TextModel("gpt2", model, Letters(), None, model.config)
    trial = WordTrial(text, Pieces.plain([str(i) for i in ids], ids), None)
    ways: dict[str, Callable[[], Tensor]] = {
        "hooked": lambda: hooked(model, trial),
        "last": lambda: hooked(model, trial, logits_to_keep=1),
    }
    lens = bridge(model)
    if lens is not None:
        ways["lens"] = lambda: lensed(lens, trial)
    else:
        print("TransformerLens: not measured here (pip install transformer-lens)")
    ways["regard"] = lambda: ours(trial)
    ways["estimate"] = lambda: torch.tensor([*estimated(trial, "probability")[1].values()])
    least: dict[str, float] = {}
    found: dict[str, Tensor] = {}
    for turn in range(rounds):
        for name in list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]:
            start = time.process_time()
            found[name] = ways[name]()
            spent = time.process_time() - start
            spent *= LAYERS * HEADS / PASSES if name in PEERS else 1
            least[name] = min(least.get(name, spent), spent)
    print(f"\n{length} tokens: all {LAYERS * HEADS} heads, least of {rounds} rounds")
    for name, spent in least.items():
        print(f"  {name:<9} {spent:8.2f} s   {least['hooked'] / spent:6.1f} times as fast")
    for name in [name for name in PEERS if name in found]:
        some = found["regard"][places()]
        apart = float(((found[name] - some) / some).abs().max())
        print(f"  regard and {name} differ by at most {apart:.1e} of a probability")
    ratio, faster = (least["hooked"] / least[name] for name in ("regard", "estimate"))
    what = f"as fast as a hook for each head, {length} tokens"
    goals = [Goal(f"`ablate`, estimated: {what}", faster, FASTER, " x")]
    if length in GOALS:
        goals.insert(0, Goal(f"`ablate`, all heads: {what}", ratio, GOALS[length], " x"))
    return goals


def places() -> list[int]:
    """The heads that a peer's passes remove: one in each layer."""
    return [layer * HEADS + layer for layer in range(PASSES)]


@torch.inference_mode()
def hooked(model: Any, trial: WordTrial, **options: int) -> Tensor:
    """Some passes of the usual way."""
    values = []
    for place in places():
        layer, head = divmod(place, HEADS)
        part = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)

        def remove(module: Any, args: Any, part: slice = part) -> Any:
            context = args[0].clone()
            context[..., part] = 0
            return (context,)

        hook = model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(remove)
        output = model(torch.tensor([trial.pieces.ids]), use_cache=False, **options)
        hook.remove()
        values.append(output.logits[0, -1].softmax(-1)[trial.wanted[0]])
    return torch.stack(values)


def bridge(model: Any) -> Any:
    """A copy of the model under TransformerLens's bridge, which reads its configuration from a
    folder, with a tokenizer that is never asked; None if TransformerLens is not installed."""
    try:
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError:
        return None
    never = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    kinds: Any = transformers
    words = kinds.PreTrainedTokenizerFast(tokenizer_object=never, unk_token="?", eos_token="?")
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        words.save_pretrained(folder)
        boot: Any = TransformerBridge.boot_transformers
        return boot(folder, hf_model=deepcopy(model), tokenizer=words, device="cpu")


@torch.inference_mode()
def lensed(lens: Any, trial: WordTrial) -> Tensor:
    """Some passes through hooks of TransformerLens."""
    values = []
    for place in places():
        layer, head = divmod(place, HEADS)

        def remove(z: Tensor, hook: Any, head: int = head) -> Tensor:
            z = z.clone()
            if z.dim() == 4:
                z[:, :, head] = 0
            else:
                z[..., head * WIDTH // HEADS : (head + 1) * WIDTH // HEADS] = 0
            return z

        name = f"blocks.{layer}.attn.hook_z"
        logits = lens.run_with_hooks(torch.tensor([trial.pieces.ids]), fwd_hooks=[(name, remove)])
        values.append(logits[0, -1].softmax(-1)[trial.wanted[0]])
    return torch.stack(values)


def ours(trial: WordTrial) -> Tensor:
    """All heads by the engine."""
    with engine(trial) as running:
        variants = [Variant((head,), how={"by": "zero"}) for head in running.heads]
        measured = trial.measured(running.base, "probability")
        values = torch.empty(len(variants))
        for some, output in running.run(variants):
            values[some] = measured.values(output).float()
    return values


if __name__ == "__main__":
    raise SystemExit(main())
