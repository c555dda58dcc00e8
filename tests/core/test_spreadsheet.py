"""Text cells of the exported sheets: no cell starts a formula."""

import csv
import io

import pytest

from app.core import spreadsheet

DISGUISED_PREFIXES = [
    *(" =", "\u3000=", "\u00a0+", "\t1", "\r1", "\n1", "\x00=", "\x1f@", "\ufeff=", "\u200b-", "\ufe0f="),
    *("﹦", "＝", "＋", "－", "＠"),
]


@pytest.mark.parametrize("prefix", DISGUISED_PREFIXES, ids=ascii)
def test_formulas_behind_ignored_characters_are_escaped(prefix: str) -> None:
    content = spreadsheet.render_csv([prefix + "1"], []).decode("utf-8-sig")
    (line,) = csv.reader(io.StringIO(content, newline=""))
    assert line == [f"'{prefix}1"]


@pytest.mark.parametrize("cell", ["", " ", "x=1", "1-1", "a@b", "  a", "ー", "力＝1", "'=", "−1"])
def test_text_without_formula_is_not_escaped(cell: str) -> None:
    assert spreadsheet.escape_formula(cell) == cell
