"""Texts of organizers in a real browser."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support.accounts import create_invite
from tests.support.arena import Arena

pytestmark = pytest.mark.full

HOSTILE = """
<script>document.body.remove()</script><img src="https://x.example/p.png" onerror="document.body.remove()">

![tracker](https://x.example/p.png) [run](javascript:document.body.remove()) https://x.example/LONG

| right | LONG |
|------:|:----:|
| <b style="position: fixed">1</b> | LONG |

    LONG LONG
""".replace("LONG", 60 * "long")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_hostile_texts_load_and_run_nothing_and_fit_the_screen(
    client: TestClient, browser: Browser, site: str, size: dict[str, int]
) -> None:
    arena = Arena.create(client, extra_toml=f"[description]\nterms = true\nen = '''{HOSTILE}'''\n")
    path = f"/competitions/{arena.slug}"
    arena.post(f"{path}/announcements", json={"text": {"en": HOSTILE, "ja": HOSTILE}})
    with inspect_pages(browser, site, size=size) as inspector:
        for page in (path, f"/sign-up?invite={create_invite(arena)}"):
            inspector.go(page)
            inspector.page.locator("details").evaluate_all("all => all.forEach((one) => one.open = true)")
            assert inspector.collect_faults() == []
