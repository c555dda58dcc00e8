"""``anoncup login``, ``sign-up``, ``logout``, ``whoami``, ``join`` and ``team``."""

import sys
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

import typer

from anoncup.cli import credentials
from anoncup.cli.connection import connect, make_password_prompt, read_password, translate_api_errors
from anoncup.cli.credentials import Credentials
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import print_result, replace_unprintable
from anoncup.errors import InvalidInput, NotSignedIn

_Url = Annotated[str | None, typer.Option(help="the service's address, such as https://cup.example.org")]
_PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read the password from standard input")
]
_TokenStdin = Annotated[bool, typer.Option("--token-stdin", help="read a token from standard input")]
Name = Annotated[str | None, typer.Option(help="your name at the service; asked for if not given")]
Team = Annotated[str | None, typer.Option(help="the new team's name; not for an invite of a team")]
Invite = Annotated[str | None, typer.Option(help="the code you were given; asked for if not given")]


def login(
    url: _Url = None,
    name: Name = None,
    password_stdin: _PasswordStdin = False,
    token_stdin: _TokenStdin = False,
) -> None:
    """Sign in: keep the service's address and a token of yours in a file only you can read."""
    from anoncup.client import Client

    if token_stdin and (password_stdin or name is not None):
        raise InvalidInput("--token-stdin stands alone: the token says who you are")
    address = _resolve_address(url)
    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        name = name or typer.prompt("Name", err=True)
        with translate_api_errors(), Client(address) as client:
            token = client.create_token(name, read_password(stdin=password_stdin), label=_make_token_label())
    _save_token(address, token)


def sign_up(
    team: Team = None,
    url: _Url = None,
    name: Name = None,
    invite: Invite = None,
    password_stdin: _PasswordStdin = False,
) -> None:
    """Make an account by an invite, with a new team or in the invite's, and sign in."""
    from anoncup.client import Client

    address = _resolve_address(url)
    code = invite or typer.prompt("Invite", err=True)
    person = name or typer.prompt("Name", err=True)
    password = read_password(stdin=password_stdin, new=True)
    with translate_api_errors(), Client(address) as client:
        token = client.sign_up(invite=code, team=team, name=person, password=password)
    _save_token(address, token)


def logout() -> None:
    """Sign out: end the token and forget it."""
    from anoncup.client import Client

    account = credentials.load_file()
    if account is None:
        print("not signed in")
        return
    try:
        with translate_api_errors(), Client(account.url, account.token) as client:
            client.revoke_token()
    except NotSignedIn:
        pass  # the token has already expired or been revoked
    credentials.delete()
    print(f"signed out of {account.url}")


def whoami() -> None:
    """Say who the commands act for, and at which service."""
    with connect() as client:
        print(f"{replace_unprintable(client.get_me().name)} at {client.url}")


def join(
    invite: Annotated[str, typer.Argument(metavar="INVITE", help="the code you were given")],
    team: Team = None,
    as_json: AsJson = False,
) -> None:
    """Take part in one more competition: found a team, or join one."""
    with connect() as client:
        membership = client.join(invite=invite, team=team)
    sentence = (
        f"you are in {replace_unprintable(membership.team)}, in {replace_unprintable(membership.competition)}"
    )
    print_result(membership, sentence, as_json=as_json)


def team(
    slug: Slug,
    invite: Annotated[bool, typer.Option("--invite", help="make a code with which one person joins")] = False,
    password_stdin: _PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Show your team and who is in it, or invite somebody into it, which needs your password."""
    with connect(password=make_password_prompt(stdin=password_stdin)) as client:
        if invite:
            new_invite = client.invite_member(slug)
            print_result(new_invite, new_invite.code, as_json=as_json)
            return
        details = client.get_team(slug)
    lines = [details.name + (" (disqualified)" if details.disqualified_at else "")]
    lines += [f"  {member.name}" for member in details.members]
    print_result(details, "\n".join(map(replace_unprintable, lines)), as_json=as_json)


def _save_token(address: str, token: str) -> None:
    """Save the token after checking with the service that it is valid."""
    from anoncup.client import Client

    with translate_api_errors(), Client(address, token) as client:
        person = client.get_me()
    credentials.save(Credentials(address, token))
    print(f"signed in to {address} as {replace_unprintable(person.name)}")


def _resolve_address(url: str | None) -> str:
    """Return the given address or the saved one; prompt for it if there is neither."""
    from anoncup.client.transport import validate_url

    account = None if url else credentials.load()
    address = validate_url(url or (account.url if account else typer.prompt("Service", err=True)))
    if _is_unencrypted(address):
        print(f"anoncup: {address} is not encrypted: others on the way can read along", file=sys.stderr)
    return address


def _is_unencrypted(address: str) -> bool:
    parts = urlsplit(address)
    try:
        is_local = ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_local = parts.hostname == "localhost"
    return parts.scheme == "http" and not is_local


def _make_token_label() -> str:
    """Return the name under which the user's list of tokens shows this token."""
    import socket

    return f"anoncup on {replace_unprintable(socket.gethostname())}"[:100]
