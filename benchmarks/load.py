"""Send requests whose bytes were built beforehand, so that sending takes little CPU time."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

HOST = "127.0.0.1"
_BOUNDARY = b"a-line-that-no-table-has"
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response with its times by the monotonic clock; status 0 if there was none."""

    status: int
    started_at: float
    seconds: float
    body: bytes


def _build_get(path: str) -> bytes:
    return _build_head("GET", path, "").encode()


def build_upload(path: str, token: str, files: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a multipart request."""
    parts = [
        b"--%s\r\nContent-Disposition: form-data; name=%s; filename=f.csv\r\n\r\n%s\r\n"
        % (_BOUNDARY, name.encode(), content)
        for name, content in files.items()
    ]
    body = b"".join([*parts, b"--%s--\r\n" % _BOUNDARY])
    content_type = f"multipart/form-data; boundary={_BOUNDARY.decode()}"
    extra_headers = (
        f"Authorization: Bearer {token}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
    )
    return _build_head("POST", path, extra_headers).encode() + body


def _build_head(method: str, path: str, extra_headers: str) -> str:
    return f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n{extra_headers}\r\n"


async def send_request(port: int, request: bytes) -> TimedResponse:
    """Send a request on a new connection."""
    started_at, response = time.monotonic(), b""
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            await _write_in_chunks(writer, request)
            response = await reader.read()
        finally:
            writer.close()
    except OSError:
        pass  # no response, or an incomplete one: status 0
    status_line, _, rest = response.partition(b"\r\n")
    status = int(status_line.split()[1]) if status_line else 0
    return TimedResponse(status, started_at, time.monotonic() - started_at, rest.partition(b"\r\n\r\n")[2])


async def _write_in_chunks(writer: asyncio.StreamWriter, request: bytes) -> None:
    for start in range(0, len(request), _CHUNK_BYTES):
        writer.write(request[start : start + _CHUNK_BYTES])
        await writer.drain()


async def send_spread(port: int, requests: list[bytes], duration_s: float) -> list[TimedResponse]:
    """Send the requests evenly over ``duration_s`` seconds, without waiting for responses in between."""

    async def send_later(wait_s: float, request: bytes) -> TimedResponse:
        await asyncio.sleep(wait_s)
        return await send_request(port, request)

    interval_s = duration_s / max(1, len(requests))
    return await asyncio.gather(
        *(send_later(number * interval_s, payload) for number, payload in enumerate(requests))
    )


async def poll(port: int, path: str, interval_s: float, stop: asyncio.Event) -> list[TimedResponse]:
    """Request a path every ``interval_s`` seconds until ``stop`` is set. Late responses delay no request."""
    tasks: list[asyncio.Task[TimedResponse]] = []
    while not stop.is_set():
        tasks.append(asyncio.create_task(send_request(port, _build_get(path))))
        await asyncio.sleep(interval_s)
    return await asyncio.gather(*tasks)
