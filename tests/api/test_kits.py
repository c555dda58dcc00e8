"""The kit: what it holds, that its commands work as they stand in it, that it changes only with its rules."""

import io
import json
import shlex
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Phase
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.microdata.example import household_table
from app.config import Settings
from app.locale.language import LANGUAGES
from app.services.originals import kit_words, kits
from app.services.originals.kit_words import Service
from app.storage import store
from tests.e2e.stack import household_file
from tests.support.arena import API, Arena, competition_file
from tests.support.shell_commands import run
from tests.support.shop_contest import filled, shop
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

__all__ = ["shop"]


def kit_of(arena: Arena, headers: dict[str, str] | None = None) -> Response:
    answer: Response = arena.client.get(f"{API}/competitions/{arena.slug}/kit.zip", headers=headers or {})
    return answer


def unpacked(answer: Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def spread(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def commands(readme: str, verb: str) -> list[str]:
    """As they stand in the text, once in each language."""
    return [line.strip() for line in readme.splitlines() if line.startswith(f"    anoncup {verb} ")]


def accepted(files: dict[str, bytes], folder: Path) -> None:
    """Both local commands, copied from the text, find that the example keeps the rules."""
    spread(files, folder)
    readme = files["README.md"].decode()
    for verb in ("check", "score"):
        english, japanese = commands(readme, verb)
        assert english == japanese
        done = run(*shlex.split(english)[1:], "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["verdict"] == "accepted"


def test_a_kit_of_microdata_holds_an_example_that_its_own_commands_accept(
    arena: Arena, tmp_path: Path
) -> None:
    files = unpacked(kit_of(arena))
    assert list(files) == [
        "README.md",
        "competition.toml",
        "example/anonymized.csv",
        "example/secret.csv",
        "original/original.csv",
    ]
    assert files["original/original.csv"] == table_csv(arena.table)
    assert files["competition.toml"] == arena.get("/competitions/small/competition.toml").content
    assert b"[scales]" in files["competition.toml"]
    readme = files["README.md"].decode()
    assert "    sex,age,income,rent\n" in readme
    assert "    original_row\n" in readme
    assert ("# Small cup\n" in readme, "# 小さな杯\n" in readme) == (True, True)
    accepted(files, tmp_path)


def test_the_kits_times_are_those_of_the_competitions_zone() -> None:
    rules = replace(
        parse_competition(competition_file()),
        timezone="Asia/Tokyo",
        phases=(
            Phase("anonymization", datetime(2027, 1, 9, 15, tzinfo=UTC), datetime(2027, 1, 31, tzinfo=UTC)),
        ),
    )
    readme = kit_words.readme(
        rules,
        TRACKS[rules.track],
        {"anonymized": "a,b", "secret": "original_row"},
        ["original"],
        Service(),
    )
    assert "- Anonymization phase: 2027-01-10 00:00 – 2027-01-31 09:00\n" in readme
    assert "- 匿名加工フェーズ：2027-01-10 00:00 – 2027-01-31 09:00\n" in readme


def test_a_kit_of_transactions_holds_an_example_that_its_own_commands_accept(
    shop: Arena, tmp_path: Path
) -> None:
    files = unpacked(kit_of(filled(shop)))
    assert set(files) >= {"example/customers.csv", "example/transactions.csv", "original/customers.csv"}
    accepted(files, tmp_path)


@pytest.mark.parametrize(("name", "rows"), [("membership", 60), ("monthly", 12)])
def test_a_kit_of_any_track_has_its_files_and_an_example_that_its_own_commands_accept(
    session_settings: Settings, tmp_path: Path, name: str, rows: int
) -> None:
    track = TRACKS[name]
    assert track.example_data
    data = {one: each for one, each in track.example_data(rows, 0).items() if one in track.original_files}
    (text,) = (each.read_text("utf-8") for each in list(track.templates.values())[:1])
    kit = kits.Kit(text, tuple(sorted((one, store().put(each)) for one, each in data.items())), Service())
    files = {one: each if isinstance(each, bytes) else b"".join(each) for one, each in kits.files(kit)}
    example = {*track.files, track.answers.file.name}
    assert {one for one in files if one.startswith("example/")} == {f"example/{one}.csv" for one in example}
    accepted(files, tmp_path)
    readme = files["README.md"].decode()
    (sent, _) = commands(readme, "submit")
    assert (" --secret " in sent) is not track.draws_answer
    assert ("## What your team alone is given" in readme) is track.draws_answer
    assert "must be kept" not in readme


def test_a_team_can_hand_in_the_example_and_the_service_scores_it_as_the_command_does(
    arena: Arena, tmp_path: Path
) -> None:
    files = unpacked(kit_of(arena))
    release, secret = files["example/anonymized.csv"], files["example/secret.csv"]
    answer = arena.submit("red", anonymized=release, secret=secret)
    assert (answer.status_code, answer.json()["warnings"]) == (202, [])
    score_everything()
    found = arena.submission(answer.json()["id"], "red")["result"]
    spread(files, tmp_path)
    (command, _) = commands(files["README.md"].decode(), "score")
    printed = json.loads(run(*shlex.split(command)[1:], "--json", "--methods", cwd=tmp_path).stdout)
    assert [each["methods"] for each in found.pop("resembles")] == [
        each["methods"] for each in printed["resembles"]
    ]
    assert {name: printed[name] for name in found} == found


@pytest.mark.parametrize("more", ['rule = "average"', 'rule = "strict"'])
def test_where_any_change_is_excessive_the_example_only_reorders(
    client: TestClient, tmp_path: Path, more: str
) -> None:
    arena = Arena.opened(client, file=competition_file(threshold=0.0, more=more))
    files = unpacked(kit_of(arena))
    original, example = (
        files[name].splitlines() for name in ("original/original.csv", "example/anonymized.csv")
    )
    assert sorted(original[1:]) == sorted(example[1:])
    assert original != example
    accepted(files, tmp_path)


def test_a_kit_is_the_same_bytes_each_time_and_is_not_sent_twice(arena: Arena, settings: Settings) -> None:
    first = kit_of(arena)
    assert kit_of(arena).content == first.content
    assert int(first.headers["content-length"]) == len(first.content)
    assert first.headers["content-disposition"] == 'attachment; filename="small-kit.zip"'
    for kept in (settings.data / "kits").iterdir():
        kept.unlink()
    made_again = kit_of(arena)
    assert (made_again.content, made_again.headers["etag"]) == (first.content, first.headers["etag"])
    for tag in (first.headers["etag"], f"W/{first.headers['etag']}"):
        known = kit_of(arena, {"If-None-Match": tag})
        assert (known.status_code, known.content) == (304, b"")


def test_a_kit_says_where_the_service_and_its_code_are(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = kit_of(arena)
    readme = unpacked(kept)["README.md"].decode()
    assert readme.count("http://localhost/competitions/small\n") == len(LANGUAGES)
    logins = ["anoncup login --url http://localhost"] * len(LANGUAGES)
    assert commands(readme, "login") == logins
    assert "Ask the organizers where the code is." in readme
    assert f"version {version('anoncup')}." in readme
    elsewhere = kit_of(arena, {"Host": "localhost:9"})
    assert elsewhere.headers["etag"] != kept.headers["etag"]
    assert b"localhost:9" not in unpacked(elsewhere)["README.md"]
    assert commands(unpacked(elsewhere)["README.md"].decode(), "login") == [
        "anoncup login --url ADDRESS"
    ] * len(LANGUAGES)
    monkeypatch.setenv("ANONCUP_PUBLIC_URL", "https://cup.example.org/")
    monkeypatch.setenv("ANONCUP_SOURCE", "https://code.example.org/cup")
    told = kit_words.readme(
        parse_competition(competition_file()),
        TRACKS["microdata"],
        {"anonymized": "a,b", "secret": "original_row"},
        ["original"],
        Service(Settings().public_url, Settings().source, "1"),
    )
    assert "The code is at https://code.example.org/cup.\n" in told
    assert "organizers where the code" not in told
    assert commands(told, "login")[0] == "anoncup login --url https://cup.example.org"


def test_a_kit_changes_with_the_rules_and_with_the_data(arena: Arena) -> None:
    tags = [kit_of(arena).headers["etag"]]
    arena.put("/competitions/small/competition.toml", content=competition_file(threshold=0.3))
    changed = kit_of(arena)
    assert b"threshold = 0.3" in unpacked(changed)["competition.toml"]
    tags.append(changed.headers["etag"])
    arena.put("/competitions/small/original/original.csv", content=table_csv(arena.table.head(30)))
    tags.append(kit_of(arena).headers["etag"])
    assert len(set(tags)) == 3


def test_many_who_ask_for_a_new_kit_at_once_get_the_same(arena: Arena) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: kit_of(arena), range(16)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


def test_without_the_data_there_is_no_kit(shop: Arena) -> None:
    answer = kit_of(shop)
    assert (answer.status_code, answer.json()["code"]) == (404, "no_original")


def test_a_kit_says_nothing_of_when_and_where_it_was_made(arena: Arena) -> None:
    with zipfile.ZipFile(io.BytesIO(kit_of(arena).content)) as archive:
        for entry in archive.infolist():
            assert (entry.date_time, entry.create_system) == ((1980, 1, 1, 0, 0, 0), 3)
            assert entry.external_attr >> 16 == 0o100644


def test_a_kit_of_data_as_large_as_a_real_contests_has_a_whole_example(client: TestClient) -> None:
    arena = Arena.opened(client)
    assert arena.post("/competitions", content=household_file("large")).status_code == 201
    table = table_csv(household_table(8_333))
    assert arena.put("/competitions/large/original/original.csv", content=table).status_code == 200
    arena.slug = "large"
    assert len(unpacked(kit_of(arena))["example/secret.csv"].splitlines()) == 8_334
