"""Rehearsals, which the service's workers and clock run until the reveal."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from anoncup.client import ApiError, Client
from anoncup.competition.parser import SLUG, parse_competition
from anoncup.errors import Unavailable
from anoncup.messages import Message
from anoncup.schemas import Problem
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import (
    Attempt,
    AuditEntry,
    Clarification,
    Competition,
    Evaluation,
    Guess,
    Member,
    Round,
    State,
    Submission,
    Target,
    Team,
    User,
)
from app.db.transaction import transaction
from app.services.accounts import password_hashes
from app.services.contests import clarifications
from app.services.jobs import fairness
from app.services.organizing import rehearsal_moves, rehearsals
from app.services.organizing.rehearsal_moves import GuessMove, Move
from app.storage import get_store
from tests.support.arena import Arena, build_competition_toml
from tests.support.contest import Contest, run_clock
from tests.support.database_rows import execute, load_all, load_one
from tests.support.rehearsal import RehearsedContest
from tests.support.service_processes import find_free_port
from tests.support.uploads import score_everything
from workers import advise, rehearse, scoring_child
from workers.scoring_child import ChildDiedError, JobResult

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("rehearsal_service")]


@pytest.fixture(autouse=True)
def few_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit rehearsals to two guesses per team, which test as much as ten."""
    monkeypatch.setattr(rehearsal_moves, "GUESSES_PER_TEAM", 2)


@pytest.fixture
def rehearsal(client: TestClient) -> RehearsedContest:
    """A rehearsal of a contest with two phases."""
    return RehearsedContest.begin(Contest.create(client).arena)


def load_sealed_tokens() -> list[bytes]:
    return [tokens for tokens in load_all(select(Competition.rehearsal_tokens)) if tokens is not None]


def list_rows(model: Any, slug: str) -> list[Any]:
    query = select(model).join(Round, Round.id == model.round_id).join(Round.competition)
    return load_all(query.where(Competition.slug == slug))


def test_rehearsal_runs_until_the_reveal(client: TestClient) -> None:
    rehearsal = RehearsedContest.create_for_year(client, 2016)
    assert rehearsal.count_sent() == 0
    rehearsal.run_first_phase()
    rehearsal.run_second_phase()
    rehearsal.reveal()
    progress = rehearsal.get_progress()
    assert (progress["state"], progress["failed"], progress["late"]) == ("closed", [], 0)
    submissions, guesses, targets = (
        list_rows(model, rehearsal.slug) for model in (Submission, Guess, Target)
    )
    scored_evaluations = [
        item for item in list_rows(Evaluation, rehearsal.slug) if item.state == State.SCORED
    ]
    assert {step["step"]: (step["done"], step["of"]) for step in progress["steps"]} == {
        "releases": (20, 20),
        "scores": (20, 20),
        "finals": (len(targets), len(targets)),
        "targets": (len(targets), len(targets)),
        "guesses": (20, 20),
        "judged": (20, 20),
        "reveal": (len(targets), len(targets)),
    }
    assert 10 <= len(targets) <= len(scored_evaluations)
    assert {item.state for item in guesses} == {State.SCORED}
    assert rehearsal.load_round().revealed_at is not None
    # Every team sends its first release before any team sends its second.
    first_times = sorted(item.received_at for item in submissions)[:10]
    assert len({item.team_id for item in submissions if item.received_at in first_times}) == 10


def test_each_team_guesses_on_other_teams_targets_once(rehearsal: RehearsedContest) -> None:
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
    assert rehearsal.count_sent() == 1
    rehearsal.advance_time(rehearsals.PHASE_LENGTH.total_seconds() / 60 * 0.31)
    rehearsal.play_moves()
    assert rehearsal.count_sent() == 11
    assert (len(rehearsal.list_moves("anonymization")), rehearsal.list_moves("reidentification")) == (20, [])


def test_shortening_a_phase_brings_moves_forward(rehearsal: RehearsedContest) -> None:
    rehearsal.advance_time(3)
    assert len(load_due_moves(rehearsal)) == 5
    path = f"/competitions/{rehearsal.slug}/phases/anonymization/extend"
    body = {"end": (datetime.now(UTC) + timedelta(minutes=3)).isoformat(), "move_following": True}
    assert rehearsal.arena.post(path, json=body).status_code == 200
    assert len(load_due_moves(rehearsal)) == 17


def load_due_moves(rehearsal: RehearsedContest) -> list[Move]:
    with transaction() as session:
        return rehearsal_moves.load_due(session, rehearsal.load_round())


def test_pause_postpones_moves(rehearsal: RehearsedContest) -> None:
    path = f"/competitions/{rehearsal.slug}/phases/anonymization"
    assert rehearsal.arena.post(f"{path}/pause").status_code == 200
    rehearsal.play_moves()
    assert rehearsal.count_sent() == 0
    assert rehearsal.arena.post(f"{path}/resume").status_code == 200
    rehearsal.play_moves()
    assert rehearsal.count_sent() == 1


def test_rehearsal_without_workers_is_reported_as_stalled(rehearsal: RehearsedContest) -> None:
    assert not rehearsal.get_progress()["stalled"]
    rehearsal.advance_time(1)
    assert not rehearsal.get_progress()["stalled"]
    rehearsal.advance_time(2)
    assert rehearsal.get_progress()["stalled"]
    with transaction() as session:
        assert rehearsal_moves.try_lock(session, rehearsal.load_round().id)
        assert not rehearsal.get_progress()["stalled"]  # a worker is making a move
    assert rehearsal.get_progress()["stalled"]
    advise.advise()
    assert not rehearsal.get_progress()["stalled"]


def test_moves_are_late_after_their_phase(rehearsal: RehearsedContest) -> None:
    rehearsal.advance_time(26)
    rehearsal.play_moves()
    assert rehearsal.get_progress()["late"] == 20
    assert rehearsal.get_progress()["steps"][0]["of"] == 20
    assert list_rows(Submission, rehearsal.slug) == []


class KilledError(BaseException):
    """Ends a task where its worker is killed."""


@pytest.mark.parametrize("function_name", ["submit", "post_files"])
def test_move_is_made_once_if_its_worker_is_killed(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch, function_name: str
) -> None:
    """It is killed before the release is sent, or before it learns that the release was accepted."""
    original_post_files = Client.post_files

    def kill(*arguments: Any, **options: Any) -> None:
        if function_name == "post_files":
            original_post_files(*arguments, **options)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Client, function_name, kill)
        with pytest.raises(KilledError):
            advise.advise()
    assert rehearsal.count_sent() == (1 if function_name == "post_files" else 0)
    rehearsal.play_moves()
    assert len(list_rows(Submission, rehearsal.slug)) == 1


def test_two_workers_make_a_move_once(rehearsal: RehearsedContest) -> None:
    round_, moves = rehearsal.load_round(), load_due_moves(rehearsal)
    with transaction() as session:
        assert rehearsal_moves.try_lock(session, round_.id)
        advise.advise()
        assert rehearsal.count_sent() == 0
    (tokens,) = load_sealed_tokens()
    # If the first worker has lost its lock, the second sends the same upload.
    assert [rehearse.make_first_move(round_, moves, tokens) for _ in range(2)] == [True, True]
    assert (len(list_rows(Submission, rehearsal.slug)), rehearsal.list_questions()) == (1, [])
    assert len(load_all(select(Attempt))) == 1


def refuse_to_read(*_: Any) -> bytes:
    raise Unavailable("the file store could not be reached", code="storage_unavailable")


@pytest.mark.parametrize("is_store", [True, False])
def test_moves_wait_while_the_store_or_the_web_server_is_unreachable(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch, *, is_store: bool
) -> None:
    with monkeypatch.context() as patch:
        if is_store:
            scoring_child.slot.end()  # it may have the files of an earlier test
            patch.setattr(type(get_store()), "get", refuse_to_read)
        else:
            patch.setenv("ANONCUP_SERVICE_URL", f"http://127.0.0.1:{find_free_port()}")
            get_settings.cache_clear()
        advise.advise()
    get_settings.cache_clear()
    assert (rehearsal.count_sent(), rehearsal.list_questions()) == (0, [])
    advise.advise()  # the pause is not over
    assert rehearsal.count_sent() == 0
    rehearse.paused_until.clear()
    advise.advise()
    assert rehearsal.count_sent() == 1


def test_rehearsal_whose_tokens_cannot_be_used_does_not_stop_other_work(
    client: TestClient, rehearsal: RehearsedContest
) -> None:
    competition = rehearsal.load_competition()
    sealed = sealing.seal_file(get_settings().sealing_key_file, bound_to=competition.id, content=b"{}")
    execute(update(Competition).where(Competition.id == competition.id).values(rehearsal_tokens=sealed))
    assert not rehearse.make_next_move()
    other_rehearsal = RehearsedContest.begin(Contest.create(client, slug="other").arena)
    advise.advise()
    assert (rehearsal.count_sent(), other_rehearsal.count_sent()) == (0, 1)


def test_moves_are_sent_without_the_proxies_of_the_environment(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{find_free_port()}")
    advise.advise()
    assert rehearsal.count_sent() == 1


@pytest.mark.parametrize(
    ("service_url", "host"),
    [
        ("http://web:8000", "localhost"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://cup.example.org", "cup.example.org"),
        ("https://other.example.org", "other.example.org"),
    ],
)
def test_host_is_replaced_where_the_web_server_does_not_answer_to_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, service_url: str, host: str
) -> None:
    monkeypatch.setenv("ANONCUP_PUBLIC_URL", "http://cup.example.org")
    monkeypatch.setenv("ANONCUP_SERVICE_URL", service_url)
    get_settings.cache_clear()
    with rehearse.connect("token") as client:
        assert client.http.build_request("GET", "/me").headers["host"] == host


@pytest.mark.parametrize("status", [408, 500])
def test_answer_that_does_not_concern_the_move_is_no_failure(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ApiError(Problem(type="about:blank", title="Error", status=status, detail="no", code="error"))

    with monkeypatch.context() as patch:
        patch.setattr(Client, "submit", refuse)
        advise.advise()
    assert rehearsal.list_questions() == []
    rehearse.paused_until.clear()
    advise.advise()
    assert rehearsal.count_sent() == 1


def disqualify_teams(rehearsal: RehearsedContest) -> None:
    is_sample = Team.competition_id == rehearsal.load_competition().id
    execute(update(Team).where(is_sample).values(disqualified_at=func.clock_timestamp()))


def test_refused_move_is_reported_once_with_its_reason(rehearsal: RehearsedContest) -> None:
    disqualify_teams(rehearsal)
    rehearsal.play_moves()
    advise.advise()
    (failure,) = rehearsal.get_progress()["failed"]
    assert failure["question"] == "release-1: your team has been disqualified"
    assert failure["team"] == rehearsal.list_moves("anonymization")[0].team.name
    rehearsal.advance_time(4)
    assert not rehearsal.get_progress()["stalled"]


def test_move_whose_child_always_dies_is_reported(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        runs.append(1)
        raise ChildDiedError(Message("killed"))

    runs: list[int] = []
    monkeypatch.setattr(scoring_child, "run", die)
    rehearsal.play_moves()
    assert (rehearsal.list_questions(), len(runs)) == (["release-1: killed"], get_settings().scoring_attempts)
    monkeypatch.setenv("ANONCUP_SCORING_TIME_LIMIT_S", "0")
    get_settings.cache_clear()
    rehearsal.advance_time(1)
    advise.advise()
    assert (len(rehearsal.list_questions()), len(runs)) == (2, get_settings().scoring_attempts + 1)


def test_no_other_attacker_is_tried_when_time_is_up(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_nothing(*_: Any, **__: Any) -> JobResult:
        runs.append(1)
        return JobResult({"files": {}}, "")

    runs: list[int] = []
    rehearsal.run_first_phase()
    rehearsal.advance_time(10)
    run_clock()
    rehearsal.advance_time(4)
    monkeypatch.setattr(scoring_child, "run", find_nothing)
    advise.advise()
    (move, *_) = rehearsal.list_moves("reidentification")
    assert isinstance(move, GuessMove)
    assert len(runs) == len(move.attackers) > 1
    monkeypatch.setenv("ANONCUP_SCORING_TIME_LIMIT_S", "0")
    get_settings.cache_clear()
    rehearsal.advance_time(1)
    advise.advise()
    assert len(runs) == len(move.attackers) + 1
    assert [question.partition(": ")[2] for question in rehearsal.list_questions()] == [
        "no built-in attacker has a guess in time"
    ] * 2


def test_move_that_reaches_the_time_limit_of_its_task_is_reported(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach_limit(*_: Any, **__: Any) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(scoring_child, "run", reach_limit)
    advise.advise()
    assert rehearsal.list_questions() == ["release-1: it took too long"]


def test_questions_of_a_team_are_read_once_for_all_its_moves(
    rehearsal: RehearsedContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsal.advance_time(16)
    disqualify_teams(rehearsal)
    rehearsal.play_moves()
    assert len(rehearsal.list_questions()) == 20
    read_questions, slugs = Client.list_clarifications, list[str]()

    def read_and_count(client: Client, slug: str) -> Any:
        slugs.append(slug)
        return read_questions(client, slug)

    monkeypatch.setattr(Client, "list_clarifications", read_and_count)
    advise.advise()
    assert slugs == [rehearsal.slug] * 10


def test_team_with_too_many_questions_gives_up(rehearsal: RehearsedContest) -> None:
    team = rehearsal.list_moves("anonymization")[0].team
    with transaction() as session:
        (member,) = session.scalars(select(Member).where(Member.team_id == team.id))
        for number in range(clarifications.MAX_UNANSWERED):
            question = Clarification(question=f"guess-T{number}-link: no", user_id=member.user_id)
            question.competition_id, question.team_id = member.competition_id, team.id
            session.add(question)
    rehearsal.play_moves()
    assert rehearsal.count_sent() == 0
    rehearsal.advance_time(1.5)
    rehearsal.play_moves()
    assert {move.team.name for move in rehearsal.list_moves("anonymization") if move.sent_at} == {
        move.team.name for move in rehearsal.list_moves("anonymization")[1:3]
    }


def test_members_of_sample_teams_have_sealed_tokens_and_no_password(rehearsal: RehearsedContest) -> None:
    competition = rehearsal.load_competition()
    (sealed,) = load_sealed_tokens()
    members = load_all(select(User).join(Member, Member.user_id == User.id))
    assert b"anoncup_" not in sealed
    tokens = json.loads(
        sealing.open_file(get_settings().opening_keys_dir, bound_to=competition.id, content=sealed)
    )
    assert len(tokens) == len(members) == 10
    assert not any(password_hashes.is_correct_password(member.password_hash, "") for member in members)
    token = next(iter(tokens.values()))
    assert rehearsal.arena.get(f"/competitions/{rehearsal.slug}/team", token=token).status_code == 200
    assert end_rehearsal(rehearsal) == 204
    assert rehearsal.arena.get("/me", token=token).status_code == 401
    assert load_sealed_tokens() == []


def test_only_one_of_several_concurrent_rehearsals_begins(arena: Arena) -> None:
    def begin_rehearsal(_: int) -> int:
        return int(arena.post(f"/competitions/{arena.slug}/rehearsal").status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(begin_rehearsal, range(4))) == [201, 409, 409, 409]
    assert load_one(select(func.count()).where(Competition.rehearsal_of.is_not(None))) == 1


def end_rehearsal(rehearsal: RehearsedContest) -> int:
    return rehearsal.arena.call("DELETE", f"/competitions/{rehearsal.arena.slug}/rehearsal").status_code


def test_rehearsal_can_be_ended_and_begun_again(rehearsal: RehearsedContest) -> None:
    rehearsal.play_moves()
    assert end_rehearsal(rehearsal) == 204
    assert [row.state for row in list_rows(Evaluation, rehearsal.slug)] == [State.CANCELLED]
    score_everything()
    rehearsal.advance_time(16)
    rehearsal.play_moves()  # moves are due, but the rehearsal has ended
    rehearsal.advance_time(10)
    run_clock()
    assert rehearsal.load_round().frozen_at is None
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


def test_rehearsal_refuses_members_reports_and_rehearsals(rehearsal: RehearsedContest) -> None:
    path = f"/competitions/{rehearsal.slug}"
    bodies = {"organizers": {"name": "somebody"}, "threshold-reports": {"draws": 0}}
    for action in ("invites", "rehearsal", *bodies):
        response = rehearsal.arena.post(f"{path}/{action}", json=bodies.get(action, {}))
        assert (response.status_code, response.json()["code"]) == (409, "is_rehearsal"), action


def test_competition_without_original_cannot_be_rehearsed(arena: Arena) -> None:
    arena.post("/competitions", content=build_competition_toml("bare"))
    response = arena.post("/competitions/bare/rehearsal")
    assert (response.status_code, response.json()["code"]) == (409, "no_original")


def test_rehearsal_copies_rules_and_data_except_long_periods(client: TestClient) -> None:
    extra_toml = "[publication]\ndigits = 3\nfrozen_from = 2020-01-01T00:00:00Z\n"
    rehearsal = RehearsedContest.begin(Contest.create(client, extra_toml=extra_toml, notice_hours=48).arena)
    original = load_one(select(Round).join(Competition).where(Competition.slug == "small"))
    row = rehearsal.load_round()
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
    *("a" * 49, "a" * 50, "a" * 48 + "-b", "a" * 63, "a" * 32 + "-" + 16 * "0"),
    *(HYPHENATED_SLUG, HYPHENATED_SLUG + "y"),
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
                select(Evaluation).where(Evaluation.round_id != rehearsal.load_round().id)
            )
        }
    assert len(full_order) == len(public_order) == 22
    assert [public_order[evaluation_ids[item]] for item in (first_id, second_id)] == [0, 1]
    assert full_order[evaluation_ids[second_id]] > 1
    submission = contest.arena.get(f"/submissions/{second_id}", team="red").json()
    assert submission["queue_position"] == 1
