"""The health page shows administrators how each worker sandboxes its scoring processes."""

import re
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest

from anoncup.runner import sandbox
from anoncup.schemas.roles import Role
from app.core.db.privileges import WORKER
from app.jobs.worker_reports import list_workers
from app.operations.supervisor import build_worker_program
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena
from tests.support.page_requests import get_page
from tests.support.service_processes import QUICK_SETTINGS, build_role_env, run_program
from tests.support.translations import translate
from tests.support.wait import poll_until

pytestmark = pytest.mark.full

SETTINGS = {"sandboxed": "required", "open": "off"}


@pytest.mark.full
def test_administrator_sees_workers_without_a_sandbox(arena: Arena, tmp_path: Path) -> None:
    programs = [
        build_worker_program(
            kinds=("scores",),
            env=QUICK_SETTINGS | build_role_env(WORKER) | {"ANONCUP_SANDBOX": setting},
            log=tmp_path / "worker.log",
            name=name,
        )
        for name, setting in SETTINGS.items()
    ]
    with ExitStack() as exit_stack:
        for program in programs:
            exit_stack.enter_context(run_program(program))
        assert poll_until(lambda: len(list_workers() or ()) == len(programs))
        by_name = {report.name.partition("@")[0]: report for report in list_workers() or ()}
        assert (by_name["celery-open"].sandbox, by_name["celery-open"].is_sandbox_complete) == (
            sandbox.describe("off"),
            False,
        )
        assert by_name["celery-sandboxed"].sandbox == str(sandbox.choose("required"))
        arena.team_tokens["root"] = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
        expected_text = translate("Incomplete: {standing}", standing=sandbox.describe("off"))
        assert poll_until(lambda: read_rows(arena)["celery-open"] == expected_text)


def read_rows(arena: Arena) -> dict[str, str]:
    """Return the text of each worker's row on the health page."""
    html = unescape(get_page(arena, f"/competitions/{arena.slug}/organize/health", team="root").text)
    matches = re.findall(r'<th scope="row" class="entry">([\w-]+)@[^<]*</th><td>(.*?)</td>', html)
    return {"celery-open": ""} | {name: re.sub(r"<[^>]*>", "", cell) for name, cell in matches}
