"""A service whose packages come, change and go while contests run: real processes, sandboxed workers."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncup.client import Client
from anoncup.errors import Unavailable
from anoncup.tables.csv_text import table_csv
from tests.support.arena import PASSWORD, competition_file, noisy_release, original_table
from tests.support.environments import NAME, Environment, environment, example
from tests.support.package_service import organizer_at, serving
from tests.support.wait import eventually

__all__ = ["environment", "example"]
pytestmark = pytest.mark.full

USED = f"""
[requires]
{NAME} = ">=0.1,<1"
[measures.combinations_lost]
weight = 1.0
[attackers.nearest_total]
[scales]
combinations_lost = 1.0
"""
LATER = """
"combinations_lost",
                2,
                _by("parts.half_lost"),
"""


@dataclass(frozen=True)
class Service:
    """A running service, as its organizer and two teams with a contest each."""

    url: str
    organizer: str
    teams: dict[str, str]

    def submit(self, slug: str, seed: int) -> str:
        anonymized, secret = released(seed)
        with Client(self.url, self.teams[slug]) as client:
            return str(client.submit(slug, {"anonymized": anonymized}, secret=secret).id)

    def submission(self, slug: str, identifier: str) -> Any:
        with Client(self.url, self.teams[slug]) as client:
            return client.submission(identifier).model_dump(mode="json")

    def scored(self, slug: str, seed: int) -> Any:
        identifier = self.submit(slug, seed)
        assert eventually(lambda: self.submission(slug, identifier)["status"] == "SCORED")
        return self.submission(slug, identifier)

    def board(self, slug: str) -> Any:
        with Client(self.url, self.teams[slug]) as client:
            return client.board(slug).model_dump(mode="json")

    def acting(self) -> Client:
        return Client(self.url, self.organizer, password=lambda: PASSWORD)


def released(seed: int) -> tuple[bytes, bytes]:
    """A release in which everybody has the same sex, so that combinations are lost."""
    content, secret = noisy_release(seed, original_table())
    table = pd.read_csv(io.BytesIO(content), dtype=str)
    return table_csv(table.assign(sex=table["sex"].iloc[0])), secret


def opened(url: str, organizer: str, slug: str, file: str) -> str:
    """A contest with one team; its token."""
    with Client(url, organizer, password=lambda: PASSWORD) as client:
        client.create_competition(file)
        client.put_original(slug, table_csv(original_table()), file="original.csv")
        invite = client.invite(slug)
    with Client(url) as client:
        return client.sign_up(invite=invite, team=slug, name=f"of {slug}", password=PASSWORD)


def contest_file(slug: str, more: str) -> str:
    return competition_file(slug, more=more, threshold=1)


def second_version(package: Path) -> None:
    """Its measure is counted otherwise from now on, and says so."""
    described, parts = package / "anoncup_example/__init__.py", package / "anoncup_example/parts.py"
    before = '"combinations_lost",\n                1,\n                _by("parts.combinations_lost"),'
    assert before in described.read_text()
    described.write_text(described.read_text().replace(before, LATER.strip()))
    half = "\n\ndef half_lost(release, *, columns=None):\n"
    half += "    return combinations_lost(release, columns=columns) / 2\n"
    parts.write_text(parts.read_text() + half)


def test_a_package_is_upgraded_and_taken_away_while_its_contest_runs(
    environment: Environment, example: Path, tmp_path: Path
) -> None:
    wheels, data, log = tmp_path / "wheels", tmp_path / "data", tmp_path / "service.log"
    environment.install(example, wheels)
    with serving(environment, data, log) as url:
        organizer = organizer_at(environment, data, url)
        files = {"with": contest_file("with", USED), "without": contest_file("without", "")}
        teams = {slug: opened(url, organizer, slug, file) for slug, file in files.items()}
        service = Service(url, organizer, teams)
        first = service.scored("with", 1)
        assert first["result"]["measures"]["combinations_lost"]["version"] == 1
        assert first["result"]["attackers"]["nearest_total"]["rate"] >= 0
        plain = service.scored("without", 1)
        assert "combinations_lost" in plain["result"]["measures"]
        with service.acting() as client:
            assert f'"packages.{NAME}" = "0.1.0"' in client.text("/competitions/with/competition.toml")
        boards = {slug: service.board(slug) for slug in teams}

    second_version(example)
    environment.upgrade(example, wheels, "0.2.0")
    with serving(environment, data, log) as url:
        service = Service(url, organizer, teams)
        assert service.board("with") == boards["with"]
        waiting = service.submit("with", 2)
        again = service.scored("without", 2)
        assert service.submission("with", waiting)["status"] in ("QUEUED", "SCORING")
        assert again["result"]["measures"]["combinations_lost"]["version"] == 2
        with service.acting() as client:
            begun = client.start_rescore("with", files["with"].encode())
            assert eventually(lambda: (now := client.rescore(str(begun.id))).finished == now.total)
            client.end_rescore(str(begun.id), "apply")
        assert eventually(lambda: service.submission("with", waiting)["status"] == "SCORED")
        rescored = service.submission("with", first["id"])["result"]
        found = rescored["measures"]["combinations_lost"]
        lost = first["result"]["measures"]["combinations_lost"]["value"]
        assert lost > 0
        assert (found["version"], found["value"]) == (2, lost / 2)
        boards = {slug: service.board(slug) for slug in teams}

    environment.uninstall()
    with serving(environment, data, log) as url:
        service = Service(url, organizer, teams)
        with pytest.raises(Unavailable, match=f"the package {NAME} is not installed"):
            service.board("with")
        with Client(url) as client:
            assert {one.slug for one in client.competitions()} == set(teams)
        assert service.scored("without", 3)["result"]["verdict"] == "accepted"

    environment.install(example, wheels)
    with serving(environment, data, log) as url:
        service = Service(url, organizer, teams)
        assert service.board("with") == boards["with"]
        assert service.scored("with", 4)["result"]["measures"]["combinations_lost"]["version"] == 2
