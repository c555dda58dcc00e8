"""A team is found on the board however its name is written, and a shared rank is told from others."""

import re
from html import escape
from urllib.parse import urlencode

import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from app.api.documentation.bodies import example_as
from app.web.visitor import standings
from tests.support.board_pages import board_page, text_of
from tests.support.contest import Contest
from tests.support.uploads import score_everything
from tests.web.spoken import said

pytestmark = pytest.mark.full


def found_in(html: str) -> list[str]:
    """The teams of the rows that are not hidden."""
    body = re.findall(r'<table class="ranks.*?</table>', html, re.DOTALL)[0].partition("</thead>")[2]
    rows = re.findall(r"<tr((?:(?! hidden)[^>])*)>.*?</td><th[^>]*>(.*?)</th>", body, re.DOTALL)
    return [text_of(name) for _, name in rows]


LOOKED_FOR = {
    "": ["Straße ＡＢＣ", "ﾀﾞｯｼｭ", "<b>&amp;</b>"],
    "strasse abc": ["Straße ＡＢＣ"],
    "  STRASSE\u3000": ["Straße ＡＢＣ"],
    "ダッ\u200bシュ": ["ﾀﾞｯｼｭ"],
    "<B>": ["<b>&amp;</b>"],
    "amp;</b>": ["<b>&amp;</b>"],
    "nobody": [],
}


def test_a_team_is_found_however_its_name_is_written(client: TestClient) -> None:
    contest = Contest.opened(client)
    for team in LOOKED_FOR[""]:
        contest.submit(team, scored=False)
    score_everything()
    for asked, found in LOOKED_FOR.items():
        html = board_page(contest.arena, query=f"?{urlencode({'find': asked})}", language="ja")
        assert sorted(found_in(html)) == sorted(found)
        assert f'value="{escape(asked)}"' in html
        assert bool(asked) == (said("Found: {found} of {all}", "ja", found=len(found), all=3) in html)
        assert "<b>&amp;</b>" not in html


@pytest.mark.parametrize(
    ("ranks", "tied"), [([1, 2, 2, 4, None, None], {2}), ([1], set()), ([], set()), ([1, 1, 1], {1})]
)
def test_ranks_that_are_shared_are_told_from_those_that_are_not(
    ranks: list[int | None], tied: set[int]
) -> None:
    row = example_as(schemas.BoardRow)
    rows = tuple(row.model_copy(update={"rank": rank}) for rank in ranks)
    assert standings.tied(example_as(schemas.Board).model_copy(update={"rows": rows})) == tied
