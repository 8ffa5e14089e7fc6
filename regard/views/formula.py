r"""Formula: the LaTeX of a few dozen commands, as MathML for a page and as text for a terminal.

``\frac{q_i \cdot k_j}{\sqrt{d_k}}`` → (q_i · k_j) / √d_k. What is not known is refused, so that no
formula is shown half.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.errors import RegardError

FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\w\\$])\$([^\s$](?:[^$\n]*[^\s$])?)\$", re.DOTALL)
"""In Markdown: $$ … $$ in a line of its own, $ … $ within one."""
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[A-Za-z]|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
SIGNS = {
    "cdot": "·",
    "times": "×",
    "cdots": "⋯",
    "ldots": "…",
    "dots": "…",
    "infty": "∞",
    "in": "∈",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "approx": "≈",
    "to": "→",
    "odot": "⊙",
    "sum": "∑",
    "prod": "∏",
    "quad": "\u2003",
    ",": "\u2009",
    ";": "\u2005",
    "{": "{",
    "}": "}",
    "|": "‖",
    "top": "⊤",
    "partial": "∂",
}
LETTERS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "epsilon": "ε",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "tau": "τ",
    "varphi": "φ",
}
NAMES = ("exp", "log", "tanh", "softmax", "sin", "cos", "max", "min")
ACCENTS = {"tilde": "~", "hat": "^", "overrightarrow": "→", "overleftarrow": "←", "bar": "¯"}
NAMED = ("letter", "word", "over", "sub", "sup", "frac", "root")
"""What stands apart from its like when it is written in one line."""
WORDS = ("text", "mathrm", "operatorname")


@dataclass(frozen=True)
class Node:
    """A piece of a formula: its kind, its text, and what is inside it."""

    kind: str
    text: str = ""
    inside: tuple[Node, ...] = ()


def mathml(latex: str, display: bool = False) -> str:
    """The formula as a ``math`` element, with its LaTeX for whoever copies it."""
    how = ' display="block"' if display else ""
    label = html.escape(plain_formula(latex))
    body = "".join(map(_mathml, parse_formula(latex)))
    return f'<math{how} aria-label="{label}"><mrow>{body}</mrow></math>'


def plain_formula(latex: str) -> str:
    """The formula as a line of text."""
    return " ".join(_joined(parse_formula(latex)).split())


def parse_formula(latex: str) -> list[Node]:
    nodes = list(_sequence(_Tokens(TOKEN.findall(latex)), None))
    if not nodes:
        raise RegardError("a formula is empty")
    return nodes


class _Tokens:
    """What is left to read."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str | None:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise RegardError("a formula ends where something must follow")
        self.at += 1
        return token

    def braced(self) -> str:
        """The characters of the next {…} as they stand."""
        if self.take() != "{":
            raise RegardError("a formula's \\text must be followed by {…}")
        start = self.at
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            self.at += 1
        if self.at == len(self.tokens):
            raise RegardError("a formula has a { without its }")
        self.at += 1
        return "".join(self.tokens[start : self.at - 1])


def _sequence(tokens: _Tokens, end: str | None) -> Iterator[Node]:
    while (token := tokens.peek()) != end:
        if token is None:
            raise RegardError(f"a formula has no closing {end!r}")
        node = _atom(tokens)
        while tokens.peek() in ("_", "^"):
            mark = tokens.take()
            node = Node("sub" if mark == "_" else "sup", "", (node, _atom(tokens)))
        yield node
    if end is not None:
        tokens.take()


def _atom(tokens: _Tokens) -> Node:
    token = tokens.take()
    if token == "{":
        return Node("row", "", tuple(_sequence(tokens, "}")))
    if not token.startswith("\\"):
        return Node(_kind(token), token)
    name = token[1:]
    if name in ("left", "right"):
        return Node("fence", tokens.take())
    if name == "frac":
        return Node("frac", "", (_atom(tokens), _atom(tokens)))
    if name == "sqrt":
        return Node("root", "", (_atom(tokens),))
    if name in ACCENTS:
        return Node("over", ACCENTS[name], (_atom(tokens),))
    if name in WORDS:
        return Node("word", tokens.braced())
    if name in NAMES:
        return Node("word", name)
    if name in LETTERS:
        return Node("letter", LETTERS[name])
    if name in SIGNS:
        return Node("sign", SIGNS[name])
    raise RegardError(f"a formula has {token}, which is not known")


def _kind(token: str) -> str:
    if token.isalpha():
        return "letter"
    return "number" if token[0].isdigit() else "sign"


def _mathml(node: Node) -> str:
    text = html.escape(node.text)
    inside = [_mathml(part) for part in node.inside]
    match node.kind:
        case "letter":
            return f"<mi>{text}</mi>"
        case "word":
            return f"<mtext>{text}</mtext>"
        case "number":
            return f"<mn>{text}</mn>"
        case "sign":
            small = ' stretchy="false"' if text in "()[]" else ""
            return f"<mo{small}>{text}</mo>" if text.strip() else '<mspace width=".6em"/>'
        case "fence":
            return f"<mo>{text}</mo>"
        case "over":
            return f"<mover>{inside[0]}<mo>{text}</mo></mover>"
        case "root":
            return f"<msqrt>{inside[0]}</msqrt>"
        case "frac":
            return f"<mfrac>{''.join(inside)}</mfrac>"
        case "sub" | "sup":
            return _script(node, inside)
    return f"<mrow>{''.join(inside)}</mrow>"


def _script(node: Node, inside: list[str]) -> str:
    below = node.inside[0].text in ("∑", "∏") and node.kind == "sub"
    name = "munder" if below else f"m{node.kind}"
    return f"<{name}>{''.join(inside)}</{name}>"


def _joined(nodes: Sequence[Node]) -> str:
    """Side by side; a blank between two names, and none behind a sign that opens."""
    text, before = "", ""
    for node in nodes:
        if node.kind == "sign" and node.text in "-−+" and text.rstrip()[-1:] in ("", "[", "(", ","):
            text += node.text
        else:
            named = node.kind in NAMED and before in NAMED
            text += (" " if named else "") + _plain(node)
        before = node.kind
    return text


def _plain(node: Node) -> str:
    inside = [_plain(part) for part in node.inside]
    match node.kind:
        case "sign":
            return _spaced(node.text)
        case "over":
            return f"{inside[0]}{node.text}"
        case "root":
            return f"√{_grouped(inside[0])}"
        case "frac":
            return f"{_grouped(inside[0])} / {_grouped(inside[1])}"
        case "sub":
            return f"{inside[0]}_{_packed(inside[1])}" + (" " if inside[0].strip() == "∑" else "")
        case "sup":
            return f"{inside[0]}ᵀ" if inside[1] == "⊤" else f"{inside[0]}^{_packed(inside[1])}"
        case "row":
            return _joined(node.inside)
    return node.text


def _spaced(sign: str) -> str:
    return f" {sign} " if sign in "=+−-·×≈≤≥≠→∈⊙" else f"{sign} " if sign in ",;" else sign


def _grouped(text: str) -> str:
    """In brackets if it is more than one thing."""
    text = text.strip()
    return f"({text})" if re.search(r"[ /]", text) else text


def _packed(text: str) -> str:
    """What stands below or above: without spaces, in brackets if it has signs."""
    text = text.replace(" ", "")
    return text if re.fullmatch(r"[\w~^⊤]*", text) else f"{{{text}}}"
