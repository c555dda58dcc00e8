"""The competition's file as a whole: compared, saved, uploaded, downloaded."""

import re
from html import unescape

import pytest

from tests.support.arena import Arena, competition_file
from tests.support.setup_pages import ORGANIZE, stored
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full


def test_the_file_is_compared_before_it_is_saved(arena: Arena) -> None:
    path, before = f"{ORGANIZE}/file", stored().file
    changed = before.replace("threshold = 0.2", "threshold = 0.25")
    shown = send(arena, path, {"text": changed.replace("\n", "\r\n"), "do": "compare"}, organizer=True)
    assert shown.status_code == 200
    assert "<ins>+ threshold = 0.25</ins>" in shown.text
    assert "<del>- threshold = 0.2</del>" in shown.text
    assert stored().file == before
    (of,) = re.findall(r'name="of" value="(\w+)"', shown.text)
    saved = send(arena, path, {"text": changed, "do": "save", "of": of}, organizer=True)
    assert saved.status_code == 303
    assert stored().file == changed
    stale = send(arena, path, {"text": before, "do": "save", "of": of}, organizer=True)
    assert stale.status_code == 409
    assert "<ins>+ threshold = 0.2</ins>" in stale.text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "threshold = 0.2",
            "threshold = 0.25",
            "There are already submissions. Saving starts a re-score: every submission is scored under the new rules. Nothing changes for the teams until you apply it.",
        ),
        (
            "Small cup",
            "Little cup",
            "No result depends on this: it is saved at once, and nothing is scored again.",
        ),
        ("title", "# a remark\ntitle", "Only comments and spacing differ: no rule changes."),
    ],
)
def test_the_comparison_says_whether_anything_is_scored_again(
    arena: Arena, old: str, new: str, told: str
) -> None:
    arena.submit("red")
    before = stored().file
    assert old in before
    shown = send(
        arena, f"{ORGANIZE}/file", {"text": before.replace(old, new, 1), "do": "compare"}, organizer=True
    )
    every = (
        "There are already submissions. Saving starts a re-score: every submission is scored under the new rules. Nothing changes for the teams until you apply it.",
        "No result depends on this: it is saved at once, and nothing is scored again.",
        "Only comments and spacing differ: no rule changes.",
    )
    expected = {told} | (
        {"No result depends on this: it is saved at once, and nothing is scored again."}
        if told == "Only comments and spacing differ: no rule changes."
        else set()
    )
    assert {key for key in every if said(key) in unescape(shown.text)} == expected


def test_a_file_is_uploaded_and_what_is_wrong_with_it_is_said(arena: Arena) -> None:
    path, good = f"{ORGANIZE}/file", competition_file(threshold=0.3)
    shown = send(arena, path, {"do": "compare"}, files={"upload": ("c.toml", good.encode())}, organizer=True)
    assert "<ins>+ threshold = 0.3</ins>" in shown.text
    bad = send(arena, path, {"text": "colour = 1\n" + good, "do": "compare"}, organizer=True, language="ja")
    assert bad.status_code == 422
    assert "設定項目 colour は存在しません。" in bad.text
    assert "colour is not a key of the format" not in bad.text
    assert "colour = 1" in bad.text.split("<textarea")[1]
    for strange in ("\x00", "not = toml = at all", ""):
        assert send(arena, path, {"text": strange, "do": "save"}, organizer=True).status_code == 422
    text = page(arena, f"{ORGANIZE}/competition.toml", organizer=True)
    assert text.text == stored().file
    assert "attachment" in text.headers["content-disposition"]


def test_other_columns_in_the_file_are_said_to_drop_the_data(arena: Arena) -> None:
    other = stored().file.replace('"sex", "age"', '"sex", "years"')
    shown = send(arena, f"{ORGANIZE}/file", {"text": other, "do": "compare"}, organizer=True)
    assert "saving deletes the data" in shown.text
