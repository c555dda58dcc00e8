"""A membership contest from its files to the reveal, with every number recomputed independently."""

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.membership.answer import choose_half
from anoncup.tracks.membership.attackers import MembershipTarget
from anoncup.tracks.membership.settings import get_settings
from anoncup.tracks.membership.tables import TypedTable, build_frame, parse_rows, write_scores, write_table
from tests.support import membership_reference as plain
from tests.support.arena import API
from tests.support.membership_cases import list_rows
from tests.support.membership_contest import (
    COMPETITION_PATH,
    HIDDEN_COLUMN,
    ROWS,
    MembershipContest,
    create_contest,
)

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]


def look_up_hidden_column(target: MembershipTarget) -> TypedTable:
    """Guess the hidden column from exact copies in the release; other candidates get the first category."""
    candidates = target.original.candidates
    released_rows = build_frame(target.public_table).apply(tuple, axis=1).tolist()
    hidden_column = target.release_table.select_columns(HIDDEN_COLUMN)
    row_numbers = {row: number for number, row in enumerate(released_rows)}
    matches = [row_numbers.get(row) for row in build_frame(candidates).apply(tuple, axis=1)]
    codes = [[0 if match is None else int(hidden_column.codes[match, 0])] for match in matches]
    return TypedTable(hidden_column.schema, np.empty((candidates.rows, 0)), np.array(codes, dtype=np.int64))


def read_guess(membership_contest: MembershipContest, response: Any, team: str) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    guesses = membership_contest.arena.get(f"{COMPETITION_PATH}/guesses", team=team).json()
    return next(guess for guess in guesses if guess["id"] == response.json()["id"])


def test_both_questions_are_judged_and_revealed(client: TestClient) -> None:
    membership_contest = create_contest(client)
    contest = membership_contest.contest
    contest.open_attacks()
    target = contest.find_target(membership_contest.submissions["red"])
    target_file = membership_contest.arena.get(f"/targets/{target['id']}/data/released.csv", team="blue")
    schema = get_settings(membership_contest.rules).schema
    released_table, _ = parse_rows(target_file.content, schema, file="released")
    members = membership_contest.get_members("red")
    assert sorted(map(repr, list_rows(released_table))) == sorted(map(repr, list_rows(members.table)))

    # An exact copy reveals the members and their hidden values.
    view = MembershipTarget(membership_contest.public_original, released_table)
    scores, hidden_guess = TRACK.attackers["exact_copy"].attack(view), look_up_hidden_column(view)
    assert scores.tolist() == members.is_member.tolist()
    responses = [
        membership_contest.submit_guess("blue", "red", "membership", write_scores(scores)),
        membership_contest.submit_guess("blue", "red", "attribute", write_table(hidden_guess)),
        membership_contest.submit_guess("red", "blue", "membership", b"score\n" + b"0.5\n" * ROWS),
    ]
    contest.close_attacks()
    truth = [
        row[0] for row in list_rows(membership_contest.full_original.candidates.select_columns(HIDDEN_COLUMN))
    ]
    guessed_cells = [row[0] for row in list_rows(hidden_guess)]
    expected_value = compute_expected_value(membership_contest, "red", guessed_cells, truth)
    guesses = [
        read_guess(membership_contest, response, team)
        for response, team in zip(responses, ("blue", "blue", "red"), strict=True)
    ]
    assert [guess["question"] for guess in guesses] == ["membership", "attribute", "membership"]
    values = [guess["outcome"]["value"] for guess in guesses]
    assert values == [1.0, float(expected_value), pytest.approx(0.01)]
    assert expected_value > 0.5
    verdict = membership_contest.arena.get_submission(membership_contest.submissions["red"], "red")["result"]
    rate = verdict["attackers"]["exact_copy"]
    for part in ("details", "interval", "baseline"):
        assert guesses[0]["outcome"][part] == rate[part]

    boards = contest.get_boards()
    rows_by_team = {row["team"]: row for row in boards["anonymization"]["rows"]}
    assert [row["team"] for row in boards["anonymization"]["rows"]] == ["blue", "red"]
    assert (rows_by_team["red"]["security"], rows_by_team["red"]["rival_risk"]) == (1.0, 1.0)
    assert rows_by_team["blue"]["rival_risk"] == 0.0
    attackers_by_team = {row["team"]: row for row in boards["reidentification"]["rows"]}
    assert attackers_by_team["blue"]["by_question"] == {"membership": 1.0, "attribute": float(expected_value)}
    assert attackers_by_team["red"]["by_question"] == {"membership": 0.0, "attribute": 0.0}
    assert (attackers_by_team["blue"]["rank"], attackers_by_team["red"]["rank"]) == (1, 2)
    check_reveal(membership_contest)


def compute_expected_value(
    membership_contest: MembershipContest, team: str, hidden_guess: list[Any], hidden_truth: list[Any]
) -> Fraction:
    """Compute a guess's value beyond a reference that imputes the hidden column from the background."""
    is_member = membership_contest.get_members(team).is_member.tolist()
    background = membership_contest.full_original.background
    names = membership_contest.public_original.candidates.schema.names
    assert background is not None
    background_hidden = [row[0] for row in list_rows(background.select_columns(HIDDEN_COLUMN))]
    member_rows = [
        row
        for row, is_included in zip(
            list_rows(membership_contest.public_original.candidates), is_member, strict=True
        )
        if is_included
    ]
    categories = get_settings(membership_contest.rules).schema.select(HIDDEN_COLUMN).categorical[0].values
    reference = plain.impute(
        list_rows(background.select_columns(*names)), background_hidden, member_rows, hidden_truth, categories
    )
    return plain.attribute_gain(hidden_guess, hidden_truth, is_member, reference, 0.0)


def check_reveal(membership_contest: MembershipContest) -> None:
    """Reproduce the members from the published seed and compare their files with the commitments."""
    allocations = membership_contest.arena.client.get(f"{API}{COMPETITION_PATH}/allocations").json()
    seed = bytes.fromhex(allocations["seed"])
    assert hashlib.sha256(seed).hexdigest() == allocations["commitment"]
    teams = [row["team"] for row in allocations["allocations"]]
    halves = {team: choose_half(derive_generator(seed, "members", team), ROWS) for team in teams}
    revealed_secrets = {
        row["submission_id"]: row
        for row in membership_contest.arena.client.get(f"{API}{COMPETITION_PATH}/reveal").json()
    }
    for team, submission_id in membership_contest.submissions.items():
        assert np.array_equal(halves[team], membership_contest.get_members(team).is_member)
        assert (
            revealed_secrets[submission_id]["secret_sha256"]
            == hashlib.sha256(membership_contest.get_team_file(team)).hexdigest()
        )
