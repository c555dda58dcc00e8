"""Who one is: signing in and up, and out again."""

import sys
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

import typer

from anoncup.cli import credentials
from anoncup.cli.connection import asking, connected, in_words, password_of
from anoncup.cli.credentials import Credentials
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import done, plain
from anoncup.errors import InvalidInput, NotSignedIn

Url = Annotated[str | None, typer.Option(help="the service's address, such as https://cup.example.org")]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read the password from standard input")
]
TokenStdin = Annotated[bool, typer.Option("--token-stdin", help="read a token from standard input")]
Name = Annotated[str | None, typer.Option(help="your name at the service; asked for if not given")]
Team = Annotated[str | None, typer.Option(help="the new team's name; not for an invite of a team")]
Invite = Annotated[str | None, typer.Option(help="the code you were given; asked for if not given")]


def login(
    url: Url = None,
    name: Name = None,
    password_stdin: PasswordStdin = False,
    token_stdin: TokenStdin = False,
) -> None:
    """Sign in: keep the service's address and a token of yours in a file only you can read."""
    from anoncup.client import Client

    if token_stdin and (password_stdin or name is not None):
        raise InvalidInput("--token-stdin stands alone: the token says who you are")
    address = address_of(url)
    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        name = name or typer.prompt("Name", err=True)
        with in_words(), Client(address) as client:
            token = client.token(name, password_of(stdin=password_stdin), label=label())
    remember(address, token)


def sign_up(
    team: Team = None,
    url: Url = None,
    name: Name = None,
    invite: Invite = None,
    password_stdin: PasswordStdin = False,
) -> None:
    """Make an account by an invite, with a new team or in the invite's, and sign in."""
    from anoncup.client import Client

    address = address_of(url)
    code = invite or typer.prompt("Invite", err=True)
    person = name or typer.prompt("Name", err=True)
    password = password_of(stdin=password_stdin, new=True)
    with in_words(), Client(address) as client:
        token = client.sign_up(invite=code, team=team, name=person, password=password)
    remember(address, token)


def logout() -> None:
    """Sign out: end the token and forget it."""
    from anoncup.client import Client

    kept = credentials.stored()
    if kept is None:
        print("not signed in")
        return
    try:
        with in_words(), Client(kept.url, kept.token) as client:
            client.revoke()
    except NotSignedIn:
        pass  # it had ended already
    credentials.forget()
    print(f"signed out of {kept.url}")


def whoami() -> None:
    """Say who the commands act for, and at which service."""
    with connected() as client:
        print(f"{plain(client.me().name)} at {client.url}")


def join(
    invite: Annotated[str, typer.Argument(metavar="INVITE", help="the code you were given")],
    team: Team = None,
    as_json: AsJson = False,
) -> None:
    """Take part in one more competition: found a team, or join one."""
    with connected() as client:
        found = client.join(invite=invite, team=team)
    said = f"you are in {plain(found.team)}, in {plain(found.competition)}"
    done(found, said, as_json=as_json)


def team(
    slug: Slug,
    invite: Annotated[bool, typer.Option("--invite", help="make a code with which one person joins")] = False,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Show your team and who is in it, or invite somebody into it, which needs your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        if invite:
            made = client.invite_member(slug)
            done(made, made.code, as_json=as_json)
            return
        found = client.team(slug)
    lines = [found.name + (" (disqualified)" if found.disqualified_at else "")]
    lines += [f"  {member.name}" for member in found.members]
    done(found, "\n".join(map(plain, lines)), as_json=as_json)


def remember(address: str, token: str) -> None:
    """Keep the token once the service has said whose it is."""
    from anoncup.client import Client

    with in_words(), Client(address, token) as client:
        person = client.me()
    credentials.keep(Credentials(address, token))
    print(f"signed in to {address} as {plain(person.name)}")


def address_of(url: str | None) -> str:
    """The address given, else the one that is known, else the one that somebody types."""
    from anoncup.client.transport import checked_url

    known = None if url else credentials.known()
    address = checked_url(url or (known.url if known else typer.prompt("Service", err=True)))
    if in_clear(address):
        print(f"anoncup: {address} is not encrypted: others on the way can read along", file=sys.stderr)
    return address


def in_clear(address: str) -> bool:
    parts = urlsplit(address)
    try:
        here = ip_address(parts.hostname or "").is_loopback
    except ValueError:
        here = parts.hostname == "localhost"
    return parts.scheme == "http" and not here


def label() -> str:
    """What the token is called in the list of one's tokens."""
    import socket

    return f"anoncup on {plain(socket.gethostname())}"[:100]
