"""Trace: what one computation did, as plain data: ordered named steps, JSON in and out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import FileError, RegardError, nearest
from regard.files import write_text
from regard.text import columns, cut, number_of, padded, visible
from regard.trace.derived import Array
from regard.trace.step import Step

FORMAT = 1
WIDTH = 100
"""Columns of a printed table, at most."""


class Trace:
    """The steps of a computation in the order in which they happened.

    >>> trace["weights"].value      # by name; by "scope/name" where a name occurs twice
    >>> trace.save("it.json")
    >>> print(trace)                # a table
    """

    def __init__(
        self,
        steps: Sequence[Step] = (),
        *,
        mechanism: str = "",
        tokens: Sequence[str] = (),
    ) -> None:
        self.steps = list(steps)
        self.mechanism = mechanism
        self.tokens = list(tokens)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __contains__(self, name: object) -> bool:
        return any(name in (step.name, step.path) for step in self.steps)

    def __getitem__(self, name: str) -> Step:
        """The one step called ``name`` (or ``scope/name``); else an error naming the choices."""
        found = self.all(name)
        whole = [step for step in found if step.path == name]
        found = whole if len(whole) == 1 else found  # what stands in no scope has no other path
        if len(found) == 1:
            return found[0]
        if found:
            paths = ", ".join(repr(step.path) for step in found[:4])
            raise RegardError(
                f"a step's name must be unique to be looked up: {name!r} occurs {len(found)} times "
                f"({paths}{', …' if len(found) > 4 else ''}); use a path or trace.all({name!r})"
            )
        known = sorted({step.name for step in self.steps})
        raise RegardError(
            f"no step is called {name!r}; this trace has {', '.join(known) or 'no steps'}"
            f"{nearest(name, known)}"
        )

    def all(self, name: str) -> list[Step]:
        """Every step with this name or path, in order."""
        return [step for step in self.steps if name in (step.name, step.path)]

    def value(self, name: str) -> Array:
        """The numbers of the step called ``name``."""
        return self[name].value

    def __str__(self) -> str:
        return format_trace(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data, readable by any language."""
        steps, before = [], dict[str, Step]()
        for step in self.steps:
            steps.append(step.to_dict(before))
            before[step.path] = step
        return {
            "regard": FORMAT,
            "mechanism": self.mechanism,
            "tokens": self.tokens,
            "steps": steps,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Trace:
        """The trace that :meth:`to_dict` wrote."""
        if not isinstance(content, dict) or content.get("regard") != FORMAT:
            got = content.get("regard") if isinstance(content, dict) else type(content).__name__
            raise FileError(f'a trace begins with "regard": {FORMAT}, got {got!r}')
        steps, before = [], dict[str, Step]()
        for item in content["steps"]:
            step = Step.from_dict(item, before)
            steps.append(step)
            before[step.path] = step
        return cls(steps, mechanism=content["mechanism"], tokens=content["tokens"])

    def to_json(self) -> str:
        """Strict JSON (no NaN or Infinity literals)."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        # A lone surrogate cannot be written as UTF-8; its JSON escape can.
        return text.encode("utf-8", "backslashreplace").decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON, atomically."""
        write_text(path, self.to_json() + "\n")

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "",
        compare: Mapping[str, Trace] | None = None,
    ) -> None:
        """Write a page that shows the attention in the trace (docs/page.md).

        ``compare``: other traces, by their titles; the page opens where they are compared.
        """
        from regard.show import save_trace

        save_trace(self, path, title, compare)

    def _repr_html_(self) -> str:
        """In a notebook: the page, if there is attention in it."""
        from regard.show import trace_in_notebook

        return trace_in_notebook(self)

    def plot(self, name: str = "weights", head: int = 0, axes: Any = None, **options: Any) -> Any:
        """Draw a step with queries and keys, such as its weights, on matplotlib axes."""
        from regard.show import plot_trace

        return plot_trace(self, name, head, axes, **options)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """Read a trace that :meth:`save` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls.from_dict(content)
        except OSError as error:
            raise FileError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except FileError as error:
            raise FileError(f"{str(path)!r} is not a trace: {error}") from error
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise FileError(
                f"{str(path)!r} is not a trace written by regard ({error}); make it anew"
            ) from error


def format_trace(trace: Trace) -> str:
    """A plain table: one line a step, with its shape, its range and its formula.

    A derived step has no range: it would have to be made. Lines end at 100 columns.
    """
    head = f"{trace.mechanism or 'trace'}: {number_of(len(trace), 'step')}"
    if trace.tokens:
        head += f" over {number_of(len(trace.tokens), 'token')}: {' '.join(trace.tokens)}"
    rows = [("step", "shape", "least", "most", "formula")]
    for step in trace:
        least, most = ("", "") if step.derived else _range(step.value)
        rows.append((visible(step.path), visible(step.size), least, most, visible(step.formula)))
    ranged = [row for row in rows if row[2]]
    wide = [max(columns(row[i]) for row in ranged) for i in (1, 2, 3)]
    middles = [  # a shape without a range may reach into the room for one
        f"{padded(row[1], wide[0])}  {row[2]:>{wide[1]}}  {row[3]:>{wide[2]}}" if row[2] else row[1]
        for row in rows
    ]
    first, second = max(columns(row[0]) for row in rows), max(map(columns, middles))
    lines = [
        f"  {padded(row[0], first)}  {padded(middle, second)}  {row[4]}".rstrip()
        for row, middle in zip(rows, middles, strict=True)
    ]
    return "\n".join(cut(line, WIDTH) for line in [visible(head), *lines])


def _range(value: Array) -> tuple[str, str]:
    """The least and the most finite number, to four digits."""
    finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
    if not finite.size:
        return "", ""
    return f"{finite.min():.4g}", f"{finite.max():.4g}"
