"""Bodies of requests that are files."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Body, Depends, Request

from app.core.http.admission import get_admission
from app.core.http.openapi import build_request_body
from app.core.identity.authentication import CurrentPrincipal

Toml = Annotated[bytes, Body(media_type="application/toml", description="competition.toml")]


async def _receive_file(request: Request, _: CurrentPrincipal) -> AsyncIterator[bytes]:
    """Read a large body after authentication, and yield it with the memory for parsing it reserved."""
    content = await request.body()
    async with get_admission(request).reserve_memory(len(content)):
        yield content


Csv = Annotated[bytes, Depends(_receive_file, scope="function")]
TABLE_BODY = build_request_body(
    "text/csv",
    {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "description": "the table with its header line",
    },
)
