"""How many teams a target could be of: told to organizers before it is published, to teams from then on."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.db.models import Evaluation
from app.scoring.publication import fits
from app.scoring.toml_text import with_tables
from app.services.attacks import owners
from app.services.attacks.owners import Anonymity
from app.services.boards import verdicts
from app.services.contest import competitions, phases
from app.services.desk import dashboard
from app.transaction import transaction
from tests.contest import Contest, competition_row, turn
from workers import transitions

TEAMS = ("red", "blue", "green", "white")
PUBLICATION = "[publication]\nowners_at_least = {}\ndigits = {}\n"


def opened(client: TestClient, *, at_least: int = 1, digits: int = 2, more: str = "") -> Contest:
    contest = Contest.opened(client, more=PUBLICATION.format(at_least, digits) + more)
    for team in TEAMS:
        contest.submit(team)
    return contest


def found() -> Anonymity | None:
    with transaction() as session:
        return owners.anonymity(session, competitions.find(session, None, "small"))


def counted() -> Anonymity:
    anonymity = found()
    assert anonymity is not None
    return anonymity


def duties() -> dict[str, int]:
    return {duty.code: duty.count for duty in dashboard.hiding(competition_row(), found())}


def revised(contest: Contest, *, at_least: int, digits: int, owners: str = "hidden") -> None:
    text = PUBLICATION.format(at_least, digits) + f'owners = "{owners}"\nreveal_notice_hours = 0'
    with transaction() as session:
        row = session.merge(competition_row())
        row.file = with_tables(row.file, "publication", text)


def test_a_contest_without_a_release_has_no_number(client: TestClient) -> None:
    Contest.opened(client)
    assert found() is None
    assert duties() == {}


def test_what_reads_the_secret_is_open_and_the_rest_is_known_by_the_scales_beside_the_file(
    client: TestClient,
) -> None:
    """information_loss has half of the weight; so verdicts of an older version leave that open."""
    opened(client)
    of_reach = {}
    with transaction() as session:
        assert "scales" not in competition_row().file
        _, question = owners.asked(session, competitions.find(session, None, "small"))
        for evaluation in session.scalars(select(Evaluation)):
            assert evaluation.verdict is not None
            of_reach[evaluation.id] = evaluation.verdict["reach"]
            evaluation.verdict = {name: one for name, one in evaluation.verdict.items() if name != "reach"}
    verdicts.kept.clear()
    with transaction() as session:
        _, older = owners.asked(session, competitions.find(session, None, "small"))
    assert len(question.finals) == len(older.finals) == len(of_reach) == len(TEAMS)
    for final, old in zip(question.finals, older.finals, strict=True):
        (span,) = old.computed.spans
        assert span.most - span.least == pytest.approx(0.5)
        assert span.least < final.scores.utility < span.most
        told = final.computed.spans
        assert [[one.least, one.most] for one in told] in [
            [pair for _, *pair in each] for each in of_reach.values()
        ]
        assert all(span.least - 1e-5 <= one.least and one.most <= span.most + 1e-5 for one in told)
        assert replace(final, computed=old.computed) == old
    new, before = (owners.numbers(one, 2) for one in (question, older))
    assert all(few <= many for few, many in zip(new, before, strict=True))


def test_the_number_is_known_before_the_finals_and_does_not_change_with_them(client: TestClient) -> None:
    contest = opened(client)
    before = counted()
    assert (before.teams, len(before.numbers), before.digits) == (len(TEAMS), len(TEAMS), 2)
    assert all(1 <= number <= len(TEAMS) for number in before.numbers)
    contest.between()
    assert counted() == before


def test_every_targets_own_row_fits_it(client: TestClient) -> None:
    opened(client)
    with transaction() as session:
        _, question = owners.asked(session, competitions.find(session, None, "small"))
    assert len(question.finals) == len(TEAMS)
    for digits in (0, 2, 4):
        assert all(fits(each.computed, each.scores.rounded(digits), digits) for each in question.finals)


def test_what_a_team_showed_once_counts_as_seen_and_a_worse_final_does_not(client: TestClient) -> None:
    contest = opened(client)
    for _ in range(3):
        contest.submit("red")
    with transaction() as session:
        _, question = owners.asked(session, competitions.find(session, None, "small"))
    mine = [each for each in question.finals if each.team == question.finals[0].team]
    assert (len(mine), max(question.limits)) == (2, 2)
    best = min(mine, key=lambda each: each.scores.overall)
    assert best.seen


def test_a_board_for_organizers_alone_leaves_every_team(client: TestClient) -> None:
    opened(client, more='board = "organizers"\n')
    assert counted().numbers == (4,) * 4


def test_fewer_decimals_are_offered_where_they_hide_more(client: TestClient) -> None:
    opened(client, digits=4)
    shown = counted()
    assert all(digits < 4 and least > shown.least for digits, least in shown.coarser.items())
    revised_numbers = Anonymity(4, 2, 3, (1, 2, 3), {})
    assert (revised_numbers.least, revised_numbers.few, revised_numbers.known) == (1, 2, 1)
    assert Anonymity(1, 2, 1, (1,), {}).known == 0


def test_the_targets_wait_until_each_could_be_of_enough_teams(client: TestClient) -> None:
    contest = opened(client, at_least=9)
    assert duties() == {"owners_few": 4}
    contest.move(anonymization=(-3, -2), reidentification=(1, 2))
    turn()
    row = competition_row()
    assert (row.frozen_at is not None, row.published_at, contest.state()) == (True, None, "settling")
    assert transitions.published(row.id) is False
    assert contest.arena.get(f"{contest.path}/targets", token=contest.arena.team("red")).status_code == 404
    revised(contest, at_least=1, digits=2)
    turn()
    assert competition_row().published_at is not None


def test_shown_owners_are_not_counted_and_publish_at_once(client: TestClient) -> None:
    contest = opened(client, at_least=9, more='owners = "shown"\n')
    assert found() is None
    assert phases.timetable_of(competition_row()).owners_at_least == 1
    contest.attack()
    assert {target["owners"] for target in contest.targets("red")} == {None}


def test_enough_owners_publish_although_a_number_is_asked_for(client: TestClient) -> None:
    contest = opened(client, at_least=2, more='board = "organizers"\n')
    contest.between()
    assert competition_row().published_at is not None
    assert transitions.published(competition_row().id) is True  # nothing waits any more


def test_teams_read_the_number_with_the_target_until_the_reveal(client: TestClient) -> None:
    contest = opened(client)
    contest.attack()
    told = sorted(target["owners"] for target in contest.targets("red"))
    assert tuple(told) == counted().numbers
    contest.close()
    turn()
    assert {target["owners"] for target in contest.targets("red")} == {None}
    assert found() is None
