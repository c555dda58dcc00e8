"""A second team for tests of the second phase."""

from sqlalchemy import select

from anoncup.client import Client
from app.db.models import Round
from app.db.transaction import transaction
from tests.support.arena import PASSWORD, serial_numbers
from tests.support.service_processes import create_invite


def load_round() -> Round:
    with transaction() as session:
        return session.scalars(select(Round)).one()


def join_second_team(url: str) -> str:
    """Sign up a member of a second team. Return the token."""
    invite = create_invite(url, "small")
    with Client(url) as client:
        member = f"member {next(serial_numbers)}"
        return client.sign_up(invite=invite, team="blue", name=member, password=PASSWORD)
