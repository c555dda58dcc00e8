"""Routes of competitions: the public description, the files that organizers upload, threshold reports."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response, status
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import CompetitionUnavailable, Conflict, NotFound
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.rules import toml_text
from anoncup.rules.model import Rules
from anoncup.schemas.fields import example
from app.accounts.step_up import ReauthenticatedCaller
from app.boards import standing_updates
from app.competitions import competitions, phases, reveal_notice, revisions
from app.competitions.phases import PhaseStatus
from app.core.db.models import Competition, Round, ThresholdReport
from app.core.db.transaction import read_clock, transaction
from app.core.http.bodies import TABLE_BODY, Csv, Toml, key_by_file_name
from app.core.http.openapi import CsvResponse, TomlResponse
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal
from app.core.storage import get_store
from app.originals import (
    allocated_files,
    organizer_data,
    original_import,
    sealed_inputs,
    threshold_reports,
)
from app.setup import publishing

router = APIRouter(prefix="/competitions", tags=["competitions"])
report_router = APIRouter(tags=["threshold reports"])


def serialize_competition(session: Session, round_: Round) -> schemas.Competition:
    competition = _build_competition(round_, phases.get_status(session, round_))
    examples = {file.name: file.list_example_lines(round_.rules) for file in round_.track.original_files}
    details: dict[str, object] = {
        "original_examples": {f"{name}.csv": list(lines) for name, lines in examples.items() if lines}
    }
    if round_.allocation:
        commitments = sealed_inputs.load_commitments(session, round_.id)
        details["seed_commitment"] = round_.seed_commitment
        details["truth_commitments"] = key_by_file_name(commitments)
    return competition.model_copy(update=details)


def _build_competition(round_: Round, phase_status: PhaseStatus) -> schemas.Competition:
    rules = round_.rules
    return schemas.Competition(
        slug=round_.competition.slug,
        address=round_.address,
        round=round_.name,
        rounds=_build_rounds(round_.competition, phase_status.now) if round_.name else [],
        title=dict(rules.title),
        description=dict(rules.description.texts),
        terms=rules.description.terms,
        track=rules.track,
        timezone=rules.timezone,
        state=phase_status.state,
        published_at=round_.competition.published_at,
        paused=phase_status.paused,
        phases=_build_phases(rules),
        reveal_at=reveal_notice.find_reveal_time(round_),
        original_rows=round_.original_rows,
        original_sha256=key_by_file_name(round_.public_files),
        original_files=[f"{name}.csv" for name in round_.track.original_file_names],
        own_files=[f"{name}.csv" for name in allocated_files.list_own_file_names(round_)],
        seed_commitment=None,
        truth_files=[f"{name}.csv" for name in round_.allocation.get("truth", ())],
        truth_commitments={},
    )


def _build_rounds(competition: Competition, now: datetime) -> list[schemas.Round]:
    return [
        schemas.Round(
            name=round_.name,
            address=round_.address,
            title=dict(round_.settings.title) or {"en": round_.name},
            state=phases.get_status_at(round_, now).state,
            phases=_build_phases(round_.rules),
            weight=round_.settings.weight,
            practice=round_.settings.practice,
        )
        for round_ in competition.rounds
    ]


def _build_phases(rules: Rules) -> list[schemas.Phase]:
    return [schemas.Phase(name=phase.name, start=phase.start, end=phase.end) for phase in rules.phases]


def _serialize_entry(round_: Round, now: datetime) -> schemas.ListedCompetition:
    try:
        return _build_competition(round_, phases.get_status_at(round_, now))
    except CompetitionUnavailable as problem:
        return schemas.UnavailableCompetition(
            slug=round_.competition.slug,
            title=dict(round_.competition.title),
            original_rows=round_.original_rows,
            original_sha256=key_by_file_name(round_.original),
            original_files=[f"{name}.csv" for name in round_.original],
            detail=str(problem),
        )


@router.get("")
def list_competitions(principal: OptionalPrincipal) -> list[schemas.ListedCompetition]:
    """List all competitions of this service, oldest first. One whose file cannot be read is `unavailable`."""
    with transaction() as session:
        now, rounds = read_clock(session), competitions.list_current_rounds(session, principal)
        return [_serialize_entry(round_, now) for round_ in rounds]


@router.post("", status_code=status.HTTP_201_CREATED)
def create_competition(principal: CurrentPrincipal, file: Toml) -> schemas.Competition:
    """Create a competition from its file, as a draft. You become its organizer."""
    with transaction() as session:
        round_ = competitions.create(session, principal, toml_text.decode_file(file))
        return serialize_competition(session, round_)


@router.get("/{slug}")
def get_competition(slug: str, principal: OptionalPrincipal) -> schemas.Competition:
    """Return a competition with its phases."""
    with transaction() as session:
        return serialize_competition(session, competitions.find(session, principal, slug))


@router.get("/{slug}/competition.toml", response_class=TomlResponse)
def get_competition_file(slug: str, principal: OptionalPrincipal) -> Response:
    """Return the competition's file with its scales, as the local `anoncup score` reads it.

    A competition with rounds has a file for each round, at the address of the round. The slug alone gives the
    file with all rounds.
    """
    with transaction() as session:
        round_ = competitions.find(session, principal, slug)
    has_all_rounds = round_.name and slug == round_.competition.slug
    text = round_.competition.file if has_all_rounds else competitions.build_published_file(round_)
    return TomlResponse(text)


@router.put("/{slug}/competition.toml")
def replace_competition_file(
    slug: str, principal: ReauthenticatedCaller, file: Toml, *, keep_original: bool = False
) -> schemas.Competition:
    """Replace the competition's file. Moving an end nearer requires the password.

    A file with other columns deletes the original data, or is refused with `keep_original`.

    Once there are submissions, the rules of scoring can only be changed by a re-score, and any other change
    requires the password.
    """
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
    text = toml_text.decode_file(file)
    if keep_original and revisions.drops_original(round_.competition, text):
        raise Conflict(
            "the uploaded data do not fit the columns of this file and would be deleted:"
            " send them again with it",
            code="original_needed",
        )
    revision = revisions.compute_file_revision(round_, text)
    with transaction() as session:
        round_ = revisions.apply_revision(session, principal, slug, revision)
        standing_updates.refresh_all_rounds(session, round_.competition)
        return serialize_competition(session, round_)


@router.get("/{slug}/original/{file}", response_class=CsvResponse)
def get_original(slug: str, file: str, principal: OptionalPrincipal) -> Response:
    """Return a file of the original data, as the organizers uploaded it."""
    with transaction() as session:
        round_ = competitions.find(session, principal, slug)
    name = revisions.find_original_part(round_, file)
    if round_.original_rows is None:
        raise NotFound("the competition has no original data yet", code="no_original")
    if name not in round_.public_files:
        raise NotFound("{name}.csv is not there", code="no_such_file", name=name)
    return CsvResponse(get_store().get(round_.public_files[name]))


@router.put("/{slug}/original/{file}", openapi_extra=TABLE_BODY)
def put_original(slug: str, file: str, principal: CurrentPrincipal, content: Csv) -> schemas.Original:
    """Upload a file of the original. Once all files are there, the scales of the utility scores are computed.

    The first file must be uploaded before the others. Uploading it again removes them.

    A file that the rules cannot read is cleaned as on the page *Original data*: its encoding, separator and
    decimal mark are guessed, and columns that the competition file does not name are left out. `remarks` says
    what was changed.
    """
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
    name = revisions.find_original_part(round_, file)
    revision = original_import.compute_upload_revision(round_, name, content)
    with transaction() as session:
        round_ = revisions.apply_revision(session, principal, slug, revision)
        standing_updates.refresh_all_rounds(session, round_.competition)
        competition = serialize_competition(session, round_)
    remarks = [schemas.Notice.create(remark.code, remark.message) for remark in revision.remarks]
    return schemas.Original(**competition.model_dump(), remarks=remarks)


@router.put("/{slug}/truth/{file}", openapi_extra=TABLE_BODY, tags=["allocations"])
def put_truth(slug: str, file: str, principal: CurrentPrincipal, content: Csv) -> schemas.Competition:
    """Upload a file that only organizers have. It is encrypted for the workers, and nobody can download it.

    It can be replaced until the first phase ends. Once teams have their own files, these must stay the same.
    """
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
        allocated = allocated_files.load_by_team(session, round_.id)
    organizer_file = organizer_data.check_organizer_file(
        round_, organizer_data.find_organizer_file(round_, file), content, allocated
    )
    with transaction() as session:
        round_ = organizer_data.store_sealed(session, principal, slug, organizer_file)
        return serialize_competition(session, round_)


@router.get("/{slug}/publish")
def review_draft(slug: str, principal: CurrentPrincipal) -> schemas.PublishReview:
    """Return what forbids publishing a draft, and what to think of before. Nothing is published."""
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
        publishing.require_draft(round_.competition)
        review = publishing.review_draft(session, principal, round_)
    missing, warnings = (
        [schemas.Notice.create(part.code, part.message) for part in parts]
        for parts in (review.missing, review.warnings)
    )
    return schemas.PublishReview(missing=missing, warnings=warnings)


@router.post("/{slug}/publish")
def publish_competition(slug: str, principal: ReauthenticatedCaller) -> schemas.Competition:
    """Make a draft public, for good. Requires the password; 409 `not_ready` has the codes of what is missing.

    Until then, all calls answer other people as if there were no such competition.
    """
    with transaction() as session:
        return serialize_competition(session, publishing.publish(session, principal, slug))


class ThresholdReportIn(BaseModel):
    """Assumptions and options of the threshold advisor."""

    groups: Annotated[
        list[Annotated[str, Field(max_length=200)]] | None,
        Field(
            max_length=1000,
            description="columns that a cheat keeps unchanged; with [] all individuals are in one"
            " group; by default the columns of the cross-tables, without those with which hardly any two"
            " individuals agree",
        ),
        example(["sex", "age"]),
    ] = None
    distance: Annotated[
        str | None, Field(description="by default the distance of the competition"), example("gower")
    ] = None
    bits: Annotated[
        int, Field(ge=1, le=1000, description="a cheat passes with a probability of at most 2^-bits")
    ] = 50
    draws: Annotated[
        int,
        Field(ge=0, le=100_000, description="number of simulated permutations of each type"),
        example(1000),
    ] = SIMULATED_PERMUTATIONS


@report_router.post("/competitions/{slug}/threshold-reports", status_code=status.HTTP_202_ACCEPTED)
def ask_for_report(slug: str, principal: CurrentPrincipal, body: ThresholdReportIn) -> schemas.ReportSummary:
    """Request a report on the threshold of the rule against excessive anonymization. A worker writes it."""
    question = AdviceQuestion(**body.model_dump())
    if question.groups is None:
        with transaction() as session:
            round_ = competitions.find_for_organizer(session, principal, slug)
        question = replace(question, groups=original_import.select_grouping_columns(round_))
    with transaction() as session:
        return _summarize(threshold_reports.request_report(session, principal, slug, question))


@report_router.get("/competitions/{slug}/threshold-reports")
def list_reports(slug: str, principal: CurrentPrincipal) -> list[schemas.ReportSummary]:
    """List the competition's threshold reports, newest first."""
    with transaction() as session:
        return [_summarize(report) for report in threshold_reports.list_reports(session, principal, slug)]


@report_router.get("/threshold-reports/{report_id}")
def get_report(report_id: UUID, principal: CurrentPrincipal) -> schemas.Report:
    """Return a threshold report: the advice, its bounds and histograms."""
    with transaction() as session:
        row = threshold_reports.find_visible(session, principal, report_id)
        advice = None if row.report is None else schemas.parse_advice(row.report)
        return schemas.Report(**_summarize(row).model_dump(), report=advice)


def _summarize(report: ThresholdReport) -> schemas.ReportSummary:
    return schemas.ReportSummary.from_row(
        report, status=report.state, **schemas.build_failure_fields(report.failure)
    )
