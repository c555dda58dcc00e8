"""The allocation laws hold for tracks with allocations and detect broken ones."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any, cast

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.csv_text import write_csv
from anoncup.testing.allocations import check_allocation
from anoncup.testing.parts import BrokenLaw
from anoncup.tracks.capabilities import Allocation, AllocationContext
from tests.support.allocation_track import (
    ASSIGNED_ALLOCATION,
    SHARED_ALLOCATION,
    TEAM_ALLOCATION,
    build_label_file,
    build_track,
    make_rotation_allocator,
)
from tests.support.arena import ROWS, build_competition_toml, build_original_table

pytestmark = pytest.mark.full

RULES = parse_competition(build_competition_toml())
ORIGINAL = {"original": write_csv(build_original_table())}
ORGANIZER_FILES = {"hidden": build_label_file(ROWS)}


def test_test_tracks_keep_the_allocation_laws() -> None:
    check_allocation(build_track(TEAM_ALLOCATION), RULES, ORIGINAL, ORGANIZER_FILES)
    check_allocation(build_track(SHARED_ALLOCATION), RULES, ORIGINAL)
    register = {"hidden": b"team,shift\nred,1\nblue,2\n"}
    check_allocation(build_track(ASSIGNED_ALLOCATION), RULES, ORIGINAL, register, ("red", "blue"))


def test_built_in_tracks_keep_the_allocation_laws() -> None:
    membership, monthly = TRACKS["membership"], TRACKS["monthly"]
    assert membership.examples.make_data is not None
    assert monthly.examples.make_data is not None
    rules = parse_competition(template("membership"))
    candidates = {"candidates": membership.examples.make_data(rules, 60, 1)["candidates"]}
    check_allocation(membership, rules, candidates)
    rules = parse_competition(template("2017"))
    example = monthly.examples.make_data(rules, 12, 1)
    original = {name: example[name] for name in ("customers", "transactions")}
    check_allocation(monthly, rules, original)


call_counter = count()


def allocate_unreproducibly(original: Any, *_: Any) -> dict[str, bytes]:
    return {
        "secret": make_rotation_allocator(7)(
            original, AllocationContext(RULES, {}, lambda _: cast(Any, ConstantGenerator(next(call_counter))))
        )["secret"]
    }


class ConstantGenerator:
    """Generator that returns the same number for every row."""

    def __init__(self, number: int) -> None:
        self.bit_generator = self
        self.number = number

    def random_raw(self, rows: int) -> list[int]:
        return [self.number] * rows


def refuse_with_content(name: str, content: bytes, _: Any, __: Rules) -> None:
    if b"told" in content:
        raise InvalidUpload([FileProblem(name, None, None, "rows", Message(content.decode()[-40:]))])


ONE_FILE = TEAM_ALLOCATION.files[:1]
BROKEN_ALLOCATIONS: Mapping[str, tuple[Allocation[Any], Mapping[str, bytes]]] = {
    "the same generators draw the same files": (
        Allocation(ONE_FILE, per_team=True, make_files=allocate_unreproducibly),
        {},
    ),
    "other generators draw other files": (
        Allocation(ONE_FILE, per_team=True, make_files=make_rotation_allocator(1)),
        {},
    ),
    "it draws for": (
        replace(SHARED_ALLOCATION, files=(replace(SHARED_ALLOCATION.files[0], name="other"),)),
        {},
    ),
    "it makes": (Allocation(TEAM_ALLOCATION.files, per_team=True, make_files=make_rotation_allocator(5)), {}),
    "of its organizers": (TEAM_ALLOCATION, {}),
    "is checked": (replace(TEAM_ALLOCATION, check_organizer_file=None), ORGANIZER_FILES),
    "a row too many is refused": (
        replace(TEAM_ALLOCATION, check_organizer_file=lambda *_: None),
        ORGANIZER_FILES,
    ),
    "is not repeated": (replace(TEAM_ALLOCATION, check_organizer_file=refuse_with_content), ORGANIZER_FILES),
}


@pytest.mark.parametrize(
    ("law", "allocation", "organizer_files"), [(law, *case) for law, case in BROKEN_ALLOCATIONS.items()]
)
def test_broken_laws_are_named(
    law: str, allocation: Allocation[Any], organizer_files: Mapping[str, bytes]
) -> None:
    with pytest.raises(BrokenLaw, match=law):
        check_allocation(build_track(allocation), RULES, ORIGINAL, organizer_files)


def test_shared_files_must_be_optional_in_the_original() -> None:
    track = replace(build_track(SHARED_ALLOCATION), original_files=TRACKS["microdata"].original_files)
    with pytest.raises(BrokenLaw, match="may be left out"):
        check_allocation(track, RULES, ORIGINAL)
    with pytest.raises(BrokenLaw, match="draws nothing"):
        check_allocation(TRACKS["microdata"], RULES, ORIGINAL)
