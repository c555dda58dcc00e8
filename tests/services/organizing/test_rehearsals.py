"""Rehearsals, which the service's workers and clock run until the reveal."""

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
from app.storage import get_store
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest, run_clock
from tests.support.rehearsal import RehearsedContest
from tests.support.uploads import score_everything
from workers import advise
from workers import rehearse as work
from workers.readiness import SCORING_READINESS

pytestmark = pytest.mark.full

FINISHED_STATES = {State.SCORED, State.CANCELLED}


@pytest.fixture(autouse=True)
def few_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit rehearsals to two guesses per team, which test as much as ten."""
    monkeypatch.setattr(rehearsals, "GUESSES_PER_TEAM", 2)


@pytest.fixture
def rehearsal(client: TestClient) -> RehearsedContest:
    """A rehearsal of a contest with two phases."""
    return RehearsedContest.begin(Contest.create(client).arena)


def list_rows(model: Any, slug: str) -> list[Any]:
    with transaction() as session:
        query = select(model).join(Competition, Competition.id == model.competition_id)
        return list(session.scalars(query.where(Competition.slug == slug)))


@pytest.mark.parametrize("year", [2016, pytest.param(2015, marks=pytest.mark.full)])
def test_rehearsal_runs_until_the_reveal(client: TestClient, year: int) -> None:
    rehearsal = RehearsedContest.create_for_year(client, year)
    assert {item[3] for item in rehearsal.list_moves()} == {0}
    rehearsal.run_first_phase()
    assert rehearsal.count_states("anonymization") == {State.SCORED: 20}, rehearsal.get_progress()["failed"]
    rehearsal.run_second_phase()
    assert not rehearsal.count_states("reidentification").keys() - FINISHED_STATES, rehearsal.get_progress()[
        "failed"
    ]
    rehearsal.reveal()
    progress = rehearsal.get_progress()
    assert progress["state"] == "closed"
    submissions, guesses, targets = (
        list_rows(model, rehearsal.slug) for model in (Submission, Guess, Target)
    )
    scored_evaluations = [
        item for item in list_rows(Evaluation, rehearsal.slug) if item.state == State.SCORED
    ]
    assert {step["step"]: (step["done"], step["of"]) for step in progress["steps"]} == {
        "releases": (len(submissions), 20),
        "scores": (20, 20),
        "finals": (len(targets), len(targets)),
        "targets": (len(targets), len(targets)),
        "guesses": (rehearsal.count_states("reidentification")[State.SCORED],) * 2,
        "judged": (len(guesses), len(guesses)),
        "reveal": (len(targets), len(targets)),
    }
    assert 10 <= len(targets) <= len(scored_evaluations)
    assert len(guesses) >= 15  # an attacker's answer may be no valid guess
    assert {item.state for item in guesses} == {State.SCORED}
    assert rehearsal.load_competition().revealed_at is not None
    # Every team sends its first release before any team sends its second.
    first_times = sorted(item.received_at for item in submissions)[:10]
    assert len({item.team_id for item in submissions if item.received_at in first_times}) == 10


def test_each_team_guesses_on_other_teams_targets_once(
    rehearsal: RehearsedContest,
) -> None:
    rehearsal.run_first_phase()
    rehearsal.run_second_phase()
    submission_of_target = {row.id: row.submission_id for row in list_rows(Target, rehearsal.slug)}
    team_of_submission = {row.id: row.team_id for row in list_rows(Submission, rehearsal.slug)}
    pairs = [(row.team_id, row.target_id) for row in list_rows(Guess, rehearsal.slug)]
    assert pairs
    assert len(set(pairs)) == len(pairs)
    assert all(team_of_submission[submission_of_target[target]] != team for team, target in pairs)


def test_moves_are_spread_over_their_phase(rehearsal: RehearsedContest) -> None:
    rehearsal.play_moves()
    assert rehearsal.count_states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}
    rehearsal.advance_time(rehearsals.PHASE_LENGTH.total_seconds() / 60 * 0.31)
    rehearsal.play_moves()
    assert rehearsal.count_states("anonymization") == {State.SCORED: 11, State.QUEUED: 9}
    assert rehearsal.count_states("reidentification") == {State.QUEUED: 20}


def extend_phase(rehearsal: RehearsedContest, phase: str, end: datetime) -> None:
    path = f"/competitions/{rehearsal.slug}/phases/{phase}/extend"
    response = rehearsal.arena.client.post(
        f"/api/v1{path}",
        headers={
            "Authorization": f"Bearer {rehearsal.arena.organizer_token}",
            "X-Confirm-Password": "correct%20horse",
        },
        json={"end": end.isoformat(), "move_following": True},
    )
    assert response.status_code == 200, response.text


def test_shortening_a_phase_brings_moves_forward(rehearsal: RehearsedContest) -> None:
    old_times = list_due_times(rehearsal)
    extend_phase(rehearsal, "anonymization", datetime.now(UTC) + timedelta(minutes=5))
    assert all(
        earlier < later for earlier, later in zip(list_due_times(rehearsal)[1:], old_times[1:], strict=True)
    )


def list_due_times(rehearsal: RehearsedContest) -> list[datetime]:
    moves = list_rows(RehearsalMove, rehearsal.slug)
    return [move.not_before for move in sorted(moves, key=lambda move: (move.phase, move.share))]


def test_pause_postpones_moves(rehearsal: RehearsedContest) -> None:
    path = f"/competitions/{rehearsal.slug}/phases/anonymization"
    assert rehearsal.arena.post(f"{path}/pause").status_code == 200
    rehearsal.play_moves()
    assert rehearsal.count_states("anonymization") == {State.QUEUED: 20}
    assert rehearsal.arena.post(f"{path}/resume").status_code == 200
    rehearsal.play_moves()
    assert rehearsal.count_states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}


def test_rehearsal_without_workers_is_reported_as_stalled(rehearsal: RehearsedContest) -> None:
    assert not rehearsal.get_progress()["stalled"]
    rehearsal.advance_time(1)
    assert not rehearsal.get_progress()["stalled"]
    rehearsal.advance_time(2)
    assert rehearsal.get_progress()["stalled"]
    advise.advise()
    assert not rehearsal.get_progress()["stalled"]


def test_moves_are_cancelled_after_their_phase(rehearsal: RehearsedContest) -> None:
    rehearsal.advance_time(26)
    rehearsal.play_moves()
    assert rehearsal.count_states("anonymization") == {State.CANCELLED: 20}
    assert rehearsal.get_progress()["late"] == 20
    assert rehearsal.get_progress()["steps"][0]["of"] == 20
    assert list_rows(Submission, rehearsal.slug) == []


def expire_leases() -> None:
    with transaction() as session:
        expired_at = func.clock_timestamp() - text("interval '1 second'")
        session.execute(update(RehearsalMove).values(leased_until=expired_at))


@pytest.mark.parametrize("function_name", ["submit", "finish"])
def test_move_is_made_once_if_its_worker_is_killed(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch, function_name: str
) -> None:
    class KilledBeforeCommit(BaseException):
        pass

    def kill(*_: Any, **__: Any) -> None:
        raise KilledBeforeCommit

    with monkeypatch.context() as patch:
        patch.setattr(rehearsal_moves, function_name, kill)
        with pytest.raises(KilledBeforeCommit):
            advise.advise()
    assert rehearsal.count_states("anonymization")[State.SCORING] == 1
    assert list_rows(Submission, rehearsal.slug) == []
    advise.advise()  # the lease is still valid, so no other worker makes the move
    assert list_rows(Submission, rehearsal.slug) == []
    expire_leases()
    advise.advise()
    assert len(list_rows(Submission, rehearsal.slug)) == 1
    assert rehearsal.count_states("anonymization") == {State.SCORED: 1, State.QUEUED: 19}


def test_worker_with_an_expired_lease_does_not_repeat_a_move(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    postponed_actions: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(work, "submit", lambda _, do: postponed_actions.append(do))
        advise.advise()
    expire_leases()
    advise.advise()
    with transaction() as session:
        assert postponed_actions[0](session) is False
    assert len(list_rows(Submission, rehearsal.slug)) == 1


def test_moves_wait_while_the_file_store_is_unreachable(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_unavailable(*_: Any) -> bytes:
        raise Unavailable("the file store could not be reached", code="storage_unavailable")

    with monkeypatch.context() as patch:
        patch.setattr(type(get_store()), "save", raise_unavailable)
        advise.advise()
    assert rehearsal.count_states("anonymization") == {State.QUEUED: 20}
    with transaction() as session:
        session.execute(update(RehearsalMove).values(not_before=None))
    SCORING_READINESS.backoff_until = 0.0
    advise.advise()
    assert len(list_rows(Submission, rehearsal.slug)) == 1


def test_refused_move_is_reported_with_its_reason(rehearsal: RehearsedContest) -> None:
    with transaction() as session:
        session.execute(
            update(Team)
            .where(Team.competition_id == rehearsal.load_competition().id)
            .values(disqualified_at=func.clock_timestamp())
        )
    rehearsal.play_moves()
    (failure,) = rehearsal.get_progress()["failed"]
    assert (failure["failure_code"], failure["phase"]) == ("move_refused", "anonymization")
    assert "disqualified" in failure["failure"]


def test_only_one_of_several_concurrent_rehearsals_begins(arena: Arena) -> None:
    def begin_rehearsal(_: int) -> int:
        return int(arena.post(f"/competitions/{arena.slug}/rehearsal").status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(begin_rehearsal, range(4))) == [201, 409, 409, 409]
    with transaction() as session:
        assert session.scalars(select(func.count()).where(Competition.rehearsal_of.is_not(None))).one() == 1


def end_rehearsal(rehearsal: RehearsedContest) -> int:
    headers = {
        "Authorization": f"Bearer {rehearsal.arena.organizer_token}",
        "X-Confirm-Password": "correct%20horse",
    }
    path = f"/api/v1/competitions/{rehearsal.arena.slug}/rehearsal"
    return int(rehearsal.arena.client.delete(path, headers=headers).status_code)


def test_rehearsal_can_be_ended_and_begun_again(rehearsal: RehearsedContest) -> None:
    rehearsal.play_moves()
    assert end_rehearsal(rehearsal) == 204
    assert rehearsal.count_states("anonymization") == {State.SCORED: 1, State.CANCELLED: 19}
    assert [row.state for row in list_rows(Evaluation, rehearsal.slug)] == [State.CANCELLED]
    with transaction() as session:  # the moves become due, but the rehearsal has ended
        session.execute(update(RehearsalMove).values(not_before=None))
    score_everything()
    rehearsal.play_moves()
    rehearsal.advance_time(26)
    run_clock()
    assert rehearsal.load_competition().frozen_at is None
    assert len(list_rows(Submission, rehearsal.slug)) == 1
    assert end_rehearsal(rehearsal) == 404
    second_rehearsal = RehearsedContest.begin(rehearsal.arena)
    assert second_rehearsal.slug == f"{rehearsal.slug}-2"
    with transaction() as session:
        audit_query = select(AuditEntry.action, AuditEntry.subject).where(
            AuditEntry.action.startswith("rehearsal."),
            AuditEntry.competition_id == rehearsal.load_competition().rehearsal_of,
        )
        assert [tuple(row) for row in session.execute(audit_query.order_by(AuditEntry.number))] == [
            ("rehearsal.begin", rehearsal.slug),
            ("rehearsal.end", rehearsal.slug),
            ("rehearsal.begin", second_rehearsal.slug),
        ]


def test_rehearsal_refuses_members_reports_and_rehearsals(
    rehearsal: RehearsedContest,
) -> None:
    path = f"/competitions/{rehearsal.slug}"
    requests: dict[str, dict[str, object]] = {
        "invites": {},
        "rehearsal": {},
        "threshold-reports": {"draws": 0},
    }
    for action, body in (requests | {"organizers": {"name": "somebody"}}).items():
        response = rehearsal.arena.post(f"{path}/{action}", json=body)
        assert (response.status_code, response.json()["code"]) == (409, "is_rehearsal"), action


def test_competition_without_original_cannot_be_rehearsed(arena: Arena) -> None:
    arena.post("/competitions", content=build_competition_toml("bare"))
    response = arena.post("/competitions/bare/rehearsal")
    assert (response.status_code, response.json()["code"]) == (409, "no_original")


def test_rehearsal_copies_rules_and_data_except_long_periods(
    client: TestClient,
) -> None:
    extra_toml = "[publication]\ndigits = 3\nfrozen_from = 2020-01-01T00:00:00Z\n"
    rehearsal = RehearsedContest.begin(Contest.create(client, extra_toml=extra_toml, notice_hours=48).arena)
    with transaction() as session:
        original = session.scalars(select(Competition).where(Competition.slug == "small")).one()
        row = session.scalars(select(Competition).where(Competition.slug == rehearsal.slug)).one()
        rules, rehearsal_rules = parse_competition(original.file), parse_competition(row.file)
        assert row.original == original.original
        assert row.original_rows == original.original_rows
    assert rehearsal_rules.title == {"en": "Rehearsal: Small cup", "ja": "リハーサル：小さな杯"}
    publication = rehearsal_rules.publication
    assert (publication.frozen_from, publication.reveal_notice_hours) == (None, 0)
    assert publication.digits == rules.publication.digits == 3
    assert (rehearsal_rules.measures, rehearsal_rules.excessive, rehearsal_rules.limits) == (
        rules.measures,
        rules.excessive,
        rules.limits,
    )
    first_phase, second_phase = rehearsal_rules.phases
    assert second_phase.end - first_phase.start < timedelta(hours=1)


HYPHENATED_SLUG = "cup-2015" + 40 * "-" + "x"
LONG_SLUGS = (
    "a" * 49,
    "a" * 50,
    "a" * 48 + "-b",
    "a" * 63,
    "a" * 32 + "-" + 16 * "0",
    HYPHENATED_SLUG,
    HYPHENATED_SLUG + "y",
)


def test_rehearsal_slugs_of_different_competitions_differ() -> None:
    slugs = {*LONG_SLUGS, "cup-2015", "a" * 48, "a" * 32, "a"}
    prefixes = {rehearsals.build_slug_prefix(slug) for slug in slugs}
    assert len(prefixes) == len(slugs)
    # No such name is a prefix of the rehearsal names of a longer slug.
    nested_prefixes = {rehearsals.build_slug_prefix(name) for name in prefixes}
    assert nested_prefixes & prefixes == {name for name in prefixes if name in slugs}
    for name in prefixes:
        assert SLUG.fullmatch(f"{name}-rehearsal-999")


def test_slug_of_a_rehearsal_does_not_depend_on_similar_ones(client: TestClient) -> None:
    first_slug, second_slug = (
        RehearsedContest.begin(Arena.create(client, slug=slug)).slug for slug in ("cup-2015", HYPHENATED_SLUG)
    )
    assert first_slug == "cup-2015-rehearsal"
    assert second_slug.startswith("cup-2015---")
    assert second_slug.endswith("-rehearsal")


def test_rehearsals_do_not_affect_the_shown_queue_position(client: TestClient) -> None:
    contest = Contest.create(client)
    rehearsal = RehearsedContest.begin(Contest.create(client, slug="other").arena)
    rehearsal.advance_time(16)
    rehearsal.play_moves()
    first_id = contest.submit("red", score=False)
    second_id = contest.submit("red", score=False)
    with transaction() as session:
        full_order: dict[Any, Any] = dict(
            iter(session.execute(select(*fairness.build_claim_order(Evaluation).c)))
        )
        public_order: dict[Any, Any] = dict(
            iter(session.execute(select(*fairness.build_public_order(Evaluation).c)))
        )
        evaluation_ids = {
            str(item.submission_id): item.id
            for item in session.scalars(
                select(Evaluation).where(Evaluation.competition_id != rehearsal.load_competition().id)
            )
        }
    assert len(full_order) == len(public_order) == 22
    assert [public_order[evaluation_ids[item]] for item in (first_id, second_id)] == [0, 1]
    assert full_order[evaluation_ids[second_id]] > 1
    submission = contest.arena.get(
        f"/submissions/{second_id}", token=contest.arena.get_team_token("red")
    ).json()
    assert submission["queue_position"] == 1
