"""A second team for tests of the second phase."""

from anoncup.client import Client
from tests.support.arena import PASSWORD, serial_numbers
from tests.support.service_processes import create_invite


def join_second_team(url: str) -> str:
    """Sign up a member of a second team. Return the token."""
    invite = create_invite(url, "small")
    with Client(url) as client:
        member = f"member {next(serial_numbers)}"
        return client.sign_up(invite=invite, team="blue", name=member, password=PASSWORD)
