"""Responses that a client need not fetch again."""

import hashlib
from collections.abc import Mapping

from fastapi import Request, Response


def send_if_changed(
    request: Request, content: bytes, *, media_type: str, headers: Mapping[str, str]
) -> Response:
    """Return the content with its ETag, or 304 if the client has it."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    all_headers = {**headers, "ETag": etag}
    values = request.headers.get("if-none-match", "").split(",")
    if etag in {value.strip().removeprefix("W/") for value in values}:  # which a proxy may have added
        return Response(status_code=304, headers=all_headers)
    return Response(content, media_type=media_type, headers=all_headers)
