"""The membership track from files to a verdict: parsing, allocation, round trips and measures."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import collect_scoring_versions
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition, InvalidInput, InvalidUpload, NotFound
from anoncup.evaluation.evaluate import check_rules
from anoncup.excessive.question import AdviceQuestion, resolve_question
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.testing.parts import TrackCase
from anoncup.testing.tracks import check_track
from anoncup.tracks.membership.adapter import files_of
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable
from anoncup.tracks.model import ReleaseContext
from tests.support.hypothesis_profiles import limit_examples
from tests.support.membership_cases import (
    allocate_members,
    allocated_cases,
    build_context,
    build_survey,
    hide_column,
    list_rows,
)

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]


def test_track_keeps_its_laws_with_a_hidden_column() -> None:
    original, truth = hide_column(build_survey(), "disease")
    rules = parse_competition(template("membership") + '\n[questions.attribute]\nhidden = "disease"\n')
    members = TRACK.answer_spec.read(
        allocate_members(original, rules, truth), build_context(original, rules, truth)
    )
    check_track(TRACK, [TrackCase(rules, original, members.table, members)])


@given(allocated_cases())
@limit_examples(60)
def test_hostile_candidates_round_trip_through_files(case: TrackCase) -> None:
    original, rules, members, truth = case.original, case.rules, case.answer, case.organizer_files
    parsed, _ = TRACK.parse_original(files_of(original), rules)
    assert files_of(parsed) == files_of(original)
    assert TRACK.answer_spec.write(members) == allocate_members(parsed, rules, truth)
    assert members.is_member.sum() == len(members.rows) == original.rows // 2
    public_cells = members.table.select_columns(*original.candidates.schema.names)
    assert list_rows(public_cells) == list_rows(original.candidates.select_rows(members.is_member))
    context = build_context(parsed, rules, truth)
    for question in TRACK.select_questions(rules).values():
        guess = question.read(question.write(question.make_perfect_guess(members)), context)
        outcome = question.judge(guess, members, context, **rules.questions.get(question.name, {}))
        assert outcome.value == (0.0 if outcome.details.get("without_release") == 1 else 1.0)


VALID_ANSWER = "candidate,age,ill\n1,30,no\n3,50,yes\n"
SMALL_TOML = template("membership").partition("[membership.columns")[0] + (
    '[membership.columns.age]\nkind = "numeric"\nleast = 0\nmost = 99\n'
    '[membership.columns.ill]\nkind = "categorical"\nvalues = ["no", "yes", ""]\n'
)
CANDIDATES = b"age,ill\n30,no\n30,no\n50,yes\n70,\n"


def build_small_contest(addition: str = "") -> tuple[Rules, MembershipOriginal]:
    rules = parse_competition(SMALL_TOML + addition)
    names = ("age",) if addition else ("age", "ill")
    lines = [line.split(b",")[: len(names)] for line in CANDIDATES.splitlines()]
    candidates = b"".join(b",".join(line) + b"\n" for line in lines)
    return rules, TRACK.parse_original({"candidates": candidates}, rules)[0]


def test_members_file_is_read() -> None:
    rules, original = build_small_contest()
    members = TRACK.answer_spec.read(VALID_ANSWER.encode(), build_context(original, rules))
    assert isinstance(members, Members)
    assert (members.rows.tolist(), members.is_member.tolist()) == ([0, 2], [True, False, True, False])
    assert list_rows(members.table) == [[30.0, "no"], [50.0, "yes"]]
    TRACK.answer_spec.check(members, {"originals": 4, "rows": 1})
    with pytest.raises(InvalidInput, match="2 members are not half of 6 candidates"):
        TRACK.answer_spec.check(members, {"originals": 6, "rows": 1})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("candidate,age,ill\n1,30,no\n", {(None, None, "too_few_rows")}),
        (VALID_ANSWER + "4,70,\n", {(None, None, "too_many_rows")}),
        ("3,31,secret\n4,1,secret\n", {(None, None, "header")}),
        ("candidate,age,ill\n3,50,yes\n1,30,no\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n1,30,no\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n3.5,50,yes\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n5,50,yes\n", {(2, "candidate", "out_of_range")}),
        ("candidate,age,ill\n1,31,no\n3,50,yes\n", {(1, "age", "not_the_original")}),
        ("candidate,age,ill\n1,30,no\n3,50,\n", {(2, "ill", "not_the_original")}),
        ("candidate,age,ill\n1,30,no\n3,50,secret\n", {(2, "ill", "unknown_value")}),
        ("candidate,age,ill\n1,secret,no\n3,50,yes\n", {(1, "age", "not_a_number")}),
        ("candidate,age,ill\n1,30,no\n3,50\n", {(2, None, "ragged_row")}),
    ],
)
def test_problems_of_a_members_file_name_no_values(content: str, expected: object) -> None:
    rules, original = build_small_contest()
    with pytest.raises(InvalidUpload) as excinfo:
        TRACK.answer_spec.read(content.encode(), build_context(original, rules))
    problems = excinfo.value.problems
    assert {(problem.row, problem.column, problem.code) for problem in problems} == expected
    assert {problem.file for problem in problems} == {"members"}
    messages = [str(problem.describe()) for problem in problems]
    assert not any("secret" in problem or "31" in problem or "3.5" in problem for problem in messages)


HIDDEN_ILL_TOML = '[questions.attribute]\nhidden = "ill"\n'
HIDDEN_CELLS = b"ill\nno\nyes\nyes\n\n"


def test_hidden_column_comes_from_the_organizers() -> None:
    rules, original = build_small_contest(HIDDEN_ILL_TOML)
    assert TRACK.allocation is not None
    assert [file.name for file in TRACK.allocation.select_organizer_files(rules)] == ["hidden"]
    TRACK.allocation.check_organizer_file("hidden", HIDDEN_CELLS, original, rules)  # type: ignore[misc]
    members = TRACK.answer_spec.read(
        VALID_ANSWER.encode(), build_context(original, rules, {"hidden": HIDDEN_CELLS})
    )
    question = TRACK.select_questions(rules)["attribute"]
    context = build_context(original, rules)
    guess = question.read(b"ill\nno\nno\nyes\n\n", context)
    outcome = question.judge(guess, members, context, hidden="ill")
    # Both members are right; a constant gets one of them. The others have "yes" and "", so the reference
    # cannot predict "no".
    details = {name: outcome.details[name] for name in ("members", "without_release", "commonest", "others")}
    assert (outcome.value, outcome.correct, outcome.trials) == (1.0, 2, 2)
    assert details == {"members": 1.0, "without_release": 0.5, "commonest": 0.5, "others": 0.5}
    with pytest.raises(InvalidInput, match="only the service knows"):
        question.judge(guess, replace(members, hidden_column=None), context, hidden="ill")
    with pytest.raises(InvalidInput, match="hidden is needed"):
        allocate_members(original, rules, {})


@pytest.mark.parametrize("content", [b"ill\nno\n", b"age\n1\n2\n3\n4\n", b"ill\nno\nsecret\nno\nno\n", b""])
def test_invalid_organizer_data_is_refused_without_quoting_it(content: bytes) -> None:
    rules, original = build_small_contest(HIDDEN_ILL_TOML)
    assert TRACK.allocation is not None
    with pytest.raises(InvalidUpload) as excinfo:
        TRACK.allocation.check_organizer_file("hidden", content, original, rules)  # type: ignore[misc]
    assert {problem.file for problem in excinfo.value.problems} == {"hidden"}
    assert "secret" not in str([problem.describe() for problem in excinfo.value.problems])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[membership.columns.candidate]\nkind = "numeric"\nleast = 0\nmost = 1\n', "with another name"),
        ('[membership.columns.""]\nkind = "numeric"\nleast = 0\nmost = 1\n', "named by 1 to 80 characters"),
        ('[membership.columns."a\\nb"]\nkind = "numeric"\nleast = 0\nmost = 1\n', "named by 1 to 80"),
        ('[questions.attribute]\nhidden = "nobody"\n', "nobody is not such a column"),
        ('[questions.attribute]\ntolerance = -1\n', "0 or more"),
        ('[questions.membership]\nvalue = "auc"\n', "one of tpr, advantage"),
        ('[questions.link]\n', "not a question of this track"),
        ('[excessive]\nthreshold = 0.1\n', "excessive"),
        ('[limits]\nmin_rows_kept = 0.5\n', "min_rows_kept"),
        ('[publication]\nshuffle_targets = true\n', "shuffle_targets"),
    ],
)  # fmt: skip
def test_invalid_settings_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidCompetition, match=message):
        parse_competition(SMALL_TOML.replace('[questions.membership]\nvalue = "tpr"\n', "") + text)


def test_track_without_distances_has_no_advice_and_no_violations() -> None:
    rules, original = build_small_contest()
    members = TRACK.answer_spec.read(VALID_ANSWER.encode(), build_context(original, rules))
    assert check_rules(rules, original, members.table, members) == ((), None, ())
    with pytest.raises(NotFound) as excinfo:
        resolve_question(AdviceQuestion(), rules)
    assert excinfo.value.code == "no_distances"
    parts = {name.partition(".")[0] for name in collect_scoring_versions(rules)}
    assert parts == {"attackers"}


def parse_settings(new_settings: str) -> Rules:
    old_settings = "shared = false\nfewest_rows = 0.5\nmost_rows = 2.0\n"
    assert old_settings in SMALL_TOML
    return parse_competition(SMALL_TOML.replace(old_settings, new_settings))


def test_column_may_be_called_score() -> None:
    column = '[membership.columns.score]\nkind = "numeric"\nleast = 0\nmost = 9\n'
    rules = parse_competition(SMALL_TOML + column + '[questions.attribute]\nhidden = "score"\n')
    guess = TRACK.questions["attribute"].read(
        b"score\n9\n", ReleaseContext(rules, {"originals": 1}, lambda: pytest.fail("the schema says enough"))
    )
    assert guess.numbers.tolist() == [[9.0]]


def test_candidates_need_a_column_besides_the_hidden_one() -> None:
    without_ill = SMALL_TOML.partition("[membership.columns.ill]")[0]
    parse_competition(without_ill)
    with pytest.raises(InvalidCompetition, match="candidates need a column beside age"):
        parse_competition(without_ill + "[questions.attribute]\n")


@pytest.mark.parametrize(
    ("settings", "candidates", "limits"),
    [
        ("", 10, (3, 10)),
        ("fewest_rows = 1.0\nmost_rows = 1.0", 10, (5, 5)),
        ("fewest_rows = 0.7\nmost_rows = 0.9", 20, (7, 9)),
        ("fewest_rows = 0\nmost_rows = 0", 10, (1, 1)),
        ("fewest_rows = 0.1\nmost_rows = 0.3", 2, (1, 1)),
    ],
)
def test_competition_limits_the_rows_of_a_release(
    settings: str, candidates: int, limits: tuple[int, int]
) -> None:
    parsed_settings: Any = parse_settings(settings).settings
    assert parsed_settings.compute_row_limits(candidates) == limits


def test_row_maximum_must_not_be_below_the_minimum() -> None:
    with pytest.raises(InvalidCompetition, match=r"membership\.most_rows must be no less than 0\.5"):
        parse_settings("most_rows = 0.4")


def test_row_order_of_a_release_is_not_published() -> None:
    table: TypedTable = build_survey().candidates
    reordered = table.select_rows(np.random.default_rng(0).permutation(table.rows))
    assert TRACK.write_release_canonically(table) == TRACK.write_release_canonically(reordered)
    assert TRACK.files_of(table) != TRACK.files_of(reordered)


def test_methods_use_the_given_members_or_draw_some() -> None:
    rules, original = build_small_contest(HIDDEN_ILL_TOML)
    copy, rng = TRACK.methods["copy"], np.random.default_rng(0)
    trial_release, members_drawn = TRACK.anonymize(copy, original, rules, rng, {})
    assert sorted(list_rows(trial_release)) == sorted(list_rows(members_drawn.table))
    ages = [row[0] for row in list_rows(original.candidates.select_rows(members_drawn.is_member))]
    assert [row[0] for row in list_rows(members_drawn.table)] == ages
    hidden_cells = [
        row[0] for row in list_rows(members_drawn.hidden_column.select_rows(members_drawn.is_member))
    ]
    assert [row[1] for row in list_rows(members_drawn.table)] == hidden_cells
    members = TRACK.answer_spec.read(VALID_ANSWER.encode(), build_context(original, rules))
    release, answer = TRACK.anonymize(copy, original, rules, rng, {}, answer=members)
    assert answer is members
    assert sorted(list_rows(release)) == list_rows(members.table)
