"""Output: whether a sample printed what its chapter shows.

A number with decimals may differ by one in its last digit, as processors round differently; a line
that is … alone stands for any lines; white space counts as one blank. Where the numbers vary from
run to run only the words between them are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
TINY = re.compile(r"e-\d+$")
"""How far two ways to compute are apart differs from machine to machine."""
VARYING = re.compile(r"(?:[+−-]?\d[\d.,]*(?:e[+-]?\d+)?(?: ?(?:ns|µs|ms|s|kB|MB|GB)\b)?|·)[░▒▓█]*")
"""A number with its unit or its shade; · is none."""
LEFT_OUT = "…"


def agrees(shown: str, printed: str, varies: bool = False) -> bool:
    """Whether ``printed`` is what ``shown`` says."""
    lines, parts = _lines(printed), _parts(_lines(shown))
    start = 0
    for place, part in enumerate(parts):
        first, most = start, len(lines) - len(part) if place else 0
        if place and place == len(parts) - 1:
            first = max(first, most)  # the last part ends where the output ends
        found = next(
            (at for at in range(first, most + 1) if _equal(part, lines[at:], varies)), None
        )
        if found is None:
            return False
        start = found + len(part)
    return start == len(lines)


def _parts(lines: list[str]) -> list[list[str]]:
    """What stands between the lines that are left out."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if line == LEFT_OUT:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _lines(text: str) -> list[str]:
    """The lines that say something, each with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _equal(shown: Sequence[str], printed: Sequence[str], varies: bool) -> bool:
    return len(printed) >= len(shown) and all(
        _same_line(a, b, varies) for a, b in zip(shown, printed, strict=False)
    )


def _same_line(shown: str, printed: str, varies: bool) -> bool:
    if varies:
        return VARYING.sub("#", shown).split() == VARYING.sub("#", printed).split()
    if shown == printed:
        return True
    words = (NUMBER.sub("#", shown), NUMBER.sub("#", printed))
    numbers = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=False)
    return words[0] == words[1] and all(_near(a, b) for a, b in numbers)


def _near(shown: str, printed: str) -> bool:
    if shown == printed or (TINY.search(shown) and TINY.search(printed)):
        return True
    if "." not in shown or "." not in printed:
        return False
    decimals = len(shown.partition(".")[2])
    a, b = (float(text.replace(",", "").replace("−", "-")) for text in (shown, printed))
    return abs(a - b) < 1.5 * 10.0**-decimals
