"""Show: the one door through which objects show themselves.

A trace, an attention map and an observation stand below the views and do not know them; what they
offer of pages, notebooks and plots (``save_html``, ``_repr_html_``, ``plot``) they ask for here,
inside their methods, so that nothing that draws is imported before somebody looks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from regard.pieces.sheet import Subject, as_array
from regard.trace import Trace
from regard.views.page.file import save_html
from regard.views.page.frame import shown_in_notebook
from regard.views.page.maps import subjects_of_map
from regard.views.page.traces import subject_of_trace
from regard.views.picture import plot

if TYPE_CHECKING:
    from regard.attention.map import AttentionMap

Path = str | os.PathLike[str]


def save_subjects(path: Path, *subjects: Subject) -> None:
    """Write a page of what was observed."""
    save_html(path, *subjects)


def subjects_in_notebook(*subjects: Subject) -> str:
    """The page of what was observed, in a frame."""
    return shown_in_notebook(subjects)


def save_map(attention: AttentionMap, path: Path, title: str = "") -> None:
    """Write a page of a map."""
    save_html(path, *subjects_of_map(attention, title))


def map_in_notebook(attention: AttentionMap) -> str:
    """The page of a map, in a frame."""
    subjects = subjects_of_map(attention)
    subjects[0].picture = as_array(getattr(attention, "first", attention).pooled())
    return shown_in_notebook(subjects)


def plot_map(attention: AttentionMap, axes: Any = None, **options: Any) -> Any:
    """A map on matplotlib axes."""
    return plot.plot_map(attention, axes, **options)


def save_trace(
    trace: Trace, path: Path, title: str = "", compare: Mapping[str, Trace] | None = None
) -> None:
    """Write a page of a trace, and of others beside it."""
    start = {"view": "compare"} if compare else None
    others = [subject_of_trace(other, name) for name, other in (compare or {}).items()]
    save_html(path, subject_of_trace(trace, title, start=start), *others)


def trace_in_notebook(trace: Trace) -> str:
    """The page of a trace, in a frame; nothing if there is no attention in it."""
    return shown_in_notebook([subject_of_trace(trace)])


def plot_trace(trace: Trace, name: str, head: int, axes: Any = None, **options: Any) -> Any:
    """A step of a trace on matplotlib axes."""
    return plot.plot_step(trace, trace[name], head, axes, **options)
