"""The laws of what tracks draw, held to the tracks that draw, and broken by some that should not."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import table_csv
from anoncup.testing.allocations import check_draw
from anoncup.testing.parts import BrokenLaw
from anoncup.tracks.model import Draw
from tests.support.allocation_track import HINTS, OWN, drawing_track, labels, rotations
from tests.support.arena import ROWS, competition_file, original_table

pytestmark = pytest.mark.full

RULES = parse_competition(competition_file())
ORIGINAL = {"original": table_csv(original_table())}
TRUTH = {"hidden": labels(ROWS)}


def test_the_tracks_of_the_tests_keep_them() -> None:
    check_draw(drawing_track(OWN), RULES, ORIGINAL, TRUTH)
    check_draw(drawing_track(HINTS), RULES, ORIGINAL)


def test_members_and_partial_knowledge_keep_them() -> None:
    membership, monthly = TRACKS["membership"], TRACKS["monthly"]
    assert membership.example_data is not None
    assert monthly.example_data is not None
    given = {"candidates": membership.example_data(60, 1)["candidates"]}
    check_draw(membership, parse_competition(template("membership")), given)
    made = monthly.example_data(12, 1)
    known = {name: made[name] for name in ("customers", "transactions")}
    check_draw(monthly, parse_competition(template("2017")), known)


CALLS = count()


def never_the_same(original: Any, *_: Any) -> dict[str, bytes]:
    return {"secret": rotations(7)(original, {}, RULES, lambda _: Fixed(next(CALLS)))["secret"]}


class Fixed:
    """What a generator says, in order of asking."""

    def __init__(self, number: int) -> None:
        self.bit_generator = self
        self.number = number

    def random_raw(self, rows: int) -> list[int]:
        return [self.number] * rows


def says_all(name: str, content: bytes, _: Any, __: Rules) -> None:
    if b"told" in content:
        raise InvalidUpload([Problem(name, None, None, "rows", Message(content.decode()[-40:]))])


ONE = OWN.files[:1]
BROKEN: Mapping[str, tuple[Draw, Mapping[str, bytes]]] = {
    "the same generators draw the same files": (Draw(ONE, each_team=True, make=never_the_same), {}),
    "other generators draw other files": (Draw(ONE, each_team=True, make=rotations(1)), {}),
    "it draws for": (replace(HINTS, files=(replace(HINTS.files[0], name="other"),)), {}),
    "it makes": (Draw(OWN.files, each_team=True, make=rotations(5)), {}),
    "of its organizers": (OWN, {}),
    "is checked": (replace(OWN, check_truth=None), TRUTH),
    "a row too many is refused": (replace(OWN, check_truth=lambda *_: None), TRUTH),
    "is not repeated": (replace(OWN, check_truth=says_all), TRUTH),
}


@pytest.mark.parametrize(("law", "draw", "truth"), [(law, *each) for law, each in BROKEN.items()])
def test_a_draw_that_breaks_one_is_told_which(law: str, draw: Draw, truth: Mapping[str, bytes]) -> None:
    with pytest.raises(BrokenLaw, match=law):
        check_draw(drawing_track(draw), RULES, ORIGINAL, truth)


def test_what_is_drawn_for_all_may_be_left_out_of_the_original() -> None:
    needed = replace(drawing_track(HINTS), original=TRACKS["microdata"].original)
    with pytest.raises(BrokenLaw, match="may be left out"):
        check_draw(needed, RULES, ORIGINAL)
    with pytest.raises(BrokenLaw, match="draws nothing"):
        check_draw(TRACKS["microdata"], RULES, ORIGINAL)
