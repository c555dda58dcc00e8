"""``anoncup organize``: what the organizers of a competition do at the service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli import rehearsal, rejudgings
from anoncup.cli.connection import asking, connected, transfer_bar
from anoncup.cli.disqualification import judge, team_in
from anoncup.cli.exit_status import BROKEN
from anoncup.cli.options import (
    AsJson,
    GroupColumns,
    PasswordStdin,
    Release,
    SentSecret,
    Slug,
    TomlFile,
    UploadedOriginals,
    names_in,
    paths_of_original,
    read_text,
    takes_release,
)
from anoncup.cli.output import (
    Columns,
    Row,
    cell,
    done,
    plain,
    print_fields,
    print_json,
    print_table,
    show,
    time_of,
)
from anoncup.cli.submit import called_by_path, paths_of, release_of
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas

organize = typer.Typer(no_args_is_help=True, help="Organize a competition at a service.")
organize.add_typer(rejudgings.rescore, name="rescore")
organize.add_typer(rehearsal.rehearsal, name="rehearsal")

REPORTED = {"QUEUED": "queued", "SCORING": "being made"}
PhaseName = Annotated[str, typer.Argument(metavar="PHASE", help="anonymization or reidentification")]
Amount = Annotated[int, typer.Argument(metavar="AMOUNT", help="how much more")]
CAPS = "such as valid_per_day, valid_total, attempts_per_day, attempts_total, guesses_per_target"
COMPETITION: Columns[schemas.Competition] = {
    "slug": "slug",
    "track": "track",
    "state": "state",
    "rows": "original_rows",
    "files": "original_files",
}


@organize.command()
def create(file: TomlFile, as_json: AsJson = False) -> None:
    """Create a competition from its file; you become its organizer."""
    with connected() as client:
        told(client.create_competition(read_text(file)), COMPETITION, as_json=as_json)


@organize.command("file")
def replace_file(
    slug: Slug, file: TomlFile, password_stdin: PasswordStdin = False, as_json: AsJson = False
) -> None:
    """Exchange the competition's file. Once somebody has submitted, what is measured stands.

    An end that moves nearer needs your password; after a submission so does what shows or lets guess more.
    """
    with connected(password=asking(stdin=password_stdin)) as client:
        told(client.put_competition_file(slug, read_text(file)), COMPETITION, as_json=as_json)


@organize.command()
@takes_release
def baseline(
    slug: Slug,
    *,
    name: Annotated[str, typer.Option(help="its name on the board")],
    secret: SentSecret = None,
    release: Release,
    as_json: AsJson = False,
) -> None:
    """Put the release of a sample method on the board for comparison, without a rank."""
    contents, answer = release_of(release, secret)
    with called_by_path(paths_of(release, secret)), connected() as client:
        made = client.add_baseline(slug, contents, secret=answer, name=name)
    told(made, {"baseline": "team_id"}, as_json=as_json)


@organize.command()
def upload(
    slug: Slug,
    files: UploadedOriginals,
    as_json: AsJson = False,
) -> None:
    """Upload the original data: what must be there in the track's order, the rest by name."""
    with connected() as client:
        for name, path in paths_of_original(client.competition(slug), files).items():
            with transfer_bar(plain(name)) as progress:
                stored = client.put_original(slug, path.read_bytes(), file=name, progress=progress)
    told(stored, COMPETITION, as_json=as_json)
    if not as_json:
        for note in stored.remarks:
            print(f"  {plain(note.code)}: {plain(note.message)}")


@organize.command()
def truth(
    slug: Slug,
    name: Annotated[str, typer.Argument(metavar="NAME", help="the name of a file that only you hold")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Give a file that only organizers hold: sealed, and never given back."""
    with connected() as client, transfer_bar(plain(name)) as progress:
        made = client.put_truth(slug, file.read_bytes(), file=f"{name}.csv", progress=progress)
    told(made, COMPETITION, as_json=as_json)


@organize.command()
def phases(slug: Slug, as_json: AsJson = False) -> None:
    """Show the phases and where the competition stands."""
    with connected(anybody=True) as client:
        tell_phases(client.competition(slug), as_json=as_json)


def tell_phases(found: schemas.Competition, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print(f"state: {plain(found.state)}{', paused' if found.paused else ''}")
    print_table(found.phases, {"phase": "name", "start": time_of("start"), "end": time_of("end")})


@organize.command()
def extend(
    slug: Slug,
    phase: PhaseName,
    *,
    until: Annotated[str, typer.Option(help="its new end, such as 2027-01-31T09:00+09:00")],
    move_following: Annotated[
        bool, typer.Option("--move-following", help="move later phases by as much")
    ] = False,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Let a phase end later; or earlier, which needs your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        found = client.extend(slug, phase, end=exact(until), move_following=move_following)
    tell_phases(found, as_json=as_json)


@organize.command()
def pause(slug: Slug, phase: PhaseName, as_json: AsJson = False) -> None:
    """Take nothing in for now."""
    with connected() as client:
        tell_phases(client.turn_phase(slug, phase, "pause"), as_json=as_json)


@organize.command()
def resume(slug: Slug, phase: PhaseName, as_json: AsJson = False) -> None:
    """Take uploads in again."""
    with connected() as client:
        tell_phases(client.turn_phase(slug, phase, "resume"), as_json=as_json)


@organize.command()
def invites(
    slug: Slug,
    uses: Annotated[int, typer.Option(min=1, max=1000, help="how many teams may use it")] = 1,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Make an invite for teams; its code is shown this once. After the first phase it needs your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        code = client.invite(slug, uses=uses)
    done({"code": code, "uses": uses}, code, as_json=as_json)


@organize.command()
def teams(slug: Slug, as_json: AsJson = False) -> None:
    """List the teams."""
    columns: Columns[schemas.Entrant] = {
        "name": "name",
        "id": "id",
        "members": lambda team: [member.name for member in team.members],
        "submissions": "submissions",
        "disqualified": time_of("disqualified_at"),
    }
    with connected() as client:
        show(client.teams(slug), columns, as_json=as_json, empty="no teams")


@organize.command()
def submissions(
    slug: Slug,
    team: Annotated[str | None, typer.Option(help="only of this team: its name or id")] = None,
    state: Annotated[str | None, typer.Option(help="only in this state, such as ERROR")] = None,
    as_json: AsJson = False,
) -> None:
    """List every team's submissions, newest first."""
    with connected() as client:
        team_id = None if team is None else team_in(client, slug, team)
        found = client.all_submissions(slug, team=team_id, state=state)
    columns: Columns[schemas.Submission] = {
        "id": "id",
        "team": "team",
        "status": "status",
        "received": time_of("received_at"),
        "overall": "result.overall",
        "final": "final",
        "disqualified": "disqualified",
        "failure": "failure",
    }
    show(found, columns, as_json=as_json, empty="no submissions")


@organize.command()
def grant(
    slug: Slug,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="the team's name or id")],
    cap: Annotated[str, typer.Argument(metavar="CAP", help=CAPS)],
    amount: Amount,
    *,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Give a team more of a cap; more of a daily one for this day. Guesses need your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        made = client.grant(slug, team_id=team_in(client, slug, team), cap=cap, amount=amount)
    done(made, f"{plain(team)}: {amount} more of {cap}", as_json=as_json)


What = Annotated[str, typer.Argument(metavar="WHAT", help="a submission's id; with --team SLUG/TEAM")]
Why = Annotated[
    str, typer.Option("--reason", help="for the audit log; of a disqualification, for the team, too")
]
OfTeam = Annotated[bool, typer.Option("--team", help="WHAT is a whole team, as SLUG/TEAM")]


@organize.command()
def disqualify(
    what: What,
    *,
    team: OfTeam = False,
    reason: Why = "",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Take a submission, or a team, out of the boards and targets. It needs your password."""
    judge(what, "disqualify", reason, team=team, as_json=as_json, password=asking(stdin=password_stdin))


@organize.command()
def reinstate(
    what: What,
    *,
    team: OfTeam = False,
    reason: Why = "",
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Undo a disqualification. Where targets are attacked it needs your password."""
    judge(what, "reinstate", reason, team=team, as_json=as_json, password=asking(stdin=password_stdin))


@organize.command()
def score_again(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="a submission that ended in ERROR")],
    as_json: AsJson = False,
) -> None:
    """Have a submission that ended in ERROR scored once more."""
    with connected() as client:
        found = client.score_again(identifier)
    done(found, f"{found.id} is {found.status}", as_json=as_json)


@organize.command()
def announce(
    slug: Slug,
    en: Annotated[str | None, typer.Option(help="the text in English")] = None,
    ja: Annotated[str | None, typer.Option(help="the text in Japanese")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell everybody something."""
    text = {language: said for language, said in (("en", en), ("ja", ja)) if said}
    if not text:
        raise InvalidInput("say it: --en, --ja or both", code="no_text")
    with connected() as client:
        done(client.announce(slug, text), "announced", as_json=as_json)


@organize.command()
def audit(slug: Slug, as_json: AsJson = False) -> None:
    """Read who did what, newest first."""
    columns: Columns[schemas.AuditEntry] = {
        "at": time_of("at"),
        "who": "actor",
        "act": "action",
        "on": "subject",
        "before": "before",
        "after": "after",
    }
    with connected() as client:
        show(client.audit(slug), columns, as_json=as_json, empty="nothing yet")


@organize.command()
def queue(slug: Slug, as_json: AsJson = False) -> None:
    """Show what waits to be scored, and which workers are there, for what, and what they lack."""
    with connected() as client:
        found = client.queue(slug)
    names = [name for name in type(found).model_fields if name != "workers"]
    told(found, {name.replace("_", " "): name for name in names}, as_json=as_json)
    if not as_json:
        columns: Columns[schemas.Worker] = {"worker": "name", "serves": "serves", "lacks": "lacks"}
        show(found.workers or [], columns, as_json=False, empty="no worker has answered")


@organize.command()
def export(
    slug: Slug,
    into: Annotated[Path, typer.Option(help="the file to write, such as export.zip")],
    force: Annotated[bool, typer.Option("--replace", help="replace an existing file")] = False,
) -> None:
    """Fetch everything about the competition that an organizer may have, as one archive."""
    if into.exists() and not force:
        raise InvalidInput("{into} exists already; --replace overwrites it", code="files", into=str(into))
    with connected() as client, transfer_bar(into.name) as progress:
        digest = client.export(slug, into, progress=progress)
    print(f"{into}  SHA-256 {digest}")


@organize.command()
def threshold(
    slug: Slug,
    groups: GroupColumns = None,
    draws: Annotated[int | None, typer.Option(min=0, help="permutations of each type to simulate")] = None,
    as_json: AsJson = False,
) -> None:
    """Have the service advise on the threshold, on its data and rules; wait for the report."""
    from anoncup.cli.submit import LONGEST_WAIT_S, PATIENCE_S
    from anoncup.cli.terminal import console, progress_bar
    from anoncup.cli.threshold_report import show_advice

    question = {"groups": names_in(groups), "draws": draws}
    with connected() as client, progress_bar("threshold report") as progress:
        asked = client.ask_threshold(slug, **question)
        found = client.threshold_report(
            str(asked.id),
            timeout_s=LONGEST_WAIT_S,
            patience_s=PATIENCE_S,
            watch=lambda report: progress(0, 0, REPORTED.get(report.status, "")),
        )
    if as_json:
        print_json(found)
    elif found.report:
        show_advice(console(), found.report)
    if not found.report:
        print(f"anoncup: there is no report: {cell(found.failure)}", file=sys.stderr)
        raise typer.Exit(BROKEN)


def exact(written: str) -> str:
    """A moment with its zone, as the service wants it; the reader's zone if it says none."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(written).astimezone().isoformat()
    except ValueError:
        raise InvalidInput(
            "{written!r} is no time like 2027-01-31T09:00+09:00", code="time", written=written
        ) from None


def told(found: Row, columns: Columns[Row], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_fields(found, columns)
