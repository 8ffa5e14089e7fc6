"""Tagged: the columns of CoNLL-U and of other files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import DataError
from regard.train.data.tagged import Tagged, check_tags, read_tagged, tags_of

UNIVERSAL = """# sent_id = 1
# text = I don't .
1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

# sent_id = 2
1\t#\t#\tSYM\t#\t_\t0\troot\t_\t_
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tagged"
    path.write_text(text, encoding="utf-8")
    return path


def test_conllu_by_its_columns(tmp_path: Path) -> None:
    path = written(tmp_path, UNIVERSAL)
    first, second = read_tagged(path).rows
    assert first == (("I", "do", "n't"), ("PRON", "AUX", "PART"), 1)
    assert (second.words, second.labels, second.number) == (("#",), ("SYM",), 9)
    assert read_tagged(path, "xpos").rows[0].labels == ("PRP", "VBP", "RB")
    assert read_tagged(path, "8").rows[0].labels == ("nsubj", "root", "advmod")


def test_other_columns_have_the_label_last(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n# NN B-NP O\n"
    rows = read_tagged(written(tmp_path, text)).rows
    assert rows[0] == (("EU", "rejects"), ("B-ORG", "O"), 3)
    assert rows[1].words == ("#",)
    assert read_tagged(written(tmp_path, text), "2").rows[0].labels == ("NNP", "VBZ")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    rows = [Tagged(("a", "b"), ("X", "Y"), 1), Tagged(("c",), ("X",), 4)]
    path = written(tmp_path, "".join(f"{row.line()}\n" for row in rows))
    assert read_tagged(path).rows == rows
    assert rows[0].texts() == ("a b",)
    assert tags_of(rows) == ["X", "Y"]


def test_a_blank_inside_a_word_does_not_make_it_two(tmp_path: Path) -> None:
    assert read_tagged(written(tmp_path, "1 000\tNUM\n")).rows[0].words == ("1_000",)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a\nb\n", "", "has one column: a word and its label a line"),
        ("a\tX\nb\n", "", "line 2: 2 columns are wanted, as the first line has them; got 1: 'b'"),
        ("a\tX\n \tX\n", "", "line 2: a word or its label is missing"),
        ("\n\n", "", "has one column"),
        ("a\tX\n", "1", r"a number from 1 to 2 but not that of the words \(1\); got '1'"),
        ("a\tX\n", "upos", "got 'upos'"),
        (UNIVERSAL, "tag", r"not that of the words \(2\), or lemma, upos, .*; got 'tag'"),
    ],
)
def test_refused(tmp_path: Path, text: str, column: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tagged(written(tmp_path, text), column)


def test_too_many_labels_are_no_labels(tmp_path: Path) -> None:
    text = "".join(f"w\tx{i}\n" for i in range(1001))
    with pytest.raises(DataError, match="1,001 different labels, such as 'x0': is this the column"):
        read_tagged(written(tmp_path, text))


def test_a_label_that_training_has_not(tmp_path: Path) -> None:
    rows = [Tagged(("a", "b"), ("X", "Z"), 5)]
    text = "line 5: 'b' has the label 'Z', which does not occur in training; it has X, Y"
    with pytest.raises(DataError, match=text):
        check_tags(rows, ["X", "Y"], tmp_path / "test")
    check_tags(rows, ["X", "Z"], tmp_path / "test")
