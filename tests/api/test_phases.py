"""What organizers do to phases, finals, teams and submissions, and what that changes for everybody."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import table_csv
from app.db.models import Competition, Team
from app.db.transaction import transaction
from tests.support.accounts import acts, told
from tests.support.arena import Arena, competition_file
from tests.support.contest import Contest, competition_row, turn
from tests.support.uploads import score_everything
from tests.support.wait import stopwatch

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def at(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def extend(contest: Contest, name: str, end: str, **more: Any) -> Response:
    return contest.organize(f"{contest.path}/phases/{name}/extend", end=end, **more)


def windows() -> dict[str, tuple[datetime, datetime]]:
    return {
        phase.name: (phase.start, phase.end) for phase in parse_competition(competition_row().file).phases
    }


def put_file(contest: Contest, text: str) -> Response:
    return contest.arena.put(f"{contest.path}/competition.toml", content=text)


def test_a_phase_is_not_run_into_the_next_unless_that_moves_as_well(contest: Contest) -> None:
    before = windows()
    later = before["reidentification"][0] + timedelta(hours=1)
    assert told(extend(contest, "anonymization", later.isoformat())) == (409, "phases_overlap")
    assert windows() == before
    assert extend(contest, "anonymization", later.isoformat(), move_following=True).status_code == 200
    by = later - before["anonymization"][1]
    assert windows()["anonymization"] == (before["anonymization"][0], later)
    assert windows()["reidentification"] == tuple(moment + by for moment in before["reidentification"])
    touching = windows()["reidentification"][0].isoformat()
    assert extend(contest, "anonymization", touching).status_code == 200


def test_an_end_is_neither_in_the_past_nor_before_the_start_nor_without_an_offset(contest: Contest) -> None:
    assert told(extend(contest, "anonymization", at(-0.01))) == (422, "end_passed")
    assert told(extend(contest, "reidentification", at(1))) == (422, "end_passed")
    for wrong in ("2027-01-24T09:00:00", "tomorrow", 17, None, "9999-12-31T23:59:59-23:59"):
        answer = contest.organize(f"{contest.path}/phases/anonymization/extend", end=wrong)
        assert answer.status_code == 422, wrong
    contest.move(reidentification=(48, 24 * 365 * 7950))
    assert told(extend(contest, "anonymization", "2999-12-31T00:00:00Z", move_following=True)) == (
        422,
        "end_too_far",
    )
    assert told(extend(contest, "closed", at(1))) == (404, "no_such_phase")
    assert "phase.extend" not in {action for _, action, _ in acts()}


def test_a_phase_that_has_turned_stays_as_it_was(contest: Contest) -> None:
    contest.submit("red")
    contest.attack()
    assert told(extend(contest, "anonymization", at(0.5))) == (409, "phase_turned")
    changed = contest.arena.get(f"{contest.path}/competition.toml").text
    start = windows()["anonymization"][0]
    moved = changed.replace(start.isoformat(), (start - timedelta(hours=1)).isoformat())
    assert moved != changed
    assert told(put_file(contest, moved)) == (409, "phase_turned")
    assert extend(contest, "reidentification", at(2)).status_code == 200
    contest.close()
    assert told(extend(contest, "reidentification", at(2))) == (409, "phase_turned")


def test_a_pause_stops_the_clock_and_moves_all_that_follows_by_its_length(contest: Contest) -> None:
    pause, resume = (f"{contest.path}/phases/anonymization/{word}" for word in ("pause", "resume"))
    assert told(contest.organize(resume)) == (409, "phase_not_paused")
    assert told(contest.organize(f"{contest.path}/phases/reidentification/pause")) == (409, "phase_closed")
    contest.move(anonymization=(-2, 0.5), reidentification=(1, 2))
    before, passed = windows(), stopwatch()
    assert contest.organize(pause).status_code == 200
    assert told(contest.organize(pause)) == (409, "phase_paused")
    refused = contest.arena.submit("red")
    assert told(refused) == (409, "phase_paused")
    with transaction() as session:
        # as if it had been paused for an hour, over the end of the phase
        session.execute(update(Competition).values(paused_at=Competition.paused_at - timedelta(hours=1)))
    turn()
    assert contest.state() == "anonymization"
    assert competition_row().frozen_at is None
    assert told(contest.organize(f"{contest.path}/phases/reidentification/resume")) == (
        409,
        "phase_not_paused",
    )
    assert contest.organize(resume).status_code == 200
    here = timedelta(seconds=passed())
    (begun, *later), (begins, *others) = (
        [moment for window in each.values() for moment in window] for each in (windows(), before)
    )
    (length,) = {moved - stood for moved, stood in zip(later, others, strict=True)}
    assert begun == begins
    assert timedelta(hours=1) < length <= timedelta(hours=1) + here
    assert contest.arena.submit("red").status_code == 202
    noted = [action for _, action, _ in acts() if action.startswith("phase.")]
    assert noted == ["phase.pause", "phase.resume"]


def test_a_pause_over_a_deadline_keeps_targets_and_reveal_waiting(contest: Contest) -> None:
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    assert contest.organize(f"{contest.path}/phases/reidentification/pause").status_code == 200
    target = contest.target_of(red)["id"]
    assert told(contest.guess("blue", target, contest.right_on(red, 1))) == (409, "phase_paused")
    with transaction() as session:
        session.execute(update(Competition).values(paused_at=Competition.paused_at - timedelta(minutes=30)))
    contest.move(reidentification=(-1, -0.1))
    turn()
    assert competition_row().closed_at is None
    assert contest.organize(f"{contest.path}/phases/reidentification/resume").status_code == 200
    turn()  # until the clock has noted the later end, the database refuses guesses
    assert contest.guess("blue", target, contest.right_on(red, 1)).status_code == 202


def test_windows_are_not_changed_by_the_file_while_a_phase_is_paused(contest: Contest) -> None:
    assert contest.organize(f"{contest.path}/phases/anonymization/pause").status_code == 200
    text = contest.arena.get(f"{contest.path}/competition.toml").text
    start = windows()["anonymization"][0]
    moved = text.replace(start.isoformat(), (start + timedelta(hours=1)).isoformat())
    assert moved != text
    assert told(put_file(contest, moved)) == (409, "phase_paused")
    assert put_file(contest, text.replace("Small cup", "Little cup")).status_code == 200
    assert contest.organize(f"{contest.path}/phases/anonymization/resume").status_code == 200


def mark(contest: Contest, team: str, submission: str, *, final: bool = True) -> Response:
    path = f"/submissions/{submission}/final"
    return contest.arena.put(path, token=contest.arena.team(team), json={"final": final})


def owners(contest: Contest) -> set[str]:
    """The submissions that are targets."""
    listed = {target["commitment"] for target in contest.arena.get(f"{contest.path}/targets").json()}
    found = contest.arena.get(f"{contest.path}/submissions/all").json()
    return {one["id"] for one in found if one["commitment"] in listed}


def cheat(contest: Contest, team: str) -> str:
    """The identifier of a submission that will be rejected."""
    turned = contest.arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(turned)))
    answer = contest.arena.submit(team, anonymized=table_csv(turned), secret=secret.encode())
    return str(answer.json()["id"])


def test_at_most_so_many_finals_are_marked_and_only_what_may_be_valid(contest: Contest) -> None:
    sent = [contest.submit("red") for _ in range(3)]
    assert [mark(contest, "red", one).status_code for one in sent] == [200, 200, 409]
    assert mark(contest, "red", sent[0]).status_code == 200
    assert told(mark(contest, "red", sent[2])) == (409, "too_many_finals")
    assert mark(contest, "red", sent[0], final=False).json()["final"] is False
    assert mark(contest, "red", sent[2]).status_code == 200
    rejected = cheat(contest, "red")
    score_everything()
    mark(contest, "red", sent[2], final=False)
    assert told(mark(contest, "red", rejected)) == (409, "not_valid")
    assert mark(contest, "blue", sent[2]).status_code == 404
    contest.attack()
    assert told(mark(contest, "red", sent[0])) == (409, "phase_closed")
    assert owners(contest) == {sent[1]}


def test_a_marked_one_that_is_rejected_later_leaves_the_others_or_the_best(contest: Contest) -> None:
    red = contest.submit("red")
    blue = [contest.submit("blue") for _ in range(2)]
    rejected = {team: cheat(contest, team) for team in ("red", "blue")}
    for team, submission in rejected.items():
        assert mark(contest, team, submission).status_code == 200
    assert mark(contest, "blue", blue[1]).status_code == 200
    score_everything()
    contest.attack()
    assert owners(contest) == {red, blue[1]}


def test_finals_marked_before_the_competition_took_fewer_are_cut_to_the_best(contest: Contest) -> None:
    sent = [contest.submit("red") for _ in range(3)]
    scores = {one: contest.arena.submission(one, "red")["result"]["overall"] for one in sent}
    marked = sorted(sent, key=lambda one: scores[one])[1:]
    assert {mark(contest, "red", one).status_code for one in marked} == {200}
    text = contest.arena.get(f"{contest.path}/competition.toml").text
    fewer = text.replace("[[phases]]", "[ranking]\nfinals = 1\n[[phases]]", 1)
    assert put_file(contest, fewer).status_code == 200
    contest.attack()
    assert owners(contest) == {marked[0]}


def judge(contest: Contest, what: str, word: str) -> Response:
    """Disqualify or reinstate a submission, or a team by its name."""
    with transaction() as session:
        team = session.scalar(select(Team.id).where(Team.name == what))
    path = f"{contest.path}/teams/{team}" if team else f"/submissions/{what}"
    return contest.organize(f"{path}/{word}")


def test_what_is_disqualified_before_the_freeze_is_no_final_unless_it_was_marked(contest: Contest) -> None:
    best, marked, team = contest.submit("red"), contest.submit("blue"), contest.submit("green")
    worse = contest.submit("red")
    mark(contest, "blue", marked)
    for what in (best, marked, "green"):
        assert judge(contest, what, "disqualify").status_code == 200
        assert told(judge(contest, what, "disqualify")) == (409, "nothing_to_change")
    contest.attack()
    assert owners(contest) == {worse, marked, team}
    assert [target["withdrawn"] for target in contest.targets("red")] == [False]
    assert contest.targets("green")[0]["own"] is not contest.targets("green")[1]["own"]
    for what in (marked, "green"):
        assert judge(contest, what, "reinstate").status_code == 200
        assert told(judge(contest, what, "reinstate")) == (409, "nothing_to_change")
    assert len(contest.targets("red")) == 3


def test_a_disqualified_submission_withdraws_its_target_and_comes_back_with_its_guesses(
    client: TestClient,
) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    red, other = contest.submit("red"), contest.submit("red")
    contest.submit("blue")
    contest.attack()
    contest.guessed("blue", red, 20)
    contest.guessed("blue", other, 5)
    before = contest.boards()
    target = contest.target_of(red)["id"]
    assert judge(contest, red, "disqualify").json()["disqualified"] is True
    attackers = {row["team"]: row for row in contest.board("reidentification")["rows"]}
    assert (attackers["blue"]["identified"], attackers["blue"]["targets"]) == (5, 1)
    assert target not in {one["id"] for one in contest.targets("blue")}
    data = f"/targets/{target}/data/anonymized.csv"
    assert contest.arena.get(data, token=contest.arena.team("blue")).status_code == 404
    assert contest.arena.get(data, token=contest.arena.team("red")).status_code == 200
    assert len(contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()["targets"]) == 3
    assert judge(contest, red, "reinstate").status_code == 200
    assert contest.boards() == before


def test_a_disqualified_team_sends_nothing_and_may_send_again_when_it_is_back(contest: Contest) -> None:
    contest.submit("red")
    assert judge(contest, "red", "disqualify").status_code == 200
    assert told(contest.arena.submit("red", seed=9)) == (403, "disqualified")
    assert contest.board()["rows"] == []
    assert judge(contest, "red", "reinstate").status_code == 200
    assert contest.arena.submit("red", seed=9).status_code == 202


def test_a_frozen_board_thaws_at_the_end_of_a_contest_of_one_phase(client: TestClient) -> None:
    frozen = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    arena = Arena.opened(client, file=competition_file(more=f"[publication]\nfrozen_from = {frozen}"))
    arena.submit("red")
    score_everything()
    assert arena.board()["rows"] == []
    Contest(arena).move(anonymization=(-2, -0.001))
    turn()
    assert [row["team"] for row in arena.board()["rows"]] == ["red"]
