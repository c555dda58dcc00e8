"""Built-in attackers and guesses are judged alike, and an independent computation gives the same values."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from anoncup.tracks.membership.adapter import MembershipTarget
from anoncup.tracks.membership.tables import TypedTable, build_frame, write_table
from anoncup.tracks.parts import Attacker
from tests.support import membership_reference as plain
from tests.support.allocation_track import evaluate_in_process
from tests.support.contest import judge_everything
from tests.support.membership_cases import list_rows
from tests.support.membership_contest import (
    COMPETITION_PATH,
    HIDDEN_COLUMN,
    TRACK,
    MembershipContest,
    create_contest,
)
from workers import scoring_child

pytestmark = pytest.mark.full


def look_up_hidden_column(target: MembershipTarget) -> TypedTable:
    """Guess the hidden column from exact copies in the release; other candidates get the first category."""
    candidates = target.original.candidates
    released_rows = build_frame(target.attack_input.release_table).apply(tuple, axis=1).tolist()
    hidden_column = target.release_table.select_columns(HIDDEN_COLUMN)
    row_numbers = {row: number for number, row in enumerate(released_rows)}
    matches = [row_numbers.get(row) for row in build_frame(candidates).apply(tuple, axis=1)]
    codes = [[0 if match is None else int(hidden_column.codes[match, 0])] for match in matches]
    return TypedTable(hidden_column.schema, np.empty((candidates.rows, 0)), np.array(codes, dtype=np.int64))


@pytest.fixture
def membership_contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> MembershipContest:
    attacker = Attacker("looked_up", 1, look_up_hidden_column, question="attribute")
    attackers = {**TRACK.attackers, attacker.name: attacker}
    monkeypatch.setitem(TRACKS, "membership", replace(TRACK, attackers=attackers))
    monkeypatch.setattr(scoring_child, "run", evaluate_in_process)
    return create_contest(client)


def submit_and_judge_guesses(
    membership_contest: MembershipContest, victim: str, question: str, *contents: bytes
) -> list[dict[str, Any]]:
    """Submit another team's guesses on a release, close the contest and return the guesses' outcomes."""
    team = "red" if victim == "blue" else "blue"
    membership_contest.contest.open_attacks()
    responses = [membership_contest.submit_guess(team, victim, question, content) for content in contents]
    assert [entry.status_code for entry in responses] == [202] * len(contents)
    judge_everything()
    membership_contest.contest.close_attacks()
    guesses = membership_contest.arena.get(
        f"{COMPETITION_PATH}/guesses", token=membership_contest.arena.get_team_token(team)
    ).json()
    outcomes = {entry["id"]: entry["outcome"] for entry in guesses}
    return [outcomes[entry.json()["id"]] for entry in responses]


def read_membership(membership_contest: MembershipContest, team: str) -> list[bool]:
    """Return for each candidate whether the team's own file contains it."""
    own_rows = csv.DictReader(io.StringIO(membership_contest.get_team_file(team).decode()))
    numbers = {int(row["candidate"]) for row in own_rows}
    return [
        number in numbers
        for number in range(1, len(list_rows(membership_contest.public_original.candidates)) + 1)
    ]


ATTACKS: dict[str, Callable[[plain.Rows, plain.Rows], list[float]]] = {
    "closest": plain.closest,
    "closest_ratio": plain.closest_ratio,
    "exact_copy": plain.exact_copy,
}
"""One attack for each guess that a team may send."""


def test_membership_attacks_equal_an_independent_computation(
    membership_contest: MembershipContest,
) -> None:
    is_member = read_membership(membership_contest, "blue")
    candidates = list_rows(membership_contest.public_original.candidates)
    assert 2 * sum(is_member) == len(is_member)
    release, _ = TRACK.parse_release(
        {"released": membership_contest.releases["blue"]},
        membership_contest.public_original,
        membership_contest.rules,
    )
    released_rows = list_rows(
        release.select_columns(*membership_contest.public_original.candidates.schema.names)
    )
    scores = {name: attack(candidates, released_rows) for name, attack in ATTACKS.items()}
    expected = {
        name: {
            "tpr": float(plain.tpr(attack_scores, is_member)),
            "auc": float(plain.auc(attack_scores, is_member)),
            "accuracy": float(plain.accuracy(attack_scores, is_member)),
        }
        for name, attack_scores in scores.items()
    }
    results = membership_contest.arena.get_submission(membership_contest.submissions["blue"], "blue")[
        "result"
    ]["attackers"]
    contents = [
        ("score\n" + "".join(f"{score!r}\n" for score in attack_scores)).encode()
        for attack_scores in scores.values()
    ]
    outcomes = submit_and_judge_guesses(membership_contest, "blue", "membership", *contents)
    for (name, values), outcome in zip(expected.items(), outcomes, strict=True):
        assert results[name]["rate"] == values["tpr"] == outcome["value"]
        assert results[name]["details"] == outcome["details"]
        assert {key: results[name]["details"][key] for key in values} == values
        assert (results[name]["baseline"], results[name]["interval"]) == (
            outcome["baseline"],
            outcome["interval"],
        )
    assert len({values["auc"] for values in expected.values()}) > 1
    assert all(0 < values["auc"] < 1 for values in expected.values())


def test_attacker_and_an_equal_guess_get_the_same_outcome(
    membership_contest: MembershipContest,
) -> None:
    submission = membership_contest.arena.get_submission(membership_contest.submissions["red"], "red")
    assert submission["status"] == "SCORED", submission
    result = submission["result"]["attackers"]["looked_up"]
    release, _ = TRACK.parse_release(
        {"released": membership_contest.releases["red"]},
        membership_contest.public_original,
        membership_contest.rules,
    )
    guess = look_up_hidden_column(TRACK.attack_view(membership_contest.public_original, release))
    (outcome,) = submit_and_judge_guesses(membership_contest, "red", "attribute", write_table(guess))
    assert result["rate"] == outcome["value"] > 0.5
    assert (result["correct"], result["trials"]) == (outcome["correct"], outcome["trials"])
    assert (result["interval"], result["details"]) == (outcome["interval"], outcome["details"])
    assert result["rate"] == float(compute_expected_value(membership_contest, guess))


def compute_expected_value(membership_contest: MembershipContest, guess: TypedTable) -> Fraction:
    """Compute the value of a guess at the hidden column with the reference implementation."""
    is_member, full_original = read_membership(membership_contest, "red"), membership_contest.full_original
    names = list(membership_contest.public_original.candidates.schema.names)
    assert full_original.background is not None
    categories = next(
        column.values for column in full_original.candidates.select_columns(HIDDEN_COLUMN).schema.categorical
    )

    def list_cells(table: TypedTable) -> list[plain.Cell]:
        return [row[0] for row in list_rows(table)]

    def select_members(rows: list[Any]) -> list[Any]:
        return [row for row, member in zip(rows, is_member, strict=True) if member]

    reference = plain.impute(
        list_rows(full_original.background.select_columns(*names)),
        list_cells(full_original.background.select_columns(HIDDEN_COLUMN)),
        select_members(list_rows(membership_contest.public_original.candidates)),
        categories,
    )
    truth = select_members(list_cells(full_original.candidates.select_columns(HIDDEN_COLUMN)))
    return plain.attribute_gain(select_members(list_cells(guess)), truth, reference, 0.0)
