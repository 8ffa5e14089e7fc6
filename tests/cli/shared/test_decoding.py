from __future__ import annotations

import pytest

from regard.cli.shared.decoding import check_sampling, sampling_of
from regard.errors import RegardError
from regard.models.sampling import Sampling


def test_what_is_not_given_is_usual() -> None:
    none = {"temperature": None, "top_p": None, "seed": None}
    assert sampling_of(False, **none) is None
    assert sampling_of(True, **none) == Sampling()
    assert sampling_of(True, temperature=0.5, top_p=None, seed=3) == Sampling(0.5, 1.0, 3)


def test_options_of_sampling_go_with_it() -> None:
    check_sampling(True, temperature=0.5, top_p=0.9, seed=0)
    check_sampling(False, temperature=None, top_p=None, seed=None)
    with pytest.raises(RegardError, match=r"^--top-p goes with --sample$"):
        check_sampling(False, temperature=None, top_p=0.9, seed=None)
    with pytest.raises(RegardError, match=r"^--temperature and --seed go with --sample$"):
        check_sampling(False, temperature=1.0, top_p=None, seed=0)
