"""Static files that are gzipped once instead of at every request."""

import gzip
import os
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from app.http.compression import accepts_gzip, weaken_etag

_COMPRESSIBLE_SUFFIXES = (".css", ".html", ".js", ".json", ".svg", ".txt")
_MAX_CACHED_FILES = 128


class GzipStaticFiles(StaticFiles):
    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Return the file, gzipped if the client accepts that, or 304 if the client already has it."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        if not str(full_path).endswith(_COMPRESSIBLE_SUFFIXES):
            return response
        response.headers.add_vary_header("Accept-Encoding")
        if scope["method"] != "GET" or not accepts_gzip(Headers(scope=scope)):
            return response
        response.headers["etag"] = weaken_etag(response.headers["etag"])
        if isinstance(response, NotModifiedResponse):
            return response
        headers = {name: response.headers[name] for name in ("content-type", "last-modified", "etag", "vary")}
        body = _compress_file(str(full_path), stat_result.st_mtime_ns)
        return Response(body, status_code, headers=headers | {"content-encoding": "gzip"})


@lru_cache(maxsize=_MAX_CACHED_FILES)
def _compress_file(path: str, _changed_ns: int) -> bytes:
    """Return the gzipped file. The time of its last change is only part of the cache key."""
    with open(path, "rb") as file:
        return gzip.compress(file.read(), 9, mtime=0)
