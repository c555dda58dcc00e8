"""The contract tests on a track whose steps need their context."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message, PluralMessage
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.testing.allocations import check_allocation
from anoncup.testing.parts import BrokenLaw, TrackCase
from anoncup.testing.tracks import check_track
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.model import ShownAnswer, TeamData
from tests.support.cohort_track import (
    AGE,
    COHORTS,
    ILL,
    AgesOriginal,
    assign_cohort,
    build_competition_toml,
    make_example_data,
    read_cohort,
    write_numbers,
)

SEED = b"seed"


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    monkeypatch.setitem(TRACKS, "cohorts", COHORTS)
    return parse_competition(build_competition_toml())


def assign_file(original: AgesOriginal, rules: Rules, register: bytes, team: str) -> bytes:
    context = AllocationContext(
        rules, {"register": register}, lambda purpose: derive_generator(SEED, purpose, team), team
    )
    return assign_cohort(original, context)["cohort"]


def build_case(rules: Rules) -> TrackCase:
    """Return a release of red's cohort as it is, which blue attacks."""
    data = make_example_data(rules, None, 1)
    original, _ = COHORTS.parse_original({"ages": data["ages"]}, rules)
    red_file, blue_file = (assign_file(original, rules, data["register"], team) for team in ("red", "blue"))
    cohort = read_cohort(red_file)
    return TrackCase(
        rules,
        original,
        cohort[:, 1:],
        cohort,
        cohort + 1,
        TeamData("red", {"cohort": red_file}),
        TeamData("blue", {"cohort": blue_file}),
        {"register": data["register"]},
    )


def test_track_keeps_the_laws_in_its_context(rules: Rules) -> None:
    case = build_case(rules)
    check_track(COHORTS, [case])
    register = case.organizer_files["register"]
    ages = {"ages": write_numbers(case.original.ages[:, None], (AGE,))}
    check_allocation(COHORTS, rules, ages, {"register": register}, ("red", "blue"))
    with pytest.raises(BrokenLaw, match="other generators draw other files"):
        check_allocation(COHORTS, rules, ages, {"register": register}, ("red", "red"))


def test_example_data_follow_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRACKS, "cohorts", COHORTS)
    for asked in (1, 3):
        rules = parse_competition(build_competition_toml(asked))
        register = make_example_data(rules, None, 1)["register"].decode().splitlines()[1:]
        teams = [line.split(",")[1] for line in register]
        assert teams[: 2 * asked + 1] == ["red"] * 2 * asked + ["blue"]


HIDDEN = "what others get does not depend on the answer"
SAME_PART = "the part of the answer that targets show stays the same"


@pytest.mark.parametrize(
    ("shown_answer", "law"),
    [
        (None, HIDDEN),
        (ShownAnswer(lambda *_: 0, lambda cohort, *_: cohort + 1), HIDDEN),
        (ShownAnswer(lambda cohort, _: cohort.tolist(), lambda cohort, *_: cohort + 1), SAME_PART),
        (ShownAnswer(lambda *_: 0, lambda cohort, *_: cohort), "the rest of the answer is varied"),
    ],
)
def test_target_may_depend_on_the_declared_part_of_the_answer_only(
    rules: Rules, shown_answer: ShownAnswer[Any, Any, Any] | None, law: str
) -> None:
    target_files = replace(COHORTS.target_files, shown_answer=shown_answer)
    with pytest.raises(BrokenLaw, match=law):
        check_track(replace(COHORTS, target_files=target_files), [build_case(rules)])


def test_attackers_see_the_files_of_the_target_and_what_is_asked(rules: Rules) -> None:
    case = build_case(rules)
    context = COHORTS.build_context(rules, case.original, case.release, team=case.team)
    target = COHORTS.build_target(case.answer, context)
    assert sorted(target.table.tolist()) == sorted(case.release.tolist())
    assert target.shown_ages.tolist() == case.answer[:2, 1].tolist()
    assert target.asks == "well"
    # The members are released as they are, so the attacker is right about each of them.
    assert COHORTS.attackers["nearest_age"].attack(target).tolist() == (1 - case.answer[:2, 2]).tolist()


def test_release_is_read_with_its_teams_own_files(rules: Rules) -> None:
    case = build_case(rules)
    files = {"made": write_numbers(case.release[:3], (AGE, ILL))}
    assert len(COHORTS.parse_release(files, case.original, rules, {})[0]) == 3
    with pytest.raises(InvalidUpload):
        COHORTS.parse_release(files, case.original, rules, case.team.own_files)


def test_steps_know_the_guesser(rules: Rules) -> None:
    case = build_case(rules)
    question = COHORTS.questions["membership"]
    own_members = read_cohort(case.guesser.own_files["cohort"])[:, 0] if case.guesser else np.empty(0)
    context = replace(COHORTS.build_context(rules, case.original, case.release), guesser=case.guesser)
    with pytest.raises(InvalidUpload) as refusal:
        question.read(question.write(np.array([case.answer[0, 0], own_members[0]])), context)
    assert [(problem.row, problem.code) for problem in refusal.value.problems] == [(2, "own_member")]


def test_refusal_is_stored_and_restored_with_its_place() -> None:
    message = Message("{column}: {what}", column="a", what=Message("x"))
    plural_message = PluralMessage("{n} row", "{n} rows", "n", n=2)
    problems = (
        FileProblem("guess", 2, "person", "unknown_person", message, 3, "7"),
        FileProblem("guess", None, None, "row_count", plural_message),
    )
    restored = InvalidUpload.from_json(InvalidUpload(problems, total=9).to_json())
    assert (restored.problems, restored.total) == (problems, 9)


def test_refusals_must_not_depend_on_the_answer(rules: Rules) -> None:
    question = COHORTS.questions["attribute"]

    def judge(guess: Any, answer: Any, context: Any, **parameters: Any) -> Any:
        if guess.tolist() != question.make_perfect_guess(answer).tolist():
            raise InvalidUpload([FileProblem("guess", 1, None, "unknown_person", Message("nobody is that"))])
        return question.judge(guess, answer, context, **parameters)

    questions = {**COHORTS.questions, "attribute": replace(question, judge=judge)}
    with pytest.raises(BrokenLaw, match="what is refused does not depend on the answer"):
        check_track(replace(COHORTS, questions=questions), [build_case(rules)])
