"""The loop: one for every task. Read :meth:`Loop.run` first, then :meth:`Loop.update`.

A run is decided by its config and data alone. Everything that changes while it runs is in the
weights, in Adam's state, in the random generators and in :class:`RunState`; a checkpoint holds all
four, so a run that was killed and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from regard.errors import RegardError, TrainingError
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, set_weights, whole, write_weights
from regard.text import visible
from regard.train.config import TrainConfig
from regard.train.run.checkpoint import Checkpoint, Checkpoints
from regard.train.run.distributed import MainProcessError, World, gradients_kept
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
from regard.train.tasks.task import Carrying, Criterion, Showing, Task

T = TypeVar("T")
ASTRAY = 2.5
"""A loss so many times that of the first update, which knew nothing, is of a run gone astray."""
ADVICE = "--resume and a lower --learning-rate, a longer train.warmup or a smaller train.clip"
NONE_YET = "no checkpoint was made yet"


class Moment(NamedTuple):
    """What a checkpoint is of: of the same moment there is no need for two."""

    step: int
    validated: int
    ended: int

    @classmethod
    def of(cls, state: RunState) -> Moment:
        """The moment of a state."""
        return cls(state.step, state.validated, state.ended)


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
        after: float = 0.0,
    ) -> None:
        """``spent``: seconds of this session before the loop; ``after``: needed behind it."""
        self.task, self.config, self.folder = task, config, folder
        self.world = world or World()
        self.progress = progress or Progress()
        self.log = log or Log(folder.log if self.world.main else None)
        self.checkpoints = Checkpoints(folder.checkpoints, self.progress.note)
        self.ranking = Ranking(config, task.higher)
        self.state = RunState()
        self.spent, self.after = spent, after
        self.saved: Moment | None = None
        self.astray = False
        self.plan: tuple[int, list[list[list[int]]]] = (-1, [])
        self.busy, self.counted = 0.0, 0
        task.model.to(self.world.device)
        self.criterion = Criterion(task)
        self.module = self.world.wrap(self.criterion, config.sharded)
        self.optimizer = make_optimizer(task.model, config)
        seed_all(config.seed + self.world.rank)

    def run(self, resume: bool = False, changed: Mapping[str, Any] | None = None) -> Outcome:
        """Train until a limit is reached, or Ctrl-C; ``changed``: settings with a new value."""
        if resume:
            self.restore(changed or {})
        self.started = time.monotonic() - self.state.seconds - self.spent
        with stopping() as self.stop:
            while True:
                if self.asked():
                    return self.interrupted()
                if self.validation_due():
                    self.validate()
                    self.save()
                elif self.config.save_every and self.state.step % self.config.save_every == 0:
                    self.save()
                reason = finished(self.config, self.state, self.after)
                if reason:
                    return self.finish(reason)
                self.update()

    def asked(self) -> bool:
        """Whether Ctrl-C was pressed, in any process; and how late it is, in the slowest."""
        asked, self.state.seconds = self.world.highest(
            float(self.stop.is_set()), time.monotonic() - self.started
        )
        return bool(asked)

    def interrupted(self) -> Outcome:
        """Save, so that nothing is lost."""
        self.save()
        return Outcome("interrupted", self.state)

    def update(self) -> None:
        """One step of Adam on the mean loss of ``accumulate`` batches over all processes."""
        began = time.monotonic()
        config, state, world = self.config, self.state, self.world
        batches = self.updates()[state.position]
        tokens = sum(self.task.targets(rows) for rows in batches)
        rate = learning_rate(config, state.step + 1, self.done())
        before = state.loss
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
        if state.first is None:
            state.first = world.total(state.loss - before) / tokens
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

    def done(self) -> float:
        """How much of the run is over, 0 to 1."""
        return share_done(self.config, self.state, self.passes(), self.after)

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
        # An average that the run once ended with is the model until a single one beats it.
        if better and (
            state.average is None or self.ranking.better(figures[config.monitor], state.average)
        ):
            self.on_main(lambda: write_weights(self.folder.model, weights))
            state.average = None
        state.validation_seconds = self.world.broadcast(time.monotonic() - began)
        named = figures | ({"name": self.task.score} if "score" in figures else {})
        spent = round(state.seconds, 1)
        samples = self.task.samples() if isinstance(self.task, Showing) else []
        more = {"samples": samples} if samples else {}
        self.log.write("valid", step=state.step, **named, best=better, seconds=spent, **more)
        shown = "  ".join(f"{self.label(key)} {value:.3f}" for key, value in figures.items())
        mark = "  (best so far)" if better else f"  (best {state.best:.3f}, {state.waited} ago)"
        self.progress.note(f"validation at step {state.step}: {shown}{mark}")
        for sample in samples:
            self.progress.note(visible(f"    {sample['source']} → {sample['said']}"))
        self.warn(figures["loss"])

    def evaluate(self) -> dict[str, float]:
        """The figures of the weights as they are; from rank 0 unless they are sharded."""
        figures: dict[str, float] = {}
        self.module.eval()
        if self.world.main or self.config.sharded:
            with torch.no_grad():
                figures = self.task.evaluate(self.criterion, decode=not self.config.sharded)
        return dict(self.world.broadcast(figures))

    def label(self, key: str) -> str:
        """How a figure is called before the user."""
        return self.task.score if key == "score" else key

    def weights(self) -> dict[str, Tensor]:
        """The weights by name, whole and on the CPU; of rank 0, which writes them.

        All gather each in turn; what is whole, only rank 0 has room for.
        """
        named = named_weights(self.task.model).items()
        gathered = ((name, whole(tensor)) for name, tensor in named)
        return {name: tensor for name, tensor in gathered if self.world.main}

    def save(self) -> None:
        """Write a checkpoint of this moment, unless there is one."""
        state, now = self.state, Moment.of(self.state)
        if self.saved == now:
            return
        # The loss since the last line is a sum over processes: rank 0 keeps it for all.
        state.loss = self.world.total(state.loss) * self.world.main
        if self.saved and self.saved.step == now.step:
            chance = self.world.collected(random_state())
            self.on_main(lambda: self.checkpoints.amend(state, chance))
        else:
            checkpoint = self.checkpoint()
            self.on_main(lambda: self.checkpoints.save(checkpoint))
        self.saved = now

    def checkpoint(self) -> Checkpoint:
        """Everything that a run needs to go on from here."""
        carried = self.task.carried() if isinstance(self.task, Carrying) else {}
        return Checkpoint(
            self.state,
            self.weights(),
            optimizer_state(self.optimizer, self.task.model, keep=self.world.main),
            self.world.collected(random_state()),
            {name: whole(tensor) for name, tensor in carried.items()},
        )

    def restore(self, changed: Mapping[str, Any]) -> None:
        """Go back to the last whole checkpoint, if there is one."""
        found = self.world.from_main(self.checkpoints.latest)
        if found is None:
            return
        self.state = found.state
        self.saved = Moment.of(found.state)
        self.state.loss *= self.world.main
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
        self.log.rewind(found.state)
        self.progress.note(f"resumed at step {found.state.step}, epoch {found.state.epoch}")
        if changed:
            self.log.write("changed", step=found.state.step, **changed)
            said = ", ".join(f"{name} {value:g}" for name, value in changed.items())
            self.progress.note(f"from here on {said}: not the run that it would have been")
        if self.state.best_step and not self.world.broadcast(self.folder.model.exists()):
            self.bring_back()

    def bring_back(self) -> None:
        """The model file is gone: write the best weights again, and let the run end again."""
        state, name = self.state, self.folder.model.name
        state.average, state.ended = None, -1
        try:
            weights = self.world.from_main(lambda: self.checkpoints.weights(state.best_step))
        except RegardError as error:
            state.best, state.best_step, state.best_loss, state.validated = None, 0, None, -1
            self.progress.note(f"{name} was gone, and {error}: the next validation writes it")
            return
        self.on_main(lambda: write_weights(self.folder.model, weights))
        self.progress.note(f"{name} was gone: it is that of step {state.best_step} again")

    def finish(self, reason: str) -> Outcome:
        """Validate the last weights, then try the average of the best: the better one stays."""
        state = self.state
        outcome = Outcome(reason, state, self.label(self.config.monitor))
        if state.ended == state.step:
            self.progress.note("the run had come to its end: nothing to do")
            return outcome
        self.save()
        if state.step > state.validated:
            self.validate()
            self.save()
        if self.asked():
            return self.interrupted()
        if len(state.scores) > 1:
            self.try_average()
        state.ended, state.seconds = state.step, time.monotonic() - self.started
        end = {"reason": reason, "figure": state.figure, "averaged": state.average is not None}
        self.log.write("end", step=state.step, **end, seconds=round(state.seconds, 1))
        self.save()
        return outcome

    def try_average(self) -> None:
        """Average the remembered checkpoints; keep that if it validates better."""
        state, remembered = self.state, sorted(map(int, self.state.scores))
        steps, weights = self.on_main(lambda: self.checkpoints.average(remembered))
        if len(steps) < 2:
            return
        set_weights(self.task.model, weights, "the average")
        figures = self.evaluate()
        figure = figures[self.config.monitor]
        good = self.ranking.keeps(state, figure, figures["loss"])
        if good:
            self.on_main(lambda: write_weights(self.folder.model, weights))
            state.average = figure
        self.log.write("average", step=state.step, steps=steps, **figures, kept=good)
        name = self.label(self.config.monitor)
        self.progress.note(
            f"average of steps {', '.join(map(str, steps))}: {name} {figure:.3f}, "
            + ("kept" if good else f"what was better stays ({state.figure:.3f})")
        )

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
            done=self.done(),
            seconds=round(state.seconds, 1),
            best=f"{self.label(self.config.monitor)} {state.best:.2f}" if state.best_step else "",
        )
        self.progress.update(status, line)
        if line:
            self.log.write("train", **status._asdict(), norm=norm)
            self.warn(status.loss)
            state.loss, state.tokens, self.busy, self.counted = 0.0, 0, 0.0, 0

    def on_main(self, act: Callable[[], T]) -> T:
        """Do it on rank 0; if it fails there, fail everywhere and say what is safe."""
        try:
            return self.world.from_main(act)
        except MainProcessError:
            raise
        except RegardError as error:
            raise TrainingError(f"{error}; {self._kept()}") from error

    def warn(self, loss: float) -> None:
        """Say it, once, when a loss is clearly above the first update's, which knew nothing."""
        if self.astray or loss <= ASTRAY * max(1.0, self.state.first or 0.0):
            return
        self.astray = True
        self.log.write("astray", step=self.state.step, loss=loss, first=self.state.first)
        self.progress.note(
            f"warning: the loss is {loss:,.1f}, at first it was {self.state.first or 0:,.1f}: "
            f"the run has gone astray; Ctrl-C, then {ADVICE}"
        )

    def _not_a_number(self, rate: float) -> str:
        kept = f"the checkpoint of step {self.saved.step} is kept" if self.saved else NONE_YET
        return (
            f"the loss or its gradient is not a finite number at step {self.state.step + 1} "
            f"(learning rate {rate:.2e}); {kept}: go on with {ADVICE}"
        )

    def _kept(self) -> str:
        if self.saved is None:
            return NONE_YET
        return f"the checkpoint of step {self.saved.step} is kept, --resume goes on from it"
