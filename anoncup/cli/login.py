"""Commands for accounts: ``anoncup login``, ``sign-up``, ``logout``, ``whoami``, ``join`` and ``team``."""

import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from anoncup.cli import credentials
from anoncup.cli.connection import connect, make_password_prompt, read_password, translate_api_errors
from anoncup.cli.credentials import Credentials
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import print_result, replace_unprintable
from anoncup.errors import InvalidInput, NotSignedIn

if TYPE_CHECKING:
    from anoncup import schemas

_UrlOption = Annotated[
    str | None, typer.Option(help="the service's address, such as https://cup.example.org")
]
_PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read the password from standard input")
]
_NameOption = Annotated[str | None, typer.Option(help="your name at the service; asked for if not given")]
_TeamOption = Annotated[str | None, typer.Option(help="the new team's name; not for an invite of a team")]
_INVITE_HELP = "the link or code you were given"
_InviteOption = Annotated[str | None, typer.Option(help=f"{_INVITE_HELP}; asked for if not given")]
_AcceptTerms = Annotated[
    bool, typer.Option("--accept-terms", help="accept the terms in the description of the competition")
]


def login(
    url: _UrlOption = None,
    name: _NameOption = None,
    password_stdin: _PasswordStdin = False,
) -> None:
    """Sign in: save the service's address and a token in a file that only you can read."""
    from anoncup.client import Client

    address = _resolve_address(url, password_stdin=password_stdin)
    name = name or _ask("Name", "--name", password_stdin=password_stdin)
    with translate_api_errors(), Client(address) as client:
        token = client.create_token(name, read_password(from_stdin=password_stdin), label=_make_token_label())
    _save_token(address, token)


def sign_up(
    team: _TeamOption = None,
    url: _UrlOption = None,
    name: _NameOption = None,
    *,
    invite: _InviteOption = None,
    accept_terms: _AcceptTerms = False,
    password_stdin: _PasswordStdin = False,
) -> None:
    """Create an account with an invite code, in a new team or in the team of the invite; then sign in."""
    from anoncup.client import Client

    link_address, code = _split_link(invite or _ask("Invite", "--invite", password_stdin=password_stdin))
    address = _resolve_address(url or link_address, password_stdin=password_stdin)
    person = name or _ask("Name", "--name", password_stdin=password_stdin)
    password = read_password(from_stdin=password_stdin, confirm=True)
    with translate_api_errors(), Client(address) as client:
        token = client.sign_up(
            invite=code, team=team, name=person, password=password, accept_terms=accept_terms
        )
    for membership in _save_token(address, token).teams:
        print(_describe_membership(address, membership))


def logout() -> None:
    """Sign out: revoke the token and delete it here."""
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
    """Show the user and the service for which commands are run."""
    with connect() as client:
        print(f"{replace_unprintable(client.get_me().name)} at {client.url}")


def join(
    invite: Annotated[str, typer.Argument(metavar="INVITE", help=_INVITE_HELP)],
    team: _TeamOption = None,
    accept_terms: _AcceptTerms = False,
    as_json: AsJson = False,
) -> None:
    """Take part in another competition, in a new team or in the team of the invite."""
    with connect() as client:
        membership = client.join_competition(
            invite=_split_link(invite)[1], team=team, accept_terms=accept_terms
        )
    print_result(membership, _describe_membership(client.url, membership), as_json=as_json)


def team(
    slug: Slug,
    invite: Annotated[
        bool, typer.Option("--invite", help="create a link with which one person can join")
    ] = False,
    password_stdin: _PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Show your team and its members, or invite somebody into it, which needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        if invite:
            new_invite = client.invite_member(slug)
            print_result(new_invite, new_invite.link, as_json=as_json)
            return
        details = client.get_team(slug)
    lines = [details.name + (" (disqualified)" if details.disqualified_at else "")]
    lines += [f"  {member.name}" for member in details.members]
    print_result(details, "\n".join(map(replace_unprintable, lines)), as_json=as_json)


def _split_link(invite: str) -> tuple[str, str]:
    """Return the service's address and the code of an invite; no address in a code alone."""
    address, _, code = invite.strip().rpartition("/sign-up?invite=")
    return address, code


def _describe_membership(address: str, membership: "schemas.TeamMembership") -> str:
    """Return which team a person is in, and the command that begins taking part."""
    team_name, slug = map(replace_unprintable, (membership.team, membership.competition))
    return (
        f"you are in {team_name}, in {slug}\nnext: anoncup download {slug} --kit\n"
        f"if this shell does not know anoncup: see the commands on {address}/competitions/{slug}/rules"
    )


def _save_token(address: str, token: str) -> "schemas.Me":
    """Save the token after checking with the service that it is valid; return its owner."""
    from anoncup.client import Client

    with translate_api_errors(), Client(address, token) as client:
        person = client.get_me()
    credentials.save(Credentials(address, token))
    print(f"signed in to {address} as {replace_unprintable(person.name)}")
    return person


def _ask(question: str, option: str, *, password_stdin: bool) -> str:
    """Ask for what an option did not give, unless the answer would be the password."""
    if password_stdin:
        raise InvalidInput("--password-stdin needs {option}, too", code="missing_option", option=option)
    answer: str = typer.prompt(question, err=True)
    return answer


def _resolve_address(url: str | None, *, password_stdin: bool) -> str:
    """Return the given address or the saved one; prompt for it if there is neither."""
    from anoncup.client.transport import validate_url

    account = None if url else credentials.load()
    saved = account.url if account else None
    address = validate_url(url or saved or _ask("Service", "--url", password_stdin=password_stdin))
    if _is_unencrypted(address):
        print(f"warning: the connection to {address} is not encrypted", file=sys.stderr)
    return address


def _is_unencrypted(address: str) -> bool:
    """Return whether requests would cross a network without encryption."""
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
