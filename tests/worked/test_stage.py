"""Stage: the stages of a part, under a name of their own in the whole."""

from __future__ import annotations

import torch

from regard.worked.stage import Stage, Wrongly, under


def test_a_part_in_a_scope_finds_its_steps_and_what_it_is_given() -> None:
    twice = Stage("twice", ("input", "w_1"), lambda k: k["input"] * k["w_1"])
    added = Stage(
        "added",
        ("twice", "input"),
        lambda k: k["twice"] + k["input"],
        slips=(Wrongly("the input is forgotten", lambda k: k["twice"]),),
    )
    made = under("part", [twice, added], {"input": "before/output"})
    assert [stage.name for stage in made] == ["part/twice", "part/added"]
    assert made[1].needs == ("part/twice", "before/output")
    known = {"before/output": torch.tensor(3.0), "w_1": torch.tensor(2.0)}
    known["part/twice"] = made[0].run(known)
    assert made[1].run(known) == 9
    assert made[1].slips[0].run(known) == 6
