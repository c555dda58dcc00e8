"""The content of events: what the reader of a webhook may see of them when they are sent."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session, undefer

from anoncup import schemas
from anoncup.messages import Message
from app.db.models import Announcement, Delivery, Evaluation, Guess, Round, State, Submission, Target
from app.db.now import read_clock
from app.locale.language import Translator
from app.services.attacks import guesses
from app.services.contests import announcements, visibility
from app.services.contests.contest import Contest, get_timetable
from app.services.contests.visibility import Viewer
from app.services.jobs import outbox


@dataclass(frozen=True, slots=True)
class EventContent:
    """The fields of an event for programs, and a sentence for people. ``path`` is its page."""

    fields: dict[str, Any]
    sentence: Message
    path: str


_PHASE_SENTENCES = {
    ("started", "anonymization"): Message("The anonymization phase has begun."),
    ("started", "reidentification"): Message("The re-identification phase has begun."),
    ("paused", None): Message("The competition is paused."),
    ("resumed", None): Message("The competition goes on. All later starts and ends have moved."),
    ("moved", None): Message("The end of a phase has moved."),
    ("finals_frozen", None): Message("The finals are fixed."),
    ("targets_published", None): Message("The targets are published."),
    ("closed", None): Message("The competition has closed, and all scores are visible."),
    ("revealed", None): Message("The secrets are revealed."),
}


def build_content(session: Session, delivery: Delivery, translator: Translator) -> EventContent | None:
    """Return the content of an event; None if its subject is gone or hidden from the reader."""
    if delivery.event == outbox.TEST:
        return EventContent({}, Message("This is a test."), "")
    if delivery.event == outbox.ANNOUNCEMENT:
        return _build_announcement(session, delivery, translator)
    if delivery.event == outbox.PHASE:
        return _build_phase_change(session, delivery)
    evaluation = session.get(Evaluation, delivery.subject_id)
    if evaluation is not None:
        return _build_submission_result(session, evaluation)
    return _build_guess_result(session, session.get_one(Guess, delivery.subject_id))


def _build_announcement(session: Session, delivery: Delivery, translator: Translator) -> EventContent | None:
    announcement = session.get(Announcement, delivery.subject_id)
    if announcement is None:  # withdrawn
        return None
    texts = announcements.translate(announcement)
    text = texts.get(translator.language) or next(iter(texts.values()))
    return EventContent({"text": texts}, Message("Announcement: {text}", text=text), "")


def _build_phase_change(session: Session, delivery: Delivery) -> EventContent | None:
    round_ = session.get_one(Round, delivery.subject_id)
    if round_.removed_at is not None or delivery.change is None:
        return None
    phases = [
        {"name": phase.name, "start": phase.start.isoformat(), "end": phase.end.isoformat()}
        for phase in get_timetable(round_).phases
    ]
    sentence = _PHASE_SENTENCES.get((delivery.change, delivery.phase))
    fields = {
        "round": round_.address,
        "change": delivery.change,
        "phase": delivery.phase,
        "phases": phases,
    }
    return EventContent(fields, sentence or _PHASE_SENTENCES[delivery.change, None], "")


def _build_submission_result(session: Session, evaluation: Evaluation) -> EventContent | None:
    """Return the result of a submission, all of which its own team may see."""
    submission = session.get_one(Submission, evaluation.submission_id, options=[undefer(Submission.number)])
    round_ = session.get_one(Round, submission.round_id)
    if round_.removed_at is not None or not evaluation.current:
        return None
    fields: dict[str, Any] = {
        "round": round_.address,
        "submission": str(submission.id),
        "number": submission.number,
        "status": evaluation.state,
    }
    sentence = Message(
        "Submission {number} could not be scored because of a fault of the service.", number=submission.number
    )
    if (verdict := evaluation.parsed_verdict) is not None:
        fields |= {name: getattr(verdict, name) for name in ("overall", "utility", "security")}
        fields["violations"] = [violation.code for violation in verdict.violations]
        sentence = _describe_verdict(submission.number, verdict)
    return EventContent(fields, sentence, f"/submissions/{submission.id}")


def _describe_verdict(number: int, verdict: schemas.Verdict) -> Message:
    if verdict.violations:
        reason = verdict.violations[0].sentence
        return Message("Submission {number} was rejected: {reason}.", number=number, reason=reason)
    return Message(
        "Submission {number} is scored: overall {overall}, utility loss {utility}, risk {security}.",
        number=number,
        **{name: f"{getattr(verdict, name):.4f}" for name in ("overall", "utility", "security")},
    )


def _build_guess_result(session: Session, guess: Guess) -> EventContent | None:
    """Return the result of a guess; None while the competition hides it from its own team."""
    round_ = session.get_one(Round, guess.round_id)
    horizon = visibility.compute_guess_horizon(Contest(round_), Viewer(guess.team_id), read_clock(session))
    outcome = guesses.get_visible_result(guess, horizon)
    if round_.removed_at is not None or (guess.state == State.SCORED and outcome is None):
        return None
    target = session.get_one(Target, guess.target_id).name
    fields = {
        "round": round_.address,
        "guess": str(guess.id),
        "target": target,
        "question": guess.question,
        "status": guess.state,
        "correct": outcome.correct_count if outcome else None,
        "rate": outcome.value if outcome else None,
    }
    sentence = (
        Message("Your guess on {target} has the rate {rate}.", target=target, rate=f"{outcome.value:.4f}")
        if outcome
        else Message("Your guess on {target} was not scored.", target=target)
    )
    return EventContent(fields, sentence, f"/targets/{guess.target_id}")
