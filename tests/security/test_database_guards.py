"""The database itself refuses what a process must not do alone: each role signs in and tries."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from app.config import Settings
from app.db.models import AuditEntry, Competition, GuessTerms, SubmissionTerms
from app.db.privileges import CLOCK, WEB, WORKER
from app.db.transaction import transaction
from app.services.contests import guess_terms
from tests.security.roles import SignedIn, connected, folder, refusal, signed_in
from tests.support.contest import Contest, competition_id, turn
from tests.support.wait import eventually
from workers import clock

__all__ = ["folder", "signed_in"]

ENTER = (
    "INSERT INTO attempts (id, team_id, user_id, phase, at, senders, counts)"
    " SELECT gen_random_uuid(), team_id, user_id, 'reidentification', {at}, 1, true FROM guesses LIMIT 1"
)
GUESS = (
    "INSERT INTO guesses (id, competition_id, target_id, team_id, user_id, received_at, question, file,"
    " answered, guesses_left, state, attempt) SELECT gen_random_uuid(), competition_id, target_id, {team},"
    " {user}, {at}, question, file, answered, guesses_left, 'QUEUED', 0"
    " FROM (SELECT * FROM guesses LIMIT 1) AS first, generate_series(1, {times})"
)
TARGET = "SELECT submission_id FROM targets"
OWNER_OF_TARGET = f"SELECT team_id FROM submissions WHERE id IN ({TARGET})"


def guess(*, times: int = 1, at: str = "now()", team: str = "team_id", user: str = "user_id") -> str:
    return GUESS.format(times=times, at=at, team=team, user=user)


def enter(connection: Connection, at: str = "now()") -> None:
    connection.execute(text(ENTER.format(at=at)))


@pytest.fixture
def attacked(client: Any) -> Contest:
    """A contest in its second phase, in which the team blue has used one of its three guesses on a target."""
    contest = Contest.opened(client)
    contest.arena.team("blue")
    red = contest.submit("red")
    contest.attack()
    contest.guessed("blue", red, 3)
    return contest


@pytest.fixture
def owner(settings: Settings) -> Any:
    """Arranges what is needed, as the owner of the tables."""

    def arrange(statement: str) -> None:
        with connected(settings.database_url) as connection:
            connection.execute(text(statement))
            connection.commit()

    return arrange


def note_terms() -> None:
    clock.step(guess_terms.note, competition_id())


def test_a_web_session_inserts_no_more_guesses_than_the_cap(
    attacked: Contest, signed_in: SignedIn, owner: Any
) -> None:
    with signed_in(WEB) as web:
        enter(web)
        assert "used all its guesses" in refusal(web, guess(times=12))
        assert "used all its guesses" in refusal(web, f"WITH more AS ({guess(times=2)}) {guess()}")
        assert web.execute(text(guess(times=2))).rowcount == 2
        assert "used all its guesses" in refusal(web, guess())
        web.execute(
            text(
                "INSERT INTO grants (id, team_id, cap, amount)"
                " SELECT gen_random_uuid(), team_id, 'guesses_per_target', 1 FROM guesses LIMIT 1"
            )
        )
        assert web.execute(text(guess())).rowcount == 1
        assert "used all its guesses" in refusal(web, guess())
    # An installation with one user for all, and a restore, are not held to it.
    owner(guess(times=12))


def is_waiting(connection: Connection) -> bool:
    """Whether a session of the web role waits for a lock."""
    connection.rollback()  # a transaction sees one state of the sessions
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = :role"
    return bool(connection.scalar(text(waiting), {"role": WEB}))


@pytest.mark.full
def test_two_sessions_at_once_do_not_exceed_the_cap_together(
    attacked: Contest, signed_in: SignedIn, settings: Settings
) -> None:
    def insert_two() -> str:
        with signed_in(WEB) as second:
            enter(second)
            return refusal(second, guess(times=2))

    with signed_in(WEB) as first, connected(settings.database_url) as watching, ThreadPoolExecutor(1) as pool:
        enter(first)
        first.execute(text(guess(times=2)))
        refused = pool.submit(insert_two)
        assert eventually(lambda: is_waiting(watching))
        first.commit()
        assert "used all its guesses" in refused.result()
        assert watching.scalar(text("SELECT count(*) FROM guesses")) == 3


@pytest.mark.full
def test_a_session_with_an_old_snapshot_inserts_no_guess(attacked: Contest, signed_in: SignedIn) -> None:
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        with signed_in(WEB) as web:
            web.execution_options(isolation_level=level)
            enter(web)
            assert "READ COMMITTED" in refusal(web, guess())


def test_a_web_session_inserts_no_guess_after_the_deadline_until_the_clock_has_noted_another_one(
    attacked: Contest, signed_in: SignedIn
) -> None:
    attacked.move(reidentification=(-2, -0.5))
    note_terms()
    # Whoever can write the competition's file does not move the end by that alone.
    attacked.move(reidentification=(-2, 1))
    with signed_in(WEB) as web:
        enter(web)
        assert "outside of the phase" in refusal(web, guess())
        web.rollback()
        assert refusal(web, "UPDATE guess_terms SET ends_at = now() + interval '1 day'")
        assert refusal(web, "DELETE FROM guess_terms")
    note_terms()
    with signed_in(WEB) as web:
        enter(web)
        assert web.execute(text(guess())).rowcount == 1
    with transaction() as session:
        raised = session.scalars(
            select(AuditEntry).where(AuditEntry.action == guess_terms.RAISED[GuessTerms])
        ).one()
        assert (list(raised.after or {}), raised.user_id) == (["ends_at"], None)


def test_a_web_session_inserts_no_guess_with_a_result(attacked: Contest, signed_in: SignedIn) -> None:
    """A worker could not even claim it: what has no end may have no result."""
    with signed_in(WEB) as web:
        enter(web)
        for column, value in (("correct", "1"), ("outcome", "'{}'"), ("risk", "1")):
            more = guess().replace("answered, guesses_left", f"answered, {column}, guesses_left", 1)
            statement = more.replace("file, answered, guesses_left", f"file, answered, {value}, guesses_left")
            assert "begins_unjudged" in refusal(web, statement), column


@pytest.mark.full
def test_nobody_dates_an_entrance_back(attacked: Contest, signed_in: SignedIn) -> None:
    with signed_in(WEB) as web:
        for at in ("now() - interval '2 seconds'", "clock_timestamp() + interval '1 minute'"):
            assert "enters when its transaction begins" in refusal(web, ENTER.format(at=at))
        enter(web)
        back = "UPDATE attempts SET at = at - interval '1 hour'"
        assert "enters when its transaction begins" in refusal(web, back)
        assert web.execute(text("UPDATE attempts SET senders = 2, at = at")).rowcount > 0
        assert "no upload of the team entered then" in refusal(web, guess(at="now() - interval '1 second'"))


@pytest.mark.full
def test_a_guess_that_entered_in_time_comes_no_later_than_the_grace(
    attacked: Contest, signed_in: SignedIn, owner: Any
) -> None:
    entered = "(SELECT min(at) FROM attempts WHERE phase = 'reidentification')"
    owner("UPDATE attempts SET at = now() - interval '30 minutes' WHERE phase = 'reidentification'")
    with signed_in(WEB) as web:
        assert web.execute(text(guess(at=entered))).rowcount == 1
    for ended, grace, is_in_time in (("29 minutes", 1900, True), ("29 minutes", 1700, False)):
        owner(f"UPDATE guess_terms SET ends_at = now() - interval '{ended}', grace_s = {grace}")
        with signed_in(WEB) as web:
            if is_in_time:
                assert web.execute(text(guess(at=entered))).rowcount == 1
            else:
                assert "longer than the grace" in refusal(web, guess(at=entered))


ARRANGEMENTS = (
    ("UPDATE competitions SET paused_at = now()", "outside of the phase"),
    ("UPDATE competitions SET published_at = NULL", "takes no guesses"),
    ("UPDATE competitions SET closed_at = now()", "takes no guesses"),
    ("UPDATE competitions SET removed_at = now()", "takes no guesses"),
    ("DELETE FROM guess_terms", "takes no guesses"),
    ("UPDATE guess_terms SET starts_at = now() + interval '1 minute'", "outside of the phase"),
    ("UPDATE submissions SET disqualified_at = now()", "not one that the team may attack"),
    (
        f"UPDATE teams SET disqualified_at = now() WHERE id IN ({OWNER_OF_TARGET})",
        "not one that the team may attack",
    ),
    ("UPDATE evaluations SET state = 'REJECTED'", "not one that the team may attack"),
    (
        "UPDATE teams SET disqualified_at = now() WHERE id IN (SELECT team_id FROM guesses)",
        "team does not take part",
    ),
    ("UPDATE teams SET baseline = true WHERE id IN (SELECT team_id FROM guesses)", "team does not take part"),
    ("DELETE FROM members WHERE team_id IN (SELECT team_id FROM guesses)", "not a member"),
    (
        f"UPDATE submissions SET team_id = (SELECT team_id FROM guesses LIMIT 1) WHERE id IN ({TARGET})",
        "attack",
    ),
)


@pytest.mark.full
def test_a_guess_is_by_a_team_that_takes_part_on_a_target_that_it_may_attack(
    attacked: Contest, signed_in: SignedIn, settings: Settings
) -> None:
    Contest.opened(attacked.arena.client, slug="other").arena.team("green")
    with connected(settings.database_url) as connection:
        for arrangement, reason in ARRANGEMENTS:
            # All in the owner's transaction, which is undone; only the guess is the web role's.
            connection.execute(text(ENTER.format(at="now()")))
            connection.execute(text(arrangement))
            connection.execute(text(f"SET LOCAL ROLE {WEB}"))
            assert reason in refusal(connection, guess()), arrangement
            connection.rollback()
    green = (
        "(SELECT id FROM teams WHERE competition_id IN (SELECT id FROM competitions WHERE slug = 'other'))"
    )
    with signed_in(WEB) as web:
        web.execute(
            text(ENTER.replace("team_id, user_id, 'reid", f"{green}, user_id, 'reid").format(at="now()"))
        )
        assert "team does not take part" in refusal(web, guess(team=green))
        with pytest.raises(Exception, match="fk_guesses_team_id"), web.begin_nested():
            web.execute(text(guess(team="gen_random_uuid()")))


def test_a_worker_writes_a_result_once_and_with_its_end(
    attacked: Contest, signed_in: SignedIn, owner: Any
) -> None:
    ended = (
        "UPDATE evaluations SET verdict = '{}'",
        "UPDATE evaluations SET scorer = '9'",
        "UPDATE evaluations SET state = 'QUEUED'",
        "UPDATE evaluations SET finished_at = now()",
        "UPDATE guesses SET correct = 40",
        "UPDATE guesses SET outcome = '{}'",
        "UPDATE guesses SET risk = 1",
        "UPDATE guesses SET state = 'ERROR'",
        "UPDATE guesses SET state = 'SCORING', correct = NULL",
    )
    with signed_in(WORKER) as worker:
        for statement in ended:
            assert "is not changed" in refusal(worker, statement), statement
        assert worker.execute(text("UPDATE guesses SET correct = correct")).rowcount == 1
    owner("UPDATE guesses SET state = 'SCORING', correct = NULL, outcome = NULL, risk = NULL")
    owner("UPDATE evaluations SET state = 'SCORING', verdict = NULL")
    early = (
        "UPDATE guesses SET correct = 4",
        "UPDATE guesses SET state = 'QUEUED', risk = 1",
        "UPDATE evaluations SET verdict = '{}'",
        "UPDATE evaluations SET verdict = '{}', state = 'CANCELLED'",
    )
    with signed_in(WORKER) as worker:
        for statement in early:
            assert "written with its end" in refusal(worker, statement), statement
        for table, result in (("guesses", "correct = 4"), ("evaluations", "verdict = '{}'")):
            assert worker.execute(text(f"UPDATE {table} SET state = 'SCORED', {result}")).rowcount == 1
            assert "is not changed" in refusal(worker, f"UPDATE {table} SET state = 'ERROR'")


def test_a_worker_writes_a_threshold_report_once(attacked: Contest, signed_in: SignedIn, owner: Any) -> None:
    owner(
        "INSERT INTO threshold_reports (id, competition_id, user_id, file, original, question, state,"
        " attempt) SELECT gen_random_uuid(), competitions.id, users.id, '', '{}', '{}', 'SCORING', 1"
        " FROM competitions, users LIMIT 1"
    )
    with signed_in(WORKER) as worker:
        assert "written with its end" in refusal(worker, "UPDATE threshold_reports SET report = '{}'")
        ended = "UPDATE threshold_reports SET report = '{}', state = 'SCORED'"
        assert worker.execute(text(ended)).rowcount == 1
        assert "is not changed" in refusal(worker, "UPDATE threshold_reports SET report = '[]'")


@pytest.mark.full
def test_a_web_session_still_chooses_which_evaluation_counts(attacked: Contest, signed_in: SignedIn) -> None:
    with signed_in(WEB) as web:
        assert web.execute(text("UPDATE evaluations SET current = false")).rowcount == 1
        assert "is not changed" in refusal(web, "UPDATE evaluations SET current = true, finished_at = now()")


@pytest.mark.full
@pytest.mark.parametrize("column", ["drawn_at", "frozen_at", "published_at", "closed_at", "revealed_at"])
def test_the_clock_takes_no_turn_back(
    attacked: Contest, signed_in: SignedIn, owner: Any, column: str
) -> None:
    owner(f"UPDATE competitions SET {column} = NULL")
    with signed_in(CLOCK) as session:
        assert session.execute(text(f"UPDATE competitions SET {column} = now()")).rowcount == 1
        for value in ("NULL", "clock_timestamp()"):
            assert "not taken back" in refusal(session, f"UPDATE competitions SET {column} = {value}")


SENT_BY = (
    "INSERT INTO submissions (id, competition_id, team_id, user_id, received_at, comment, files, sent, rows,"
    " sizes, remarks, quota_left, final) SELECT gen_random_uuid(), competition_id, team_id, {user}, {at},"
    " comment, files, sent, rows, sizes, remarks, quota_left, false"
    " FROM (SELECT * FROM submissions LIMIT 1) AS first, generate_series(1, {times})"
)


def sent(*, times: int = 1, at: str = "now()", user: str = "user_id") -> str:
    return SENT_BY.format(times=times, at=at, user=user)


def enter_with_a_release(connection: Connection) -> None:
    attempt = ENTER.format(at="now()").replace("reidentification", "anonymization")
    connection.execute(text(attempt.replace("FROM guesses", "FROM submissions")))


@pytest.fixture
def submitting(client: Any) -> Contest:
    """A contest in its first phase, in which the team red has used one of its three submissions of a day."""
    contest = Contest.opened(client, more="[limits]\nvalid_per_day = 3\nvalid_total = 4\n")
    contest.submit("red")
    note_terms()
    return contest


def test_a_web_session_inserts_no_more_submissions_than_the_caps(
    submitting: Contest, signed_in: SignedIn, owner: Any
) -> None:
    grant = "INSERT INTO grants (id, team_id, cap, amount) SELECT gen_random_uuid(), id, '{}', 3 FROM teams"
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert "no upload of the team" in refusal(web, sent(at="now() - interval '1 second'"))
        assert "used all its submissions" in refusal(web, sent(times=3))
        assert web.execute(text(sent(times=2))).rowcount == 2
        assert "used all its submissions" in refusal(web, sent())
        web.execute(text(grant.format("valid_per_day")))
        assert web.execute(text(sent())).rowcount == 1
        assert "used all its submissions" in refusal(web, sent())  # of the total
        web.execute(text(grant.format("valid_total")))
        assert web.execute(text(sent(times=2))).rowcount == 2
        assert "used all its submissions" in refusal(web, sent())  # of the day again
    # What ended in ERROR is given back.
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        web.execute(text(sent(times=2)))
        web.commit()
        enter_with_a_release(web)
        assert "used all its submissions" in refusal(web, sent())
    owner("UPDATE evaluations SET state = 'ERROR'")
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert web.execute(text(sent())).rowcount == 1
    # An installation with one user for all, and a restore, are not held to it.
    owner(sent(times=12))


def test_the_days_of_a_cap_are_those_of_the_competition(
    submitting: Contest, signed_in: SignedIn, owner: Any
) -> None:
    owner("UPDATE submissions SET received_at = received_at - interval '1 day'")
    owner("UPDATE submission_terms SET starts_at = now() - interval '3 days', valid_total = 5")
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert web.execute(text(sent(times=3))).rowcount == 3
        assert "used all its submissions" in refusal(web, sent())
    owner("UPDATE submission_terms SET timezone = 'Nowhere/Unknown'")
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert "used all its submissions" in refusal(web, sent(times=5))
        assert web.execute(text(sent(times=4))).rowcount == 4


def test_a_web_session_inserts_no_submission_after_the_deadline_until_the_clock_has_noted_another_one(
    submitting: Contest, signed_in: SignedIn
) -> None:
    submitting.move(anonymization=(-2, -0.5))
    note_terms()
    submitting.move(anonymization=(-2, 1))
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert "outside of the phase" in refusal(web, sent())
        assert refusal(web, "UPDATE submission_terms SET ends_at = now() + interval '1 day'")
        assert refusal(web, "DELETE FROM submission_terms")
    refused = submitting.arena.submit("red")
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    note_terms()
    assert submitting.arena.submit("red").status_code == 202
    with transaction() as session:
        found = select(AuditEntry).where(AuditEntry.action == guess_terms.RAISED[SubmissionTerms])
        raised = session.scalars(found).one()
        assert (list(raised.after or {}), raised.user_id) == (["ends_at"], None)


def test_a_worker_sends_for_sample_teams_of_a_rehearsal_whatever_postgres_plans(
    submitting: Contest, signed_in: SignedIn, owner: Any
) -> None:
    """A generic plan asks for the right to read members, which workers lack, wherever a query names them."""
    owner("UPDATE competitions SET rehearses = id")
    with signed_in(WORKER) as worker:
        worker.execute(text("SET plan_cache_mode = force_generic_plan"))
        enter_with_a_release(worker)
        assert worker.execute(text(sent())).rowcount == 1


def test_terms_of_submissions_stay_when_their_phase_is_taken_out_of_the_file(submitting: Contest) -> None:
    with transaction() as session:
        row = session.get_one(Competition, competition_id())
        row.file = row.file[: row.file.index("[[phases]]")]
    note_terms()
    with transaction() as session:
        assert session.get(SubmissionTerms, competition_id()) is not None


@pytest.mark.full
def test_a_submission_is_by_a_team_that_takes_part_and_comes_no_later_than_the_grace(
    submitting: Contest, settings: Settings
) -> None:
    entered = "(SELECT min(at) FROM attempts)"
    ago = (
        "UPDATE attempts SET at = now() - interval '30 minutes' WHERE at < now(); UPDATE submission_terms SET"
    )
    arrangements = (
        ("UPDATE competitions SET paused_at = now()", sent(), "outside of the phase"),
        ("UPDATE teams SET disqualified_at = now()", sent(), "team does not take part"),
        ("DELETE FROM members", sent(), "not a member"),
        (
            f"{ago} starts_at = now() - interval '1 day',"
            " ends_at = now() - interval '20 minutes', grace_s = 9",
            sent(at=entered),
            "longer than the grace",
        ),
    )
    with connected(settings.database_url) as connection:
        for arrangement, statement, reason in arrangements:
            enter_with_a_release(connection)
            connection.execute(text(arrangement))
            connection.execute(text(f"SET LOCAL ROLE {WEB}"))
            assert reason in refusal(connection, statement), arrangement
            connection.rollback()


def test_the_clock_names_the_files_of_a_target_once(
    attacked: Contest, signed_in: SignedIn, owner: Any
) -> None:
    with signed_in(CLOCK) as session:
        assert "named once" in refusal(session, "UPDATE targets SET files = '{}'")
        assert "named once" in refusal(session, "UPDATE targets SET files = NULL")
    owner("UPDATE targets SET files = NULL")
    with signed_in(CLOCK) as session:
        assert session.execute(text("UPDATE targets SET files = '{}'")).rowcount == 1


@pytest.mark.full
def test_a_submission_by_a_web_session_is_of_its_team_and_before_the_finals_are_taken(
    attacked: Contest, signed_in: SignedIn, owner: Any
) -> None:
    with signed_in(WEB) as web:
        assert "before_the_freeze" in refusal(web, sent())
    owner("UPDATE teams SET baseline = true")
    with signed_in(WEB) as web:
        assert web.execute(text(sent())).rowcount == 1
    owner("UPDATE teams SET baseline = false; UPDATE competitions SET frozen_at = NULL")
    owner("UPDATE submission_terms SET ends_at = now() + interval '1 hour'")
    Contest.opened(attacked.arena.client, slug="other")
    other = "(SELECT id FROM competitions WHERE slug = 'other')"
    with signed_in(WEB) as web:
        enter_with_a_release(web)
        assert web.execute(text(sent())).rowcount == 1
        assert "before_the_freeze" in refusal(web, sent().replace("(), competition_id", f"(), {other}"))


@pytest.mark.full
def test_a_guess_that_the_clock_has_not_caught_up_with_is_sent_again_and_costs_nothing(
    attacked: Contest,
) -> None:
    attacked.move(reidentification=(-2, -0.1))
    note_terms()
    attacked.move(reidentification=(-2, 1))
    red = next(iter(attacked.secrets))
    target, content = attacked.target_of(red)["id"], attacked.right_on(red, 4)
    refused = attacked.guess("blue", target, content)
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    turn()
    accepted = attacked.guess("blue", target, content)
    assert (accepted.status_code, accepted.json()["guesses_left"]) == (202, 1)
    caps = attacked.arena.get(f"{attacked.path}/quota", token=attacked.arena.team("blue")).json()["caps"]
    assert {cap["used"] for cap in caps} == {0}


@pytest.mark.full
def test_the_clock_notes_a_cap_that_changes_and_forgets_a_phase_that_is_gone(attacked: Contest) -> None:
    def terms() -> GuessTerms | None:
        with transaction() as session:
            return session.get(GuessTerms, competition_id())

    before = terms()
    assert before is not None
    assert before.guesses_per_target == 3
    with transaction() as session:
        row = session.get_one(Competition, competition_id())
        row.file = row.file + "\n[limits]\nguesses_per_target = 5\n"
    note_terms()
    after = terms()
    assert after is not None
    assert (after.guesses_per_target, after.ends_at) == (5, before.ends_at)
    with transaction() as session:
        raised = session.scalars(
            select(AuditEntry).where(AuditEntry.action == guess_terms.RAISED[GuessTerms])
        ).one()
        assert (raised.before, raised.after) == ({"guesses_per_target": "3"}, {"guesses_per_target": "5"})
        row = session.get_one(Competition, competition_id())
        row.file = row.file[: row.file.rindex("[[phases]]")]
    note_terms()
    assert terms() is None
