"""Packages are installed, upgraded and removed while contests run, with real sandboxed processes."""

import io
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncup import schemas
from anoncup.client import Client
from anoncup.errors import Unavailable
from anoncup.tables.csv_text import write_csv
from tests.support.arena import PASSWORD, build_competition_toml, build_noisy_release, build_original_table
from tests.support.environments import PACKAGE_NAME, PackageEnvironment, environment, example
from tests.support.package_service import create_organizer, run_service
from tests.support.wait import poll_until

__all__ = ["environment", "example"]
pytestmark = pytest.mark.full

PACKAGE_RULES = f"""
[requires]
{PACKAGE_NAME} = ">=0.1,<1"
[measures.combinations_lost]
weight = 1.0
[attackers.nearest_total]
[scales]
combinations_lost = 1.0
"""
SECOND_VERSION_ENTRY = """
"combinations_lost",
                2,
                _lazy("parts.half_lost"),
"""


@dataclass(frozen=True)
class PackageService:
    """A running service with an organizer and two contests of one team each."""

    url: str
    organizer: str
    teams: dict[str, str]

    def submit(self, slug: str, seed: int) -> str:
        anonymized, secret = build_uniform_release(seed)
        with Client(self.url, self.teams[slug]) as client:
            return str(client.submit(slug, {"anonymized": anonymized}, secret=secret).id)

    def read_submission(self, slug: str, identifier: str) -> Any:
        with Client(self.url, self.teams[slug]) as client:
            return client.get_submission(identifier).model_dump(mode="json")

    def submit_and_score(self, slug: str, seed: int) -> Any:
        return self.poll_score(slug, self.submit(slug, seed))

    def require_waiting(self, identifier: str, reason: str) -> None:
        """Require that a submission to the contest with the package was tried and waits for a reason."""
        assert poll_until(lambda: self.read_submission("with", identifier)["failure"])
        submission = self.read_submission("with", identifier)
        assert (submission["status"], submission["failure"]) == ("QUEUED", reason)

    def poll_score(self, slug: str, identifier: str) -> Any:
        assert poll_until(lambda: self.read_submission(slug, identifier)["status"] == "SCORED")
        return self.read_submission(slug, identifier)

    def read_board(self, slug: str) -> Any:
        with Client(self.url, self.teams[slug]) as client:
            return client.get_board(slug).model_dump(mode="json")

    def connect_organizer(self) -> Client:
        return Client(self.url, self.organizer, password=lambda: PASSWORD)


def build_uniform_release(seed: int) -> tuple[bytes, bytes]:
    """Build a release in which everybody has the same sex, so that combinations are lost."""
    content, secret = build_noisy_release(seed, build_original_table())
    table = pd.read_csv(io.BytesIO(content), dtype=str)
    return write_csv(table.assign(sex=table["sex"].iloc[0])), secret


def open_contest(url: str, organizer: str, slug: str, file: str) -> str:
    """Create a contest with one team and return the team's token."""
    with Client(url, organizer, password=lambda: PASSWORD) as client:
        client.create_competition(file)
        client.put_original(slug, write_csv(build_original_table()), filename="original.csv")
        invite = client.create_invite(slug)
    with Client(url) as client:
        return client.sign_up(invite=invite, team=slug, name=f"of {slug}", password=PASSWORD)


def build_contest_file(slug: str, more: str) -> str:
    return build_competition_toml(slug, extra_toml=more, threshold=1)


def write_second_version(package: Path) -> None:
    """Change the package's measure and increase its version."""
    registry_file, parts_file = package / "anoncup_example/__init__.py", package / "anoncup_example/parts.py"
    first_entry = (
        '"combinations_lost",\n                1,\n                _lazy("parts.combinations_lost"),'
    )
    assert first_entry in registry_file.read_text()
    registry_file.write_text(registry_file.read_text().replace(first_entry, SECOND_VERSION_ENTRY.strip()))
    function_text = "\n\ndef half_lost(release, *, columns=None):\n"
    function_text += "    return combinations_lost(release, columns=columns) / 2\n"
    parts_file.write_text(parts_file.read_text() + function_text)


OLD_VERSION_COUNTS = f"scored_by: packages.{PACKAGE_NAME} counts in version 0.1.0; version 0.2.0 is installed"
NOT_INSTALLED = f"requires.{PACKAGE_NAME}: the package {PACKAGE_NAME} is not installed"


def start_rescore(client: Client, file: str) -> schemas.RescoreSummary:
    path = "/competitions/with/rescores"
    headers = {"Content-Type": "application/toml"}
    return client.call(schemas.RescoreSummary, "POST", path, content=file.encode(), headers=headers)


def test_package_is_upgraded_and_removed_during_a_contest(
    environment: PackageEnvironment, example: Path, tmp_path: Path
) -> None:
    wheels, data, log = tmp_path / "wheels", tmp_path / "data", tmp_path / "service.log"
    first_version = Path(shutil.copytree(example, tmp_path / "first_version"))
    write_second_version(example)
    environment.install(first_version, wheels)
    with run_service(environment, data, log) as url:
        organizer = create_organizer(environment, data, url)
        rules = {"with": PACKAGE_RULES, "without": ""}
        files = {slug: build_contest_file(slug, more) for slug, more in rules.items()}
        teams = {slug: open_contest(url, organizer, slug, file) for slug, file in files.items()}
        service = PackageService(url, organizer, teams)
        first_submission = service.submit_and_score("with", 1)
        assert first_submission["result"]["measures"]["combinations_lost"]["version"] == 1
        assert first_submission["result"]["attackers"]["nearest_total"]["rate"] >= 0
        plain_submission = service.submit_and_score("without", 1)
        assert "combinations_lost" in plain_submission["result"]["measures"]
        with service.connect_organizer() as client:
            assert f'"packages.{PACKAGE_NAME}" = "0.1.0"' in client.get_text(
                "/competitions/with/competition.toml"
            )
        boards = {slug: service.read_board(slug) for slug in teams}

        environment.upgrade(example, wheels, "0.2.0")
        second_id = service.submit("with", 2)
        service.require_waiting(second_id, OLD_VERSION_COUNTS)
        assert service.read_board("with") == boards["with"]
        plain_submission = service.submit_and_score("without", 2)
        assert plain_submission["result"]["measures"]["combinations_lost"]["version"] == 2
        with (
            service.connect_organizer() as client,
            pytest.raises(Unavailable, match="the service must be restarted"),
        ):
            start_rescore(client, files["with"])
        environment.install(first_version, wheels)
        second_submission = service.poll_score("with", second_id)
        assert second_submission["result"]["measures"]["combinations_lost"]["version"] == 1
        environment.upgrade(example, wheels, "0.2.0")
        waiting_id = service.submit("with", 3)
        service.require_waiting(waiting_id, OLD_VERSION_COUNTS)

    with run_service(environment, data, log) as url:
        service = PackageService(url, organizer, teams)
        late_id = service.submit("with", 4)
        service.require_waiting(late_id, OLD_VERSION_COUNTS)
        with service.connect_organizer() as client:
            path = f"/rescores/{start_rescore(client, files['with']).id}"
            assert poll_until(
                lambda: (progress := client.get(schemas.Rescore, path)).finished == progress.total
            )
            client.call(schemas.RescoreSummary, "POST", f"{path}/apply")
        service.poll_score("with", waiting_id)
        service.poll_score("with", late_id)
        rescored = service.read_submission("with", first_submission["id"])["result"]
        new_entry = rescored["measures"]["combinations_lost"]
        old_value = first_submission["result"]["measures"]["combinations_lost"]["value"]
        assert old_value > 0
        assert (new_entry["version"], new_entry["value"]) == (2, old_value / 2)
        boards = {slug: service.read_board(slug) for slug in teams}

        environment.uninstall()
        with pytest.raises(Unavailable, match=NOT_INSTALLED):
            service.submit("with", 5)
        assert service.submit_and_score("without", 3)["result"]["verdict"] == "accepted"
        environment.install(example, wheels)
        assert service.read_board("with") == boards["with"]
        assert service.submit_and_score("with", 5)["result"]["measures"]["combinations_lost"]["version"] == 2
        environment.uninstall()

    with run_service(environment, data, log) as url:
        service = PackageService(url, organizer, teams)
        with pytest.raises(Unavailable, match=NOT_INSTALLED):
            service.read_board("with")
        with Client(url) as client:
            assert {competition.slug for competition in client.list_competitions()} == set(teams)
        assert service.submit_and_score("without", 4)["result"]["verdict"] == "accepted"
