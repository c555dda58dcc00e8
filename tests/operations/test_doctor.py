"""``doctor`` names what an installation lacks."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from app.config import Settings
from app.core import sealing
from app.core.db.models import Delivery
from app.core.db.privileges import WEB, WORKER
from app.core.db.transaction import transaction
from app.jobs import health
from app.notifications import organizer_notifications
from tests.support.contest import Contest
from tests.support.database_rows import execute
from tests.support.mail_server import run_mail_server
from tests.support.provider_sign_in import run_provider
from tests.support.queue import run_full_queue
from tests.support.role_session import build_role_url
from tests.support.shell_commands import start_program

pytestmark = pytest.mark.full


def examine(folder: Path, **variables: str) -> tuple[int, dict[str, Any]]:
    """Return the exit status of ``doctor``, and status and detail of each check."""
    names = ("DATABASE_URL", "REDIS_URL")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in names and not name.startswith("ANONCUP_")
    }
    result = start_program("doctor", "--json", cwd=folder, env=environment | variables)
    assert result.stderr == ""
    entries = json.loads(result.stdout)
    return result.returncode, {entry["check"]: (entry["status"], entry["detail"]) for entry in entries}


def build_variables(settings: Settings, **changed: str) -> dict[str, str]:
    """Return the environment of an installation with the test's servers."""
    return {
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "ANONCUP_DATA": str(settings.data),
        "ANONCUP_SEALING_KEY_FILE": str(settings.sealing_key_file),
        "ANONCUP_OPENING_KEYS_DIR": str(settings.opening_keys_dir),
        "ANONCUP_PUBLIC_URL": "https://cup.example.org",
    } | changed


def test_empty_folder_has_neither_keys_nor_servers(tmp_path: Path) -> None:
    description = tmp_path / "elsewhere/packages/places/package.json"
    description.parent.mkdir(parents=True)
    description.write_text("{}")
    broken = "the package places cannot be used: KeyError: 'plugins'"
    assert examine(tmp_path, ANONCUP_DATA="elsewhere")[1]["versions"] == ("problem", broken)
    status, checks = examine(tmp_path)
    assert status == 1
    assert checks["versions"][0] == "ok"
    assert checks["address"][0] == "warning"
    problems = {name: detail for name, (result, detail) in checks.items() if result == "problem"}
    assert set(problems) == {"keys", "servers"}
    assert all("anoncup serve" in detail for detail in problems.values())


def test_running_servers_are_checked(settings: Settings, tmp_path: Path) -> None:
    with transaction() as session:
        health.record_heartbeat(session, health.TRANSITION_TASK)
    status, checks = examine(tmp_path, **build_variables(settings))
    results = {name: result for name, (result, _) in checks.items() if name not in {"sandbox", "user"}}
    assert results == dict.fromkeys(results, "ok") | {"workers": "problem"}
    assert checks["workers"][1].endswith("start anoncup worker")
    assert checks["database"][1].startswith("Postgres ")
    assert status == 1
    is_root = os.geteuid() == 0
    assert (checks["user"][0] == "warning") == is_root == ("run doctor as the user" in checks["user"][1])


def test_folder_of_the_files_is_measured(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    _, checks = examine(tmp_path, **build_variables(settings, ANONCUP_STORE=str(tmp_path / "store")))
    assert f"GB free at {tmp_path / 'store'}" in checks["disk"][1]


@pytest.mark.parametrize("role", ["anoncup", WEB, WORKER])
def test_each_database_role_can_be_used(
    settings: Settings, contest: Contest, tmp_path: Path, role: str
) -> None:
    contest.submit("red", score=False)
    with transaction() as session:
        health.record_heartbeat(session, health.TRANSITION_TASK)
    variables = build_variables(settings, DATABASE_URL=build_role_url(role, settings.database_url))
    _, checks = examine(tmp_path, **variables)
    for check in ("database", "deliveries", "store", "clock"):
        assert checks[check][0] == "ok", checks[check]
    assert f" as {role}, " in checks["database"][1]
    assert check_clock(tmp_path, variables) == (0, "")


def test_role_without_privileges_is_told_what_it_may_not_see(settings: Settings, tmp_path: Path) -> None:
    execute(text("CREATE ROLE stranger"))
    variables = build_variables(settings, DATABASE_URL=build_role_url("stranger", settings.database_url))
    try:
        status, checks = examine(tmp_path, **variables)
        clock_status, clock_error = check_clock(tmp_path, variables)
    finally:
        execute(text("DROP ROLE stranger"))
    refused = "this database user may not see all of it: permission denied for table"
    assert checks["deliveries"] == ("warning", f"{refused} deliveries")
    assert checks["clock"] == ("warning", f"{refused} heartbeats")
    assert checks["database"] == ("warning", f"{refused} alembic_version")
    assert status == 1  # no worker runs
    assert (clock_status, clock_error) == (2, f"anoncup: {refused} heartbeats\n")


def check_clock(folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Return the exit status of ``scheduler --check`` and what it prints as an error."""
    result = start_program("scheduler", "--check", cwd=folder, env={"PATH": os.defpath} | variables)
    return result.returncode, result.stderr


def test_stopped_clock_is_a_problem(settings: Settings, tmp_path: Path) -> None:
    _, checks = examine(tmp_path, **build_variables(settings))
    assert checks["clock"] == ("problem", "the clock has never run: phases do not change")


@pytest.mark.parametrize(
    ("variable", "value", "check"),
    [
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none", "database"),
        ("REDIS_URL", "redis://127.0.0.1:1", "queue"),
    ],
)
def test_unreachable_server_is_a_problem(
    settings: Settings, tmp_path: Path, variable: str, value: str, check: str
) -> None:
    _, checks = examine(tmp_path, **build_variables(settings, **{variable: value}))
    assert checks[check][0] == "problem"
    assert "cannot be reached" in checks[check][1]
    assert ("without Redis" in checks["workers"][1]) == (check == "queue")


def test_queue_that_is_full_is_a_problem(settings: Settings, tmp_path: Path) -> None:
    with run_full_queue(tmp_path) as url:
        _, checks = examine(tmp_path, **build_variables(settings, REDIS_URL=url))
    assert checks["queue"][0] == "problem"
    assert "cannot be written" in checks["queue"][1]
    assert "maxmemory" in checks["queue"][1]


def test_keys_must_belong_together(settings: Settings, tmp_path: Path) -> None:
    key_id = sealing.create_keys(tmp_path / "other.pub", tmp_path / "private")
    public, private = str(tmp_path / "other.pub"), str(settings.opening_keys_dir)
    _, checks = examine(tmp_path, **build_variables(settings, ANONCUP_SEALING_KEY_FILE=public))
    assert checks["keys"][0] == "problem"
    assert key_id in checks["keys"][1]
    assert private in checks["keys"][1]


@pytest.mark.parametrize(
    ("variable", "missing"),
    [("ANONCUP_SEALING_KEY_FILE", "no public key"), ("ANONCUP_OPENING_KEYS_DIR", "no private key")],
)
def test_host_with_one_kind_of_key_is_warned(
    settings: Settings, tmp_path: Path, variable: str, missing: str
) -> None:
    _, checks = examine(tmp_path, **build_variables(settings, **{variable: str(tmp_path / "none")}))
    assert checks["keys"][0] == "warning"
    assert missing in checks["keys"][1]


def test_keys_that_are_missing_are_made_by_a_command_with_servers_of_ones_own(
    settings: Settings, tmp_path: Path
) -> None:
    none = {name: str(tmp_path / "none") for name in ("ANONCUP_SEALING_KEY_FILE", "ANONCUP_OPENING_KEYS_DIR")}
    _, checks = examine(tmp_path, **build_variables(settings, **none))
    assert checks["keys"] == ("problem", "there are no keys: make them with anoncup keys create")


def test_switched_off_sandbox_and_plain_http_are_warned(settings: Settings, tmp_path: Path) -> None:
    changed = {"ANONCUP_SANDBOX": "off", "ANONCUP_PUBLIC_URL": "http://cup.example.org"}
    _, checks = examine(tmp_path, **build_variables(settings, **changed))
    assert checks["sandbox"][0] == checks["address"][0] == "warning"


def test_mail_server_is_tried_with_the_sender(settings: Settings, tmp_path: Path) -> None:
    assert examine(tmp_path)[1]["mail"] == ("ok", "no mail server is set")
    with run_mail_server() as server:
        variables = build_variables(
            settings,
            ANONCUP_SMTP__HOST="127.0.0.1",
            ANONCUP_SMTP__PORT=str(server.port),
            ANONCUP_SMTP__TLS="none",
            ANONCUP_SMTP__SENDER="cup@example.org",
        )
        checks = examine(tmp_path, **variables)[1]
        assert checks["mail"] == ("ok", "127.0.0.1 accepts mail from cup@example.org")
        assert server.envelopes == []
        server.answers["MAIL"] = "550 no"
        checks = examine(tmp_path, **variables)[1]
    status, detail = checks["mail"]
    assert (status, "SMTPSenderRefused 550" in detail) == ("problem", True)


def test_sign_in_providers_are_asked_for_their_description(settings: Settings, tmp_path: Path) -> None:
    with run_provider(tmp_path) as provider:
        variables = build_variables(settings, **provider.build_settings())
        _, checks = examine(tmp_path, **variables)
        assert checks["sign-in"] == ("ok", "lab")
        variables["ANONCUP_SIGN_IN__LAB__ISSUER"] += "/other"
        status, checks = examine(tmp_path, **variables)
    assert (status, checks["sign-in"][0]) == (1, "problem")
    assert (
        checks["sign-in"][1]
        == f"lab: {provider.url}/other does not answer as a provider does (HTTPStatusError)"
    )


def test_events_that_nobody_sends_are_a_problem(settings: Settings, contest: Contest, tmp_path: Path) -> None:
    with transaction() as session:
        organizer_notifications.set_urls(session, contest.arena.slug, ["json://hooks.invalid"])
    contest.arena.post(f"{contest.path}/announcements", json={"text": {"en": "x"}}).raise_for_status()
    _, checks = examine(tmp_path, **build_variables(settings))
    assert checks["deliveries"] == ("ok", "notifications and mail waiting: 1")
    late = datetime.now(UTC) - timedelta(hours=1)
    execute(update(Delivery).values(next_attempt_at=late))
    _, checks = examine(tmp_path, **build_variables(settings))
    assert checks["deliveries"][0] == "problem"
    assert checks["deliveries"][1].endswith("start anoncup deliver")
