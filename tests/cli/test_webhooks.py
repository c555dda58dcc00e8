"""Commands for webhooks."""

from collections.abc import Callable

from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.command_line import CommandRunner


def test_webhooks_are_added_listed_tested_and_removed(
    client: TestClient, anoncup: CommandRunner, sign_in_as: Callable[[str], None]
) -> None:
    arena = Arena.create(client)
    sign_in_as(arena.get_team_token("red"))
    added = anoncup("webhooks", "add", "small", "https://example.org/x", "--events", "score,phase", "--json")
    assert added.json["secret"].startswith("whsec_")
    identifier = added.json["id"]
    listed = anoncup("webhooks", "list", "small").stdout
    assert "example.org" in listed
    assert "score, phase" in listed
    assert anoncup("webhooks", "test", identifier).status == 0
    assert anoncup("webhooks", "remove", identifier).status == 0
    assert "no webhooks" in anoncup("webhooks", "list", "small").stdout
    refused = anoncup("webhooks", "add", "small", "http://example.org/", "--events", "score")
    assert refused.status == 2
