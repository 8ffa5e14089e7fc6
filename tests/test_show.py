"""Objects show themselves, in a notebook and as files."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.attention import AttentionMap
from regard.errors import RegardError
from regard.trace import Trace
from tests.views.page.cases import TOKENS, observed


def test_objects_show_themselves() -> None:
    with regard.record(tokens=["a", "b"]) as trace:
        regard.self_attention(torch.eye(2))
    shown = [trace, observed(TOKENS), AttentionMap.from_weights(torch.eye(2))]
    shown.append(shown[2].difference(shown[2]))
    for thing in shown:
        text = thing._repr_html_()
        assert 'sandbox="allow-scripts allow-downloads"' in text
        assert "allow-same-origin" not in text
        data = re.search(r'src="data:image/png;base64,([^"]+)"', text)
        assert data is not None
        assert base64.b64decode(data[1]).startswith(b"\x89PNG")
        assert int.from_bytes(base64.b64decode(data[1])[16:20]) in range(250, 257)  # its width
    assert Trace()._repr_html_() == ""


def test_objects_write_pages(tmp_path: Path) -> None:
    with regard.record(tokens=["a", "b"]) as trace:
        regard.self_attention(torch.eye(2))
    head = AttentionMap.from_weights(torch.eye(2))
    seen = observed(TOKENS)
    trace.save_html(tmp_path / "trace.html", title="steps", compare={"other": trace})
    head.save_html(tmp_path / "map.html", title="one head")
    head.difference(head).save_html(tmp_path / "difference.html", title="heads")
    seen.save_html(tmp_path / "seen.html", title="a model", compare={"other": seen})
    titles = {
        path.stem: re.findall(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"))
        for path in tmp_path.iterdir()
    }
    assert titles == {
        "trace": ["steps"],
        "map": ["one head"],
        "difference": ["heads 1"],
        "seen": ["a model"],
    }
    with pytest.raises(RegardError, match="a page shows attention, and there is none"):
        Trace().save_html(tmp_path / "none.html")


def test_objects_plot_themselves() -> None:
    with regard.record(tokens=["a", "b"]) as trace:
        regard.self_attention(torch.eye(2))
    seen = observed(TOKENS)
    for axes, weights in (
        (trace.plot("weights"), trace.value("weights")),
        (AttentionMap.from_weights(torch.eye(3)).plot(title="three"), torch.eye(3).numpy()),
        (seen.plot(1, 2), seen[1, 2].dense().numpy()),
    ):
        np.testing.assert_allclose(axes.images[0].get_array(), weights)


def test_a_trace_is_shown_without_torch(tmp_path: Path) -> None:
    with regard.record(tokens=["a", "b"]) as trace:
        regard.self_attention(torch.eye(2))
    trace.save(tmp_path / "trace.json")
    script = (
        "import sys; from regard.trace import Trace; "
        f"trace = Trace.load({str(tmp_path / 'trace.json')!r}); "
        f"trace.save_html({str(tmp_path / 'a.html')!r}); trace.plot(); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
