"""What a browser loads besides pages: compressed once for all who ask, not at every asking."""

import gzip
import os
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from app.http.compression import reads_gzip, weak

TEXTS = (".css", ".js", ".svg", ".txt")
MOST_KEPT = 64


class PackedFiles(StaticFiles):
    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, or, to who reads it so, compressed; or 304 if they have it."""
        whole = super().file_response(full_path, stat_result, scope, status_code)
        if not str(full_path).endswith(TEXTS):
            return whole
        whole.headers.add_vary_header("Accept-Encoding")
        if scope["method"] != "GET" or not reads_gzip(Headers(scope=scope)):
            return whole
        whole.headers["etag"] = weak(whole.headers["etag"])
        if isinstance(whole, NotModifiedResponse):
            return whole
        kept = {name: whole.headers[name] for name in ("content-type", "last-modified", "etag", "vary")}
        made = packed(str(full_path), stat_result.st_mtime_ns)
        return Response(made, status_code, headers=kept | {"content-encoding": "gzip"})


@lru_cache(maxsize=MOST_KEPT)
def packed(path: str, _changed_ns: int) -> bytes:
    """A file as it was written then, as short as can be."""
    with open(path, "rb") as file:
        return gzip.compress(file.read(), 9, mtime=0)
