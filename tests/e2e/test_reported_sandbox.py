"""Administrators read on a page how each worker sandboxes its scoring processes."""

import re
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest

from anoncup.schemas.roles import Role
from app.db.privileges import WORKER
from app.processes.supervisor import worker_programs
from app.services.jobs import queue
from tests.e2e.stack import QUICK, acting, running
from tests.support.accounts import signed_in
from tests.support.arena import Arena
from tests.support.wait import eventually
from tests.web.reader import page
from tests.web.spoken import said
from workers import sandbox

pytestmark = pytest.mark.full

SETTINGS = {"sandboxed": "required", "open": "off"}


@pytest.mark.full
def test_an_administrator_sees_which_worker_scores_without_a_sandbox(arena: Arena, tmp_path: Path) -> None:
    programs = [
        program
        for name, setting in SETTINGS.items()
        for program in worker_programs(
            queues=("scores",),
            env=QUICK | acting(WORKER) | {"ANONCUP_SANDBOX": setting},
            logs=tmp_path,
            name=name,
        )
    ]
    with ExitStack() as started:
        for program in programs:
            started.enter_context(running(program))
        assert eventually(lambda: len(queue.list_sandboxes() or ()) == len(programs))
        by_name = {each.process.partition("@")[0]: each for each in queue.list_sandboxes() or ()}
        assert (by_name["celery-open"].standing, by_name["celery-open"].is_complete) == (
            sandbox.standing("off"),
            False,
        )
        assert by_name["celery-sandboxed"].standing == str(sandbox.choose("required"))
        arena.tokens["root"] = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
        none = said("Incomplete: {standing}", standing=sandbox.standing("off"))
        assert eventually(lambda: rows(arena)["celery-open"] == none)


def rows(arena: Arena) -> dict[str, str]:
    """What the page says of each worker."""
    shown = unescape(page(arena, f"/competitions/{arena.slug}/organize/health", team="root").text)
    found = re.findall(r'<th scope="row" class="entry">([\w-]+)@[^<]*</th><td>(.*?)</td>', shown)
    return {"celery-open": ""} | {name: re.sub(r"<[^>]*>", "", said) for name, said in found}
