"""Objects show themselves, in a notebook and as files."""

from __future__ import annotations

import base64
import re

import torch

import regard
from regard.attention import AttentionMap
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
