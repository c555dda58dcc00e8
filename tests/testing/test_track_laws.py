"""The contract tests for whole tracks find tracks that break a law. The membership track is broken here."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.testing.parts import BrokenLaw, TrackCase
from anoncup.testing.tracks import check_track
from anoncup.tracks.files import Files
from anoncup.tracks.membership.adapter import files_of, write_canonical_files
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable
from anoncup.tracks.model import AnyContext, AnyQuestion, AnyTrack, ShownAnswer, TargetFiles
from anoncup.tracks.outcomes import Outcome
from tests.support.membership_cases import allocate_members, build_context, build_survey

RULES, ORIGINAL = parse_competition(template("membership")), build_survey(20)
MEMBERSHIP = TRACKS["membership"]
ATTACKER = MEMBERSHIP.attackers["exact_copy"]
TRACK: AnyTrack = replace(MEMBERSHIP, measures={}, methods={}, attackers={"exact_copy": ATTACKER})
"""The track with few parts, whose own laws other tests check."""


def read_members(team: str) -> Members:
    members: Members = TRACK.answer_spec.read(
        allocate_members(ORIGINAL, RULES, {}, team), build_context(ORIGINAL, RULES)
    )
    return members


MEMBERS, *OTHERS = (read_members(team) for team in "abcdefgh")
SIMILAR = next(members for members in OTHERS if members.rows[0] == MEMBERS.rows[0])
OTHER = next(members for members in OTHERS if members.rows[0] != MEMBERS.rows[0])
"""Other members than those of the case: with the same first one, and with another first one."""
CASE = TrackCase(RULES, ORIGINAL, MEMBERS.table, MEMBERS, OTHER)


def check(case: TrackCase = CASE, **changes: Any) -> None:
    check_track(replace(TRACK, **changes), [case])


def expect_broken_law(law: str, case: TrackCase = CASE, **changes: Any) -> None:
    with pytest.raises(BrokenLaw, match=law):
        check(case, **changes)


def change_question(**changes: Any) -> dict[str, AnyQuestion]:
    return {"membership": replace(TRACK.questions["membership"], **changes)}


@dataclass(frozen=True)
class TableWithAnswer(TypedTable):
    """A release that keeps its answer; its files do not have it."""

    scores: Any = None


def copy_answer(target: MembershipTarget) -> Any:
    """Attack with the answer itself, if the target has it."""
    return getattr(target.release_table, "scores", np.zeros(target.candidates.rows))


def test_target_must_not_depend_on_the_answer() -> None:
    attackers = {"exact_copy": replace(ATTACKER, attack=copy_answer)}
    check(attackers=attackers)
    table = MEMBERS.table
    release = TableWithAnswer(table.schema, table.numbers, table.codes, MEMBERS.is_member.astype(float))
    law = "exact_copy: what it sees does not depend on the answer"
    expect_broken_law(law, replace(CASE, release=release), attackers=attackers)


def parse_target(files: Files, original: MembershipOriginal, rules: Rules) -> MembershipTarget:
    return MembershipTarget(original, TRACK.parse_release(files, original, rules, {})[0])


@pytest.mark.parametrize("write", [None, lambda release, *_: files_of(release)])
def test_parsed_target_must_be_attackable(write: Any) -> None:
    check(target_files=TargetFiles(write=write, parse=parse_target))
    law = "exact_copy: it can attack what is read from the files of a target"
    expect_broken_law(law, target_files=TargetFiles(write=write, parse=lambda *_: MEMBERS.table))


@pytest.mark.parametrize("interval", [None, (0.8, 1.0)])
def test_blind_guesses_must_get_the_baseline(interval: Any) -> None:
    """The value is 1 with probability a half: whether the first score is above a half."""
    ones = np.ones(ORIGINAL.rows)

    def judge(scores: Any, *_: Any, **__: Any) -> Outcome:
        return Outcome(float(scores[0] > 0.5), 0.5, interval=interval)

    coin: dict[str, Any] = {"make_perfect_guess": lambda _: ones, "judge": judge}
    law = "membership: a blind guess gets the baseline"
    if interval is None:
        check(questions=change_question(**coin), attackers={})
        coin["make_blind_guess"] = lambda *_: ones
    expect_broken_law(law, questions=change_question(**coin), attackers={})


def read_quoting_cells(content: bytes, context: AnyContext) -> Any:
    """Read an answer correctly, but quote the last line in problems."""
    try:
        return TRACK.answer_spec.read(content, context)
    except InvalidUpload as error:
        last_line = "".join(content.decode(errors="replace").splitlines()[-1:])
        raise InvalidUpload([replace(problem, value=last_line) for problem in error.problems]) from None


def judge_refusing_others(scores: Any, members: Members, *_: Any, **__: Any) -> Outcome:
    if (scores != members.is_member).any():
        raise InvalidUpload([FileProblem("guess", 1, None, "unknown", Message("nobody is that"))])
    return Outcome(1.0)


@pytest.mark.parametrize(
    ("law", "changes"),
    [
        (
            "membership: no cell of an answer is repeated where it is refused",
            {"answer_spec": replace(TRACK.answer_spec, read=read_quoting_cells)},
        ),
        (
            "membership: a guess that is no table is refused",
            {"questions": change_question(read=lambda *_: MEMBERS.is_member.astype(float))},
        ),
        (
            "what is refused does not depend on the answer",
            {"questions": change_question(judge=judge_refusing_others)},
        ),
        ("membership: it counts all individuals", {"questions": change_question(asks_identity=True)}),
    ],
)
def test_track_that_breaks_a_law_is_rejected(law: str, changes: dict[str, Any]) -> None:
    expect_broken_law(law, **changes)


def write_in_random_order(release: TypedTable, *rest: Any) -> dict[str, bytes]:
    return files_of(release.select_rows(rest[-1].permutation(release.rows)))


UNSEEDED = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("law", "write"),
    [
        ("others get", lambda release, *_: {"other": files_of(release)["released"]}),
        ("the same numbers", lambda release, *_: write_in_random_order(release, UNSEEDED)),
        ("does not depend on the answer", lambda _, members, *__: files_of(members.table)),
    ],
)
def test_published_files_are_reproducible_and_hide_the_answer(law: str, write: Any) -> None:
    check(target_files=TargetFiles(write=write_in_random_order))
    expect_broken_law(law, target_files=TargetFiles(write=write))


def write_first_member(release: TypedTable, members: Members, *_: object) -> dict[str, bytes]:
    return write_canonical_files(release) | {"first": b"%d" % members.rows[0]}


HINTED_FILES: TargetFiles[Any, Any, Any, Any] = TargetFiles(
    specs=(*TRACK.release_files, replace(TRACK.release_files[0], name="first")),
    write=write_first_member,
    parse=parse_target,
    shown_answer=ShownAnswer(lambda members, _: members.rows[0], lambda *_: SIMILAR),
)
HIDDEN = "what others get does not depend on the answer"


@pytest.mark.parametrize(
    ("shown_answer", "law"),
    [
        (None, HIDDEN),
        (ShownAnswer(lambda *_: 0, lambda *_: OTHER), HIDDEN),
        (
            ShownAnswer(lambda members, _: members.rows[0], lambda *_: OTHER),
            "the part of the answer that targets show stays the same",
        ),
        (ShownAnswer(lambda *_: 0, lambda *_: MEMBERS), "the rest of the answer is varied"),
    ],
)
def test_target_may_depend_on_the_declared_part_of_the_answer_only(
    shown_answer: ShownAnswer[Any, Any, Any] | None, law: str
) -> None:
    check(target_files=HINTED_FILES)
    expect_broken_law(law, target_files=replace(HINTED_FILES, shown_answer=shown_answer))
