"""``anoncup organize``: commands for the organizers of a competition."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli import rescore
from anoncup.cli.connection import connect, make_password_prompt, transfer_bar
from anoncup.cli.exit_status import INTERNAL_ERROR
from anoncup.cli.options import (
    AsJson,
    GroupColumns,
    OptionalTomlFile,
    PasswordStdin,
    ReleasePaths,
    Slug,
    SubmittedSecret,
    TomlFile,
    UploadedOriginals,
    accept_release_files,
    parse_group_columns,
    read_text,
    resolve_original_paths,
    use_local_names,
)
from anoncup.cli.output import (
    ColumnSpec,
    Row,
    format_cell,
    make_time_column,
    print_entries,
    print_fields,
    print_json,
    print_result,
    print_table,
    replace_unprintable,
)
from anoncup.cli.submit import collect_paths, read_release_files
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client, Ruling

app = typer.Typer(no_args_is_help=True, help="Organize a competition at a service.")
app.add_typer(rescore.app, name="rescore")

_REPORT_STATE_LABELS = {"QUEUED": "queued", "SCORING": "being made"}
_PhaseName = Annotated[str, typer.Argument(metavar="PHASE", help="anonymization or reidentification")]
_Amount = Annotated[int, typer.Argument(metavar="AMOUNT", help="how much more")]
_CAPS_HELP = "such as valid_per_day, valid_total, attempts_per_day, attempts_total, guesses_per_target"
_ROUND_COLUMNS: ColumnSpec[schemas.Round] = {
    "address": "address",
    "state": "state",
    "weight": "weight",
    "practice": "practice",
}
_COMPETITION_COLUMNS: ColumnSpec[schemas.Competition] = {
    "slug": "slug",
    "track": "track",
    "state": "state",
    "rows": "original_rows",
    "files": "original_files",
}


@app.command()
def create(file: TomlFile, as_json: AsJson = False) -> None:
    """Create a competition from its file; you become its organizer."""
    with connect() as client:
        _print_details(client.create_competition(read_text(file)), _COMPETITION_COLUMNS, as_json=as_json)


@app.command("file")
def print_or_replace_file(
    slug: Slug, file: OptionalTomlFile = None, password_stdin: PasswordStdin = False, as_json: AsJson = False
) -> None:
    """Print the competition's file, with all rounds, or replace it if FILE.toml is given.

    Once somebody has submitted, what is measured cannot change. To end a phase earlier needs your password;
    after a submission so does what shows or lets guess more.
    """
    if file is None:
        with connect() as client:
            print(client.get_competition_file(slug), end="")
        return
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        _print_details(
            client.put_competition_file(slug, read_text(file)), _COMPETITION_COLUMNS, as_json=as_json
        )


@app.command()
@accept_release_files
def baseline(
    slug: Slug,
    *,
    name: Annotated[str, typer.Option(help="its name on the board")],
    secret: SubmittedSecret = None,
    release: ReleasePaths,
    as_json: AsJson = False,
) -> None:
    """Add the release of a sample method to the board for comparison, without a rank."""
    contents, secret_content = read_release_files(release, secret)
    with use_local_names(collect_paths(release, secret)), connect() as client:
        receipt = client.add_baseline(slug, contents, secret=secret_content, name=name)
    _print_details(receipt, {"baseline": "team_id"}, as_json=as_json)


@app.command()
def upload(
    slug: Slug,
    files: UploadedOriginals,
    as_json: AsJson = False,
) -> None:
    """Upload the original data: required files in the track's order, optional ones by name."""
    with connect() as client:
        for name, path in resolve_original_paths(client.get_competition(slug), files).items():
            with transfer_bar(replace_unprintable(name)) as progress:
                original = client.put_original(slug, path.read_bytes(), filename=name, progress=progress)
    _print_details(original, _COMPETITION_COLUMNS, as_json=as_json)
    if not as_json:
        for remark in original.remarks:
            print(f"  {replace_unprintable(remark.code)}: {replace_unprintable(remark.message)}")


@app.command()
def truth(
    slug: Slug,
    name: Annotated[str, typer.Argument(metavar="NAME", help="the name of a file that only organizers have")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Upload a file that only organizers have. It is encrypted and can never be downloaded."""
    with connect() as client, transfer_bar(replace_unprintable(name)) as progress:
        competition = client.put_organizer_data(
            slug, file.read_bytes(), filename=f"{name}.csv", progress=progress
        )
    _print_details(competition, _COMPETITION_COLUMNS, as_json=as_json)


@app.command()
def phases(slug: Slug, as_json: AsJson = False) -> None:
    """Show the phases and the state of the competition."""
    with connect(anonymous=True) as client:
        _print_phases(client.get_competition(slug), as_json=as_json)


def _print_phases(competition: schemas.Competition, *, as_json: bool) -> None:
    if as_json:
        print_json(competition)
        return
    print(f"state: {replace_unprintable(competition.state)}{', paused' if competition.paused else ''}")
    print_table(
        competition.phases,
        {"phase": "name", "start": make_time_column("start"), "end": make_time_column("end")},
    )


@app.command()
def rounds(slug: Slug, as_json: AsJson = False) -> None:
    """List the rounds of a competition with their addresses."""
    with connect(anonymous=True) as client:
        competition = client.get_competition(slug)
    print_entries(competition.rounds, _ROUND_COLUMNS, as_json=as_json)


@app.command()
def reset(
    slug: Slug,
    *,
    start: Annotated[
        str | None, typer.Option(help="when the first phase begins, such as 2027-01-31T09:00+09:00")
    ] = None,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Start a practice round again, such as cup.practice, without its submissions. Needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        competition = client.reset_round(slug, start=_parse_moment(start) if start else None)
    _print_phases(competition, as_json=as_json)


@app.command()
def extend(
    slug: Slug,
    phase: _PhaseName,
    *,
    until: Annotated[str, typer.Option(help="its new end, such as 2027-01-31T09:00+09:00")],
    move_following: Annotated[
        bool, typer.Option("--move-following", help="move later phases by as much")
    ] = False,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Move the end of a phase. An earlier end needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        competition = client.extend_phase(
            slug, phase, end=_parse_moment(until), move_following=move_following
        )
    _print_phases(competition, as_json=as_json)


@app.command()
def pause(slug: Slug, phase: _PhaseName, as_json: AsJson = False) -> None:
    """Pause a phase: uploads are rejected until it is resumed."""
    with connect() as client:
        _print_phases(client.pause_phase(slug, phase), as_json=as_json)


@app.command()
def resume(slug: Slug, phase: _PhaseName, as_json: AsJson = False) -> None:
    """Resume a phase, so that uploads are accepted again."""
    with connect() as client:
        _print_phases(client.resume_phase(slug, phase), as_json=as_json)


@app.command()
def invites(
    slug: Slug,
    uses: Annotated[int, typer.Option(min=1, max=1000, help="how many teams may use it")] = 1,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Create an invite for teams; its code is shown only once. Needs your password after the first phase."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        code = client.create_invite(slug, uses=uses)
    print_result({"code": code, "uses": uses}, code, as_json=as_json)


@app.command()
def teams(slug: Slug, as_json: AsJson = False) -> None:
    """List the teams."""
    columns: ColumnSpec[schemas.Entrant] = {
        "name": "name",
        "id": "id",
        "members": lambda team: [member.name for member in team.members],
        "submissions": "submissions",
        "disqualified": make_time_column("disqualified_at"),
    }
    with connect() as client:
        print_entries(client.list_entrants(slug), columns, as_json=as_json, empty_text="no teams")


@app.command()
def submissions(
    slug: Slug,
    team: Annotated[str | None, typer.Option(help="only of this team: its name or id")] = None,
    state: Annotated[str | None, typer.Option(help="only in this state, such as ERROR")] = None,
    as_json: AsJson = False,
) -> None:
    """List every team's submissions, newest first."""
    with connect() as client:
        team_id = None if team is None else _find_team_id(client, slug, team)
        rows = client.list_all_submissions(slug, team_id=team_id, state=state)
    columns: ColumnSpec[schemas.Submission] = {
        "id": "id",
        "team": "team",
        "status": "status",
        "received": make_time_column("received_at"),
        "overall": "result.overall",
        "final": "final",
        "disqualified": "disqualified",
        "failure": "failure",
    }
    print_entries(rows, columns, as_json=as_json, empty_text="no submissions")


@app.command()
def grant(
    slug: Slug,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="the team's name or id")],
    cap: Annotated[str, typer.Argument(metavar="CAP", help=_CAPS_HELP)],
    amount: _Amount,
    *,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Raise a cap of a team, a daily one for today only. A cap of guesses needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        new_grant = client.grant_quota(
            slug, team_id=_find_team_id(client, slug, team), cap=cap, amount=amount
        )
    print_result(new_grant, f"{replace_unprintable(team)}: {amount} more of {cap}", as_json=as_json)


_RulingSubject = Annotated[
    str, typer.Argument(metavar="WHAT", help="a submission's id; with --team SLUG/TEAM")
]
_RulingReason = Annotated[
    str, typer.Option("--reason", help="for the audit log; of a disqualification, for the team, too")
]
_IsTeam = Annotated[bool, typer.Option("--team", help="WHAT is a whole team, as SLUG/TEAM")]


@app.command()
def disqualify(
    what: _RulingSubject,
    *,
    team: _IsTeam = False,
    reason: _RulingReason = "",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Remove a submission or a team from the boards and targets. Needs your password."""
    _apply_ruling(what, "disqualify", reason, team=team, password_stdin=password_stdin, as_json=as_json)


@app.command()
def reinstate(
    what: _RulingSubject,
    *,
    team: _IsTeam = False,
    reason: _RulingReason = "",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Undo a disqualification. Once targets are attacked, it needs your password."""
    _apply_ruling(what, "reinstate", reason, team=team, password_stdin=password_stdin, as_json=as_json)


@app.command()
def rescore_submission(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="a submission that ended in ERROR")],
    as_json: AsJson = False,
) -> None:
    """Score a submission again that ended in ERROR."""
    with connect() as client:
        submission = client.rescore_submission(identifier)
    print_result(submission, f"{submission.id} is {submission.status}", as_json=as_json)


@app.command()
def announce(
    slug: Slug,
    en: Annotated[str | None, typer.Option(help="the text in English")] = None,
    ja: Annotated[str | None, typer.Option(help="the text in Japanese")] = None,
    as_json: AsJson = False,
) -> None:
    """Post an announcement that everybody can read."""
    texts = {language: translation for language, translation in (("en", en), ("ja", ja)) if translation}
    if not texts:
        raise InvalidInput("give the text with --en, --ja or both", code="no_text")
    with connect() as client:
        print_result(client.post_announcement(slug, texts), "announced", as_json=as_json)


@app.command()
def audit(slug: Slug, as_json: AsJson = False) -> None:
    """Show who did what, newest first."""
    columns: ColumnSpec[schemas.AuditEntry] = {
        "at": make_time_column("at"),
        "who": "actor",
        "act": "action",
        "on": "subject",
        "before": "before",
        "after": "after",
    }
    with connect() as client:
        print_entries(client.list_audit_entries(slug), columns, as_json=as_json, empty_text="nothing yet")


@app.command()
def queue(slug: Slug, as_json: AsJson = False) -> None:
    """Show what waits to be scored, and which jobs the workers serve and what they lack."""
    with connect() as client:
        status = client.get_queue(slug)
    names = [name for name in type(status).model_fields if name != "workers"]
    _print_details(status, {name.replace("_", " "): name for name in names}, as_json=as_json)
    if not as_json:
        columns: ColumnSpec[schemas.Worker] = {"worker": "name", "serves": "serves", "lacks": "lacks"}
        print_entries(status.workers or [], columns, as_json=False, empty_text="no worker has answered")


def _require_new_file(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise InvalidInput("{into} exists already; --replace overwrites it", code="files", into=str(path))


@app.command()
def export(
    slug: Slug,
    into: Annotated[Path, typer.Option(help="the file to write, such as export.zip")],
    force: Annotated[bool, typer.Option("--replace", help="replace an existing file")] = False,
) -> None:
    """Download everything about the competition that an organizer may have, as one archive."""
    _require_new_file(into, force=force)
    with connect() as client, transfer_bar(into.name) as progress:
        digest = client.download_export(slug, into, progress=progress)
    print(f"{into}  SHA-256 {digest}")


@app.command()
def archive(
    slug: Slug,
    into: Annotated[Path, typer.Option(help="the file to write, such as archive.zip")],
    force: Annotated[bool, typer.Option("--replace", help="replace an existing file")] = False,
) -> None:
    """Download data and results for publication, after the reveal."""
    _require_new_file(into, force=force)
    with connect() as client, transfer_bar(into.name) as progress:
        digest = client.download_archive(slug, into, progress=progress)
    print(f"{into}  SHA-256 {digest}")


@app.command()
def threshold(
    slug: Slug,
    groups: GroupColumns = None,
    draws: Annotated[int | None, typer.Option(min=0, help="permutations of each type to simulate")] = None,
    as_json: AsJson = False,
) -> None:
    """Request advice on the threshold from the service, and wait for the report."""
    from anoncup.cli.submit import MAX_OUTAGE_S, MAX_WAIT_S
    from anoncup.cli.terminal import make_console, progress_bar
    from anoncup.cli.threshold_report import show_advice

    group_columns = parse_group_columns(groups)
    with connect() as client, progress_bar("threshold report") as progress:
        summary = client.request_threshold_report(slug, groups=group_columns, draws=draws)
        report = client.wait_for_threshold_report(
            str(summary.id),
            timeout_s=MAX_WAIT_S,
            max_outage_s=MAX_OUTAGE_S,
            watch=lambda current: progress(0, 0, _REPORT_STATE_LABELS.get(current.status, "")),
        )
    if as_json:
        print_json(report)
    elif report.report:
        show_advice(make_console(), report.report)
    if not report.report:
        print(f"anoncup: there is no report: {format_cell(report.failure)}", file=sys.stderr)
        raise typer.Exit(INTERNAL_ERROR)


def _parse_moment(text: str) -> str:
    """Return a time in ISO format with its UTC offset; times without one are in the local time zone."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise InvalidInput(
            "{written!r} is no time like 2027-01-31T09:00+09:00", code="time", written=text
        ) from None


def _print_details(entry: Row, columns: ColumnSpec[Row], *, as_json: bool) -> None:
    if as_json:
        print_json(entry)
    else:
        print_fields(entry, columns)


def _apply_ruling(
    subject: str, ruling: Ruling, reason: str, *, team: bool, password_stdin: bool, as_json: bool
) -> None:
    """Disqualify or reinstate a submission, given by its id, or a team, given as SLUG/TEAM."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        if team:
            slug, slash, name = subject.partition("/")
            if not slash:
                raise InvalidInput("--team takes SLUG/TEAM", code="team")
            result: schemas.TeamDisqualification | schemas.Submission = client.rule_on_team(
                slug, _find_team_id(client, slug, name), ruling, reason=reason
            )
        else:
            result = client.rule_on_submission(subject, ruling, reason=reason)
    past_tense = {"disqualify": "disqualified", "reinstate": "reinstated"}
    print_result(result, f"{past_tense[ruling]} {replace_unprintable(subject)}", as_json=as_json)


def _find_team_id(client: Client, slug: str, name_or_id: str) -> str:
    """Return the id of the team with this name or id."""
    for team in client.list_entrants(slug):
        if name_or_id in {team.name, str(team.id)}:
            return str(team.id)
    raise InvalidInput("{slug} has no team {wanted!r}", code="no_such_team", slug=slug, wanted=name_or_id)
