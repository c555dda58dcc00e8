"""The second phase through the API, from the deadline to the reveal: targets, guesses, boards, secrets."""

import hashlib
import io
import zipfile

import pytest
from fastapi.testclient import TestClient

from tests.support.accounts import read_refusal
from tests.support.arena import ROWS
from tests.support.contest import Contest, run_clock
from tests.support.database_rows import load_team_id

pytestmark = pytest.mark.full


def find_row(board: dict[str, object], team: str) -> dict[str, object]:
    rows = board["rows"]
    assert isinstance(rows, list)
    team_row: dict[str, object] = next(row for row in rows if row["team"] == team)
    return team_row


def test_competition_passes_through_its_states(contest: Contest) -> None:
    contest.move_phases(anonymization=(1, 2))
    assert contest.get_state() == "upcoming"
    contest.move_phases(anonymization=(-1, 2))
    assert contest.get_state() == "anonymization"
    contest.move_phases(anonymization=(-2, -1))
    assert contest.get_state() == "settling"
    run_clock()
    assert contest.get_state() == "between"
    contest.move_phases(reidentification=(-0.5, 1))
    assert contest.get_state() == "reidentification"
    contest.move_phases(reidentification=(-0.5, -0.1))
    assert contest.get_state() == "settling"
    run_clock()
    assert contest.get_state() == "closed"


def test_targets_are_reencoded_and_match_the_manifest(contest: Contest) -> None:
    red, _ = contest.publish_targets("red", "blue")
    own = contest.find_target(red)
    for target in contest.list_targets("blue"):
        assert target["own"] == (target["team"] == "blue")
        if not target["own"]:
            assert target["team"] == "red"
            assert target["guesses_left"] == 3
    archive = contest.arena.get(f"{contest.path}/targets.zip", team="blue").content
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        lines = [line.split("  ") for line in zip_file.read("SHA256SUMS").decode().splitlines()]
        sums = {name: digest for digest, name in lines}
        names = set(zip_file.namelist())
        assert names == {"MANIFEST", "SHA256SUMS", "commitments.csv", *sums}
        commitment_lines = zip_file.read("commitments.csv").decode("utf-8-sig").splitlines()
        assert commitment_lines == ["target,team,commitment", f"{own['name']},red,{own['commitment']}"]
        digest_of_all = hashlib.sha256(zip_file.read("MANIFEST")).hexdigest()
        for name, digest in sums.items():
            assert hashlib.sha256(zip_file.read(name)).hexdigest() == digest
    manifest = contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()
    assert sorted(target["team"] for target in manifest["targets"]) == ["blue", "red"]
    assert manifest["sha256"] == digest_of_all
    assert own["name"] + "/anonymized.csv" in sums
    assert len(sums) == 1
    second_archive = contest.arena.get(f"{contest.path}/targets.zip", team="blue").content
    assert second_archive == archive


def test_targets_are_unavailable_before_the_second_phase(contest: Contest) -> None:
    contest.submit("red")
    contest.start_pause()
    response = contest.arena.get(f"{contest.path}/targets", team="red")
    assert (response.status_code, response.json()["code"]) == (404, "no_targets_yet")
    assert len(contest.arena.get(f"{contest.path}/targets").json()) == 1
    target = contest.arena.get(f"{contest.path}/targets").json()[0]["id"]
    contest.arena.get_team_token("blue")
    refusal = contest.submit_guess("blue", target, b"original_row\n")
    assert refusal.status_code == 404
    data = f"/targets/{target}/data/anonymized.csv"
    assert contest.arena.get(data, team="blue").status_code == 404
    contest.open_attacks()
    assert contest.arena.get(data, team="blue").status_code == 200


def test_guesses_that_cannot_count_are_refused(contest: Contest) -> None:
    red, blue = contest.publish_targets("red", "blue")
    own_target, other_target = contest.find_target(blue)["id"], contest.find_target(red)["id"]
    right_guess = contest.build_guess(red, 5)
    assert contest.submit_guess("blue", own_target, right_guess).json()["code"] == "own_target"
    for content, code in (
        (b"anonymized_row\n" + b"1\n" * ROWS, "guess_header"),
        (b"original_row\n1\n", "wrong_length"),
        (b"original_row\n" + b"99\n" * ROWS, "out_of_range"),
        (b"original_row\n" + b"x\n" * ROWS, "not_a_row_number"),
        (b"original_row\n\x00" + b"1\n" * ROWS, "control_character"),
    ):
        response = contest.submit_guess("blue", other_target, content)
        assert response.status_code == 422
        assert response.json()["errors"][0]["code"] == code
        assert response.json()["errors"][0]["file"] == "guess"
    assert [contest.submit_guess("blue", other_target, right_guess).status_code for _ in range(4)] == [
        202,
        202,
        202,
        429,
    ]
    contest.close_attacks()
    late_guess = contest.submit_guess("blue", other_target, right_guess)
    assert (late_guess.status_code, late_guess.json()["code"]) == (409, "phase_closed")


def test_disqualified_team_loses_targets_and_guesses_until_reinstated(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    red, blue, _ = contest.publish_targets("red", "blue", "green")
    contest.submit_correct_guess("blue", red, 10)
    contest.submit_correct_guess("red", blue, 8)
    contest.submit_correct_guess("green", blue, 4)
    boards_before = contest.get_boards()
    path = f"{contest.path}/teams/{load_team_id('blue')}"
    response = contest.post_as_organizer(f"{path}/disqualify")
    assert response.status_code == 200
    assert {row["team"] for row in contest.get_board()["rows"]} == {"red", "green"}
    assert find_row(contest.get_board(), "red")["rival_risk"] is None
    assert all(row["identified"] is None for row in contest.get_board("reidentification")["rows"])
    assert len(contest.list_targets("green")) == 2
    refusal = contest.submit_guess("blue", contest.find_target(red)["id"], contest.build_guess(red, 1))
    assert (refusal.status_code, refusal.json()["code"]) == (403, "disqualified")
    withdrawn_guess = contest.submit_guess(
        "green", contest.find_target(blue)["id"], contest.build_guess(blue, 1)
    )
    assert withdrawn_guess.status_code == 404
    assert contest.post_as_organizer(f"{path}/disqualify").status_code == 409
    assert contest.post_as_organizer(f"{path}/reinstate").status_code == 200
    assert contest.get_boards() == boards_before


def test_only_its_own_team_sees_a_guess(contest: Contest) -> None:
    submission = contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    guess = contest.submit_correct_guess("blue", submission, 7)
    (listed,) = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    assert contest.arena.get(f"/guesses/{guess}", team="blue").json() == listed
    assert (listed["status"], listed["correct"]) == ("SCORED", None)  # hidden until the end
    refusals = [
        contest.arena.get(f"/guesses/{guess}", team="red"),
        contest.arena.get(f"/guesses/{guess}"),  # an organizer
        contest.arena.get(f"/guesses/{submission}", team="blue"),
    ]
    assert [read_refusal(response) for response in refusals] == [(404, "no_such_guess")] * 3
    contest.close_attacks()
    assert contest.arena.get(f"/guesses/{guess}", team="blue").json()["correct"] == 7


def test_secrets_are_published_at_the_reveal_and_not_before(contest: Contest) -> None:
    (red,) = contest.publish_targets("red")
    target = contest.find_target(red)
    for path in (f"{contest.path}/reveal", f"/targets/{target['id']}/secret"):
        assert contest.arena.get(path).json()["code"] == "not_revealed_yet"
    contest.close_attacks()
    (revealed,) = contest.arena.client.get(f"/api/v1{contest.path}/reveal").json()
    assert revealed["id"] == target["id"]  # visitors cannot list targets
    secret = contest.arena.client.get(f"/api/v1/targets/{target['id']}/secret").content
    assert hashlib.sha256(bytes.fromhex(revealed["salt"]) + secret).hexdigest() == target["commitment"]
    assert hashlib.sha256(secret).hexdigest() == revealed["secret_sha256"]
    assert (revealed["team"], revealed["submission_id"]) == ("red", red)
    assert secret == contest.build_guess(red, ROWS)
    matrix = contest.get_board("matrix")
    assert [column["team"] for column in matrix["targets"]] == ["red"]
    built_in = next(row for row in matrix["rows"] if row["attacker"] == "euc1")
    result = contest.arena.get(f"/submissions/{red}").json()["result"]["attackers"]["euc1"]
    assert built_in["cells"][0]["rate"] == result["rate"]
