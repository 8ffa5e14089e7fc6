"""Lines that hold two tokenizers together: ordinary ones, mixed scripts, and hostile ones."""

from __future__ import annotations

import random

_WORDS = (
    "Können Sie mir helfen diesen Satz zu übersetzen The animal didn't cross the street it's "
    "3.14 1,000 naïve café straße ŒUVRE Ångström e-mail http://a.b/c?d=e&f don’t rock’n’roll "
    "x_y __init__ C++ a/b 50% $5 #1 @home (so) [it] {is} <b> </s> <unk> <s> <pad> <mask> ▁start "
    "in▁side ▁ … — – „Wort“ «mot» ‚x‘ ¿qué? ¡sí! 你好 世界 中文。 日本語 カタカナ 한국어 각 שלום "
    "مرحبا हिन्दी क्षि ไทย 👍 👩‍👩‍👧 🇩🇪 ½ ² Ⅳ ﬁ Å e\u0301 u\u0308 \u0301x a\u0300\u0301 o\u0323\u0302"
)
WORDS = _WORDS.split()
SIGNS = (
    "\t\n\r\v\f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u200d\u00ad"
    "\x00\x01\x1f\x7f\x80\x9f\u202e\u2066\ufffd\U0001f600\U0010ffff.,;:!?'\"-_/\\|`~^$+=<>&%#@*()"
)
WORST = ("", " ", "\n", "▁", " ▁ ", "a" * 3000, "<s></s>", "<s> a </s>b", "e\u0301" * 9, SIGNS)
BETWEEN = (" ", " ", " ", "  ", "", ".", "\t")


def lines(count: int, seed: int = 0) -> list[str]:
    """``count`` lines, the same for the same ``seed``; the first ones are the worst."""
    chance = random.Random(seed)
    found = [*WORST, *SIGNS, *WORDS]
    while len(found) < count:
        kind, n = chance.random(), chance.randint(1, 12)
        if kind < 0.6:
            found.append("".join(chance.choice(WORDS) + chance.choice(BETWEEN) for _ in range(n)))
        elif kind < 0.9:
            source = "".join(WORDS) + SIGNS
            found.append("".join(chance.choice(source) for _ in range(2 * n)))
        else:
            codes = (chance.randrange(0x20, 0x30000) for _ in range(n))
            found.append("".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000))
    return found[:count]
