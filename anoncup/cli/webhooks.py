"""``anoncup webhooks``: the webhooks of your team or, for organizers, of the competition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import ColumnSpec, make_time_column, print_entries, print_result

if TYPE_CHECKING:
    from anoncup import schemas

app = typer.Typer(
    no_args_is_help=True, help="Have scores, phase changes and announcements sent to an address."
)

_WebhookId = Annotated[str, typer.Argument(metavar="ID", help="id of the webhook")]
_EVENTS = "score,phase,announcement"


@app.command("list")
def list_webhooks(slug: Slug, as_json: AsJson = False) -> None:
    """List the webhooks with their last delivery."""
    columns: ColumnSpec[schemas.Webhook] = {
        "id": "id",
        "host": "host",
        "format": "format",
        "events": "events",
        "last attempt": make_time_column("attempted_at"),
        "outcome": "outcome",
        "disabled": make_time_column("disabled_at"),
    }
    with connect() as client:
        print_entries(client.list_webhooks(slug), columns, as_json=as_json, empty_text="no webhooks")


@app.command()
def add(
    slug: Slug,
    url: Annotated[str, typer.Argument(metavar="URL", help="a public https address")],
    events: Annotated[str, typer.Option(help=f"some of {_EVENTS}; organizers have no scores")],
    format_name: Annotated[str, typer.Option("--format", help="json, slack or discord")] = "json",
    as_json: AsJson = False,
) -> None:
    """Add a webhook and print the secret of its signatures, which is shown only once."""
    with connect() as client:
        webhook = client.add_webhook(slug, url, events=events.split(","), format=format_name)
    print_result(webhook, f"{webhook.id}  {webhook.secret}", as_json=as_json)


@app.command("test")
def send_test(webhook_id: _WebhookId, as_json: AsJson = False) -> None:
    """Send a test. If it arrives, a disabled webhook is enabled again."""
    with connect() as client:
        print_result(client.test_webhook(webhook_id), "the test will be sent", as_json=as_json)


@app.command()
def remove(webhook_id: _WebhookId) -> None:
    """Delete a webhook."""
    with connect() as client:
        client.remove_webhook(webhook_id)
    print("deleted")
