"""Publish a competition: what is missing, what to think of before, and the act, which cannot be undone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Conflict
from anoncup.messages import CodedMessage, Message
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Competition, Round
from app.core.db.stored_files import read_stored
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.originals import original_import, sealed_inputs, threshold_reports
from app.teams import invites


@dataclass(frozen=True, slots=True)
class PublishReview:
    """``missing`` forbids publishing; organizers may ignore ``warnings``."""

    missing: Sequence[CodedMessage]
    warnings: Sequence[CodedMessage]


def require_draft(competition: Competition) -> None:
    if competition.published_at is not None:
        raise Conflict("the competition is published already", code="already_published")


def publish(session: Session, principal: Principal, slug: str) -> Round:
    """Make a draft public. Raises Conflict with what is missing."""
    round_ = competitions.lock_for_organizer(session, principal, slug, all_rounds=True)
    competition = round_.competition
    require_draft(competition)
    review = review_draft(session, principal, round_)
    if review.missing:
        raise Conflict(
            "the competition cannot be published yet: {missing}",
            code="not_ready",
            missing=tuple(part.message for part in review.missing),
            codes=tuple(part.code for part in review.missing),
        )
    principal.require_reauthentication()
    competition.published_at = read_clock(session)
    warnings = {"warnings": [warning.code for warning in review.warnings]}
    audit.record(
        session, principal, "competition.publish", competition.id, subject=competition.slug, after=warnings
    )
    return round_


def review_draft(session: Session, principal: Principal, round_: Round) -> PublishReview:
    """Review the competition of a round. Only the round that begins first must be complete."""
    first = competitions.find(session, principal, round_.competition.slug)
    missing, warnings = list_missing_parts(first), list(_iter_report_warnings(session, principal, first))
    if missing_files := sealed_inputs.list_missing_files(session, first):
        message = Message(
            "no team can be given its data before you upload {files} on the page of the original data",
            files=tuple(f"{name}.csv" for name in missing_files),
        )
        warnings.append(CodedMessage("no_truth", message))
    if not invites.list_open(session, principal, first.address):
        warnings.append(CodedMessage("no_invites", Message("nobody can join: there is no open invite")))
    warnings.extend(_iter_text_and_column_warnings(first))
    phase, now = next(iter(first.rules.phases), None), read_clock(session)
    if phase and phase.end <= now:
        missing.append(CodedMessage("phase_over", Message("the first phase is over")))
    elif phase and phase.start <= now:
        message = Message("the first phase has begun: teams can submit at once")
        if first.name:
            message = Message(
                "the first phase of round {name} has begun: teams can submit at once", name=first.name
            )
        warnings.append(CodedMessage("phase_begun", message))
    return PublishReview(missing, warnings)


def list_missing_parts(round_: Round) -> list[CodedMessage]:
    """List what a round needs to be played, and does not have."""
    rules = round_.rules
    lacks_threshold = rules.excessive is not None and rules.threshold is None
    parts = [
        (round_.original_rows is None, "no_original", Message("the original data are missing")),
        (lacks_threshold, "no_threshold", Message("no threshold is chosen")),
        (not rules.phases, "no_phases", Message("the phases are missing")),
    ]
    return [CodedMessage(code, message) for is_missing, code, message in parts if is_missing]


def _iter_report_warnings(session: Session, principal: Principal, round_: Round) -> Iterator[CodedMessage]:
    """Yield whether doing nothing or a cheat leads in the contest of the newest report on these data."""
    if round_.rules.excessive is None:
        return  # the track has no reports
    reports = threshold_reports.list_reports(session, principal, round_.address)
    finished = (
        (report.file, schemas.parse_advice(report.report))
        for report in reports
        if report.report and report.original == round_.original
    )
    newest = next(finished, None)
    if newest is None:
        message = Message("no threshold report tells whether doing nothing or a cheat would win")
        yield CodedMessage("no_report", message)
        return
    contest_warnings = _find_contest_warnings(round_, *newest)
    if contest_warnings is None:
        message = Message(
            "threshold, weights, attackers or ranking have changed since the newest threshold report: ask "
            "for a new one"
        )
        yield CodedMessage("report_outdated", message)
        return
    yield from (CodedMessage(warning.code, warning.sentence) for warning in contest_warnings)


def _find_contest_warnings(
    round_: Round, file: str, advice: schemas.Advice
) -> Sequence[schemas.Notice] | None:
    """Return what a report on a file warns of under the present rules, None if it has not played by them."""
    rules, rule = round_.rules, round_.rules.required_excessive
    asked = read_stored(lambda stored_file: stored_file.rules[round_.name], file)
    if (asked.measures, asked.attackers, asked.ranking) != (rules.measures, rules.attackers, rules.ranking):
        return None
    if rule.threshold == advice.contest.threshold:
        return advice.contest.warnings
    if (rule.distance, rule.threshold) == (advice.distance, advice.threshold):
        return advice.contest.recommended_warnings
    return None


def _iter_text_and_column_warnings(round_: Round) -> Iterator[CodedMessage]:
    """Yield languages without a description, and quasi-identifiers that identify people by themselves."""
    texts = round_.rules.description.texts
    languages = tuple(language for language in round_.rules.title if texts and language not in texts)
    if languages:
        message = Message("the description (with the terms) is missing in: {languages}", languages=languages)
        yield CodedMessage("no_description", message)
    columns = original_import.list_identifying_columns(round_)
    if columns:
        message = Message(
            "most individuals have a value of their own in {columns}: use coarser values, such as years, or "
            "do without",
            columns=columns,
        )
        yield CodedMessage("identifying_columns", message)
