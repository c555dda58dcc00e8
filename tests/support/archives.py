"""Archives that organizers download."""

import io
import zipfile

from httpx2 import Response

from tests.support.arena import Arena


def export_of(arena: Arena) -> Response:
    answer = arena.get(f"/competitions/{arena.slug}/export.zip")
    assert answer.status_code == 200, answer.text
    return answer


def unpacked(arena: Arena) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(export_of(arena).content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}
