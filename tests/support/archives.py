"""Archives that organizers download."""

import io
import zipfile

from httpx2 import Response

from tests.support.arena import Arena


def download_export(arena: Arena) -> Response:
    response = arena.get(f"/competitions/{arena.slug}/export.zip")
    assert response.status_code == 200, response.text
    return response


def unpack_export(arena: Arena) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(download_export(arena).content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}
