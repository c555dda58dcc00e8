"""Competitions with several rounds, played through the API."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.competitions import competitions
from app.competitions.phases import ANONYMIZATION
from app.core.db.models import Team
from app.core.db.transaction import transaction
from app.submissions import attempts
from tests.support.accounts import read_refusal
from tests.support.contest import Contest, run_clock
from tests.support.database_rows import load_team_id
from tests.support.phase_changes import begin_upload
from tests.support.rescores import apply_rescore, post_rescore
from tests.support.two_rounds import build_contest, build_round, create_two_rounds

pytestmark = pytest.mark.full


@pytest.fixture
def rounds(client: TestClient) -> dict[str, Contest]:
    return create_two_rounds(client, extra_toml='[publication]\nfeedback = "immediate"')


def begin(contest: Contest) -> None:
    contest.move_phases(anonymization=(-0.1, 1))
    run_clock()


def describe(contest: Contest, address: str) -> Any:
    return contest.arena.client.get(f"/api/v1/competitions/{address}").json()


def test_slug_stands_for_the_round_that_began_last(rounds: dict[str, Contest]) -> None:
    preliminary, final = rounds.values()
    current = describe(final, "small")
    assert (current["slug"], current["address"], current["round"]) == (
        "small",
        "small.preliminary",
        "preliminary",
    )
    assert current["title"] == {"en": "Small cup – Preliminary", "ja": "小さな杯 – 予選"}
    assert [(entry["name"], entry["address"], entry["state"]) for entry in current["rounds"]] == [
        ("preliminary", "small.preliminary", "anonymization"),
        ("final", "small.final", "upcoming"),
    ]
    assert describe(final, "small.final")["original_rows"] == current["original_rows"] == 40
    final.move_phases(anonymization=(-0.1, 1))
    assert describe(final, "small")["round"] == "final"
    assert preliminary.get_state() == "anonymization"


def test_order_of_the_file_does_not_decide_which_round_is_current(rounds: dict[str, Contest]) -> None:
    final = rounds["final"]
    file = get_file(final) + build_round("practice", begins=-3, practice=True)
    assert final.arena.put("/competitions/small/competition.toml", content=file).status_code == 200
    assert describe(final, "small")["round"] == "preliminary"
    final.move_phases(anonymization=(-0.1, 1))
    assert describe(final, "small")["round"] == "final"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("small.", "no_such_round"),
        ("small.semifinal", "no_such_round"),
        ("small.final.x", "no_such_round"),
        ("small.FINAL", "no_such_round"),
        (".final", "no_such_competition"),
        ("large.final", "no_such_competition"),
    ],
)
def test_unknown_rounds_do_not_exist(rounds: dict[str, Contest], address: str, code: str) -> None:
    assert read_refusal(rounds["final"].arena.get(f"/competitions/{address}")) == (404, code)


def list_own_submissions(contest: Contest, team: str) -> list[tuple[str, int]]:
    token = contest.arena.get_team_token(team)
    items = contest.arena.get(f"{contest.path}/submissions", token=token).json()
    return [(item["id"], item["number"]) for item in items]


def read_identified(contest: Contest) -> dict[str, int]:
    return {row["team"]: row["identified"] for row in contest.get_board("reidentification")["rows"]}


def test_rounds_have_submissions_targets_and_boards_of_their_own(rounds: dict[str, Contest]) -> None:
    preliminary, final = rounds.values()
    red, blue = preliminary.submit("red"), preliminary.submit("blue")
    assert read_refusal(final.arena.submit("red")) == (409, "phase_closed")
    preliminary.open_attacks()
    preliminary.submit_correct_guess("blue", red, 7)
    preliminary.close_attacks()
    assert preliminary.get_state() == "closed"
    boards = preliminary.get_boards()
    begin(final)
    late, again = final.submit("late"), final.submit("red")
    assert list_own_submissions(final, "red") == [(again, 1)]
    assert list_own_submissions(preliminary, "red") == [(red, 1)]
    assert list_own_submissions(preliminary, "blue") == [(blue, 1)]
    assert {row["team"] for row in final.get_board()["rows"]} == {"late", "red"}
    final.open_attacks()
    assert len(final.list_targets("blue")) == 2
    final.submit_correct_guess("red", late, 11)
    final.close_attacks()
    assert preliminary.get_boards() == boards
    assert (read_identified(preliminary)["blue"], read_identified(final)["red"]) == (7, 11)


def test_quota_grants_finals_and_open_uploads_are_those_of_a_round(client: TestClient) -> None:
    preliminary, final = create_two_rounds(client, extra_toml="[ranking]\nfinals = 1\n").values()
    begin(final)
    submissions = [contest.submit("red", score=False) for contest in (preliminary, final)]
    for submission in submissions:
        marked = final.arena.put(f"/submissions/{submission}/final", team="red", json={"final": True})
        assert marked.status_code == 200
    body = {"team_id": str(load_team_id("red")), "cap": "valid_total", "amount": 2}
    assert preliminary.post_as_organizer(f"{preliminary.path}/grants", **body).status_code == 201
    _, upload = begin_upload(final.arena, "red", key="once")
    assert upload.attempt is not None
    for contest, limit, attempt_count in ((preliminary, 102, 1), (final, 100, 2)):
        caps = contest.arena.get(f"{contest.path}/quota", team="red").json()["caps"]
        by_name = {cap["name"]: (cap["used"], cap["limit"]) for cap in caps}
        assert (by_name["valid_total"], by_name["attempts_total"][0]) == ((1, limit), attempt_count)
        with transaction() as session:
            round_ = competitions.find(session, None, contest.arena.slug)
            team = session.get_one(Team, load_team_id("red"))
            is_own = contest is final
            assert attempts.has_pending_uploads(session, round_, ANONYMIZATION) is is_own
            unfinished = attempts.find_unfinished(session, round_, team, ANONYMIZATION, "once")
            assert (unfinished is not None) is is_own


def test_teams_join_until_the_last_round_takes_no_releases(rounds: dict[str, Contest]) -> None:
    preliminary, final = rounds.values()
    preliminary.open_attacks()
    arena = preliminary.arena
    headers = {"Authorization": f"Bearer {arena.organizer_token}"}

    def invite_without_password() -> int:
        return arena.client.post("/api/v1/competitions/small/invites", headers=headers, json={}).status_code

    assert invite_without_password() == 201
    final.start_pause()
    assert invite_without_password() == 403


FINAL_WEIGHTS = "\n[rounds.measures.mean_mae]\nweight = 5.0\n"


def get_file(contest: Contest) -> str:
    return contest.arena.get("/competitions/small/competition.toml").text


def test_rescore_of_the_final_leaves_the_preliminary_round_alone(rounds: dict[str, Contest]) -> None:
    preliminary, final = rounds.values()
    preliminary.submit("red")
    preliminary.open_attacks()
    preliminary.close_attacks()
    begin(final)
    final.submit("red")
    boards, own_board = preliminary.get_boards(), final.get_board()
    common_change = get_file(final).replace("threshold = 0.2", "threshold = 0.1")
    assert read_refusal(post_rescore(final, common_change)) == (409, "other_round_changes")
    reweighted = get_file(final) + FINAL_WEIGHTS
    assert read_refusal(final.arena.put("/competitions/small/competition.toml", content=reweighted)) == (
        409,
        "fixed",
    )
    preview = apply_rescore(final, reweighted)
    assert [row["team"] for row in preview["rows"]] == ["red"]
    assert preview["rows"][0]["before"]["utility"] != preview["rows"][0]["after"]["utility"]
    assert preliminary.get_boards() == boards
    assert final.get_board() != own_board
    assert "weight = 5.0" in final.arena.get(f"{final.path}/competition.toml").text
    assert "weight = 5.0" not in preliminary.arena.get(f"{preliminary.path}/competition.toml").text


def test_penalty_counts_in_its_round(client: TestClient) -> None:
    formula = '[ranking]\ndefence = "utility + security + penalty"'
    preliminary, final = create_two_rounds(client, extra_toml=formula).values()
    begin(final)
    for contest in (preliminary, final):
        for team in ("red", "blue"):
            contest.submit(team)
    red = next(row["team_id"] for row in final.get_board()["rows"] if row["team"] == "red")
    body = {"team_id": red, "points": 10, "reason": "a gift"}
    assert final.post_as_organizer(f"{final.path}/adjustments", **body).status_code == 201
    assert [row["team"] for row in final.get_board()["rows"]] == ["red", "blue"]
    scores = {row["team"]: row["score"] for row in preliminary.get_board(organizer=True)["rows"]}
    assert all(score > -1 for score in scores.values())
    assert min(row["score"] for row in final.get_board(organizer=True)["rows"]) < -8


def test_round_without_begin_is_removed_and_added_again(rounds: dict[str, Contest]) -> None:
    preliminary, final = rounds.values()
    file = get_file(preliminary)
    without_final = file[: file.index('[[rounds]]\nname = "final"')]
    put = preliminary.arena.put
    response = put("/competitions/small.final/competition.toml", content=without_final)
    assert (response.status_code, response.json()["address"]) == (200, "small.preliminary")
    assert read_refusal(final.arena.get(final.path)) == (404, "no_such_round")
    assert put("/competitions/small/competition.toml", content=file).status_code == 200
    assert describe(final, "small.final")["state"] == "upcoming"
    final.move_phases(anonymization=(-0.1, 1))
    refusal = read_refusal(put("/competitions/small/competition.toml", content=without_final))
    assert refusal == (409, "fixed")


def test_competition_without_rounds_gets_rounds(contest: Contest) -> None:
    submission = contest.submit("red")
    phases = describe(contest, "small")["phases"]
    file = get_file(contest).replace("format = 1", "format = 2").replace("[[phases]]", "[[rounds.phases]]")
    head, _, tail = file.partition("[[rounds.phases]]")
    file = f'{head}[[rounds]]\nname = "preliminary"\n[[rounds.phases]]{tail}' + build_round("final", begins=9)
    response = contest.arena.put("/competitions/small/competition.toml", content=file)
    assert response.status_code == 200, response.text
    preliminary = build_contest(contest.arena, "preliminary")
    assert describe(contest, "small.preliminary")["phases"] == phases
    assert list_own_submissions(preliminary, "red") == [(submission, 1)]
    assert describe(contest, "small.final")["original_rows"] is None


def test_file_of_a_round_is_no_competition(rounds: dict[str, Contest]) -> None:
    final = rounds["final"]
    file = final.arena.get(f"{final.path}/competition.toml").text
    assert 'round = "final"' in file
    for response in (
        final.arena.post("/competitions", content=file),
        final.arena.put("/competitions/small/competition.toml", content=file),
    ):
        assert read_refusal(response) == (422, "unknown_key")
        assert response.json()["values"]["key"] == "round"
