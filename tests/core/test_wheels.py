"""The wheels that the service offers, and the commands that name them."""

import io
import re
from hashlib import sha256
from pathlib import Path

from app.core import wheels
from tests.support.arena import Arena
from tests.support.environments import build_wheel, read_wheel

ROOT = Path(__file__).parents[2]


def test_page_names_the_wheel_that_a_build_of_the_checkout_makes(arena: Arena, tmp_path: Path) -> None:
    page = arena.client.get("/competitions/small/rules").text
    path, digest = re.findall(r"anoncup\[score\] @ http://localhost(\S+)#sha256=([0-9a-f]{64})", page)[0]
    wheel = arena.client.get(path)
    assert sha256(wheel.content).hexdigest() == digest
    assert wheel.headers["cache-control"] == "public, max-age=31536000, immutable"
    built = build_wheel(ROOT, tmp_path)
    assert Path(path).name == built.name
    assert read_wheel(io.BytesIO(wheel.content)) == read_wheel(built)


def test_address_of_a_wheel_never_has_another_content(arena: Arena) -> None:
    path = wheels.pack_library().path
    other_path = path.replace(path.split("/")[2], "0" * 16)
    assert arena.client.get(other_path).status_code == 404
