"""Constraints and triggers of the database refuse forbidden writes; each is tried in its role."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from app.config import Settings
from app.db.models import AuditEntry, GuessTerms, Round, SubmissionTerms
from app.db.privileges import CLOCK, WEB, WORKER
from app.db.transaction import transaction
from app.services.contests import upload_terms
from tests.security.role_logins import SignInAsRole, connect_to, logins_folder, require_refusal, sign_in
from tests.support.contest import Contest, load_round_id, run_clock
from tests.support.rescores import begin_rescore, build_reweighted_file
from tests.support.wait import poll_until
from workers import clock

__all__ = ["logins_folder", "sign_in"]

INSERT_ATTEMPT = (
    "INSERT INTO attempts (id, round_id, team_id, user_id, phase, started_at, senders, counts)"
    " SELECT gen_random_uuid(), round_id, team_id, user_id, 'reidentification', {at}, 1, true"
    " FROM guesses LIMIT 1"
)
INSERT_GUESS = (
    "INSERT INTO guesses (id, round_id, target_id, team_id, user_id, received_at, question, file,"
    " answered, guesses_left, state, attempt) SELECT gen_random_uuid(), round_id, target_id, {team},"
    " {user}, {at}, question, file, answered, guesses_left, 'QUEUED', 0"
    " FROM (SELECT * FROM guesses LIMIT 1) AS first, generate_series(1, {times})"
)
TARGET_SUBMISSIONS = "SELECT submission_id FROM targets"
TARGET_TEAMS = f"SELECT team_id FROM submissions WHERE id IN ({TARGET_SUBMISSIONS})"


def build_guess_insert(
    *, times: int = 1, time: str = "now()", team: str = "team_id", user: str = "user_id"
) -> str:
    return INSERT_GUESS.format(times=times, at=time, team=team, user=user)


def insert_attempt(connection: Connection, time: str = "now()") -> None:
    connection.execute(text(INSERT_ATTEMPT.format(at=time)))


@pytest.fixture
def second_phase_contest(client: Any) -> Contest:
    """A contest in its second phase; team blue has used one of three guesses on its target."""
    contest = Contest.create(client)
    contest.arena.get_team_token("blue")
    (red_submission,) = contest.publish_targets("red")
    contest.submit_correct_guess("blue", red_submission, 3)
    return contest


@pytest.fixture
def run_as_owner(settings: Settings) -> Any:
    """Executes a statement as the owner of the tables."""

    def execute(statement: str) -> None:
        with connect_to(settings.database_url) as connection:
            connection.execute(text(statement))
            connection.commit()

    return execute


def record_terms() -> None:
    clock.run_step(upload_terms.record_terms, load_round_id())


def test_web_session_cannot_exceed_the_guess_cap(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    with sign_in(WEB) as web:
        insert_attempt(web)
        assert "used all its guesses" in require_refusal(web, build_guess_insert(times=12))
        assert "used all its guesses" in require_refusal(
            web, f"WITH more AS ({build_guess_insert(times=2)}) {build_guess_insert()}"
        )
        assert web.execute(text(build_guess_insert(times=2))).rowcount == 2
        assert "used all its guesses" in require_refusal(web, build_guess_insert())
        web.execute(
            text(
                "INSERT INTO grants (id, round_id, team_id, cap, amount)"
                " SELECT gen_random_uuid(), round_id, team_id, 'guesses_per_target', 1 FROM guesses LIMIT 1"
            )
        )
        assert web.execute(text(build_guess_insert())).rowcount == 1
        assert "used all its guesses" in require_refusal(web, build_guess_insert())
    # The guard does not hold for the owner: an installation with a single user, or a restore.
    run_as_owner(build_guess_insert(times=12))


def test_refused_guess_does_not_count_towards_the_cap(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    run_as_owner("UPDATE guesses SET state = 'REFUSED'")
    with sign_in(WEB) as web:
        insert_attempt(web)
        assert "used all its guesses" in require_refusal(web, build_guess_insert(times=4))
        assert web.execute(text(build_guess_insert(times=3))).rowcount == 3


def is_waiting(connection: Connection) -> bool:
    """Return whether a session of the web role waits for a lock."""
    connection.rollback()  # one transaction always sees the same state of the sessions
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = :role"
    return bool(connection.scalar(text(waiting), {"role": WEB}))


@pytest.mark.full
def test_parallel_sessions_cannot_exceed_the_cap(
    second_phase_contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    def insert_two() -> str:
        with sign_in(WEB) as second:
            insert_attempt(second)
            return require_refusal(second, build_guess_insert(times=2))

    with (
        sign_in(WEB) as first,
        connect_to(settings.database_url) as observer,
        ThreadPoolExecutor(1) as pool,
    ):
        insert_attempt(first)
        first.execute(text(build_guess_insert(times=2)))
        refused = pool.submit(insert_two)
        assert poll_until(lambda: is_waiting(observer))
        first.commit()
        assert "used all its guesses" in refused.result()
        assert observer.scalar(text("SELECT count(*) FROM guesses")) == 3


@pytest.mark.full
def test_old_snapshot_cannot_insert_a_guess(second_phase_contest: Contest, sign_in: SignInAsRole) -> None:
    for isolation_level in ("REPEATABLE READ", "SERIALIZABLE"):
        with sign_in(WEB) as web:
            web.execution_options(isolation_level=isolation_level)
            insert_attempt(web)
            assert "READ COMMITTED" in require_refusal(web, build_guess_insert())


def test_web_session_cannot_insert_a_guess_after_the_deadline(
    second_phase_contest: Contest, sign_in: SignInAsRole
) -> None:
    second_phase_contest.move_phases(reidentification=(-2, -0.5))
    record_terms()
    # Writing the competition file alone does not move the deadline.
    second_phase_contest.move_phases(reidentification=(-2, 1))
    with sign_in(WEB) as web:
        insert_attempt(web)
        assert "outside of the phase" in require_refusal(web, build_guess_insert())
        web.rollback()
        assert require_refusal(web, "UPDATE guess_terms SET ends_at = now() + interval '1 day'")
        assert require_refusal(web, "DELETE FROM guess_terms")
    record_terms()
    with sign_in(WEB) as web:
        insert_attempt(web)
        assert web.execute(text(build_guess_insert())).rowcount == 1
    with transaction() as session:
        audit_entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == upload_terms.RAISE_ACTIONS[GuessTerms])
        ).one()
        assert (list(audit_entry.after or {}), audit_entry.user_id) == (["ends_at"], None)


def test_web_session_cannot_insert_a_judged_guess(
    second_phase_contest: Contest, sign_in: SignInAsRole
) -> None:
    """A worker could not claim it, since an unfinished guess may have no result."""
    with sign_in(WEB) as web:
        insert_attempt(web)
        for column, value in (("correct", "1"), ("outcome", "'{}'"), ("risk", "1"), ("refusal", "'{}'")):
            with_column = build_guess_insert().replace(
                "answered, guesses_left", f"answered, {column}, guesses_left", 1
            )
            statement = with_column.replace(
                "file, answered, guesses_left", f"file, answered, {value}, guesses_left"
            )
            assert "begins_unjudged" in require_refusal(web, statement), column


@pytest.mark.full
def test_attempt_cannot_be_backdated(second_phase_contest: Contest, sign_in: SignInAsRole) -> None:
    with sign_in(WEB) as web:
        for time in ("now() - interval '2 seconds'", "clock_timestamp() + interval '1 minute'"):
            assert "enters when its transaction begins" in require_refusal(
                web, INSERT_ATTEMPT.format(at=time)
            )
        insert_attempt(web)
        backdating = "UPDATE attempts SET started_at = started_at - interval '1 hour'"
        assert "enters when its transaction begins" in require_refusal(web, backdating)
        assert web.execute(text("UPDATE attempts SET senders = 2, started_at = started_at")).rowcount > 0
        assert "no upload of the team entered then" in require_refusal(
            web, build_guess_insert(time="now() - interval '1 second'")
        )


@pytest.mark.full
def test_guess_started_in_time_is_accepted_in_the_grace_period(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    attempt_time = "(SELECT min(started_at) FROM attempts WHERE phase = 'reidentification')"
    run_as_owner(
        "UPDATE attempts SET started_at = now() - interval '30 minutes' WHERE phase = 'reidentification'"
    )
    run_as_owner("UPDATE targets SET published_at = now() - interval '1 hour'")
    with sign_in(WEB) as web:
        assert web.execute(text(build_guess_insert(time=attempt_time))).rowcount == 1
    for time_ago, grace, is_in_time in (("29 minutes", 1900, True), ("29 minutes", 1700, False)):
        run_as_owner(f"UPDATE guess_terms SET ends_at = now() - interval '{time_ago}', grace_s = {grace}")
        with sign_in(WEB) as web:
            if is_in_time:
                assert web.execute(text(build_guess_insert(time=attempt_time))).rowcount == 1
            else:
                assert "longer than the grace" in require_refusal(web, build_guess_insert(time=attempt_time))


OTHER_ROUND = "SELECT id FROM rounds WHERE name = 'final'"
ADD_ROUND = (
    "INSERT INTO rounds (id, competition_id, name, scales, original)"
    " SELECT gen_random_uuid(), competition_id, 'final', scales, original FROM rounds LIMIT 1;"
)
ARRANGEMENTS = (
    ("UPDATE rounds SET paused_at = now()", "outside of the phase"),
    ("UPDATE rounds SET published_at = NULL", "takes no guesses"),
    ("UPDATE rounds SET closed_at = now()", "takes no guesses"),
    ("UPDATE competitions SET removed_at = now()", "takes no guesses"),
    (f"{ADD_ROUND} UPDATE attempts SET round_id = ({OTHER_ROUND})", "no upload of the team entered"),
    (f"{ADD_ROUND} UPDATE targets SET round_id = ({OTHER_ROUND})", "not one that the team may attack"),
    ("UPDATE targets SET published_at = NULL", "not one that the team may attack"),
    ("UPDATE targets SET retired_at = now() - interval '1 second'", "not one that the team may attack"),
    ("DELETE FROM guess_terms", "takes no guesses"),
    ("UPDATE guess_terms SET starts_at = now() + interval '1 minute'", "outside of the phase"),
    ("UPDATE submissions SET disqualified_at = now()", "not one that the team may attack"),
    (
        f"UPDATE teams SET disqualified_at = now() WHERE id IN ({TARGET_TEAMS})",
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
        "UPDATE submissions SET team_id = (SELECT team_id FROM guesses LIMIT 1) "
        f"WHERE id IN ({TARGET_SUBMISSIONS})",
        "attack",
    ),
)


@pytest.mark.full
def test_guess_must_come_from_a_participating_rival_team(
    second_phase_contest: Contest, sign_in: SignInAsRole, settings: Settings
) -> None:
    Contest.create(second_phase_contest.arena.client, slug="other").arena.get_team_token("green")
    with connect_to(settings.database_url) as connection:
        for arrangement, reason in ARRANGEMENTS:
            # All in one transaction of the owner, which is rolled back; only the guess is in the web role.
            connection.execute(text(INSERT_ATTEMPT.format(at="now()")))
            connection.execute(text(arrangement))
            connection.execute(text(f"SET LOCAL ROLE {WEB}"))
            assert reason in require_refusal(connection, build_guess_insert()), arrangement
            connection.rollback()
    green_team = (
        "(SELECT id FROM teams WHERE competition_id IN (SELECT id FROM competitions WHERE slug = 'other'))"
    )
    with sign_in(WEB) as web:
        web.execute(
            text(
                INSERT_ATTEMPT.replace("team_id, user_id, 'reid", f"{green_team}, user_id, 'reid").format(
                    at="now()"
                )
            )
        )
        assert "team does not take part" in require_refusal(web, build_guess_insert(team=green_team))
        with pytest.raises(Exception, match="fk_guesses_team_id"), web.begin_nested():
            web.execute(text(build_guess_insert(team="gen_random_uuid()")))


def test_worker_writes_each_result_once_with_its_end_time(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    late_changes = (
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
    with sign_in(WORKER) as worker:
        for statement in late_changes:
            assert "is not changed" in require_refusal(worker, statement), statement
        assert worker.execute(text("UPDATE guesses SET correct = correct")).rowcount == 1
    run_as_owner("UPDATE guesses SET state = 'SCORING', correct = NULL, outcome = NULL, risk = NULL")
    run_as_owner("UPDATE evaluations SET state = 'SCORING', verdict = NULL")
    early_changes = (
        "UPDATE guesses SET correct = 4",
        "UPDATE guesses SET state = 'QUEUED', risk = 1",
        "UPDATE evaluations SET verdict = '{}'",
        "UPDATE evaluations SET verdict = '{}', state = 'CANCELLED'",
    )
    with sign_in(WORKER) as worker:
        for statement in early_changes:
            assert "written with its end" in require_refusal(worker, statement), statement
        for table, result in (("guesses", "correct = 4"), ("evaluations", "verdict = '{}'")):
            assert worker.execute(text(f"UPDATE {table} SET state = 'SCORED', {result}")).rowcount == 1
            assert "is not changed" in require_refusal(worker, f"UPDATE {table} SET state = 'ERROR'")


def test_web_gives_a_guess_only_the_result_of_an_open_rescore(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    contest = second_phase_contest
    begin_rescore(contest, build_reweighted_file(contest))
    apply = (
        "UPDATE guesses SET (state, correct, outcome, risk) ="
        " (SELECT state, correct, outcome, risk FROM rejudgements)"
    )
    forgeries = (
        "UPDATE guesses SET correct = 40",
        "UPDATE guesses SET finished_at = now()",
        apply.replace("(SELECT state,", "(SELECT 'ERROR',"),
    )
    with sign_in(WEB) as web:
        assert "result of an open rescore" in require_refusal(web, apply)  # it is not judged yet
        assert "may not turn" in require_refusal(web, "UPDATE rejudgements SET state = 'SCORED'")
    run_as_owner("UPDATE rejudgements SET state = 'SCORED', correct = 7, outcome = '{}', risk = 0.5")
    with sign_in(WEB) as web:
        for forgery in forgeries:
            assert "result of an open rescore" in require_refusal(web, forgery), forgery
        assert web.execute(text("UPDATE rejudgements SET replaced = '{}'")).rowcount == 1
        assert web.execute(text(apply)).rowcount == 1
    run_as_owner("UPDATE rescores SET cancelled_at = now()")
    with sign_in(WEB) as web:
        assert "result of an open rescore" in require_refusal(web, apply)


def test_worker_writes_each_threshold_report_once(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    run_as_owner(
        "INSERT INTO threshold_reports (id, round_id, user_id, file, original, question, state,"
        " attempt) SELECT gen_random_uuid(), rounds.id, users.id, '', '{}', '{}', 'SCORING', 1"
        " FROM rounds, users LIMIT 1"
    )
    with sign_in(WORKER) as worker:
        assert "written with its end" in require_refusal(worker, "UPDATE threshold_reports SET report = '{}'")
        final_update = "UPDATE threshold_reports SET report = '{}', state = 'SCORED'"
        assert worker.execute(text(final_update)).rowcount == 1
        assert "is not changed" in require_refusal(worker, "UPDATE threshold_reports SET report = '[]'")


@pytest.mark.full
def test_web_session_can_choose_the_current_evaluation(
    second_phase_contest: Contest, sign_in: SignInAsRole
) -> None:
    with sign_in(WEB) as web:
        assert web.execute(text("UPDATE evaluations SET current = false")).rowcount == 1
        assert "is not changed" in require_refusal(
            web, "UPDATE evaluations SET current = true, finished_at = now()"
        )


@pytest.mark.full
@pytest.mark.parametrize("column", ["allocated_at", "frozen_at", "published_at", "closed_at", "revealed_at"])
def test_clock_cannot_undo_a_transition(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any, column: str
) -> None:
    run_as_owner(f"UPDATE rounds SET {column} = NULL")
    with sign_in(CLOCK) as session:
        assert session.execute(text(f"UPDATE rounds SET {column} = now()")).rowcount == 1
        for value in ("NULL", "clock_timestamp()"):
            assert "not taken back" in require_refusal(session, f"UPDATE rounds SET {column} = {value}")


INSERT_SUBMISSION = (
    "INSERT INTO submissions (id, round_id, team_id, user_id, received_at, comment, files,"
    " uploaded_sha256, rows, sizes, remarks, quota_left, final)"
    " SELECT gen_random_uuid(), round_id, team_id, {user}, {at},"
    " comment, files, uploaded_sha256, rows, sizes, remarks, quota_left, false"
    " FROM (SELECT * FROM submissions LIMIT 1) AS first, generate_series(1, {times})"
)


def build_submission_insert(*, times: int = 1, time: str = "now()", user: str = "user_id") -> str:
    return INSERT_SUBMISSION.format(times=times, at=time, user=user)


def insert_release_attempt(connection: Connection) -> None:
    statement = INSERT_ATTEMPT.format(at="now()").replace("reidentification", "anonymization")
    connection.execute(text(statement.replace("FROM guesses", "FROM submissions")))


@pytest.fixture
def first_phase_contest(client: Any) -> Contest:
    """A contest in its first phase; team red has used one of its three submissions of the day."""
    contest = Contest.create(client, extra_toml="[limits]\nvalid_per_day = 3\nvalid_total = 4\n")
    contest.submit("red")
    record_terms()
    return contest


def test_web_session_cannot_exceed_the_submission_caps(
    first_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    grant = (
        "INSERT INTO grants (id, round_id, team_id, cap, amount)"
        " SELECT gen_random_uuid(), rounds.id, teams.id, '{}', 3 FROM teams, rounds"
    )
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert "no upload of the team" in require_refusal(
            web, build_submission_insert(time="now() - interval '1 second'")
        )
        assert "used all its submissions" in require_refusal(web, build_submission_insert(times=3))
        assert web.execute(text(build_submission_insert(times=2))).rowcount == 2
        assert "used all its submissions" in require_refusal(web, build_submission_insert())
        web.execute(text(grant.format("valid_per_day")))
        assert web.execute(text(build_submission_insert())).rowcount == 1
        assert "used all its submissions" in require_refusal(web, build_submission_insert())  # of the total
        web.execute(text(grant.format("valid_total")))
        assert web.execute(text(build_submission_insert(times=2))).rowcount == 2
        assert "used all its submissions" in require_refusal(
            web, build_submission_insert()
        )  # of the day again
    # Submissions in ERROR are given back to the quota.
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        web.execute(text(build_submission_insert(times=2)))
        web.commit()
        insert_release_attempt(web)
        assert "used all its submissions" in require_refusal(web, build_submission_insert())
    run_as_owner("UPDATE evaluations SET state = 'ERROR'")
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert web.execute(text(build_submission_insert())).rowcount == 1
    # The guard does not hold for the owner: an installation with a single user, or a restore.
    run_as_owner(build_submission_insert(times=12))


def test_submissions_and_grants_of_another_round_do_not_count(
    first_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    insert = build_submission_insert().replace("(), round_id", f"(), '{load_round_id()}'")
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        web.commit()
    run_as_owner(f"{ADD_ROUND} UPDATE submissions SET round_id = ({OTHER_ROUND})")
    run_as_owner(
        "INSERT INTO grants (id, round_id, team_id, cap, amount)"
        f" SELECT gen_random_uuid(), ({OTHER_ROUND}), id, 'valid_per_day', 9 FROM teams"
    )
    with sign_in(WEB) as web:
        time = web.scalar(text("SELECT max(started_at) FROM attempts"))
        insert = insert.replace("now()", f"'{time}'")
        for _ in range(3):
            assert web.execute(text(insert)).rowcount == 1
        assert "used all its submissions" in require_refusal(web, insert)


def test_daily_caps_use_the_competition_time_zone(
    first_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    run_as_owner("UPDATE submissions SET received_at = received_at - interval '1 day'")
    run_as_owner("UPDATE submission_terms SET starts_at = now() - interval '3 days', valid_total = 5")
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert web.execute(text(build_submission_insert(times=3))).rowcount == 3
        assert "used all its submissions" in require_refusal(web, build_submission_insert())
    run_as_owner("UPDATE submission_terms SET timezone = 'Nowhere/Unknown'")
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert "used all its submissions" in require_refusal(web, build_submission_insert(times=5))
        assert web.execute(text(build_submission_insert(times=4))).rowcount == 4


def test_web_session_cannot_submit_after_the_deadline(
    first_phase_contest: Contest, sign_in: SignInAsRole
) -> None:
    first_phase_contest.move_phases(anonymization=(-2, -0.5))
    record_terms()
    first_phase_contest.move_phases(anonymization=(-2, 1))
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert "outside of the phase" in require_refusal(web, build_submission_insert())
        assert require_refusal(web, "UPDATE submission_terms SET ends_at = now() + interval '1 day'")
        assert require_refusal(web, "DELETE FROM submission_terms")
    refused = first_phase_contest.arena.submit("red")
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    record_terms()
    assert first_phase_contest.arena.submit("red").status_code == 202
    with transaction() as session:
        query = select(AuditEntry).where(AuditEntry.action == upload_terms.RAISE_ACTIONS[SubmissionTerms])
        audit_entry = session.scalars(query).one()
        assert (list(audit_entry.after or {}), audit_entry.user_id) == (["ends_at"], None)


def test_submission_terms_remain_when_the_phase_is_removed(
    first_phase_contest: Contest,
) -> None:
    with transaction() as session:
        row = session.get_one(Round, load_round_id())
        row.competition.file = row.file[: row.file.index("[[phases]]")]
    record_terms()
    with transaction() as session:
        assert session.get(SubmissionTerms, load_round_id()) is not None


@pytest.mark.full
def test_submission_must_come_from_a_participating_team_in_time(
    first_phase_contest: Contest, settings: Settings
) -> None:
    attempt_time = "(SELECT min(started_at) FROM attempts)"
    backdate = (
        "UPDATE attempts SET started_at = now() - interval '30 minutes' WHERE started_at < now();"
        " UPDATE submission_terms SET"
    )
    arrangements = (
        ("UPDATE rounds SET paused_at = now()", build_submission_insert(), "outside of the phase"),
        ("UPDATE competitions SET removed_at = now()", build_submission_insert(), "outside of the phase"),
        ("UPDATE teams SET disqualified_at = now()", build_submission_insert(), "team does not take part"),
        (
            f"{ADD_ROUND} UPDATE attempts SET round_id = ({OTHER_ROUND})",
            build_submission_insert(),
            "no upload of the team entered",
        ),
        ("DELETE FROM members", build_submission_insert(), "not a member"),
        (
            f"{backdate} starts_at = now() - interval '1 day',"
            " ends_at = now() - interval '20 minutes', grace_s = 9",
            build_submission_insert(time=attempt_time),
            "longer than the grace",
        ),
    )
    with connect_to(settings.database_url) as connection:
        for arrangement, statement, reason in arrangements:
            insert_release_attempt(connection)
            connection.execute(text(arrangement))
            connection.execute(text(f"SET LOCAL ROLE {WEB}"))
            assert reason in require_refusal(connection, statement), arrangement
            connection.rollback()


def test_clock_records_files_and_standing_times_of_targets_once(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    run_as_owner("UPDATE targets SET retired_at = now()")
    with sign_in(CLOCK) as session:
        for change in ("files = '{}'", "files = NULL", "published_at = now()", "retired_at = NULL"):
            assert "is written once" in require_refusal(session, f"UPDATE targets SET {change}")
    run_as_owner("UPDATE targets SET files = NULL")
    with sign_in(CLOCK) as session:
        assert session.execute(text("UPDATE targets SET files = '{}'")).rowcount == 1


@pytest.mark.full
def test_web_session_submits_only_for_its_team_before_the_finals(
    second_phase_contest: Contest, sign_in: SignInAsRole, run_as_owner: Any
) -> None:
    with sign_in(WEB) as web:
        assert "before_the_freeze" in require_refusal(web, build_submission_insert())
    run_as_owner("UPDATE teams SET baseline = true")
    with sign_in(WEB) as web:
        assert web.execute(text(build_submission_insert())).rowcount == 1
    run_as_owner("UPDATE teams SET baseline = false; UPDATE rounds SET frozen_at = NULL")
    run_as_owner("UPDATE submission_terms SET ends_at = now() + interval '1 hour'")
    Contest.create(second_phase_contest.arena.client, slug="other")
    other_round = f"'{load_round_id('other')}'"
    with sign_in(WEB) as web:
        insert_release_attempt(web)
        assert web.execute(text(build_submission_insert())).rowcount == 1
        assert "before_the_freeze" in require_refusal(
            web, build_submission_insert().replace("(), round_id", f"(), {other_round}")
        )


@pytest.mark.full
def test_guess_refused_for_outdated_terms_can_be_repeated(
    second_phase_contest: Contest,
) -> None:
    second_phase_contest.move_phases(reidentification=(-2, -0.1))
    record_terms()
    second_phase_contest.move_phases(reidentification=(-2, 1))
    red_submission = next(iter(second_phase_contest.secrets))
    target = second_phase_contest.find_target(red_submission)["id"]
    content = second_phase_contest.build_guess(red_submission, 4)
    refused = second_phase_contest.submit_guess("blue", target, content)
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    run_clock()
    accepted = second_phase_contest.submit_guess("blue", target, content)
    assert (accepted.status_code, accepted.json()["guesses_left"]) == (202, 1)
    caps = second_phase_contest.arena.get(f"{second_phase_contest.path}/quota", team="blue").json()["caps"]
    assert {cap["used"] for cap in caps} == {0}


@pytest.mark.full
def test_clock_records_changed_caps_and_removed_phases(second_phase_contest: Contest) -> None:
    def load_terms() -> GuessTerms | None:
        with transaction() as session:
            return session.get(GuessTerms, load_round_id())

    old_terms = load_terms()
    assert old_terms is not None
    assert old_terms.guesses_per_target == 3
    with transaction() as session:
        row = session.get_one(Round, load_round_id())
        row.competition.file = row.file + "\n[limits]\nguesses_per_target = 5\n"
    record_terms()
    new_terms = load_terms()
    assert new_terms is not None
    assert (new_terms.guesses_per_target, new_terms.ends_at) == (5, old_terms.ends_at)
    with transaction() as session:
        audit_entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == upload_terms.RAISE_ACTIONS[GuessTerms])
        ).one()
        assert (audit_entry.before, audit_entry.after) == (
            {"guesses_per_target": "3"},
            {"guesses_per_target": "5"},
        )
        row = session.get_one(Round, load_round_id())
        row.competition.file = row.file[: row.file.rindex("[[phases]]")]
    record_terms()
    assert load_terms() is None
