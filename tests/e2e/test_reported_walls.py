"""Administrators read on a page what each worker says of the walls around its scoring processes."""

import re
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest

from app import queue
from app.db.privileges import WORKER
from app.local.processes import worker_programs
from app.roles import Role
from tests.arena import Arena
from tests.e2e.stack import QUICK, acting, running
from tests.patience import eventually
from tests.people import signed_in
from tests.web.reader import page
from tests.web.spoken import said
from workers import walls

SETTINGS = {"walled": "required", "open": "off"}


@pytest.mark.long
def test_an_administrator_sees_which_worker_scores_without_walls(arena: Arena, tmp_path: Path) -> None:
    programs = [
        program
        for name, setting in SETTINGS.items()
        for program in worker_programs(
            queues=("scores",),
            env=QUICK | acting(WORKER) | {"ANONCUP_WALLS": setting},
            logs=tmp_path,
            apart=f"-{name}",
        )
    ]
    with ExitStack() as started:
        for program in programs:
            started.enter_context(running(program))
        assert eventually(lambda: len(queue.walled() or ()) == len(programs))
        by_name = {each.worker.partition("@")[0]: each for each in queue.walled() or ()}
        assert (by_name["celery-open"].standing, by_name["celery-open"].whole) == ("none", False)
        assert by_name["celery-walled"].standing == str(walls.wanted("required"))
        arena.tokens["root"] = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
        none = said(
            "None. A file that takes a scoring process over reads the private keys and other teams’ secrets."
        )
        assert eventually(lambda: rows(arena)["celery-open"] == none)


def rows(arena: Arena) -> dict[str, str]:
    """What the page says of each worker."""
    shown = unescape(page(arena, f"/competitions/{arena.slug}/organize/health", team="root").text)
    found = re.findall(r'<th scope="row" class="entry">([\w-]+)@[^<]*</th><td>(.*?)</td>', shown)
    return {"celery-open": ""} | {name: re.sub(r"<[^>]*>", "", said) for name, said in found}
