"""``login``, ``sign-up`` and ``logout``: the stored credentials and their permissions."""

import json
import stat
from pathlib import Path

import pytest

from tests.support.arena import PASSWORD, Arena
from tests.support.command_line import CommandRunner

pytestmark = pytest.mark.full


def credentials_path(folder: Path) -> Path:
    return folder / "config" / "anoncup" / "credentials.json"


def member_name(arena: Arena, team: str = "red") -> str:
    """Return the name of a member of the team; the password is PASSWORD."""
    return str(arena.get("/me", team=team).json()["name"])


def sign_in(anoncup: CommandRunner, arena: Arena, url: str) -> None:
    result = anoncup(
        "login", "--url", url, "--name", member_name(arena), "--password-stdin", typed=f"{PASSWORD}\n"
    )
    assert (result.status, result.stderr) == (0, "")


def test_only_the_owner_can_read_the_credentials_file(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path
) -> None:
    sign_in(anoncup, arena, url)
    assert stat.S_IMODE(credentials_path(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(credentials_path(folder).parent.stat().st_mode) == 0o700
    content = json.loads(credentials_path(folder).read_text())
    assert content["url"] == url
    assert content["token"].startswith("anoncup_")
    assert [path.name for path in credentials_path(folder).parent.iterdir()] == ["credentials.json"]


def test_later_commands_use_the_stored_token(anoncup: CommandRunner, arena: Arena, url: str) -> None:
    sign_in(anoncup, arena, url)
    assert anoncup("whoami").stdout == f"{member_name(arena)} at {url}\n"
    assert anoncup("submissions", "small", "--json").json == []


def test_signing_out_revokes_and_forgets_the_token(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path
) -> None:
    sign_in(anoncup, arena, url)
    token = json.loads(credentials_path(folder).read_text())["token"]
    assert anoncup("logout").status == 0
    assert not credentials_path(folder).exists()
    assert arena.get("/me", token=token).status_code == 401
    assert anoncup("logout").stdout == "not signed in\n"


def test_expired_token_prompts_for_a_new_login(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path
) -> None:
    credentials_path(folder).parent.mkdir(parents=True)
    credentials_path(folder).write_text(json.dumps({"url": url, "token": "anoncup_old"}))
    result = anoncup("submissions", "small")
    assert (result.status, result.stdout) == (2, "")
    assert "run anoncup login" in result.stderr


def test_environment_overrides_the_credentials_file(
    anoncup: CommandRunner, arena: Arena, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(anoncup, arena, url)
    monkeypatch.setenv("ANONCUP_TOKEN", arena.get_team_token("blue"))
    assert anoncup("whoami").stdout.startswith(member_name(arena, "blue"))


def test_token_is_not_sent_to_another_service(
    anoncup: CommandRunner, arena: Arena, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(anoncup, arena, url)
    monkeypatch.setenv("ANONCUP_URL", url.replace("127.0.0.1", "localhost"))
    result = anoncup("submissions", "small")
    assert (result.status, "not signed in" in result.stderr) == (2, True)
    assert anoncup("competitions", "--json").json[0]["slug"] == "small"


@pytest.mark.parametrize("address", ["cup.example.org", "ftp://cup", "http://", "http://a:99999", "http://["])
def test_invalid_address_is_refused(anoncup: CommandRunner, address: str) -> None:
    result = anoncup("login", "--url", address, "--name", "x")
    assert (result.status, result.stdout) == (2, "")
    assert "is not an address" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(["login"], "--url"), (["sign-up", "--invite", "code"], "--url"), (["sign-up"], "--invite")],
)
def test_password_on_standard_input_is_no_answer_to_another_question(
    anoncup: CommandRunner, arguments: list[str], missing: str
) -> None:
    result = anoncup(*arguments, "--password-stdin", typed=f"{PASSWORD}\n")
    assert (result.status, f"--password-stdin needs {missing}" in result.stderr) == (2, True)
    assert PASSWORD not in result.stdout + result.stderr


def test_new_team_signs_up_and_invites_a_member(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path
) -> None:
    code = arena.post("/competitions/small/invites", json={}).json()["code"]
    arguments = ["sign-up", "--url", url, "--password-stdin"]
    result = anoncup(
        *arguments, "--team", '雪,"うさぎ"', "--name", "花子", "--invite", code, typed=f"{PASSWORD}\n"
    )
    assert (result.status, result.stderr) == (0, "")
    assert "\nyou are in 雪" in result.stdout
    assert ", in small\nnext: anoncup download small --kit\n" in result.stdout
    assert result.stdout.endswith(f"{url}/competitions/small/rules\n")
    assert anoncup("team", "small").stdout == '雪,"うさぎ"\n  花子\n'
    invite = anoncup("team", "small", "--invite", "--password-stdin", typed=f"{PASSWORD}\n").stdout.strip()
    result = anoncup(*arguments, "--name", "太郎", "--invite", invite, typed=f"{PASSWORD}\n")
    assert result.status == 0
    assert set(anoncup("team", "small").stdout.splitlines()) == {'雪,"うさぎ"', "  花子", "  太郎"}


def test_terms_are_accepted_with_an_option(anoncup: CommandRunner, arena: Arena, url: str) -> None:
    terms = '[description]\nterms = true\nen = "Be kind."\n'
    other_arena = Arena.create(arena.client, slug="other", extra_toml=terms)
    code = other_arena.post("/competitions/other/invites", json={"uses": 2}).json()["code"]
    sign_in(anoncup, arena, url)
    account = ("--url", url, "--name", "Ada", "--team", "blue", "--password-stdin")
    for command in (("join", code), ("sign-up", *account, "--invite", code)):
        refused = anoncup(*command, typed=f"{PASSWORD}\n")
        assert (refused.status, "then add --accept-terms" in refused.stderr) == (2, True)
        assert anoncup(*command, "--team", command[0], "--accept-terms", typed=f"{PASSWORD}\n").status == 0


def test_existing_user_joins_another_competition(anoncup: CommandRunner, arena: Arena, url: str) -> None:
    other_arena = Arena.create(arena.client, slug="other")
    code = other_arena.post("/competitions/other/invites", json={}).json()["code"]
    sign_in(anoncup, arena, url)
    result = anoncup("join", code, "--team", "also red")
    sentence = "you are in also red, in other\nnext: anoncup download other --kit\n"
    assert (result.status, result.stdout.startswith(sentence)) == (0, True)
