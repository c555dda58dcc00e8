"""Requests whose bytes are made before the clock starts, so that sending them costs next to nothing."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

HOST = "127.0.0.1"
BOUNDARY = b"a-line-that-no-table-has"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status 0 if nothing did; ``started`` and ``seconds`` by the monotonic clock."""

    status: int
    started: float
    seconds: float
    body: bytes


def get(path: str) -> bytes:
    return head("GET", path, "").encode()


def upload(path: str, token: str, files: Mapping[str, bytes]) -> bytes:
    """A whole multipart request."""
    parts = [
        b"--%s\r\nContent-Disposition: form-data; name=%s; filename=f.csv\r\n\r\n%s\r\n"
        % (BOUNDARY, name.encode(), content)
        for name, content in files.items()
    ]
    body = b"".join([*parts, b"--%s--\r\n" % BOUNDARY])
    kind = f"multipart/form-data; boundary={BOUNDARY.decode()}"
    more = f"Authorization: Bearer {token}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head("POST", path, more).encode() + body


def head(method: str, path: str, more: str) -> str:
    return f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n{more}\r\n"


async def ask(port: int, request: bytes) -> Answer:
    """Send a request on a connection of its own."""
    started, answer = time.monotonic(), b""
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            await sent(writer, request)
            answer = await reader.read()
        finally:
            writer.close()
    except OSError:
        pass  # answered by nobody, or cut off: status 0
    line, _, rest = answer.partition(b"\r\n")
    status = int(line.split()[1]) if line else 0
    return Answer(status, started, time.monotonic() - started, rest.partition(b"\r\n\r\n")[2])


async def sent(writer: asyncio.StreamWriter, request: bytes) -> None:
    for start in range(0, len(request), CHUNK):
        writer.write(request[start : start + CHUNK])
        await writer.drain()


async def spread(port: int, requests: list[bytes], over_s: float) -> list[Answer]:
    """Begin them evenly over so many seconds, whether or not the earlier ones have been answered."""

    async def late(wait_s: float, request: bytes) -> Answer:
        await asyncio.sleep(wait_s)
        return await ask(port, request)

    pause = over_s / max(1, len(requests))
    return await asyncio.gather(*(late(number * pause, each) for number, each in enumerate(requests)))


async def polled(port: int, path: str, every_s: float, until: asyncio.Event) -> list[Answer]:
    """Ask again and again, begun every so many seconds; an answer that is late delays no other."""
    asking: list[asyncio.Task[Answer]] = []
    while not until.is_set():
        asking.append(asyncio.create_task(ask(port, get(path))))
        await asyncio.sleep(every_s)
    return await asyncio.gather(*asking)
