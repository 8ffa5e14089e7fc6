"""Fit: whether the parts of a worked example fit together; an error says which do not."""

from __future__ import annotations

from collections.abc import Iterable

from regard.errors import ExampleError, nearest
from regard.text import number_of
from regard.trace import Array
from regard.worked.dialect import Axes
from regard.worked.dialects import BIASES, DIALECTS, MATRICES, PROJECTED, STEPS
from regard.worked.fields import shown, times, wrong
from regard.worked.parts import Parts


def queries_of(mechanism: str, given: dict[str, Array]) -> int:
    """How many queries there are; 0 if that is unknown."""
    dialect = DIALECTS[mechanism]
    places = [("queries", -2), ("scores", -2), ("scaled", -2), (dialect.query, -2)]
    return next((int(given[name].shape[axis]) for name, axis in places if name in given), 0)


def keys_of(mechanism: str, given: dict[str, Array]) -> int:
    """How many keys there are; 0 if that is unknown."""
    dialect = DIALECTS[mechanism]
    places = [("keys", -2), ("values", -2), ("scores", -1), ("scaled", -1), (dialect.memory, -2)]
    return next((int(given[name].shape[axis]) for name, axis in places if name in given), 0)


def check_fit(example: Parts) -> None:
    """Raise unless the parts of the example fit together."""
    check_takes(example.mechanism, example.given)
    if example.dialect.family != "attention":
        _check_needed(example)
        check_axes(example)
        _check_cut(example)
        _check_places(example)
        return
    _check_mechanism(example)
    _check_heads(example)
    _check_row_per_word(example)
    for step, letter in PROJECTED.items():
        if f"w_{letter}" in example.given:
            _check_matrix(example, f"w_{letter}", step)
    _check_outputs(example)
    _check_scale(example)
    _check_given_once(example)
    check_axes(example)


def check_takes(mechanism: str, keys: Iterable[str]) -> None:
    """Raise for an array that the mechanism does not have."""
    dialect, keys = DIALECTS[mechanism], list(keys)
    matrices = [key for key in MATRICES if key in keys]
    if mechanism == "simple" and matrices:
        raise wrong(
            "mechanism",
            "simple self-attention has no weight matrices, got "
            f'{", ".join(matrices)}; use mechanism = "scaled"',
        )
    for key in keys:
        if key not in dialect.takes:
            raise wrong(
                key,
                f"mechanism {mechanism!r} has no {key}; it takes {', '.join(dialect.takes)}"
                f"{nearest(key, dialect.takes)}",
            )


def _check_needed(example: Parts) -> None:
    """What the mechanism cannot do without, and what goes with another choice of an option."""
    dialect = example.dialect
    options = {name: example.option(name) for name in dialect.options}
    for key, (option, choice) in dialect.refused(options).items():
        if key in example.given:
            raise wrong(
                key,
                f'{key} goes with {option} = "{choice}", and here {option} is '
                f'"{options[option]}": drop {key}, or change {option}',
            )
    needed = dialect.needed(options)
    missing = [key for key in needed if key not in example.given]
    if missing:
        called = " and ".join((", ".join(needed[:-1]), needed[-1]) if needed[1:] else needed)
        raise wrong(
            "mechanism", f"mechanism {example.mechanism!r} needs {called}; {missing[0]} is missing"
        )


def _check_cut(example: Parts) -> None:
    """Heads must divide what the matrices give."""
    if example.heads > 1 and "w_q" in example.given and example.outputs("w_q") % example.heads:
        raise wrong(
            "heads",
            f"heads must divide the outputs of w_q: {example.outputs('w_q')} cannot be cut into "
            f"{shown(example.heads)} equal parts",
        )


def _check_places(example: Parts) -> None:
    """Positions are those of x, or of a table that has room for them."""
    options = example.options
    if "length" in example.dialect.options:
        sizes = [name for name in ("length", "width") if options.get(name) is not None]
        if "x" in example.given and sizes:
            raise wrong(
                sizes[0], f"x says how many positions there are and how wide: drop {sizes[0]}"
            )
        if "x" not in example.given and len(sizes) < 2:
            raise wrong("x", f"mechanism {example.mechanism!r} needs x, or length and width")
    if "table" in example.given:
        rows, last = len(example.given["table"]), example.option("first") + len(example.given["x"])
        if last > rows:
            raise wrong("table", f"table must have a row for each place: {last}, got {rows}")
    odd = example.given["queries"].shape[-1] % 2 if "pairs" in example.dialect.options else 0
    if odd:
        raise wrong(
            "queries",
            "rotary positions turn pairs of numbers: queries must be of even width, got "
            f"{times(example.given['queries'].shape)}",
        )
    if "u_o" in example.given and example.outputs("u_o") % 2:
        raise wrong("u_o", f"maxout pairs its outputs: u_o must have an even number of them, got "
                    f"{example.outputs('u_o')}")  # fmt: skip


def _check_mechanism(example: Parts) -> None:
    name, dialect, given = example.mechanism, example.dialect, example.given
    if "scores" in given or "scaled" in given:
        return
    for source, step, letter in ((dialect.query, "queries", "q"), (dialect.memory, "keys", "k")):
        if step in given:
            continue
        if source not in given:
            either = f" (or {step}, or scores)" if step in dialect.takes else " (or scores)"
            raise wrong(source, f"{source} is missing: a list of rows of numbers{either}")
        if dialect.projects and f"w_{letter}" not in given:
            raise wrong(
                "mechanism",
                f"mechanism {name!r} needs w_q, w_k and, for the values, w_v; "
                f"w_{letter} is missing",
            )
    missing = [key for key in dialect.needs if key not in given]
    if missing:
        raise wrong(
            "mechanism",
            f"mechanism {name!r} needs {' and '.join(dialect.needs)}; {missing[0]} is missing",
        )


def _check_scale(example: Parts) -> None:
    for key in ("d_k", "scale"):
        if getattr(example, key) is not None and key not in example.dialect.settings:
            raise wrong(
                key,
                f"{key} is what scores are {_scaled_by(key)}, but mechanism "
                f'{example.mechanism!r} is not scaled: drop {key}, or use mechanism = "scaled"',
            )
    if example.d_k is not None and example.scale is not None:
        raise wrong("scale", "scale stands in place of 1/sqrt(d_k): give d_k or scale, not both")
    if example.dialect.scaled and "scaled" not in example.given and example.factor is None:
        raise wrong(
            "d_k",
            "d_k is missing: scores are divided by its root, and without the keys nothing else "
            "says how wide a key is",
        )


def _scaled_by(key: str) -> str:
    return "divided by the root of" if key == "d_k" else "multiplied by"


def _check_heads(example: Parts) -> None:
    if example.heads != 1 and not example.dialect.heads:
        raise wrong(
            "heads",
            f'heads = {shown(example.heads)} needs mechanism = "multihead", '
            f"got {example.mechanism!r}",
        )
    if example.key_heads is not None and example.heads % example.key_heads:
        raise wrong(
            "key_heads",
            "query heads must be a multiple of key heads, got "
            f"heads = {example.heads} and key_heads = {shown(example.key_heads)}",
        )
    for step in STEPS:
        if step in example.given and example.heads > 1:
            got, heads = len(example.given[step]), example.heads_of(step)
            if got != heads:
                raise wrong(step, f"{step} must have a matrix for each of {heads} heads, got {got}")


def _check_row_per_word(example: Parts) -> None:
    """That reading makes one number of each word: there is nothing to cut or to mix."""
    if example.layout != "row-per-word":
        return
    if example.heads != 1:
        raise wrong(
            "heads",
            "with layout 'row-per-word' a query is one number, which cannot be cut into "
            f"{shown(example.heads)} heads: drop heads, or use another layout",
        )
    if "w_o" in example.given:
        raise wrong(
            "w_o",
            "with layout 'row-per-word' each word has one number, which w_o cannot mix: drop "
            "w_o, or use another layout",
        )
    if example.dialect.memory != example.dialect.query:
        raise wrong("layout", "layout 'row-per-word' is a reading of self-attention alone")


def _check_matrix(example: Parts, name: str, step: str) -> None:
    source = example.dialect.query if step == "queries" else example.dialect.memory
    if source not in example.given:
        raise wrong(name, f"{name} is applied to {source}, which is missing: give {source} too")
    w = example.given[name]
    n, width = example.given[source].shape
    expected = {
        "columns-are-outputs": (w.shape[0] == width, f"{_rows(width)} (the width of {source})"),
        "rows-are-outputs": (w.shape[1] == width, f"{_columns(width)} (the width of {source})"),
        "row-per-word": (w.shape == (n, width), f"the shape of {source}, {n} x {width}"),
    }[example.layout]
    if not expected[0]:
        raise wrong(
            name,
            f"with layout {example.layout!r}, {name} must have {expected[1]}, "
            f"got {w.shape[0]} x {w.shape[1]}",
        )


def _check_outputs(example: Parts) -> None:
    """What the matrices give must fit together: queries and keys, heads, and W_O."""
    made = {n: example.outputs(n) for n in MATRICES[:3] if n in example.given}
    for name, outputs in made.items():
        heads = example.heads if name == "w_q" else example.heads_of("keys")
        if outputs % heads:
            raise wrong(
                "heads",
                f"heads must divide the outputs of {name}: {outputs} cannot be cut into "
                f"{shown(heads)} equal parts",
            )
    if {"w_q", "w_k"} <= made.keys():
        q, k = made["w_q"] // example.heads, made["w_k"] // example.heads_of("keys")
        if q != k:
            raise wrong(
                "w_k",
                "queries and keys must be of one width, for their dot product: with layout "
                f"{example.layout!r}, w_q gives {number_of(q, 'number')} and w_k gives {k}"
                + (" to each head" if example.heads > 1 else ""),
            )
    for name in BIASES:
        if name in example.given:
            _check_bias(example, name)
    if "w_o" in example.given and "w_v" in made:
        inputs = made["w_v"] * example.heads // example.heads_of("values")
        _check_w_o(example, inputs, "the outputs of w_v")
    elif "w_o" in example.given and "values" in example.given:
        _check_w_o(example, example.given["values"].shape[-1] * example.heads, "the values")


def _check_bias(example: Parts, name: str) -> None:
    matrix = f"w_{name[-1]}"
    if matrix not in example.given:
        raise wrong(name, f"{name} is added to what {matrix} gives, which is missing")
    outputs, got = example.outputs(matrix), len(example.given[name])
    if outputs != got:
        raise wrong(
            name,
            f"{name} must have a number for each output of {matrix}: {outputs}, got {got}",
        )


def _check_w_o(example: Parts, inputs: int, of: str) -> None:
    rows, columns = example.given["w_o"].shape
    by_rows = example.layout == "rows-are-outputs"
    if (columns if by_rows else rows) != inputs:
        lines = _columns(inputs) if by_rows else _rows(inputs)
        raise wrong(
            "w_o",
            f"with layout {example.layout!r}, w_o must have {lines} ({of}), got {rows} x {columns}",
        )


def _check_given_once(example: Parts) -> None:
    """What is given must not follow from something else that is given: which one would hold?"""
    given, dialect = example.given, example.dialect
    made_from = {
        **{step: (f"w_{letter}",) for step, letter in PROJECTED.items()},
        "scores": ("queries", "keys"),
        "scaled": ("scores",),
    }
    if not dialect.projects:
        made_from |= {"values": (dialect.memory,), "scores": (dialect.query, dialect.memory)}
    for step, parts in made_from.items():
        if step in given and all(part in given for part in parts):
            raise wrong(
                step,
                f"{step} is given and follows from {' and '.join(parts)} too: give one of them, "
                f"and put {step} under [claims] to have it checked",
            )


def check_axes(example: Parts) -> None:
    """Axes of one name are of one length, and a sum of axes as long as they are together."""
    known: dict[str, tuple[int, str]] = {}
    own = example.dialect.family != "attention"
    # With heads, the axes of attention's own matrices are cut: they have checks of their own.
    names = [n for n in example.given if own or n not in (*MATRICES, *BIASES)]
    found = [(name, _axes(example, name), _lengths(example, name)) for name in names]
    for name, axes, lengths in found:
        for axis, length in zip(axes, lengths, strict=True):
            if "+" not in axis:
                before, whose = known.setdefault(axis, (length, name))
                if before != length:
                    raise _misfit(
                        example, name, f"{before} along the axis {axis!r}, as {whose} has"
                    )
    for name, axes, lengths in found:
        for axis, length in zip(axes, lengths, strict=True):
            parts = axis.split("+")
            if len(parts) == 1 or not all(part in known for part in parts):
                continue
            total = sum(known[part][0] for part in parts)
            if total != length:
                sizes = " + ".join(f"{known[part][0]} ({part})" for part in parts)
                raise _misfit(example, name, f"{sizes} = {total} inputs")


def _misfit(example: Parts, name: str, expected: str) -> ExampleError:
    read = f"with layout {example.layout!r}, " if example.is_matrix(name) else ""
    return wrong(name, f"{read}{name} must have {expected}, got {times(example.given[name].shape)}")


def _lengths(example: Parts, name: str) -> tuple[int, ...]:
    value = example.turned(name) if example.is_matrix(name) else example.given[name]
    return tuple(int(n) for n in value.shape[-len(example.axes_of(name)) :])


def _axes(example: Parts, name: str) -> Axes:
    own = example.dialect.family == "attention" and example.dialect.memory == "x"
    if name == "x" and own and "w_q" not in example.given:
        return "key", "width"  # queries or scores are given: x makes keys or values alone
    return example.axes_of(name)


def _rows(n: int) -> str:
    return number_of(n, "row")


def _columns(n: int) -> str:
    return number_of(n, "column")
