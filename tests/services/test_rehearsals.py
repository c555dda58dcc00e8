"""Rehearsals: played to the reveal by a service's own workers and clock."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, text, update

from anoncup.competition.parser import SLUG, parse_competition
from anoncup.errors import Unavailable
from app.db.models import (
    AuditEntry,
    Competition,
    Evaluation,
    Guess,
    RehearsalMove,
    State,
    Submission,
    Target,
    Team,
)
from app.db.transaction import transaction
from app.services.jobs import fairness
from app.services.organizing import rehearsal_moves, rehearsals
from app.storage import store
from tests.support.arena import Arena, competition_file
from tests.support.contest import Contest, turn
from tests.support.rehearsal import Rehearsed
from tests.support.uploads import score_everything
from workers import advise
from workers import rehearse as work
from workers.readiness import FOR_SECRETS

pytestmark = pytest.mark.full

DONE = {State.SCORED, State.CANCELLED}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses of each team; a hundred in all show nothing that twenty do not."""
    monkeypatch.setattr(rehearsals, "GUESSES", 2)


@pytest.fixture
def rehearsed(client: TestClient) -> Rehearsed:
    """Of a contest of two phases."""
    return Rehearsed.begun(Contest.opened(client).arena)


def rows(kind: Any, slug: str) -> list[Any]:
    with transaction() as session:
        mine = select(kind).join(Competition, Competition.id == kind.competition_id)
        return list(session.scalars(mine.where(Competition.slug == slug)))


@pytest.mark.parametrize("year", [2016, pytest.param(2015, marks=pytest.mark.full)])
def test_sample_teams_play_a_cup_to_its_reveal(client: TestClient, year: int) -> None:
    cup = Rehearsed.of_year(client, year)
    assert {one[3] for one in cup.moves()} == {0}
    cup.release()
    assert cup.states("anonymization") == {State.SCORED: 20}, cup.course()["failed"]
    cup.attack()
    assert not cup.states("reidentification").keys() - DONE, cup.course()["failed"]
    cup.reveal()
    found = cup.course()
    assert found["state"] == "closed"
    sent, judged, targets = (rows(kind, cup.slug) for kind in (Submission, Guess, Target))
    accepted = [one for one in rows(Evaluation, cup.slug) if one.state == State.SCORED]
    assert {step["step"]: (step["done"], step["of"]) for step in found["steps"]} == {
        "releases": (len(sent), 20),
        "scores": (20, 20),
        "finals": (len(targets), len(targets)),
        "targets": (len(targets), len(targets)),
        "guesses": (cup.states("reidentification")[State.SCORED],) * 2,
        "judged": (len(judged), len(judged)),
        "reveal": (len(targets), len(targets)),
    }
    assert 10 <= len(targets) <= len(accepted)
    assert len(judged) >= 15  # an attacker may say what is no guess
    assert {one.state for one in judged} == {State.SCORED}
    assert cup.row().revealed_at is not None
    # The first phase brought each team's first release before any team's second one.
    first = sorted(one.received_at for one in sent)[:10]
    assert len({one.team_id for one in sent if one.received_at in first}) == 10


def test_no_team_guesses_on_its_own_targets_and_all_targets_are_guessed_on(rehearsed: Rehearsed) -> None:
    rehearsed.release()
    rehearsed.attack()
    owners = {one.id: one.submission_id for one in rows(Target, rehearsed.slug)}
    senders = {one.id: one.team_id for one in rows(Submission, rehearsed.slug)}
    guessed = [(one.team_id, one.target_id) for one in rows(Guess, rehearsed.slug)]
    assert guessed
    assert len(set(guessed)) == len(guessed)
    assert all(senders[owners[target]] != team for team, target in guessed)


def test_moves_are_due_one_after_the_other_and_not_before_their_phase(rehearsed: Rehearsed) -> None:
    rehearsed.play()
    assert rehearsed.states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}
    rehearsed.shift(rehearsals.PHASE.total_seconds() / 60 * 0.31)
    rehearsed.play()
    assert rehearsed.states("anonymization") == {State.SCORED: 11, State.QUEUED: 9}
    assert rehearsed.states("reidentification") == {State.QUEUED: 20}


def extended(cup: Rehearsed, phase: str, end: datetime) -> None:
    path = f"/competitions/{cup.slug}/phases/{phase}/extend"
    answer = cup.arena.client.post(
        f"/api/v1{path}",
        headers={"Authorization": f"Bearer {cup.arena.organizer}", "X-Confirm-Password": "correct%20horse"},
        json={"end": end.isoformat(), "move_following": True},
    )
    assert answer.status_code == 200, answer.text


def test_who_shortens_a_phase_has_its_moves_made_earlier(rehearsed: Rehearsed) -> None:
    before = due(rehearsed)
    extended(rehearsed, "anonymization", datetime.now(UTC) + timedelta(minutes=5))
    assert all(earlier < later for earlier, later in zip(due(rehearsed)[1:], before[1:], strict=True))


def due(cup: Rehearsed) -> list[datetime]:
    found = rows(RehearsalMove, cup.slug)
    return [one.not_before for one in sorted(found, key=lambda one: (one.phase, one.share))]


def test_in_a_pause_no_move_is_made_and_none_is_lost(rehearsed: Rehearsed) -> None:
    path = f"/competitions/{rehearsed.slug}/phases/anonymization"
    assert rehearsed.arena.post(f"{path}/pause").status_code == 200
    rehearsed.play()
    assert rehearsed.states("anonymization") == {State.QUEUED: 20}
    assert rehearsed.arena.post(f"{path}/resume").status_code == 200
    rehearsed.play()
    assert rehearsed.states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}


def test_where_no_worker_makes_the_moves_that_is_told(rehearsed: Rehearsed) -> None:
    assert not rehearsed.course()["stalled"]
    rehearsed.shift(1)
    assert not rehearsed.course()["stalled"]
    rehearsed.shift(2)
    assert rehearsed.course()["stalled"]
    advise.advise()
    assert not rehearsed.course()["stalled"]


def test_moves_whose_phase_is_over_are_dropped(rehearsed: Rehearsed) -> None:
    rehearsed.shift(26)
    rehearsed.play()
    assert rehearsed.states("anonymization") == {State.CANCELLED: 20}
    assert rehearsed.course()["late"] == 20
    assert rehearsed.course()["steps"][0]["of"] == 20
    assert rows(Submission, rehearsed.slug) == []


def expire() -> None:
    with transaction() as session:
        late = func.clock_timestamp() - text("interval '1 second'")
        session.execute(update(RehearsalMove).values(leased_until=late))


@pytest.mark.parametrize("place", ["send", "finish"])
def test_a_worker_that_is_killed_before_the_commit_has_sent_nothing_and_another_one_sends_it_once(
    rehearsed: Rehearsed, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(rehearsal_moves, place, killed)
        with pytest.raises(Killed):
            advise.advise()
    assert rehearsed.states("anonymization")[State.SCORING] == 1
    assert rows(Submission, rehearsed.slug) == []
    advise.advise()  # its lease runs on: nobody else makes a move
    assert rows(Submission, rehearsed.slug) == []
    expire()
    advise.advise()
    assert len(rows(Submission, rehearsed.slug)) == 1
    assert rehearsed.states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}


def test_who_comes_late_with_a_move_that_another_worker_has_made_sends_nothing(
    rehearsed: Rehearsed, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(work, "sent", lambda _, do: late.append(do))
        advise.advise()
    expire()
    advise.advise()
    with transaction() as session:
        assert late[0](session) is False
    assert len(rows(Submission, rehearsed.slug)) == 1


def test_where_the_store_is_away_the_move_waits(
    rehearsed: Rehearsed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> bytes:
        raise Unavailable("the file store could not be reached", code="storage_unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(type(store()), "put", away)
        advise.advise()
    assert rehearsed.states("anonymization") == {State.QUEUED: 20}
    with transaction() as session:
        session.execute(update(RehearsalMove).values(not_before=None))
    FOR_SECRETS.resting_until = 0.0
    advise.advise()
    assert len(rows(Submission, rehearsed.slug)) == 1


def test_what_the_rules_refuse_is_told_with_its_reason(rehearsed: Rehearsed) -> None:
    with transaction() as session:
        session.execute(
            update(Team)
            .where(Team.competition_id == rehearsed.row().id)
            .values(disqualified_at=func.clock_timestamp())
        )
    rehearsed.play()
    (told,) = rehearsed.course()["failed"]
    assert (told["failure_code"], told["phase"]) == ("move_refused", "anonymization")
    assert "disqualified" in told["failure"]


def test_of_two_who_begin_at_once_one_does(arena: Arena) -> None:
    def begin(_: int) -> int:
        return int(arena.post(f"/competitions/{arena.slug}/rehearsal").status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(begin, range(4))) == [201, 409, 409, 409]
    with transaction() as session:
        assert session.scalars(select(func.count()).where(Competition.rehearses.is_not(None))).one() == 1


def end(cup: Rehearsed) -> int:
    headers = {"Authorization": f"Bearer {cup.arena.organizer}", "X-Confirm-Password": "correct%20horse"}
    path = f"/api/v1/competitions/{cup.arena.slug}/rehearsal"
    return int(cup.arena.client.delete(path, headers=headers).status_code)


def test_an_ended_rehearsal_goes_on_nowhere_and_another_one_may_begin(rehearsed: Rehearsed) -> None:
    rehearsed.play()
    assert end(rehearsed) == 204
    assert rehearsed.states("anonymization") == {State.SCORED: 1, State.CANCELLED: 19}
    assert [one.state for one in rows(Evaluation, rehearsed.slug)] == [State.CANCELLED]
    with transaction() as session:  # its deadline passes, and the clock does not care
        session.execute(update(RehearsalMove).values(not_before=None))
    score_everything()
    rehearsed.play()
    rehearsed.shift(26)
    turn()
    assert rehearsed.row().frozen_at is None
    assert len(rows(Submission, rehearsed.slug)) == 1
    assert end(rehearsed) == 404
    again = Rehearsed.begun(rehearsed.arena)
    assert again.slug == f"{rehearsed.slug}-2"
    with transaction() as session:
        noted = select(AuditEntry.action, AuditEntry.subject).where(
            AuditEntry.action.startswith("rehearsal."),
            AuditEntry.competition_id == rehearsed.row().rehearses,
        )
        assert [tuple(one) for one in session.execute(noted.order_by(AuditEntry.number))] == [
            ("rehearsal.begin", rehearsed.slug),
            ("rehearsal.end", rehearsed.slug),
            ("rehearsal.begin", again.slug),
        ]


def test_nobody_joins_a_rehearsal_and_neither_a_rehearsal_nor_a_report_is_made_of_it(
    rehearsed: Rehearsed,
) -> None:
    path = f"/competitions/{rehearsed.slug}"
    asked: dict[str, dict[str, object]] = {"invites": {}, "rehearsal": {}, "threshold-reports": {"draws": 0}}
    for ask, body in (asked | {"organizers": {"name": "somebody"}}).items():
        answer = rehearsed.arena.post(f"{path}/{ask}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "is_rehearsal"), ask


def test_a_competition_without_its_data_is_not_rehearsed(arena: Arena) -> None:
    arena.post("/competitions", content=competition_file("bare"))
    answer = arena.post("/competitions/bare/rehearsal")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_original")


def test_a_rehearsal_has_the_rules_and_the_data_of_what_it_rehearses_but_for_what_outlasts_an_hour(
    client: TestClient,
) -> None:
    more = "[publication]\ndigits = 3\nfrozen_from = 2020-01-01T00:00:00Z\n"
    cup = Rehearsed.begun(Contest.opened(client, more=more, notice=48).arena)
    with transaction() as session:
        original = session.scalars(select(Competition).where(Competition.slug == "small")).one()
        row = session.scalars(select(Competition).where(Competition.slug == cup.slug)).one()
        rules, copied = parse_competition(original.file), parse_competition(row.file)
        assert row.original == original.original
        assert row.original_rows == original.original_rows
    assert copied.title == {"en": "Rehearsal: Small cup", "ja": "リハーサル：小さな杯"}
    publication = copied.publication
    assert (publication.frozen_from, publication.reveal_notice_hours) == (None, 0)
    assert publication.digits == rules.publication.digits == 3
    assert (copied.measures, copied.excessive, copied.limits) == (
        rules.measures,
        rules.excessive,
        rules.limits,
    )
    first, second = copied.phases
    assert second.end - first.start < timedelta(hours=1)


HYPHENS = "cup-2015" + 40 * "-" + "x"
LONG = ("a" * 49, "a" * 50, "a" * 48 + "-b", "a" * 63, "a" * 32 + "-" + 16 * "0", HYPHENS, HYPHENS + "y")


def test_no_two_competitions_share_the_names_of_their_rehearsals() -> None:
    slugs = {*LONG, "cup-2015", "a" * 48, "a" * 32, "a"}
    names = {rehearsals.beginning(slug) for slug in slugs}
    assert len(names) == len(slugs)
    # Nor can a name be made that begins as those of a longer one.
    again = {rehearsals.beginning(name) for name in names}
    assert again & names == {name for name in names if name in slugs}
    for name in names:
        assert SLUG.fullmatch(f"{name}-rehearsal-999")


def test_a_strangers_name_that_is_alike_tells_nothing_of_a_rehearsal(client: TestClient) -> None:
    first, second = (Rehearsed.begun(Arena.opened(client, slug=slug)).slug for slug in ("cup-2015", HYPHENS))
    assert first == "cup-2015-rehearsal"
    assert second.startswith("cup-2015---")
    assert second.endswith("-rehearsal")


def test_the_place_in_the_queue_tells_a_team_nothing_of_a_rehearsal(client: TestClient) -> None:
    real = Contest.opened(client)
    cup = Rehearsed.begun(Contest.opened(client, slug="other").arena)
    cup.shift(16)
    cup.play()
    sent = real.submit("red", scored=False)
    again = real.submit("red", scored=False)
    with transaction() as session:
        whole: dict[Any, Any] = dict(iter(session.execute(select(*fairness.order(Evaluation).c))))
        shown: dict[Any, Any] = dict(iter(session.execute(select(*fairness.shown_order(Evaluation).c))))
        mine = {
            str(one.submission_id): one.id
            for one in session.scalars(select(Evaluation).where(Evaluation.competition_id != cup.row().id))
        }
    assert len(whole) == len(shown) == 22
    assert [shown[mine[one]] for one in (sent, again)] == [0, 1]
    assert whole[mine[again]] > 1
    told = real.arena.get(f"/submissions/{again}", token=real.arena.team("red")).json()
    assert told["queue_position"] == 1
