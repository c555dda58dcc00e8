"""What the service draws: by a seed committed to before, once for each, for one team's eyes, and again by
anybody after the reveal."""

import hashlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

import workers.allocate
from anoncup.plugins import TRACKS
from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.files import FileSpec
from anoncup.tracks.generators import generator_for
from anoncup.tracks.linkage.permutation import source_from_secret
from anoncup.tracks.model import Draw
from app.cli.backup import service as backup
from app.config import Settings, get_settings
from app.db.models import Drawn, Seed
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.services.accounts import accounts
from app.services.attacks import allocation
from app.services.originals import allocations as data_draws
from app.storage import store
from tests.support.allocated_contest import PATH, acts, given, opened, own, rows, submit
from tests.support.allocation_track import OWN, labels, own_order, rotations
from tests.support.arena import PASSWORD, ROWS
from tests.support.contest import Contest, competition_id, competition_row, turn, two_phase_file
from tests.support.uploads import score_everything
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """Of a track that draws teams' answers from labels that the organizers have given."""
    made = opened(client, monkeypatch, OWN)
    assert given(made.arena).status_code == 200
    return made


def test_a_seed_is_committed_to_once_and_told_to_everybody(contest: Contest) -> None:
    assert contest.arena.client.get(f"/api/v1{PATH}").json()["seed_commitment"] is None
    for _ in range(3):
        turn()
    (entry,) = acts("seed.commit")
    told = contest.arena.client.get(f"/api/v1{PATH}").json()
    assert told["seed_commitment"] == entry.after["sha256"]  # type: ignore[index]
    assert (told["own_files"], told["truth_files"]) == (["secret.csv", "labels.csv"], ["hidden.csv"])
    with transaction() as session:
        seed = session.scalars(select(Seed)).one()
    assert seed.commitment.encode() not in seed.sealed
    assert len(seed.sealed) > 32 + 32 + 16


def test_each_team_gets_its_own_files_and_a_later_one_at_once(contest: Contest) -> None:
    contest.arena.team("red")
    assert own(contest.arena, "red").json()["code"] == "not_drawn_yet"
    turn()
    first = own(contest.arena, "red").json()
    contest.arena.team("blue")
    turn()
    assert own(contest.arena, "red").json() == first
    assert list(rows()) == ["", "red", "blue"]
    assert len({str(one.files) for one in rows().values()}) == 3
    for team in ("red", "blue"):
        secret, labelled = (own(contest.arena, team, f"{name}.csv").content for name in ("secret", "labels"))
        order = source_from_secret(secret, originals=ROWS, anonymized=ROWS)
        assert labelled.decode().splitlines() == [f"label {row}" for row in order]
        told = own(contest.arena, team).json()["files"]
        assert told == {
            "secret.csv": hashlib.sha256(secret).hexdigest(),
            "labels.csv": hashlib.sha256(labelled).hexdigest(),
        }
    assert [entry.after for entry in acts("own.draw")] == [
        {"team": team, "attempt": 0} for team in ("", "red", "blue")
    ]


def test_nothing_is_drawn_for_teams_before_the_first_phase_nor_without_what_organizers_hold(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = opened(client, monkeypatch, OWN)
    contest.arena.team("red")
    contest.move(anonymization=(1, 2), reidentification=(3, 4))
    turn()
    assert given(contest.arena).status_code == 200
    turn()
    assert rows() == {}
    contest.move(anonymization=(-1, 2))
    turn()
    assert set(rows()) == {"", "red"}


def test_a_team_without_data_is_told_what_it_waits_for(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = opened(client, monkeypatch, OWN)
    contest.move(anonymization=(1, 2), reidentification=(3, 4))
    answers = [own(contest.arena, "red").json()]
    contest.move(anonymization=(-1, 2))
    answers.append(own(contest.arena, "red").json())
    given(contest.arena)
    answers.append(own(contest.arena, "red").json())
    assert {answer["code"] for answer in answers} == {"not_drawn_yet"}
    assert [answer["detail"] for answer in answers] == [
        data_draws.NOT_BEGUN,
        data_draws.NOT_GIVEN,
        data_draws.NOT_YET,
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_team_that_comes_after_the_draws_is_told_that_it_gets_none(contest: Contest, language: str) -> None:
    contest.arena.team("red")
    turn()
    contest.between()
    late = own(contest.arena, "late")
    assert (late.status_code, late.json()["code"]) == (409, "drawing_over")
    shown = page(contest.arena, f"{PATH}/submissions", team="late", language=language)
    told = said("The anonymization phase is over, and no more data are drawn: your team has none.", language)
    assert told in unescape(shown.text)


def test_a_release_is_scored_against_what_was_drawn_for_its_team(contest: Contest) -> None:
    arena = contest.arena
    arena.team("red")
    early = arena.post(f"{PATH}/submissions", token=arena.team("red"), files={"anonymized": ("a.csv", b"")})
    assert (early.status_code, early.json()["code"]) == (409, "not_drawn_yet")
    assert arena.get(f"{PATH}/quota", token=arena.team("red")).json()["caps"][0]["used"] == 0
    turn()
    answer = submit(contest, "red")
    assert answer.status_code == 202, answer.text
    score_everything()
    found = arena.submission(answer.json()["id"], "red")
    assert found["status"] == "SCORED"
    # Untouched rows in the drawn order: who holds it loses nothing.
    assert found["result"]["measures"]["mean_mae"]["value"] == 0.0


def test_what_teams_files_were_drawn_from_stands(contest: Contest) -> None:
    arena = contest.arena
    assert given(arena).status_code == 200
    turn()
    for answer in (
        given(arena),
        arena.put(f"{PATH}/original/original.csv", content=table_csv(arena.table.iloc[::-1])),
        arena.put(f"{PATH}/competition.toml", content=two_phase_file().replace('"rent"]', "]")),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "drawn_already"), answer.text
    later = arena.put(f"{PATH}/competition.toml", content=two_phase_file(more="[limits]\nfile_mb = 3\n"))
    assert later.status_code == 200


def test_what_organizers_hold_is_let_go_with_the_data_it_belongs_to(contest: Contest) -> None:
    arena = contest.arena
    assert list(arena.get(PATH).json()["truth_commitments"]) == ["hidden.csv"]
    longer = arena.table.iloc[[0, *range(ROWS)]]
    answer = arena.put(f"{PATH}/original/original.csv", content=table_csv(longer))
    assert answer.json()["truth_commitments"] == {}
    turn()
    assert rows() == {}
    assert given(arena).json()["errors"][0]["code"] == "rows"
    assert given(arena, labels(ROWS + 1)).status_code == 200
    turn()
    assert set(rows()) == {""}


def test_what_organizers_hold_is_refused_by_the_track_and_by_name(contest: Contest) -> None:
    refused = given(contest.arena, b"label\nA SECRET LABEL\n")
    assert refused.status_code == 422
    assert "SECRET LABEL" not in refused.text
    assert given(contest.arena, file="other.csv").json()["code"] == "no_such_file"


def test_as_many_teams_as_there_are_allocations_have_one_each_and_baselines_take_none(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.allocate, "MOST_ATTEMPTS", 100)
    draw = Draw(files=(FileSpec("secret"),), each_team=True, make=rotations(4))
    contest = opened(client, monkeypatch, draw)
    teams = ["red", "blue", "green", "black"]
    for team in teams:
        contest.arena.team(team)
    turn()
    found = rows()
    assert list(found) == ["", *teams]
    assert len({found[team].files["secret"] for team in teams}) == 4
    assert found[""].files["secret"] not in {found[team].files["secret"] for team in teams[:3]}
    assert all(own(contest.arena, team).status_code == 200 for team in teams)
    assert submit(contest, "black").status_code == 202


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_team_for_which_no_allocation_is_left_is_told_and_so_are_the_organizers(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(workers.allocate, "MOST_ATTEMPTS", 60)
    draw = Draw(files=(FileSpec("secret"),), each_team=True, make=rotations(2))
    contest = opened(client, monkeypatch, draw)
    for team in ("red", "blue", "green", "black"):
        contest.arena.team(team)
    turn()
    found = rows()
    assert {team: bool(one.files) for team, one in found.items()} == {
        "": True, "red": True, "blue": True, "green": False, "black": False
    }  # fmt: skip
    assert [entry.after["team"] for entry in acts("own.exhausted")] == ["green", "black"]  # type: ignore[index]
    with transaction() as session:
        assert allocation.undrawn(session, competition_id()) is None
    sent = contest.arena.post(
        f"{PATH}/submissions", token=contest.arena.team("green"), files={"anonymized": ("a.csv", b"")}
    )
    for answer in (own(contest.arena, "green"), own(contest.arena, "green", "secret.csv"), sent):
        assert (answer.status_code, answer.json()["code"]) == (409, "no_allocation_left")
    told = said(
        "All data are assigned to other teams: there are none left for your team. Ask the organizers.",
        language,
    )
    shown = page(contest.arena, f"{PATH}/submissions", team="green", language=language)
    assert told in unescape(shown.text)
    desk = page(contest.arena, f"{PATH}/organize", organizer=True, language=language)
    assert said("duty_unallocated", language, n=2) in unescape(desk.text)
    turn()
    assert len(acts("own.exhausted")) == 2


def test_teams_may_have_the_same_where_the_competition_says_so(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rotations(2)
    draw = Draw(files=(FileSpec("secret"),), each_team=True, make=made, shared=lambda _: True)
    contest = opened(client, monkeypatch, draw)
    teams = [f"team {number}" for number in range(4)]
    for team in teams:
        contest.arena.team(team)
    turn()
    found = Counter(one.files["secret"] for one in rows().values())
    assert (sum(found.values()), len(found)) == (5, 2) or len(found) == 1
    assert {one.attempt for one in rows().values()} == {0}


def test_many_clocks_at_once_draw_once(contest: Contest) -> None:
    for team in ("red", "blue"):
        contest.arena.team(team)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(turn) for _ in range(8)]:
            done.result()
    assert len(acts("seed.commit")) == 1
    assert [entry.after["team"] for entry in acts("own.draw")] == ["", "red", "blue"]  # type: ignore[index]


def test_who_was_there_first_is_drawn_for_first_whoever_comes_meanwhile(contest: Contest) -> None:
    """What is drawn while data change is let go: it was drawn from something else."""
    turn_to_seed(contest)
    with transaction() as session:
        undrawn = allocation.undrawn(session, competition_id())
    assert undrawn is not None
    assert given(contest.arena, labels(ROWS).replace(b"label 3\n", b"other 3\n")).status_code == 200
    with transaction() as session:
        assert allocation.record_allocation(session, undrawn, {"secret": "0" * 64}, 0, shared=False)
    assert rows() == {}
    turn()
    assert b"other 3" in own(contest.arena, "red", "labels.csv").content


def turn_to_seed(contest: Contest) -> None:
    """A seed, and nothing drawn yet."""
    contest.arena.team("red")
    contest.move(anonymization=(1, 2), reidentification=(3, 4))
    turn()
    contest.move(anonymization=(-1, 2))


def test_after_the_reveal_anybody_draws_again_what_was_drawn(contest: Contest) -> None:
    arena = contest.arena
    for team in ("red", "blue"):
        arena.team(team)
    turn()
    sent = submit(contest, "red").json()["id"]
    score_everything()
    owned = {team: own(arena, team, "secret.csv").content for team in ("red", "blue")}
    contest.attack()
    for answer in (arena.client.get(f"/api/v1{PATH}/draws"), arena.get(f"{PATH}/draws")):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_revealed_yet")
    contest.close()
    told = arena.client.get(f"/api/v1{PATH}/draws").json()
    assert told["commitment"] == hashlib.sha256(bytes.fromhex(told["seed"])).hexdigest()
    assert told["commitment"] == arena.get(PATH).json()["seed_commitment"]
    assert [one["team"] for one in told["draws"]] == ["", "red", "blue"]
    for one in told["draws"]:
        made = own_order(
            arena.table,
            {"hidden": labels(ROWS)},
            None,  # type: ignore[arg-type]  # it draws whatever the rules are
            lambda purpose, one=one: generator_for(  # type: ignore[misc]
                bytes.fromhex(told["seed"]), purpose, one["team"], one["attempt"]
            ),
        )
        digests = {f"{name}.csv": hashlib.sha256(made[name]).hexdigest() for name in ("secret", "labels")}
        assert digests == one["files"]
        if one["team"]:
            assert made["secret"] == owned[one["team"]]
    (revealed,) = arena.client.get(f"/api/v1{PATH}/reveal").json()
    assert revealed["submission_id"] == sent
    assert revealed["secret_sha256"] == hashlib.sha256(owned["red"]).hexdigest()


def test_nobody_but_a_teams_members_gets_its_files(
    contest: Contest, capfd: pytest.CaptureFixture[str]
) -> None:
    arena = contest.arena
    for team in ("red", "blue"):
        arena.team(team)
    turn()
    secrets = {team: own(arena, team, "secret.csv").content for team in ("red", "blue")}
    assert secrets["red"] != secrets["blue"]
    with transaction() as session:
        root = accounts.create_user(session, name="root", password=PASSWORD, role=Role.ADMINISTRATOR)
        another = accounts.create_user(session, name="other", password=PASSWORD, role=Role.ORGANIZER)
        tokens = [accounts.issue_token(session, one, name="test") for one in (root, another)]
    for token in (arena.organizer, *tokens):
        for path in ("own", "own/secret.csv", "own/labels.csv"):
            assert arena.get(f"{PATH}/{path}", token=token).status_code == 403
    assert arena.client.get(f"/api/v1{PATH}/own/secret.csv").status_code == 401
    for path in ("export.zip", "kit.zip", "audit", "teams"):
        content = arena.get(f"{PATH}/{path}").content
        assert b"label 3" not in content
    logged = "".join(capfd.readouterr())
    assert "own.draw" in logged
    for line in secrets["red"].decode().splitlines()[1:4]:
        assert f"\n{line}\n" not in logged
    assert "label 3" not in logged


def test_a_backup_has_what_was_drawn_and_says_which_key_opens_the_seed(
    contest: Contest, settings: Settings, tmp_path: Path
) -> None:
    contest.arena.team("red")
    turn()
    made = backup.backup(settings.database_url, store(), tmp_path / "made.tar")
    with transaction() as session:
        seed = session.scalars(select(Seed)).one()
    assert made.key_ids == [seed.key_id]
    with backup.opened(tmp_path / "made.tar") as (found, _):
        kept = {name for name, _ in found.members("blobs")}
    assert {digest for one in rows().values() for digest in one.files.values()} <= kept
    content = (tmp_path / "made.tar").read_bytes()
    assert labels(ROWS) not in content
    assert seed.sealed.hex().encode() in content


def test_a_disqualified_team_keeps_its_files_and_sends_nothing(contest: Contest) -> None:
    arena = contest.arena
    arena.team("red")
    turn()
    before = own(arena, "red").json()
    team = next(one for one in arena.get(f"{PATH}/teams").json() if one["name"] == "red")
    assert arena.post(f"{PATH}/teams/{team['id']}/disqualify").status_code == 200
    turn()
    assert own(arena, "red").json() == before
    assert submit(contest, "red").json()["code"] == "disqualified"


def test_a_baseline_is_made_of_what_was_drawn_for_all_baselines(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, path = contest.arena, "/competitions/small/organize/baselines"
    fields = {"name": "untouched", "method": next(iter(TRACKS["microdata"].methods))}
    given_to: list[Any] = []

    def anonymize(_: Any, original: Any, *__: Any, answer: Any) -> Any:
        given_to.append(answer)
        return original.iloc[answer].reset_index(drop=True), answer

    monkeypatch.setitem(TRACKS, "microdata", replace(TRACKS["microdata"], anonymize=anonymize, shuffle=kept))
    early = send(arena, path, fields, organizer=True)
    assert early.status_code == 409
    turn()
    assert send(arena, path, fields, organizer=True).status_code == 303
    score_everything()
    (order,) = given_to
    with transaction() as session:
        drawn = session.scalars(select(Drawn.files).where(Drawn.team == "")).one()
    secret = store().get(drawn["secret"])
    assert order.tolist() == source_from_secret(secret, originals=ROWS, anonymized=ROWS).tolist()
    (found,) = arena.get(f"{PATH}/submissions/all").json()
    assert (found["team"], found["status"]) == ("untouched", "SCORED")


def kept(release: Any, answer: Any, *, rng: Any) -> Any:
    """In the order in which it stands."""
    return release, answer


def test_a_track_that_draws_nothing_has_no_seed(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.arena.team("red")
    turn()
    assert acts("seed.commit") == []
    assert own(contest.arena, "red").json()["code"] == "nothing_drawn"
    told = contest.arena.get(PATH).json()
    assert (told["own_files"], told["seed_commitment"], told["truth_files"]) == ([], None, [])


def test_without_a_private_key_no_seed_is_made_and_phases_turn_all_the_same(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ANONCUP_OPENING_KEYS_DIR", str(tmp_path))
    get_settings.cache_clear()
    turn()
    assert acts("seed.commit") == []
    contest.move(anonymization=(-3, -2), reidentification=(1, 2))
    turn()
    assert competition_row().published_at is not None
    monkeypatch.undo()
    get_settings.cache_clear()
