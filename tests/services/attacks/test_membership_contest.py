"""A membership contest from its files to the reveal, with every number recomputed independently."""

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.membership.allocation import allocate_teams
from anoncup.tracks.membership.settings import get_settings
from anoncup.tracks.membership.tables import build_frame, parse_rows, write_scores
from tests.support import membership_reference as plain
from tests.support.arena import API
from tests.support.contest import judge_everything
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


@pytest.fixture
def membership_contest(client: TestClient) -> MembershipContest:
    return create_contest(client)


def test_each_team_is_allocated_its_own_half_of_the_candidates(membership_contest: MembershipContest) -> None:
    halves = {team: membership_contest.get_members(team).is_member for team in ("red", "blue")}
    assert all(half.sum() == ROWS // 2 for half in halves.values())
    assert not np.array_equal(halves["red"], halves["blue"])
    for team, half in halves.items():
        lines = [
            line.partition(",")[2]
            for line in membership_contest.get_team_file(team).decode().splitlines()[1:]
        ]
        assert (
            lines
            == build_frame(membership_contest.full_original.candidates.select_rows(half))
            .to_csv(index=False)
            .splitlines()[1:]
        )


def test_scores_equal_the_local_evaluation_and_plain_loops(
    membership_contest: MembershipContest,
) -> None:
    for team, content in membership_contest.releases.items():
        submission = membership_contest.arena.get_submission(membership_contest.submissions[team], team)
        assert submission["status"] == "SCORED", submission
        members = membership_contest.get_members(team)
        release, _ = TRACK.parse_release(
            {"released": content}, membership_contest.public_original, membership_contest.rules
        )
        expected = evaluate(
            membership_contest.rules, membership_contest.public_original, release, members
        ).to_json()
        result = submission["result"]
        assert {name: result[name] for name in expected} == json.loads(json.dumps(expected))
        member_rows, released_rows = list_rows(members.table), list_rows(release)
        for name in TRACK.measures:
            assert result["measures"][name]["value"] == pytest.approx(
                getattr(plain, name)(member_rows, released_rows), abs=1e-6
            )
        candidate_rows = list_rows(membership_contest.public_original.candidates)
        public_rows = list_rows(
            release.select_columns(*membership_contest.public_original.candidates.schema.names)
        )
        for name in TRACK.attackers:
            scores = list(map(float, getattr(plain, name)(candidate_rows, public_rows)))
            rate = plain.tpr(scores, members.is_member.tolist())
            assert result["attackers"][name]["rate"] == pytest.approx(float(rate))


def test_invalid_files_and_an_unrequested_secret_are_refused(membership_contest: MembershipContest) -> None:
    secret_response = membership_contest.submit_release(
        "red", membership_contest.releases["red"], secret=b"original_row\n1\n"
    )
    assert secret_response.status_code == 422
    assert secret_response.json()["errors"][0]["file"] == "secret"
    short_response = membership_contest.submit_release(
        "red", b"\n".join(membership_contest.releases["red"].split(b"\n")[:3]) + b"\n"
    )
    assert (short_response.status_code, short_response.json()["errors"][0]["code"]) == (422, "too_few_rows")
    invalid_response = membership_contest.submit_release(
        "red", membership_contest.releases["red"].replace(b",none", b",plague", 1)
    )
    assert [
        (error["file"], error["column"], error["code"]) for error in invalid_response.json()["errors"]
    ] == [("released", HIDDEN_COLUMN, "unknown_value")]


def judge_and_read_guess(membership_contest: MembershipContest, response: Any, team: str) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    judge_everything()
    guesses = membership_contest.arena.get(
        f"{COMPETITION_PATH}/guesses", token=membership_contest.arena.get_team_token(team)
    ).json()
    return next(guess for guess in guesses if guess["id"] == response.json()["id"])


def test_both_questions_are_judged_and_revealed(membership_contest: MembershipContest) -> None:
    contest = membership_contest.contest
    contest.open_attacks()
    for content, question, code in (
        (b"score\n0.5\n", "membership", "too_few_rows"),
        (b"score\n" + b"2\n" * ROWS, "membership", "out_of_range"),
        (b"disease\n" + b"plague\n" * ROWS, "attribute", "unknown_value"),
    ):
        response = membership_contest.submit_guess("blue", "red", question, content)
        assert (response.status_code, response.json()["errors"][0]["code"]) == (422, code), response.text
    unknown_question = membership_contest.submit_guess("blue", "red", "link", b"")
    assert (unknown_question.status_code, unknown_question.json()["code"]) == (422, "unknown_question")

    target = contest.find_target(membership_contest.submissions["red"])
    target_file = membership_contest.arena.get(
        f"/targets/{target['id']}/data/released.csv", token=membership_contest.arena.get_team_token("blue")
    )
    schema = get_settings(membership_contest.rules).schema
    released_table, _ = parse_rows(target_file.content, schema, file="released")
    assert sorted(map(repr, list_rows(released_table))) == sorted(
        map(repr, list_rows(membership_contest.get_members("red").table))
    )

    # An exact copy reveals the members and their hidden values.
    names = membership_contest.public_original.candidates.schema.names
    hidden_by_row = {
        repr(row): cells
        for row, cells in zip(
            list_rows(released_table.select_columns(*names)),
            list_rows(released_table.select_columns(HIDDEN_COLUMN)),
            strict=True,
        )
    }
    is_member = [
        repr(row) in hidden_by_row for row in list_rows(membership_contest.public_original.candidates)
    ]
    assert is_member == membership_contest.get_members("red").is_member.tolist()
    scores = np.array(is_member, dtype=float)
    hidden_guess = [
        hidden_by_row[repr(row)][0] if repr(row) in hidden_by_row else "acromegaly"
        for row in list_rows(membership_contest.public_original.candidates)
    ]
    membership_guess = judge_and_read_guess(
        membership_contest,
        membership_contest.submit_guess("blue", "red", "membership", write_scores(scores)),
        "blue",
    )
    guess_file = "".join(f"{entry}\n" for entry in (HIDDEN_COLUMN, *hidden_guess)).encode()
    attribute_guess = judge_and_read_guess(
        membership_contest, membership_contest.submit_guess("blue", "red", "attribute", guess_file), "blue"
    )
    blind_guess = judge_and_read_guess(
        membership_contest,
        membership_contest.submit_guess("red", "blue", "membership", b"score\n" + b"0.5\n" * ROWS),
        "red",
    )
    assert [entry["question"] for entry in (membership_guess, attribute_guess, blind_guess)] == [
        "membership",
        "attribute",
        "membership",
    ]

    contest.close_attacks()
    guesses = {
        entry["id"]: entry
        for team in ("red", "blue")
        for entry in membership_contest.arena.get(
            f"{COMPETITION_PATH}/guesses", token=membership_contest.arena.get_team_token(team)
        ).json()
    }
    truth = [
        row[0] for row in list_rows(membership_contest.full_original.candidates.select_columns(HIDDEN_COLUMN))
    ]
    expected_value = compute_expected_value(membership_contest, "red", hidden_guess, truth)
    assert guesses[membership_guess["id"]]["outcome"]["value"] == 1.0
    assert guesses[attribute_guess["id"]]["outcome"]["value"] == float(expected_value) > 0.5
    assert guesses[blind_guess["id"]]["outcome"]["value"] == pytest.approx(0.01)

    boards = contest.get_boards()
    rows_by_team = {row["team"]: row for row in boards["anonymization"]["rows"]}
    assert [row["team"] for row in boards["anonymization"]["rows"]] == ["blue", "red"]
    assert (rows_by_team["red"]["security"], rows_by_team["red"]["rivals"]) == (1.0, 1.0)
    assert rows_by_team["blue"]["rivals"] == 0.0
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
    member_guess, member_truth = (
        [cell for cell, is_included in zip(column, is_member, strict=True) if is_included]
        for column in (hidden_guess, hidden_truth)
    )
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
        list_rows(background.select_columns(*names)), background_hidden, member_rows, categories
    )
    return plain.attribute_gain(member_guess, member_truth, reference, 0.0)


def check_reveal(membership_contest: MembershipContest) -> None:
    """Reproduce the members from the published seed and compare their files with the commitments."""
    allocations = membership_contest.arena.client.get(f"{API}{COMPETITION_PATH}/allocations").json()
    seed = bytes.fromhex(allocations["seed"])
    assert hashlib.sha256(seed).hexdigest() == allocations["commitment"]
    teams = [row["team"] for row in allocations["allocations"]]
    halves = allocate_teams(seed, teams, ROWS)
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
