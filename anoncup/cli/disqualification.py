"""What organizers decide about a team or a submission, by the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anoncup.cli.connection import connected
from anoncup.cli.output import done, plain
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client


def judge(
    what: str, act: str, reason: str, *, team: bool, as_json: bool, password: Callable[[], str]
) -> None:
    with connected(password=password) as client:
        if team:
            slug, slash, name = what.partition("/")
            if not slash:
                raise InvalidInput("--team takes SLUG/TEAM", code="team")
            answer: schemas.TeamJudged | schemas.Submission = client.judge_team(
                slug, team_in(client, slug, name), act, reason=reason
            )
        else:
            answer = client.judge_submission(what, act, reason=reason)
    past = {"disqualify": "disqualified", "reinstate": "reinstated"}
    done(answer, f"{past[act]} {plain(what)}", as_json=as_json)


def team_in(client: Client, slug: str, wanted: str) -> str:
    """The id of the team of that name or id."""
    for team in client.teams(slug):
        if wanted in {team.name, str(team.id)}:
            return str(team.id)
    raise InvalidInput("{slug} has no team {wanted!r}", code="no_such_team", slug=slug, wanted=wanted)
