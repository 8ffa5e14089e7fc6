"""The loop: one for every task. Read :meth:`Loop.run` first, then :meth:`Loop.update`.

A run is decided by its config and data alone. Everything that changes while it runs is in the
weights, in Adam's state, in the random generators and in :class:`RunState`; a checkpoint holds all
four, so a run that was killed and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from regard.errors import RegardError, TrainingError
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, set_weights, whole, write_weights
from regard.train.config import TrainConfig
from regard.train.run.checkpoint import Checkpoint, Checkpoints
from regard.train.run.distributed import ToldError, World, gradients_kept
from regard.train.run.log import Log
from regard.train.run.optimizer import (
    learning_rate,
    make_optimizer,
    optimizer_state,
    set_optimizer_state,
)
from regard.train.run.progress import Outcome, Progress, Status
from regard.train.run.state import Ranking, RunState, random_state, restore_random, seed_all
from regard.train.run.stop import finished, share_done, stopping
from regard.train.tasks.task import Carrying, Criterion, Task

T = TypeVar("T")


class Loop:
    """One run of one task, from its first update or from its last checkpoint to its end."""

    def __init__(
        self,
        task: Task,
        config: TrainConfig,
        folder: RunFolder,
        *,
        world: World | None = None,
        progress: Progress | None = None,
        log: Log | None = None,
        spent: float = 0.0,
    ) -> None:
        self.task, self.config, self.folder = task, config, folder
        self.world = world or World()
        self.progress = progress or Progress()
        self.log = log or Log(folder.log if self.world.main else None)
        self.checkpoints = Checkpoints(folder.checkpoints, self.progress.note)
        self.ranking = Ranking(config, task.higher)
        self.state = RunState(seconds=spent)
        self.saved: tuple[int, int] | None = None
        self.plan: tuple[int, list[list[list[int]]]] = (-1, [])
        self.busy, self.counted = 0.0, 0
        task.model.to(self.world.device)
        self.criterion = Criterion(task)
        self.module = self.world.wrap(self.criterion, config.sharded)
        self.optimizer = make_optimizer(task.model, config)
        seed_all(config.seed + self.world.rank)

    def run(self, resume: bool = False) -> Outcome:
        """Train until a limit is reached, or Ctrl-C."""
        if resume:
            self.restore()
        self.started = time.monotonic() - self.state.seconds
        with stopping() as stop:
            while True:
                asked, self.state.seconds = self.world.highest(
                    float(stop.is_set()), time.monotonic() - self.started
                )
                if asked:
                    self.save()
                    return Outcome("interrupted", self.state, averaged=False)
                if self.validation_due():
                    self.validate()
                    self.save()
                elif self.config.save_every and self.state.step % self.config.save_every == 0:
                    self.save()
                reason = finished(self.config, self.state)
                if reason:
                    break
                self.update()
        return self.finish(reason)

    def update(self) -> None:
        """One step of Adam on the mean loss of ``accumulate`` batches over all processes."""
        began = time.monotonic()
        config, state, world = self.config, self.state, self.world
        batches = self.updates()[state.position]
        tokens = sum(self.task.targets(rows) for rows in batches)
        rate = learning_rate(config, state.step + 1, share_done(config, state, self.passes()))
        self.module.train()
        self.optimizer.zero_grad()
        for number, rows in enumerate(batches, 1):
            mine = world.share(rows)
            with gradients_kept(self.module, last=number == len(batches)):
                # A process without rows of its own still takes part, with a loss of zero.
                with self.precision():
                    loss = self.module(mine or rows[:1], config.smoothing) * bool(mine)
                # Processes average their gradients; times their number that is the sum.
                (loss * (world.size / tokens)).backward()
            state.loss += float(loss.detach())
        norm = nn.utils.clip_grad_norm_(self.task.model.parameters(), config.clip or math.inf)
        if not math.isfinite(float(whole(norm))):
            raise TrainingError(self._not_a_number(rate))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        state.step += 1
        state.position += 1
        state.tokens += tokens
        if state.position == len(self.updates()):
            state.epoch, state.position = state.epoch + 1, 0
        self.busy += time.monotonic() - began
        self.counted += tokens
        self.report(rate, float(whole(norm)))

    def precision(self) -> torch.autocast:
        """Within it, products are computed in ``config.precision``."""
        low = self.config.precision == "bfloat16"
        return torch.autocast(self.world.device.type, torch.bfloat16, enabled=low)

    def updates(self) -> list[list[list[int]]]:
        """The batches of each update of this pass."""
        if self.plan[0] != self.state.epoch:
            batches, n = self.task.batches(self.state.epoch), self.config.accumulate
            several = [batches[i : i + n] for i in range(0, len(batches), n)]
            self.plan = (self.state.epoch, several)
        return self.plan[1]

    def passes(self) -> float:
        """How often the data was read, with the part of this pass."""
        return self.state.epoch + self.state.position / len(self.updates())

    def validation_due(self) -> bool:
        """Whether the weights as they are should be validated now, and were not."""
        every, state = self.config.validate_every, self.state
        due = state.step % every == 0 if every else state.position == 0
        return due and state.step > state.validated

    def validate(self) -> None:
        """Evaluate, and remember the weights if they are among the best."""
        config, state = self.config, self.state
        began = time.monotonic()
        figures = self.evaluate()
        better = self.ranking.remember(state, figures[config.monitor], figures["loss"])
        weights = self.weights()
        if better:
            self.on_main(lambda: write_weights(self.folder.model, weights))
        state.validation_seconds = self.world.told(time.monotonic() - began)
        named = figures | ({"name": self.task.score} if "score" in figures else {})
        spent = round(state.seconds, 1)
        self.log.write("valid", step=state.step, **named, best=better, seconds=spent)
        shown = "  ".join(f"{self.label(key)} {value:.3f}" for key, value in figures.items())
        mark = "  (best so far)" if better else f"  (best {state.best:.3f}, {state.waited} ago)"
        self.progress.note(f"validation at step {state.step}: {shown}{mark}")

    def evaluate(self) -> dict[str, float]:
        """The figures of the weights as they are; from rank 0 unless they are sharded."""
        figures: dict[str, float] = {}
        self.module.eval()
        if self.world.main or self.config.sharded:
            with torch.no_grad():
                figures = self.task.evaluate(self.criterion, decode=not self.config.sharded)
        return dict(self.world.told(figures))

    def label(self, key: str) -> str:
        """How a figure is called before the user."""
        return self.task.score if key == "score" else key

    def weights(self) -> dict[str, Tensor]:
        """The weights by name, whole and on the CPU."""
        return {name: whole(tensor) for name, tensor in named_weights(self.task.model).items()}

    def save(self) -> None:
        """Write a checkpoint of this moment, unless there is one."""
        if self.saved == (self.state.step, self.state.validated):
            return
        # The loss since the last line is a sum over processes: rank 0 keeps it for all.
        self.state.loss = self.world.total(self.state.loss) * self.world.main
        checkpoint = Checkpoint(
            self.state,
            self.weights(),
            optimizer_state(self.optimizer, self.task.model),
            self.world.collected(random_state()),
            {name: whole(tensor) for name, tensor in self.task.carried().items()}
            if isinstance(self.task, Carrying)
            else {},
        )
        self.on_main(lambda: self.checkpoints.save(checkpoint))
        self.saved = self.state.step, self.state.validated

    def restore(self) -> None:
        """Go back to the last whole checkpoint, if there is one."""
        found = self.world.from_main(self.checkpoints.latest)
        if found is None:
            self.progress.note("there is no checkpoint yet: starting from the beginning")
            return
        self.state = found.state
        self.state.loss *= self.world.main
        self.saved = self.state.step, self.state.validated
        set_weights(self.task.model, found.weights, "the checkpoint")
        set_optimizer_state(self.optimizer, self.task.model, found.optimizer)
        if isinstance(self.task, Carrying):
            self.task.carry(found.carried)
        if len(found.random) == self.world.size:
            restore_random(found.random[self.world.rank])
        else:
            self.progress.note(
                f"the checkpoint is of {len(found.random)} processes, here are {self.world.size}: "
                "dropout will differ from the uninterrupted run"
            )
        self.log.rewind(found.state.step)
        self.progress.note(f"resumed at step {found.state.step}, epoch {found.state.epoch}")

    def finish(self, reason: str) -> Outcome:
        """Validate the last weights, then try the average of the best: the better one stays."""
        state = self.state
        if state.step > state.validated:
            self.validate()
            self.save()
        averaged = len(state.scores) > 1 and self.try_average()
        state.seconds = time.monotonic() - self.started
        end = {"reason": reason, "figure": state.best, "averaged": averaged}
        self.log.write("end", step=state.step, **end, seconds=round(state.seconds, 1))
        return Outcome(reason, state, averaged, self.label(self.config.monitor))

    def try_average(self) -> bool:
        """Average the remembered checkpoints; keep that if it validates at least as well."""
        state, steps = self.state, sorted(map(int, self.state.scores))
        weights = self.on_main(lambda: self.checkpoints.average(steps))
        set_weights(self.task.model, weights, "the average")
        figures = self.evaluate()
        figure = figures[self.config.monitor]
        good = state.best is None or not self.ranking.better(state.best, figure)
        if good:
            self.on_main(lambda: write_weights(self.folder.model, weights))
            state.best = figure
        self.log.write("average", step=state.step, steps=steps, **figures, kept=good)
        name = self.label(self.config.monitor)
        self.progress.note(
            f"average of steps {', '.join(map(str, steps))}: {name} {figure:.3f}, "
            + ("kept" if good else f"the best single one stays ({state.best:.3f})")
        )
        return good

    def report(self, rate: float, norm: float) -> None:
        """Show this update; every ``log_every`` updates add a line to the log."""
        state = self.state
        line = state.step % self.config.log_every == 0
        loss = self.world.total(state.loss) if line else state.loss * self.world.size
        status = Status(
            step=state.step,
            epoch=round(self.passes(), 3),
            loss=loss / max(1, state.tokens),
            rate=rate,
            speed=round(self.counted / max(self.busy, 1e-9), 1),
            done=share_done(self.config, state, self.passes()),
            seconds=round(state.seconds, 1),
            best=f"{self.label(self.config.monitor)} {state.best:.2f}" if state.best_step else "",
        )
        self.progress.update(status, line)
        if line:
            self.log.write("train", **status._asdict(), norm=norm)
            state.loss, state.tokens, self.busy, self.counted = 0.0, 0, 0.0, 0

    def on_main(self, act: Callable[[], T]) -> T:
        """Do it on rank 0; if it fails there, fail everywhere and say what is safe."""
        try:
            return self.world.from_main(act)
        except ToldError:
            raise
        except RegardError as error:
            raise TrainingError(f"{error}; {self._kept()}") from error

    def _not_a_number(self, rate: float) -> str:
        return (
            f"the loss or its gradient is not a finite number at step {self.state.step + 1} "
            f"(learning rate {rate:.2e}); {self._kept()}; "
            "try a lower train.learning_rate, a longer train.warmup or a smaller train.clip"
        )

    def _kept(self) -> str:
        if self.saved is None:
            return "no checkpoint was made yet"
        return f"the checkpoint of step {self.saved[0]} is kept, --resume goes on from it"
