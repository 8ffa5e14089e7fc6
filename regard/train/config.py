"""Train config: how any model is trained, a sentence per field; listed in docs/train.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.train.settings import at_least, at_most, complain

MOST_THREADS = 1024
"""More are a slip of the hand, and no machine has room for them."""


@dataclass(frozen=True)
class TrainConfig:
    """How any model is trained: the loop's settings, whatever the task."""

    optimizer: Literal["adamw", "adafactor", "sgd"] = "adamw"
    """How gradients become steps; SGD has momentum beta1, Adafactor no memory of gradients."""
    learning_rate: float = 1e-3
    """The step size at its highest, at the end of the warm-up."""
    schedule: Literal["inverse-sqrt", "cosine", "constant"] = "inverse-sqrt"
    """How the step size falls after the warm-up; cosine reaches 0 at the end of the run."""
    warmup: int = 400
    """Updates over which the step size rises from 0."""
    cooldown: float = 0.0
    """The last share of the run, over which the step size falls to 0 under any schedule."""
    beta1: float = 0.9
    """Adam's memory of the gradient."""
    beta2: float = 0.98
    """Adam's memory of its square."""
    epsilon: float = 1e-9
    """Adam's guard against division by zero."""
    weight_decay: float = 0.0
    """How much each update shrinks the weights (decoupled; SGD adds it to the gradients)."""
    clip: float = 1.0
    """Gradients longer than this are scaled down to it; 0 switches it off."""
    smoothing: float = 0.1
    """Label smoothing: the share of the target's probability spread over all tokens."""
    batch_tokens: int = 4000
    """Rows × longest sequence in a batch is at most this, over all processes together."""
    accumulate: int = 1
    """Batches whose gradients are added up for one update."""
    epochs: int = 0
    """Stop after so many passes over the data; 0 = no such limit."""
    steps: int = 0
    """Stop after so many updates; 0 = no such limit."""
    minutes: float = 0.0
    """Stop in time to be done after so many minutes; 0 = no such limit."""
    patience: int = 8
    """Stop after so many validations without a better one; 0 = never."""
    validate_every: int = 0
    """Updates between validations; 0 = after each pass over the data."""
    validate_at_most: int = 500
    """Examples of the validation part that are decoded for the score; its loss is of all."""
    monitor: Literal["score", "loss"] = "score"
    """What must get better: the task's own score (BLEU, …), or the validation loss."""
    save_every: int = 500
    """Updates between checkpoints; each validation also makes one; 0 = only those."""
    average: int = 5
    """Validated checkpoints whose weights are averaged at the end; 1 = none."""
    average_of: Literal["best", "last"] = "best"
    """Which of them."""
    log_every: int = 50
    """Updates between lines of the log."""
    seed: int = 1
    """Decides the first weights, dropout and the order of the data."""
    threads: int = 0
    """CPU threads; 0 = as PyTorch chooses. Another number may change the last bits of results."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute; auto = a GPU if there is one."""
    sharded: bool = False
    """Split weights, gradients and Adam's memory over the processes (FSDP2)."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """What matrix products are computed in; weights, sums and Adam's memory are float32 always."""
    start: str | None = None
    """A run folder, a file of weights in one, or a shipped model: what the run begins with."""
    freeze: str | None = None
    """Parts that keep the weights they begin with: encoder,vocabulary; * stands for anything."""

    def __post_init__(self) -> None:
        whole = ("warmup", "epochs", "steps", "patience", "validate_every", "save_every")
        real = ("weight_decay", "clip", "minutes")
        problems = [
            *at_least(self, 0, *whole, *real, "seed", "threads"),
            *at_least(self, 1, "accumulate", "average", "log_every", "validate_at_most"),
            *at_least(self, 2, "batch_tokens"),
            *at_most(self, 2**32 - 1, "seed"),
            *at_most(self, MOST_THREADS, "threads"),
        ]
        for name in ("learning_rate", "epsilon"):
            if not 0 < getattr(self, name) < 100:
                problems.append(
                    f"{name} must be greater than 0 and under 100, got {getattr(self, name)}"
                )
        for name in ("smoothing", "beta1", "beta2", "cooldown"):
            if not 0 <= getattr(self, name) < 1:
                problems.append(f"{name} must be from 0 to under 1, got {getattr(self, name)}")
        limits = self.epochs or self.steps or self.minutes
        if not limits and not self.patience:
            problems.append("patience 0 needs another end: epochs, steps or minutes")
        if not limits and (self.schedule == "cosine" or self.cooldown):
            problems.append("schedule cosine and cooldown need an end: epochs, steps or minutes")
        if self.sharded and self.monitor != "loss":
            problems.append("sharded needs train.monitor=loss: nothing is decoded from shards")
        if self.sharded and self.optimizer == "adafactor":
            problems.append(
                "sharded needs optimizer adamw or sgd: Adafactor's memory has no shards"
            )
        complain(problems)


FREE = ("epochs", "steps", "minutes", "patience", "threads", "device", "log_every", "save_every")
"""Settings of TrainConfig that may differ when a run is resumed: when to stop, where to run."""
CHANGEABLE = ("learning_rate", "warmup", "clip")
"""Those that may differ too, for a run that went astray: the log says from which step on."""
