"""Bookmarks: where the reader was in each chapter, and which exercises are solved.

A small JSON file in the user's folder for states. A damaged one counts as none, and one that
cannot be written costs nobody the lesson: what went wrong is in ``trouble``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.errors import FileError
from regard.files import write_text

FILE = "learn.json"


def state_folder() -> Path:
    """``REGARD_STATE`` if it is set, else ``regard`` where the system keeps states."""
    chosen = os.environ.get("REGARD_STATE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "regard"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    return Path(os.environ.get(variable) or Path.home() / ".local" / "state") / "regard"


@dataclass
class Bookmarks:
    """Pages and solved exercises, by chapter name and by exercise number."""

    path: Path
    pages: dict[str, int] = field(default_factory=dict)
    """The page that was shown last, from 0."""
    finished: set[str] = field(default_factory=set)
    """Chapters read to their end."""
    solved: set[str] = field(default_factory=set)
    trouble: str = ""
    """What was wrong with the file, for the reader."""

    @classmethod
    def load(cls, path: Path | None = None) -> Bookmarks:
        path = path or state_folder() / FILE
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path)
        except (OSError, UnicodeDecodeError):
            return cls(path, trouble=f"{str(path)!r} cannot be read: beginning anew")
        try:
            return cls(path, *_content(json.loads(text)))
        except (ValueError, TypeError, KeyError, RecursionError):
            return cls(path, trouble=f"{str(path)!r} is damaged: beginning anew")

    def save(self) -> None:
        content = {
            "regard": 1,
            "pages": self.pages,
            "finished": sorted(self.finished),
            "solved": sorted(self.solved),
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self.path, json.dumps(content, indent=1) + "\n")
        except (OSError, FileError) as error:
            self.trouble = f"your place is not remembered: {error}"

    def reset(self) -> None:
        """Forget everything."""
        self.pages, self.finished, self.solved = {}, set(), set()
        self.save()


def _content(content: Any) -> tuple[dict[str, int], set[str], set[str]]:
    """The three parts, or a ValueError."""
    pages, finished, solved = content["pages"], content["finished"], content["solved"]
    well = (
        isinstance(pages, dict)
        and all(isinstance(page, int) and page >= 0 for page in pages.values())
        and all(isinstance(part, list) for part in (finished, solved))
        and all(isinstance(name, str) for name in (*finished, *solved))
    )
    if not well:
        raise ValueError(content)
    return pages, set(finished), set(solved)
