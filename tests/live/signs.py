"""The table of the page's tokenizers: what the library ``tokenizers`` holds each sign for.

    python -m tests.live.signs      writes regard/views/page/script/network/signs.js

A browser has the Unicode of its own year, so the page asks this table instead of it.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from regard.views.page import inline

FILE = Path(inline.__file__).parent / "script" / "network" / "signs.js"
PLANES = (0, 1, 2, 3, 14, 15, 16)
"""Of Unicode, those where anything is."""
SIGNS = [
    chr(code)
    for plane in PLANES
    for code in range(plane << 16, (plane + 1) << 16)
    if not 0xD800 <= code < 0xE000
]
LAST_MARK = "\u0345"
"""Of all accents the one that stands last: every other one is put before it."""
HEAD = """\
// What the library "tokenizers" holds each sign for, whatever Unicode this browser has. Written and
// checked by tests/live/signs.py, from the library itself.
//
// A kind is its stretches of code points, each as the gap since the last stretch and its length,
// both to the base 36; a length of 1 is left out.

/** @param {string} stretches */
function anyOf(stretches) {
  let at = 0;
  const parts = stretches.split(" ").map((stretch) => {
    const [gap, length = 1] = stretch.split(":").map((digits) => parseInt(digits, 36));
    const first = at + gap;
    at = first + length;
    return `\\\\u{${first.toString(16)}}-\\\\u{${(at - 1).toString(16)}}`;
  });
  return new RegExp(`[${parts.join("")}]`, "u");
}

"""


def signs_script() -> str:
    """The module as text."""
    kinds = {
        "PUNCTUATION": ("Stands apart from the words around it.", _cutting(3)),
        "BLANK": ("White space.", _cutting(2)),
        "LOST": ("Dropped, also where it is white space elsewhere.", _changed(clean=True)),
        "IDEOGRAPH": ("A word of its own.", _changed(ideographs=True)),
        "ACCENT": ("Taken off the letter before it.", _changed(accents=True)),
        "CAPITAL": ("Has a small letter.", _changed(capitals=True)),
        "JOINING": (
            "Finds its place among its neighbours, or becomes one with the sign before it.",
            _joining(),
        ),
    }
    return HEAD + "\n".join(
        f"/** {meaning} */\nexport const {name} = {_call(' '.join(_stretches(signs)))};\n"
        for name, (meaning, signs) in kinds.items()
    )


def _call(text: str) -> str:
    """In lines of at most 100 columns, as Prettier has them."""
    lines = [f'"{line}"' for line in textwrap.wrap(text, 88, drop_whitespace=False)]
    if len(lines) == 1:
        return f"anyOf({lines[0]})" if len(text) < 70 else f"anyOf(\n  {lines[0]},\n)"
    return "anyOf(\n  " + " +\n    ".join(lines) + ",\n)"


@functools.cache
def _parts() -> list[int]:
    """In how many parts each sign cuts the letters around it."""
    cut = BertPreTokenizer().pre_tokenize_str
    return [len(cut(f"a{sign}a")) for sign in SIGNS]


def _cutting(parts: int) -> list[str]:
    return [sign for sign, found in zip(SIGNS, _parts(), strict=True) if found == parts]


def _changed(
    *,
    clean: bool = False,
    ideographs: bool = False,
    accents: bool = False,
    capitals: bool = False,
) -> list[str]:
    """What BERT's normalizer changes; where that is taking off, what nothing is left of."""
    change = BertNormalizer(clean, ideographs, accents, capitals).normalize_str
    if clean or accents:
        return [sign for sign in SIGNS if not change(sign)]
    return [sign for sign in SIGNS if change(sign) != sign]


def _joining() -> list[str]:
    """What is put before the last accent, and what letters end in when they are taken apart."""
    apart = NFD().normalize_str
    moved = {sign for sign in SIGNS if apart(LAST_MARK + sign)[-1] == LAST_MARK}
    ends = {parts[-1] for sign in SIGNS if len(parts := apart(sign)) > 1}
    return sorted(moved | ends)


def _stretches(signs: Iterable[str]) -> Iterator[str]:
    """Gap and length of each run of neighbours."""
    runs: list[list[int]] = []
    for code in map(ord, signs):
        if runs and runs[-1][1] == code:
            runs[-1][1] += 1
        else:
            runs.append([code, code + 1])
    at = 0
    for first, last in runs:
        length = last - first
        yield _digits(first - at) + (f":{_digits(length)}" if length > 1 else "")
        at = last


def _digits(number: int) -> str:
    """To the base 36."""
    high, low = divmod(number, 36)
    digit = "0123456789abcdefghijklmnopqrstuvwxyz"[low]
    return (_digits(high) if high else "") + digit


if __name__ == "__main__":
    FILE.write_text(signs_script(), encoding="utf-8")
