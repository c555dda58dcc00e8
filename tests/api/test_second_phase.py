"""From the deadline to the reveal, through the API: targets, guesses, boards, secrets."""

import hashlib
import io
import zipfile

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything, turn

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def row_of(board: dict[str, object], team: str) -> dict[str, object]:
    rows = board["rows"]
    assert isinstance(rows, list)
    found: dict[str, object] = next(row for row in rows if row["team"] == team)
    return found


def test_a_competition_goes_through_its_states(contest: Contest) -> None:
    contest.move(anonymization=(1, 2))
    assert contest.state() == "draft"
    contest.move(anonymization=(-1, 2))
    assert contest.state() == "anonymization"
    contest.move(anonymization=(-2, -1))
    assert contest.state() == "settling"
    turn()
    assert contest.state() == "between"
    contest.move(reidentification=(-0.5, 1))
    assert contest.state() == "reidentification"
    contest.move(reidentification=(-0.5, -0.1))
    assert contest.state() == "settling"
    turn()
    assert contest.state() == "closed"


def test_what_came_in_time_is_scored_before_the_finals_are_taken(contest: Contest) -> None:
    late = contest.submit("red", scored=False)
    contest.attack()
    assert contest.state() == "settling"
    from tests.support.uploads import score_everything

    score_everything()
    turn()
    assert contest.state() == "reidentification"
    assert contest.target_of(late)["team"] == "red"


def test_marked_finals_become_targets_and_without_marks_the_best_do(contest: Contest) -> None:
    marked = [contest.submit("red") for _ in range(3)][1]
    contest.arena.put(f"/submissions/{marked}/final", token=contest.arena.team("red"), json={"final": True})
    unmarked = [contest.submit("blue") for _ in range(3)]
    contest.attack()
    listed = contest.arena.get(f"{contest.path}/targets").json()
    assert [target["team"] for target in listed].count("red") == 1
    assert contest.target_of(marked)["team"] == "red"
    token = contest.arena.team("blue")
    scores = {one: contest.arena.get(f"/submissions/{one}", token=token).json() for one in unmarked}
    best = sorted(unmarked, key=lambda one: scores[one]["result"]["overall"])[:2]
    for one in best:
        assert contest.target_of(one)["team"] == "blue"
    assert len(listed) == 3


def test_targets_show_their_teams_are_rewritten_and_match_their_manifest(contest: Contest) -> None:
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    own = contest.target_of(red)
    for target in contest.targets("blue"):
        assert target["own"] == (target["team"] == "blue")
        if not target["own"]:
            assert target["team"] == "red"
            assert target["guesses_left"] == 3
    archive = contest.arena.get(f"{contest.path}/targets.zip", token=contest.arena.team("blue")).content
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        lines = [line.split("  ") for line in packed.read("SHA256SUMS").decode().splitlines()]
        sums = {name: digest for digest, name in lines}
        names = set(packed.namelist())
        assert names == {"MANIFEST", "SHA256SUMS", "commitments.csv", *sums}
        listed = packed.read("commitments.csv").decode().splitlines()
        assert listed == ["target,team,commitment", f"{own['name']},red,{own['commitment']}"]
        digest_of_all = hashlib.sha256(packed.read("MANIFEST")).hexdigest()
        for name, digest in sums.items():
            assert hashlib.sha256(packed.read(name)).hexdigest() == digest
    manifest = contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()
    assert sorted(target["team"] for target in manifest["targets"]) == ["blue", "red"]
    assert manifest["sha256"] == digest_of_all
    assert own["name"] + "/anonymized.csv" in sums
    assert len(sums) == 1
    again = contest.arena.get(f"{contest.path}/targets.zip", token=contest.arena.team("blue")).content
    assert again == archive


def test_targets_wait_for_the_second_phase(contest: Contest) -> None:
    contest.submit("red")
    contest.between()
    answer = contest.arena.get(f"{contest.path}/targets", token=contest.arena.team("red"))
    assert (answer.status_code, answer.json()["code"]) == (404, "no_targets_yet")
    assert len(contest.arena.get(f"{contest.path}/targets").json()) == 1
    target = contest.arena.get(f"{contest.path}/targets").json()[0]["id"]
    contest.arena.team("blue")
    refused = contest.guess("blue", target, b"original_row\n")
    assert refused.status_code == 404
    data = f"/targets/{target}/data/anonymized.csv"
    assert contest.arena.get(data, token=contest.arena.team("blue")).status_code == 404
    contest.attack()
    assert contest.arena.get(data, token=contest.arena.team("blue")).status_code == 200


def test_a_guess_counts_towards_the_victims_security_and_the_attackers_rank(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    before = row_of(contest.board(), "red")
    contest.guessed("blue", red, ROWS)
    contest.guessed("blue", red, 3)
    after = row_of(contest.board(), "red")
    assert (after["rivals"], row_of(contest.board(team="red"), "red")["rivals"]) == (None, 1.0)
    assert after["security"] == 1.0
    assert after["utility"] == before["utility"]
    attackers = contest.board("reidentification")
    blue = row_of(contest.board(), "blue")
    assert row_of(attackers, "blue") == {
        "rank": 1,
        "team": "blue",
        "team_id": blue["team_id"],
        "own": False,
        "identified": ROWS,
        "tried": ROWS,
        "rate": 1.0,
        "targets": 1,
    }
    assert row_of(attackers, "red")["rank"] is None
    matrix = contest.board("matrix")
    (cells,) = [row["cells"] for row in matrix["rows"]]
    assert [cell for cell in cells if cell] == [{"correct": ROWS, "rate": 1.0, "trials": 2}]
    guesses = contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()
    assert [guess["correct"] for guess in guesses] == [3, ROWS]
    assert {guess["question"] for guess in guesses} == {"link"}
    assert [guess["outcome"]["value"] for guess in guesses] == [3 / ROWS, 1.0]


def test_hidden_guesses_change_nothing_that_anybody_but_organizers_sees(contest: Contest) -> None:
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    names = ("anonymization", "reidentification", "matrix")
    audiences = (None, "red", "blue")
    before = {(name, team): contest.board(name, team=team) for name in names for team in audiences}
    contest.guessed("blue", red, 10)
    after = {(name, team): contest.board(name, team=team) for name in names for team in audiences}
    assert after == before
    own = contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()
    assert (own[0]["status"], own[0]["correct"], own[0]["rate"]) == ("SCORED", None, None)
    assert own[0]["outcome"] is None
    assert row_of(contest.board("reidentification", organizer=True), "blue")["identified"] == 10
    contest.close()
    assert row_of(contest.board("reidentification"), "blue")["identified"] == 10
    assert row_of(contest.board(), "red")["rivals"] == 10 / ROWS


def test_the_reveal_publishes_what_was_committed_to_and_not_before(contest: Contest) -> None:
    red = contest.submit("red")
    contest.attack()
    target = contest.target_of(red)
    for path in (f"{contest.path}/reveal", f"/targets/{target['id']}/secret"):
        assert contest.arena.get(path).json()["code"] == "not_revealed_yet"
    contest.close()
    (revealed,) = contest.arena.client.get(f"/api/v1{contest.path}/reveal").json()
    secret = contest.arena.client.get(f"/api/v1/targets/{target['id']}/secret").content
    assert hashlib.sha256(bytes.fromhex(revealed["salt"]) + secret).hexdigest() == target["commitment"]
    assert hashlib.sha256(secret).hexdigest() == revealed["secret_sha256"]
    assert (revealed["team"], revealed["submission_id"]) == ("red", red)
    assert secret == contest.right_on(red, ROWS)
    matrix = contest.board("matrix")
    assert [column["team"] for column in matrix["targets"]] == ["red"]
    built_in = next(row for row in matrix["rows"] if row["attacker"] == "euc1")
    result = contest.arena.get(f"/submissions/{red}").json()["result"]["attackers"]["euc1"]
    assert built_in["cells"][0]["rate"] == result["rate"]


def test_guesses_are_refused_where_they_cannot_count(contest: Contest) -> None:
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.attack()
    own, other = contest.target_of(blue)["id"], contest.target_of(red)["id"]
    right = contest.right_on(red, 5)
    assert contest.guess("blue", own, right).json()["code"] == "own_target"
    for content, code in (
        (b"anonymized_row\n" + b"1\n" * ROWS, "guess_header"),
        (b"original_row\n1\n", "wrong_length"),
        (b"original_row\n" + b"99\n" * ROWS, "out_of_range"),
        (b"original_row\n" + b"x\n" * ROWS, "not_a_row_number"),
        (b"original_row\n\x00" + b"1\n" * ROWS, "control_character"),
    ):
        answer = contest.guess("blue", other, content)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["code"] == code
        assert answer.json()["errors"][0]["file"] == "guess"
    assert [contest.guess("blue", other, right).status_code for _ in range(4)] == [202, 202, 202, 429]
    contest.close()
    late = contest.guess("blue", other, right)
    assert (late.status_code, late.json()["code"]) == (409, "phase_closed")


def test_a_guess_sent_again_under_its_key_is_the_same_guess(contest: Contest) -> None:
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 5)
    first = contest.guess("blue", target, right, key="once")
    assert contest.guess("blue", target, right, key="once").json() == first.json()
    assert contest.guess("blue", target, contest.right_on(red, 6), key="once").status_code == 422
    judge_everything()
    assert len(contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()) == 1


def test_a_disqualified_team_takes_its_targets_and_its_guesses_with_it_and_back(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.submit("green")
    contest.attack()
    contest.guessed("blue", red, 10)
    contest.guessed("red", blue, 8)
    contest.guessed("green", blue, 4)
    before = contest.boards()
    teams = {team["name"]: team["id"] for team in team_list(contest)}
    out = contest.organize(f"{contest.path}/teams/{teams['blue']}/disqualify")
    assert out.status_code == 200
    assert {row["team"] for row in contest.board()["rows"]} == {"red", "green"}
    assert row_of(contest.board(), "red")["rivals"] is None
    assert all(row["identified"] is None for row in contest.board("reidentification")["rows"])
    assert len(contest.targets("green")) == 2
    refused = contest.guess("blue", contest.target_of(red)["id"], contest.right_on(red, 1))
    assert (refused.status_code, refused.json()["code"]) == (403, "disqualified")
    gone = contest.guess("green", contest.target_of(blue)["id"], contest.right_on(blue, 1))
    assert gone.status_code == 404
    assert contest.organize(f"{contest.path}/teams/{teams['blue']}/disqualify").status_code == 409
    assert contest.organize(f"{contest.path}/teams/{teams['blue']}/reinstate").status_code == 200
    assert contest.boards() == before


def team_list(contest: Contest) -> list[dict[str, str]]:
    from sqlalchemy import select

    from app.db.models import Team
    from app.db.transaction import transaction

    with transaction() as session:
        return [{"id": str(team.id), "name": team.name} for team in session.scalars(select(Team))]


def test_own_guesses_come_page_by_page(contest: Contest) -> None:
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    sent = [contest.guessed("blue", red, rows) for rows in (1, 2, 3)]
    token, path, seen = contest.arena.team("blue"), f"{contest.path}/guesses?limit=2", []
    while path:
        answer = contest.arena.get(path, token=token)
        seen += [guess["id"] for guess in answer.json()]
        following = answer.links.get("next", {}).get("url", "")
        path = following.removeprefix("/api/v1")
    assert seen == sent[::-1]
