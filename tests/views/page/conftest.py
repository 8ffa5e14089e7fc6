"""Fixtures of the browser."""

from tests.browser import browser, opened

__all__ = ["browser", "opened"]
