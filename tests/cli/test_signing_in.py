"""``login``, ``sign-up``, ``logout``: what is kept, where, and who can read it."""

import json
import stat
from pathlib import Path

import pytest

from tests.support.arena import API, PASSWORD, Arena
from tests.support.command_line import Anoncup

pytestmark = pytest.mark.full


def kept(folder: Path) -> Path:
    return folder / "config" / "anoncup" / "credentials.json"


def member(arena: Arena, team: str = "red") -> str:
    """The name of a team's member, whose password is PASSWORD."""
    return str(arena.get("/me", token=arena.team(team)).json()["name"])


def sign_in(anoncup: Anoncup, arena: Arena, url: str) -> None:
    done = anoncup("login", "--url", url, "--name", member(arena), "--password-stdin", typed=f"{PASSWORD}\n")
    assert (done.status, done.err) == (0, "")


def test_only_the_owner_can_read_the_token(anoncup: Anoncup, arena: Arena, url: str, folder: Path) -> None:
    sign_in(anoncup, arena, url)
    assert stat.S_IMODE(kept(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(kept(folder).parent.stat().st_mode) == 0o700
    content = json.loads(kept(folder).read_text())
    assert content["url"] == url
    assert content["token"].startswith("anoncup_")
    assert [each.name for each in kept(folder).parent.iterdir()] == ["credentials.json"]


def test_signing_in_again_leaves_the_file_private_even_where_it_was_not(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    kept(folder).parent.mkdir(parents=True)
    kept(folder).write_text("{}")
    kept(folder).chmod(0o644)
    sign_in(anoncup, arena, url)
    assert stat.S_IMODE(kept(folder).stat().st_mode) == 0o600


def test_later_commands_act_for_who_signed_in(anoncup: Anoncup, arena: Arena, url: str) -> None:
    sign_in(anoncup, arena, url)
    assert anoncup("whoami").out == f"{member(arena)} at {url}\n"
    assert anoncup("submissions", "small", "--json").json == []


def test_a_token_from_standard_input_is_kept_once_the_service_knows_it(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    wrong = anoncup("login", "--url", url, "--token-stdin", typed="anoncup_nonsense\n")
    assert (wrong.status, kept(folder).exists()) == (2, False)
    done = anoncup("login", "--url", url, "--token-stdin", typed=arena.team("red") + "\n")
    assert (done.status, kept(folder).exists()) == (0, True)
    assert arena.team("red") not in done.out + done.err


def test_a_wrong_password_keeps_nothing(anoncup: Anoncup, arena: Arena, url: str, folder: Path) -> None:
    done = anoncup("login", "--url", url, "--name", member(arena), "--password-stdin", typed="wrong\n")
    assert (done.status, done.out) == (2, "")
    assert "name or password is wrong" in done.err
    assert not kept(folder).exists()


def test_signing_out_ends_the_token_and_forgets_it(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    sign_in(anoncup, arena, url)
    token = json.loads(kept(folder).read_text())["token"]
    assert anoncup("logout").status == 0
    assert not kept(folder).exists()
    assert arena.get("/me", token=token).status_code == 401
    assert anoncup("logout").out == "not signed in\n"


def test_signing_out_also_forgets_a_token_that_has_ended(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    sign_in(anoncup, arena, url)
    arena.client.delete(
        f"{API}/tokens/current",
        headers={"Authorization": f"Bearer {json.loads(kept(folder).read_text())['token']}"},
    )
    assert anoncup("logout").status == 0
    assert not kept(folder).exists()


def test_an_ended_token_is_told_to_sign_in_again(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    kept(folder).parent.mkdir(parents=True)
    kept(folder).write_text(json.dumps({"url": url, "token": "anoncup_old"}))
    done = anoncup("submissions", "small")
    assert (done.status, done.out) == (2, "")
    assert "run anoncup login" in done.err


def test_the_environment_wins_over_the_file(
    anoncup: Anoncup, arena: Arena, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(anoncup, arena, url)
    monkeypatch.setenv("ANONCUP_TOKEN", arena.team("blue"))
    assert anoncup("whoami").out.startswith(member(arena, "blue"))


def test_a_token_is_not_sent_to_another_service(
    anoncup: Anoncup, arena: Arena, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(anoncup, arena, url)
    monkeypatch.setenv("ANONCUP_URL", url.replace("127.0.0.1", "localhost"))
    done = anoncup("submissions", "small")
    assert (done.status, "not signed in" in done.err) == (2, True)
    assert anoncup("competitions", "--json").json[0]["slug"] == "small"


def test_without_a_service_it_is_asked_which(anoncup: Anoncup) -> None:
    done = anoncup("competitions")
    assert (done.status, done.out) == (2, "")
    assert "ANONCUP_URL" in done.err


@pytest.mark.parametrize("address", ["cup.example.org", "ftp://cup", "http://", "http://a:99999", "http://["])
def test_what_is_no_address_is_refused(anoncup: Anoncup, address: str) -> None:
    done = anoncup("login", "--url", address, "--token-stdin", typed="x\n")
    assert (done.status, done.out) == (2, "")
    assert "is not an address" in done.err


def test_a_new_team_signs_up_invites_a_member_and_is_signed_in(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path
) -> None:
    code = arena.post("/competitions/small/invites", json={}).json()["code"]
    words = ["sign-up", "--url", url, "--password-stdin"]
    done = anoncup(*words, "--team", '雪,"うさぎ"', "--name", "花子", "--invite", code, typed=f"{PASSWORD}\n")
    assert (done.status, done.err) == (0, "")
    assert anoncup("team", "small").out == '雪,"うさぎ"\n  花子\n'
    into = anoncup("team", "small", "--invite", "--password-stdin", typed=f"{PASSWORD}\n").out.strip()
    done = anoncup(*words, "--name", "太郎", "--invite", into, typed=f"{PASSWORD}\n")
    assert done.status == 0
    assert set(anoncup("team", "small").out.splitlines()) == {'雪,"うさぎ"', "  花子", "  太郎"}


def test_somebody_with_an_account_joins_one_more_competition(
    anoncup: Anoncup, arena: Arena, url: str
) -> None:
    other = Arena.opened(arena.client, slug="other")
    code = other.post("/competitions/other/invites", json={}).json()["code"]
    sign_in(anoncup, arena, url)
    done = anoncup("join", code, "--team", "also red")
    assert (done.status, done.out) == (0, "you are in also red, in other\n")
