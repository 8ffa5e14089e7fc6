"""Text from users, made safe to print. Standard library only: the command line starts with it."""

from __future__ import annotations

from regard.text import find_token, visible

__all__ = ["find_token", "visible"]
