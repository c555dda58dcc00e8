"""Disqualify or reinstate a team or a submission through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anoncup.cli.connection import connect
from anoncup.cli.output import print_result, replace_unprintable
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client


def apply_ruling(
    subject: str, action: str, reason: str, *, team: bool, as_json: bool, password: Callable[[], str]
) -> None:
    with connect(password=password) as client:
        if team:
            slug, slash, name = subject.partition("/")
            if not slash:
                raise InvalidInput("--team takes SLUG/TEAM", code="team")
            result: schemas.TeamDisqualification | schemas.Submission = client.rule_on_team(
                slug, find_team_id(client, slug, name), action, reason=reason
            )
        else:
            result = client.rule_on_submission(subject, action, reason=reason)
    past_tense = {"disqualify": "disqualified", "reinstate": "reinstated"}
    print_result(result, f"{past_tense[action]} {replace_unprintable(subject)}", as_json=as_json)


def find_team_id(client: Client, slug: str, name_or_id: str) -> str:
    """Return the id of the team with this name or id."""
    for team in client.list_entrants(slug):
        if name_or_id in {team.name, str(team.id)}:
            return str(team.id)
    raise InvalidInput("{slug} has no team {wanted!r}", code="no_such_team", slug=slug, wanted=name_or_id)
