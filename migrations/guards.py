"""Triggers for rules that column privileges and row policies cannot express.

They restrict the roles of the processes, but not the owner of the tables, as which migrations, restores and
installations with a single user run: row security is active for the processes' roles only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from app.db.privileges import GUESS_GUARD, SUBMISSION_GUARD

_STATE_GUARD = "anoncup_state_guard"
_RESULT_GUARD = "anoncup_written_once"
_TRANSITION_GUARD = "anoncup_turned_once"
_ATTEMPT_GUARD = "anoncup_entrance_guard"
_TARGET_GUARD = "anoncup_named_once"

_REFUSED = "ERRCODE = 'insufficient_privilege'"

_STATE_GUARD_BODY = f"""
BEGIN
    IF has_column_privilege(current_user, TG_RELID, 'attempt', 'UPDATE') THEN
        RETURN NEW;
    END IF;
    IF OLD.state IN ('QUEUED', 'SCORING') AND NEW.state = 'CANCELLED' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'role % may not turn % into %', current_user, OLD.state, NEW.state USING {_REFUSED};
END
"""
"""A role that may not begin attempts may only cancel an unfinished evaluation or rejudgement."""

_RESULT_GUARD_BODY = f"""
BEGIN
    IF TG_TABLE_NAME = 'guesses'
       AND NOT has_column_privilege(current_user, TG_RELID, 'attempt', 'UPDATE') THEN
        IF EXISTS (
            SELECT FROM public.rejudgements JOIN public.rescores ON rescores.id = rejudgements.rescore_id
                WHERE rejudgements.guess_id = NEW.id AND rejudgements.state NOT IN ('QUEUED', 'SCORING')
                    AND rescores.applied_at IS NULL AND rescores.cancelled_at IS NULL
                    AND (rejudgements.state, rejudgements.correct, rejudgements.outcome::text,
                         rejudgements.risk, rejudgements.refusal::text)
                        IS NOT DISTINCT FROM
                        (NEW.state, NEW.correct, NEW.outcome::text, NEW.risk, NEW.refusal::text)) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'a guess only gets the result of an open rescore' USING {_REFUSED};
    END IF;
    IF OLD.state IN ('QUEUED', 'SCORING') THEN
        IF NEW.state IN ('QUEUED', 'SCORING', 'CANCELLED')
           AND coalesce(to_json(NEW) ->> 'verdict', to_json(NEW) ->> 'correct', to_json(NEW) ->> 'outcome',
                        to_json(NEW) ->> 'risk', to_json(NEW) ->> 'refusal',
                        to_json(NEW) ->> 'report') IS NOT NULL THEN
            RAISE EXCEPTION 'a result of % is written with its end', TG_TABLE_NAME USING {_REFUSED};
        END IF;
        RETURN NEW;
    END IF;
    IF TG_TABLE_NAME = 'evaluations' THEN
        OLD.current := NEW.current;
    ELSIF TG_TABLE_NAME = 'rejudgements' THEN
        OLD.replaced := NEW.replaced;
    END IF;
    IF OLD *<> NEW THEN
        RAISE EXCEPTION 'what has ended in % is not changed', TG_TABLE_NAME USING {_REFUSED};
    END IF;
    RETURN NEW;
END
"""  # noqa: S608  # only constants are inserted
"""A job gets its result only when it ends. Finished jobs do not change but for ``current`` and ``replaced``.

A role that may not begin attempts may only replace the result of a guess by that of an open rescore.
"""

_TRANSITION_GUARD_BODY = f"""
BEGIN
    IF (OLD.allocated_at IS NOT NULL AND NEW.allocated_at IS DISTINCT FROM OLD.allocated_at)
       OR (OLD.frozen_at IS NOT NULL AND NEW.frozen_at IS DISTINCT FROM OLD.frozen_at)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.closed_at IS NOT NULL AND NEW.closed_at IS DISTINCT FROM OLD.closed_at)
       OR (OLD.revealed_at IS NOT NULL AND NEW.revealed_at IS DISTINCT FROM OLD.revealed_at) THEN
        RAISE EXCEPTION 'a turn of a round is not taken back' USING {_REFUSED};
    END IF;
    RETURN NEW;
END
"""
"""The times of a round's transitions are written once."""

_TARGET_GUARD_BODY = f"""
BEGIN
    IF (OLD.files IS NOT NULL AND NEW.files::text IS DISTINCT FROM OLD.files::text)
       OR (OLD.published_at IS NOT NULL AND NEW.published_at IS DISTINCT FROM OLD.published_at)
       OR (OLD.retired_at IS NOT NULL AND NEW.retired_at IS DISTINCT FROM OLD.retired_at) THEN
        RAISE EXCEPTION 'what becomes of a target is written once' USING {_REFUSED};
    END IF;
    RETURN NEW;
END
"""
"""The files of a target and the time for which it stands do not change once teams can download them."""

_ATTEMPT_GUARD_BODY = f"""
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.started_at = OLD.started_at THEN
            RETURN NEW;
        END IF;
    END IF;
    -- Allow a second, because the server's clock may be set back.
    IF NEW.started_at NOT BETWEEN transaction_timestamp() - interval '1 second'
                      AND clock_timestamp() + interval '1 second' THEN
        RAISE EXCEPTION 'an upload enters when its transaction begins, or later' USING {_REFUSED};
    END IF;
    RETURN NEW;
END
"""
"""An upload cannot be backdated to before the transaction that records it."""

_GUESS_GUARD_BODY = f"""
DECLARE
    this_moment timestamptz := clock_timestamp();
    contest public.rounds%ROWTYPE;
    removed timestamptz;
    terms public.guess_terms%ROWTYPE;
    used bigint;
    granted bigint;
    reason text;
BEGIN
    -- At other levels, guesses of concurrent transactions would not be visible.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a guess is inserted at the isolation level READ COMMITTED' USING {_REFUSED};
    END IF;
    -- This lock makes concurrent transactions of a team count one after the other.
    PERFORM FROM public.teams WHERE id = NEW.team_id FOR UPDATE;
    SELECT guess_terms.* INTO terms
        FROM public.guess_terms WHERE guess_terms.round_id = NEW.round_id;
    SELECT rounds.competition_id, paused_at, published_at, closed_at,
           coalesce(rounds.removed_at, competitions.removed_at)
        INTO contest.competition_id, contest.paused_at, contest.published_at, contest.closed_at, removed
        FROM public.rounds JOIN public.competitions ON competitions.id = rounds.competition_id
        WHERE rounds.id = NEW.round_id;

    IF terms.round_id IS NULL OR contest.published_at IS NULL OR contest.closed_at IS NOT NULL
       OR removed IS NOT NULL THEN
        reason := 'the competition takes no guesses';
    ELSIF NEW.received_at < terms.starts_at OR NEW.received_at >= terms.ends_at
       OR NEW.received_at >= contest.paused_at THEN
        reason := 'it entered outside of the phase';
    ELSIF this_moment > NEW.received_at + make_interval(secs => terms.grace_s)
       AND (this_moment >= terms.ends_at OR contest.paused_at IS NOT NULL) THEN
        reason := 'it took longer than the grace after the deadline';
    ELSIF NOT EXISTS (
        SELECT FROM public.attempts WHERE attempts.team_id = NEW.team_id AND attempts.round_id = NEW.round_id
            AND phase = 'reidentification' AND started_at = NEW.received_at) THEN
        reason := 'no upload of the team entered then';
    ELSIF NOT EXISTS (
        SELECT FROM public.teams WHERE teams.id = NEW.team_id
            AND teams.competition_id = contest.competition_id
            AND NOT baseline AND disqualified_at IS NULL) THEN
        reason := 'the team does not take part in the competition';
    ELSIF NOT EXISTS (
        SELECT FROM public.targets
            JOIN public.submissions ON submissions.id = targets.submission_id
            JOIN public.teams ON teams.id = submissions.team_id
            JOIN public.evaluations ON evaluations.submission_id = submissions.id AND evaluations.current
            WHERE targets.id = NEW.target_id AND targets.round_id = NEW.round_id
                AND targets.published_at <= NEW.received_at
                AND NEW.received_at < coalesce(targets.retired_at, 'infinity')
                AND submissions.team_id <> NEW.team_id AND submissions.disqualified_at IS NULL
                AND teams.disqualified_at IS NULL AND evaluations.state = 'SCORED') THEN
        reason := 'the target is not one that the team may attack';
    ELSIF NOT EXISTS (
        SELECT FROM public.members
            WHERE members.team_id = NEW.team_id AND members.user_id = NEW.user_id) THEN
        reason := 'its author is not a member of the team';
    END IF;
    IF reason IS NULL THEN
        SELECT count(*) INTO used FROM public.guesses
            WHERE guesses.team_id = NEW.team_id AND guesses.target_id = NEW.target_id
                AND guesses.question = NEW.question AND guesses.state NOT IN ('ERROR', 'REFUSED');
        SELECT coalesce(sum(amount), 0) INTO granted FROM public.grants
            WHERE grants.team_id = NEW.team_id AND grants.round_id = NEW.round_id
                AND cap = 'guesses_per_target';
        IF used > terms.guesses_per_target + granted THEN
            reason := 'the team has used all its guesses on this target';
        END IF;
    END IF;
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'guess refused: %', reason USING {_REFUSED}, CONSTRAINT = '{GUESS_GUARD}';
    END IF;
    RETURN NULL;
END
"""  # noqa: S608  # only constants are inserted
"""A guess must be in time, on another team's target, by a member of a participating team, and within the cap.

The clock process copies deadline and cap from the competition's file to ``guess_terms``.
"""


_SUBMISSION_GUARD_BODY = f"""
DECLARE
    this_moment timestamptz := clock_timestamp();
    paused timestamptz;
    removed timestamptz;
    terms public.submission_terms%ROWTYPE;
    today date;
    used bigint;
    used_today bigint;
    granted bigint;
    granted_today bigint;
    reason text;
BEGIN
    SELECT submission_terms.* INTO terms
        FROM public.submission_terms WHERE submission_terms.round_id = NEW.round_id;
    IF terms.round_id IS NULL
       OR EXISTS (SELECT FROM public.teams WHERE teams.id = NEW.team_id AND baseline) THEN
        RETURN NULL;
    END IF;
    -- At other levels, submissions of concurrent transactions would not be visible.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a submission is inserted at the isolation level READ COMMITTED' USING {_REFUSED};
    END IF;
    -- This lock makes concurrent transactions of a team count one after the other.
    PERFORM FROM public.teams WHERE id = NEW.team_id FOR UPDATE;
    SELECT paused_at, coalesce(rounds.removed_at, competitions.removed_at) INTO paused, removed
        FROM public.rounds JOIN public.competitions ON competitions.id = rounds.competition_id
        WHERE rounds.id = NEW.round_id;

    IF NEW.received_at < terms.starts_at OR NEW.received_at >= terms.ends_at OR NEW.received_at >= paused
       OR removed IS NOT NULL THEN
        reason := 'it entered outside of the phase';
    ELSIF this_moment > NEW.received_at + make_interval(secs => terms.grace_s)
       AND (this_moment >= terms.ends_at OR paused IS NOT NULL) THEN
        reason := 'it took longer than the grace after the deadline';
    ELSIF NOT EXISTS (
        SELECT FROM public.attempts WHERE attempts.team_id = NEW.team_id AND attempts.round_id = NEW.round_id
            AND phase = 'anonymization' AND started_at = NEW.received_at) THEN
        reason := 'no upload of the team entered then';
    ELSIF EXISTS (
        SELECT FROM public.teams WHERE teams.id = NEW.team_id AND disqualified_at IS NOT NULL) THEN
        reason := 'the team does not take part in the competition';
    ELSIF NOT EXISTS (
        SELECT FROM public.members
            WHERE members.team_id = NEW.team_id AND members.user_id = NEW.user_id) THEN
        reason := 'its author is not a member of the team';
    END IF;
    IF reason IS NULL THEN
        BEGIN
            today := NEW.received_at AT TIME ZONE terms.timezone;
        EXCEPTION WHEN invalid_parameter_value THEN
            today := NULL;  -- Postgres does not know this time zone: check the total only
        END;
        SELECT count(*), count(*) FILTER (WHERE today IS NOT NULL
                AND (submissions.received_at AT TIME ZONE terms.timezone)::date = today)
            INTO used, used_today
            FROM public.submissions WHERE submissions.team_id = NEW.team_id
                AND submissions.round_id = NEW.round_id AND NOT EXISTS (
                SELECT FROM public.evaluations WHERE evaluations.submission_id = submissions.id
                    AND evaluations.current AND evaluations.state IN ('ERROR', 'CANCELLED'));
        SELECT coalesce(sum(amount) FILTER (WHERE cap = 'valid_total'), 0),
               coalesce(sum(amount) FILTER (WHERE cap = 'valid_per_day' AND today IS NOT NULL
                   AND (grants.granted_at AT TIME ZONE terms.timezone)::date = today), 0)
            INTO granted, granted_today
            FROM public.grants WHERE grants.team_id = NEW.team_id AND grants.round_id = NEW.round_id;
        IF used > terms.valid_total + granted OR used_today > terms.valid_per_day + granted_today THEN
            reason := 'the team has used all its submissions';
        END IF;
    END IF;
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'submission refused: %', reason
            USING {_REFUSED}, CONSTRAINT = '{SUBMISSION_GUARD}';
    END IF;
    RETURN NULL;
END
"""  # noqa: S608  # only constants are inserted
"""A submission must be in time, by a member of a participating team, and within the caps on valid ones.

The clock process copies the limits from the competition's file to ``submission_terms``. Before it has done so
for the first time, nothing is checked.
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """A trigger and the function of the same name that it calls."""

    name: str
    function_body: str
    timing: str
    tables: tuple[str, ...]
    checks_role: bool = True
    """Whether the function checks the role itself."""

    def build_statements(self) -> Iterator[str]:
        yield (
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql"
            f" SET search_path = pg_catalog AS $${self.function_body}$$"
        )
        for table in self.tables:
            condition = "" if self.checks_role else f"WHEN (row_security_active('public.{table}')) "
            yield (
                f"CREATE OR REPLACE TRIGGER {self.name} {self.timing} ON {table} FOR EACH ROW"
                f" {condition}EXECUTE FUNCTION {self.name}()"
            )


_JOB_TABLES = ("evaluations", "guesses", "rejudgements", "threshold_reports")

GUARDS = (
    Guard(_STATE_GUARD, _STATE_GUARD_BODY, "BEFORE UPDATE OF state", ("evaluations", "rejudgements")),
    Guard(_RESULT_GUARD, _RESULT_GUARD_BODY, "BEFORE UPDATE", _JOB_TABLES, checks_role=False),
    Guard(_TRANSITION_GUARD, _TRANSITION_GUARD_BODY, "BEFORE UPDATE", ("rounds",), checks_role=False),
    Guard(_ATTEMPT_GUARD, _ATTEMPT_GUARD_BODY, "BEFORE INSERT OR UPDATE", ("attempts",), checks_role=False),
    Guard(_TARGET_GUARD, _TARGET_GUARD_BODY, "BEFORE UPDATE", ("targets",), checks_role=False),
    Guard(SUBMISSION_GUARD, _SUBMISSION_GUARD_BODY, "AFTER INSERT", ("submissions",), checks_role=False),
    Guard(GUESS_GUARD, _GUESS_GUARD_BODY, "AFTER INSERT", ("guesses",), checks_role=False),
)
