"""The second phase of a contest."""

from sqlalchemy import select

from anoncup.client import Client
from app.db.models import Competition
from app.db.transaction import transaction
from tests.e2e.stack import invite_code
from tests.support.arena import PASSWORD, numbers


def row() -> Competition:
    with transaction() as session:
        return session.scalars(select(Competition)).one()


def joined(url: str) -> str:
    """The token of a second team's member."""
    invite = invite_code(url, "small")
    with Client(url) as client:
        member = f"member {next(numbers)}"
        return client.sign_up(invite=invite, team="blue", name=member, password=PASSWORD)
